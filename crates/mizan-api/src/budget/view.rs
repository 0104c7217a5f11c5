//! The JSON and text of an account: its target, and what is spent and remaining.

use mizan_core::{Delta, Epsilon};
pub use mizan_engine::reading_delta;
use mizan_ledger::evidence::{Odometer, Remaining as LeftAt, Room, TreeHead};
use mizan_ledger::ledger::Gap;
use mizan_ledger::money::{Amount, Variance, Weight};
use mizan_ledger::{Account, AccountView, Budget, DeltaAmount, Target};
use mizan_report::number;
use serde::Serialize;
use utoipa::ToSchema;

use crate::number::{OrderJson, finite};
use crate::times;

/// Size and root of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct LogJson {
    /// The number of entries.
    pub size: u64,
    /// The root of its Merkle tree.
    pub root: String,
}

/// The JSON form of a tree head.
#[must_use]
pub fn log_json(head: TreeHead) -> LogJson {
    LogJson {
        size: head.size,
        root: head.root.to_string(),
    }
}

/// The target of an account: the guarantee that its budget enforces.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TargetJson {
    /// An epsilon at a delta.
    Approximate {
        /// The epsilon.
        epsilon: f64,
        /// The delta.
        delta: f64,
    },
    /// An epsilon with delta 0.
    Pure {
        /// The epsilon.
        epsilon: f64,
        /// Always 0.
        delta: f64,
    },
    /// A rho: the limit at order α is αρ.
    Zcdp {
        /// The rho.
        rho: f64,
    },
    /// A limit at each order.
    Curve,
}

/// The spent budget, as an estimate.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SpentSoFar {
    /// The epsilon; null is unbounded.
    pub epsilon: Option<f64>,
    /// The delta of the estimate.
    pub delta: f64,
    /// The meaning of the estimate.
    pub label: String,
}

/// A guarantee for everything spent so far.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GuaranteeJson {
    /// The epsilon.
    pub epsilon: f64,
    /// The delta.
    pub delta: f64,
    /// The meaning of the guarantee.
    pub label: String,
}

/// The remaining budget of an account and all above it. It is an estimate; the filter decides
/// exactly.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Remaining {
    /// The least remaining epsilon, if the accounts have one.
    pub epsilon: Option<f64>,
    /// The delta of the estimate.
    pub delta: f64,
    /// The remaining share of the limit at the deciding order.
    pub share: Option<f64>,
    /// The deciding order; null if the clock decides.
    pub order: Option<OrderJson>,
    /// The account with the least remaining share.
    pub account: String,
}

/// An account in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AccountJson {
    /// Its name.
    pub account: String,
    /// The account above it.
    pub parent: Option<String>,
    /// Its target.
    pub target: TargetJson,
    /// What it has spent, as an estimate.
    pub spent: SpentSoFar,
    /// The guarantee for what it has spent.
    pub guarantee: Option<GuaranteeJson>,
    /// Its remaining budget.
    pub remaining: Remaining,
    /// Whether its budget was ever raised.
    pub raised: bool,
}

/// The amounts of an account at one order, in nats; null is unbounded or without a limit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OrderLine {
    /// The order.
    pub order: OrderJson,
    /// The share of delta of the order.
    pub weight: f64,
    /// The limit.
    pub limit: Option<f64>,
    /// The amount that is spent.
    pub spent: Option<f64>,
    /// The amount of open reservations.
    pub pending: Option<f64>,
    /// The remaining amount.
    pub left: Option<f64>,
}

/// The Gaussian clock of an account: a budget of variance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClockJson {
    /// The part of delta that it keeps.
    pub weight: f64,
    /// Its variance.
    pub limit: f64,
    /// The variance that is spent; null if the clock is exhausted.
    pub spent: Option<f64>,
    /// The variance that is reserved; null if the clock is exhausted.
    pub pending: Option<f64>,
    /// The remaining variance.
    pub left: f64,
    /// The remaining share of the limit.
    pub share: f64,
}

/// A gap: the data owner continued from an older copy of the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GapJson {
    /// The position of the entry that records the gap.
    pub position: u64,
    /// The time of that entry.
    pub time: String,
    /// The number of entries in the newer log.
    pub known_size: u64,
    /// The root of the newer log.
    pub known_root: String,
}

/// The significant digits in texts.
const DIGITS: usize = 4;

/// The target of an account as text.
#[must_use]
pub fn target_text(budget: &Budget) -> String {
    match budget.target() {
        Target::Approximate { epsilon, delta } => format!(
            "ε {} at δ {}",
            number::nearest(epsilon.get(), 6),
            number::nearest(delta.get(), 4)
        ),
        Target::Pure { epsilon } => format!("pure ε {}", number::nearest(epsilon.get(), 6)),
        Target::ZeroConcentrated { rho } => format!("ρ {}", number::nearest(rho.get(), 6)),
        Target::Curve => "a curve".to_owned(),
    }
}

/// The target of an account as JSON.
#[must_use]
pub fn target_json(budget: &Budget) -> TargetJson {
    match budget.target() {
        Target::Approximate { epsilon, delta } => TargetJson::Approximate {
            epsilon: epsilon.get(),
            delta: delta.get(),
        },
        Target::Pure { epsilon } => TargetJson::Pure {
            epsilon: epsilon.get(),
            delta: 0.0,
        },
        Target::ZeroConcentrated { rho } => TargetJson::Zcdp { rho: rho.get() },
        Target::Curve => TargetJson::Curve,
    }
}

/// An amount in nats; None if it is unbounded.
#[expect(clippy::cast_precision_loss, reason = "the exact digits are beside it")]
#[must_use]
pub fn nats(amount: Amount) -> Option<f64> {
    if amount == Amount::EXHAUSTED {
        None
    } else {
        finite(amount.pico() as f64 / 1e12)
    }
}

/// An amount in nats as text, rounded up or down.
#[expect(clippy::cast_precision_loss, reason = "for people")]
#[must_use]
pub fn nats_text(amount: Amount, round: fn(f64, usize) -> String) -> String {
    if amount == Amount::EXHAUSTED {
        "∞".to_owned()
    } else if amount == Amount::ZERO {
        "0".to_owned()
    } else {
        round(amount.pico() as f64 / 1e12, DIGITS)
    }
}

/// Variance as a number; None if it exhausts a clock.
#[expect(clippy::cast_precision_loss, reason = "the exact digits are beside it")]
#[must_use]
pub fn variance(variance: Variance) -> Option<f64> {
    (variance != Variance::EXHAUSTED).then(|| variance.femto() as f64 / 1e15)
}

/// Variance for people, rounded up or down.
#[must_use]
pub fn variance_text(amount: Variance, round: fn(f64, usize) -> String) -> String {
    match variance(amount) {
        None => "∞".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(amount) => round(amount, DIGITS),
    }
}

/// A reserved delta as a number.
#[expect(clippy::cast_precision_loss, reason = "for people and programs")]
#[must_use]
pub fn own_delta(delta: DeltaAmount) -> f64 {
    delta.atto() as f64 / 1e18
}

/// A part of δ as a number.
#[must_use]
pub fn weight(weight: Weight) -> f64 {
    own_delta(DeltaAmount::from_atto(weight.atto()))
}

/// A share of a cost as a number.
#[expect(clippy::cast_precision_loss, reason = "billionths")]
#[must_use]
pub fn share(scale: mizan_ledger::money::Scale) -> f64 {
    scale.nano() as f64 / 1e9
}

/// The odometer of an account.
#[must_use]
pub fn read(account: &Account) -> Odometer {
    Odometer::of(account, Some(reading_delta(account)))
}

/// The spent budget as JSON. It is an estimate.
fn spent_json(account: &Account, odometer: &Odometer) -> SpentSoFar {
    SpentSoFar {
        epsilon: odometer
            .estimate
            .and_then(|(epsilon, _)| finite(epsilon.get())),
        delta: reading_delta(account).get(),
        label: "estimate: as if all charges had been fixed in advance".to_owned(),
    }
}

/// The least remaining budget of an account and all above it.
#[derive(Clone, Copy, Debug)]
pub struct LeastRemaining<'a> {
    /// The account with the least remaining share.
    pub at: &'a Account,
    /// What decides, and the remaining share of its limit.
    pub room: Option<Room>,
    /// The remaining epsilon, an estimate.
    pub epsilon: Option<Epsilon>,
}

/// The remaining budget of an account and all above it.
#[must_use]
pub fn left(view: &AccountView) -> LeastRemaining<'_> {
    let of = |account| Odometer::remaining(account, Some(reading_delta(account)));
    let (epsilon, room) = of(&view.account);
    let mut left = LeastRemaining {
        at: &view.account,
        room,
        epsilon,
    };
    for above in &view.above {
        let (epsilon, room) = of(above);
        let share = |room: Option<Room>| room.map_or(0.0, |room| room.share);
        if share(room) < share(left.room) {
            (left.at, left.room) = (above, room);
        }
        left.epsilon = match (left.epsilon, epsilon) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        };
    }
    left
}

/// The remaining budget as JSON. It is an estimate; the filter decides exactly.
#[must_use]
pub fn remaining_json(view: &AccountView) -> Remaining {
    let left = left(view);
    Remaining {
        epsilon: left.epsilon.and_then(|epsilon| finite(epsilon.get())),
        delta: reading_delta(&view.account).get(),
        share: left.room.map(|room| room.share),
        order: (left.room.and_then(|room| room.order)).map(|order| OrderJson::of(order.get())),
        account: left.at.name().as_str().to_owned(),
    }
}

/// An account of a list as JSON.
#[must_use]
pub fn account_json(view: &AccountView) -> AccountJson {
    let account = &view.account;
    let odometer = read(account);
    AccountJson {
        account: account.name().as_str().to_owned(),
        parent: (view.above.first()).map(|above| above.name().as_str().to_owned()),
        target: target_json(account.budget()),
        spent: spent_json(account, &odometer),
        guarantee: guarantee_json(&odometer),
        remaining: remaining_json(view),
        raised: account.is_raised(),
    }
}

/// The guarantee of the odometer as JSON.
fn guarantee_json(odometer: &Odometer) -> Option<GuaranteeJson> {
    let (epsilon, delta) = odometer.guarantee?;
    Some(GuaranteeJson {
        epsilon: epsilon.get(),
        delta: delta.get(),
        label: "guarantee: holds at any time, for queries chosen adaptively".to_owned(),
    })
}

/// The clock, for programs; None if the account has none.
#[must_use]
pub fn clock_json(account: &Account) -> Option<ClockJson> {
    let clock = account.budget().clock()?;
    let limit = variance(clock.limit)?;
    let left = variance(account.clock_left().unwrap_or_default())?;
    Some(ClockJson {
        weight: weight(clock.weight),
        limit,
        spent: variance(account.spent().clock()),
        pending: variance(account.pending().clock()),
        left,
        share: (left / limit).min(1.0),
    })
}

/// " at δ 1e-6", or nothing at δ 0.
fn at(delta: f64) -> String {
    match delta {
        0.0 => String::new(),
        _ => format!(" at δ {}", number::nearest(delta, 3)),
    }
}

/// The guarantee, for the terminal. Where the odometer reads more than the budget, the guarantee of
/// the whole account is told as what it is.
fn guarantee_text(target: Target, guarantee: Option<(Epsilon, Delta)>) -> String {
    let told = |epsilon: Epsilon, delta: Delta, rest: &str| {
        let epsilon = number::epsilon_up(epsilon.get(), DIGITS);
        format!(
            "          guaranteed: at most ε {epsilon}{}\n          {rest}\n",
            at(delta.get())
        )
    };
    match (target, guarantee) {
        (Target::Approximate { epsilon, delta }, Some((reading, _))) if reading >= epsilon => {
            let reading = number::epsilon_up(reading.get(), DIGITS);
            let rest = format!("(for the whole account; the odometer reads ε {reading})");
            told(epsilon, delta, &rest)
        }
        (_, Some((reading, delta))) => {
            told(reading, delta, "(at any time, however queries are chosen)")
        }
        (_, None) => String::new(),
    }
}

/// The clock, as a line for the terminal; empty if the account has none.
fn clock_text(account: &Account) -> String {
    let Some(clock) = account.budget().clock() else {
        return String::new();
    };
    let limit = variance_text(clock.limit, number::down);
    match clock_json(account).filter(|_| account.clock_left().is_some()) {
        Some(clock) => {
            let used = number::epsilon_up(100.0 * (1.0 - clock.share), 3);
            format!("  clock   {used} % of variance {limit} used\n")
        }
        None => format!("  clock   exhausted (variance {limit})\n"),
    }
}

/// The amounts at each order as JSON.
#[must_use]
pub fn orders_json(account: &Account, odometer: &Odometer) -> Vec<OrderLine> {
    let sums = account.spent().amounts().zip(account.pending().amounts());
    let weights = account.budget().weights().iter();
    let lines = odometer.left.iter().zip(sums).zip(weights);
    let line =
        |((left, (spent, pending)), weight): ((&LeftAt, (Amount, Amount)), &Weight)| OrderLine {
            order: OrderJson::of(left.order.get()),
            weight: self::weight(*weight),
            limit: left.limit.and_then(nats),
            spent: nats(spent),
            pending: nats(pending),
            left: left.left.and_then(nats),
        };
    lines.map(line).collect()
}

/// The warning for an account whose log has a gap.
#[must_use]
pub fn gap_text(view: &AccountView) -> String {
    view.since_gap()
        .map_or_else(String::new, |gap| format!("warning: {gap}\n"))
}

/// The gaps in the log as JSON.
#[must_use]
pub fn gaps_json(gaps: &[Gap]) -> Vec<GapJson> {
    let gap = |gap: &Gap| GapJson {
        position: gap.position,
        time: times::exact(gap.unix_ms),
        known_size: gap.known_size,
        known_root: gap.known_root.to_string(),
    };
    gaps.iter().map(gap).collect()
}

/// The remaining and the spent budget, as lines for a terminal.
#[must_use]
pub fn summary_text(view: &AccountView, terminal: mizan_report::Terminal) -> String {
    const FIXED: &str = "if queries were fixed in advance";
    let account = &view.account;
    let odometer = read(account);
    let delta = reading_delta(account).get();
    let mut text = String::new();
    let left = left(view);
    if let Some(Room { share, .. }) = left.room {
        let of = match left.at.number() == account.number() {
            true => String::new(),
            false => format!(
                " of {}",
                crate::words::shortened(left.at.name().as_str(), 20)
            ),
        };
        text.push_str(&format!(
            "  left    {} {} %{of}\n",
            terminal.bar(share, 30),
            number::down(100.0 * share, 3)
        ));
    }
    if let Some(epsilon) = left.epsilon {
        text.push_str(&format!(
            "          about ε {}{} ({FIXED})\n",
            number::down(epsilon.get(), DIGITS),
            at(delta)
        ));
    }
    text.push_str(&clock_text(account));
    match odometer.estimate {
        Some((epsilon, _)) => text.push_str(&format!(
            "  spent   about ε {}{} ({FIXED})\n",
            number::epsilon_up(epsilon.get(), DIGITS),
            at(delta)
        )),
        None => text.push_str("  spent   without bound\n"),
    }
    text.push_str(&guarantee_text(
        account.budget().target(),
        odometer.guarantee,
    ));
    if account.pending().amounts().any(|sum| sum > Amount::ZERO) {
        text.push_str("          open reservations are included\n");
    }
    if account.is_raised() {
        text.push_str("  raised  the guarantees of all its budgets add up\n");
    }
    let (taken, cap) = (
        account.taken().reserved_delta(),
        account.budget().reserved_delta(),
    );
    if cap > DeltaAmount::ZERO {
        let taken = match own_delta(taken) {
            0.0 => "0".to_owned(),
            taken => number::delta_up(taken),
        };
        text.push_str(&format!(
            "  reserved δ used: {taken} of {}\n          \
             (thresholds and other mechanisms that may fail)\n",
            number::nearest(own_delta(cap), 3)
        ));
    }
    text
}
