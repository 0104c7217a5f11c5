//! The privacy odometer: how much of an account was spent so far, as an estimate and as a bound
//! that holds at any time.
//!
//! The **estimate** bounds the cost of the charges at one δ as if they had been fixed in advance.
//! Queries are chosen adaptively, and so is the time at which an analyst looks, so the estimate is
//! not a guarantee. It is the smaller of two bounds: the Rényi conversion of the totals, and, while
//! the clock is not exhausted, the ε of Gaussian noise with the variance v0 + s, where v0 is the
//! limit of the clock and s what conditional prices saved.
//!
//! Proof of the second: let u_i be what the i-th charge M_i took, or for a conditional price what it
//! would have taken at a price for every remainder, and w what is left now, so that
//! w + Σ u_i <= v0 + s (less after a raise that the clock did not follow). The sum w_i of w and of all u_j after the i-th is at least what was left after
//! that charge, and prices hold at every larger remainder: M_i ⊗ G_(w_i) ≼ G_(w_i + u_i). The last
//! charge has w_i = w, and each one before it the w_i + u_i of the next, so
//! M_1 ⊗ … ⊗ M_n ⊗ G_w ≼ G_(v0 + s). The charges alone are a post-processing of the left side. A tail
//! η_i adds at most η_i to δ, and a mechanism that fails with probability δ_i at most δ_i: both are
//! in the reserved deltas, which δ is reduced by.
//!
//! The variance that was taken, Σ u_i, is not such a bound: a price at the remainder w says nothing
//! about M without G_w, and randomized response alone has a larger total variation than Gaussian
//! noise with its price. So the second bound does not depend on how much is left; it keeps the
//! estimate below the target as long as charges fit the clock.
//!
//! The **guarantee** holds whenever an analyst looks. Let the target of the account be (ε, δ) and
//! δ' the part of δ that is not reserved. The reading is that of [`RenyiOdometer`] at δ' for the
//! totals of the account: the least E that the mixture of the bounds at all orders allows, with
//! weights that the target and the orders fix. It needs no price on the clock.
//!
//! # Guarantee
//!
//! Let r be the likelihood ratio of the transcript up to a stopping time (a time that is chosen
//! in any way from the transcript so far), and E the reading at that time. Then the mean of
//! max(0, r - e^E) is at most δ: an (E, δ) guarantee, although E is itself random.
//!
//! Proof: for each order M(α) = r^α e^(-(α-1) total(α)) is a supermartingale that starts at 1, and so
//! is their weighted mean S. The reading is such that max(0, r - e^E) <= δ' S, or E is total(∞), above
//! which ln r never is. Mechanisms fail with probability at most δ - δ' in all: a mechanism that
//! fails with probability δ_i and is pure otherwise is one that tells with probability δ_i whether it
//! ran on P, so S keeps at most (1 - δ_i) of its mean and the transcripts that Q never has add at
//! most δ_i.
//!
//! E may be above ε. The target (ε, δ) holds for the whole account too, but it is another guarantee
//! with a δ of its own: a reading of min(E, ε) would have up to 2 δ. So E is never cut at ε.
//!
//! Only the totals at that time count. Voids may lower them: the query of a voided charge read no
//! data and is not part of r. Pending charges count in full. A reading belongs to one budget: a
//! raise that depends on answers starts another one with other weights, and the guarantees of all
//! budgets of the account add up. So a raised account has no such reading, unless ∞ gives one. An
//! account with ρ or a curve has no δ, and no such reading unless ∞ gives one.

use mizan_accounting::clock::variance_epsilon;
use mizan_accounting::{RenyiConversion, RenyiOdometer};
use mizan_core::directed::{add_down, div_up};
use mizan_core::{Delta, Epsilon, Order};

use crate::money::{Account, Amount, Cost, DeltaAmount, Orders, Rule, Target, Variance, Weight};

/// How much was spent, and how much remains.
#[derive(Clone, Debug, PartialEq)]
pub struct Odometer {
    /// **An estimate**: the (ε, δ) of the totals, rounded up, as if all charges had been fixed in
    /// advance. None if there is no δ to convert at, or every order is exhausted.
    pub estimate: Option<(Epsilon, Delta)>,
    /// **A guarantee**: the reading and its δ (see the module). It may be above the ε of the target.
    /// None for ρ and curves, unless all charges are pure, and if every order is exhausted.
    pub guarantee: Option<(Epsilon, Delta)>,
    /// **An estimate** of the remaining ε at the same δ, rounded down. None if the target has no
    /// ε, or if the estimate has used it up although charges still fit.
    pub remaining: Option<Epsilon>,
    /// What remains at each order.
    pub left: Vec<Remaining>,
    /// What decides, and the share of its limit that remains.
    pub room: Option<Room>,
}

/// The share that remains of the deciding limit: the largest share if any limit suffices, the
/// smallest if every order must fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// The order; None if it is the clock.
    pub order: Option<Order>,
    /// The share.
    pub share: f64,
}

/// What remains at one order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remaining {
    /// The order.
    pub order: Order,
    /// The total of committed and pending charges.
    pub taken: Amount,
    /// The limit, if the order has one.
    pub limit: Option<Amount>,
    /// The limit minus the total.
    pub left: Option<Amount>,
}

impl Odometer {
    /// The odometer of an account. `delta` is used if the target has none.
    ///
    /// ```
    /// use mizan_core::{Delta, Epsilon};
    /// use mizan_ledger::evidence::Odometer;
    /// use mizan_ledger::money::admit;
    /// use mizan_ledger::*;
    /// let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
    /// let reserved_delta = Budget::usual_reserved_delta(delta);
    /// let clock = Budget::usual_clock();
    /// let budget =
    ///     Budget::approximate(Epsilon::new(2.0)?, delta, reserved_delta, clock, &orders)?;
    /// let name = AccountName::new("census")?;
    /// let mut account = Account::new(AccountNumber::new(0), name, None, orders, budget);
    /// let charge = Charge::of(&"gaussian(20)".parse()?, &account)?;
    /// let clock = admit(std::iter::once(&account), &charge.cost).unwrap();
    /// account.take(&Body::Reserved { charge, clock }, None, 0).unwrap();
    ///
    /// let odometer = Odometer::of(&account, None);
    /// let (estimate, _) = odometer.estimate.unwrap();
    /// let (guarantee, delta) = odometer.guarantee.unwrap();
    /// assert!(estimate < guarantee && guarantee < Epsilon::new(0.5)?);
    /// assert_eq!(delta.get(), 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(account: &Account, delta: Option<Delta>) -> Self {
        let (estimate, remaining) = spent(account, delta);
        let room = room(account);
        Self {
            estimate,
            guarantee: guarantee(account),
            remaining: unless_misleading(remaining, room),
            room,
            left: left(account),
        }
    }

    /// Only what remains, as an estimate and as a share of the limit of the deciding order. Most
    /// of the time of [`of`](Self::of) goes into the guarantee.
    #[must_use]
    pub fn remaining(account: &Account, delta: Option<Delta>) -> (Option<Epsilon>, Option<Room>) {
        let room = room(account);
        (unless_misleading(spent(account, delta).1, room), room)
    }
}

/// What remains, unless it is nothing although charges still fit.
fn unless_misleading(remaining: Option<Epsilon>, room: Option<Room>) -> Option<Epsilon> {
    let fits = room.is_some_and(|room| room.share > 0.0);
    remaining.filter(|remaining| *remaining > Epsilon::ZERO || !fits)
}

/// Estimates of what was spent and what remains.
fn spent(account: &Account, delta: Option<Delta>) -> (Option<(Epsilon, Delta)>, Option<Epsilon>) {
    let (target, delta) = match account.budget().target() {
        Target::Approximate { epsilon, delta } => (Some(epsilon), Some(delta)),
        Target::Pure { epsilon } => (Some(epsilon), Some(Delta::ZERO)),
        Target::ZeroConcentrated { .. } | Target::Curve => (None, delta),
    };
    let estimate = delta.and_then(|delta| {
        // An account that was not raised keeps its target, whatever its orders say.
        let most = target.filter(|_| !account.is_raised() && account.budget().clock().is_some());
        let estimate = estimate(account, delta).map(|spent| match most {
            Some(most) if most < spent => most,
            _ => spent,
        });
        Some((estimate.or(most)?, delta))
    });
    let remaining = target.map(|target| {
        let spent = estimate.map_or(f64::INFINITY, |(epsilon, _)| epsilon.get());
        Epsilon::new(add_down(target.get(), -spent).max(0.0)).unwrap_or(Epsilon::ZERO)
    });
    (estimate, remaining)
}

fn room(account: &Account) -> Option<Room> {
    let at_order = |line: Remaining| {
        Some(Room {
            order: Some(line.order),
            share: share(line.left?.pico(), line.limit?.pico()),
        })
    };
    let clock = account.budget().clock().map(|clock| Room {
        order: None,
        share: share(
            account.clock_left().unwrap_or_default().femto(),
            clock.limit.femto(),
        ),
    });
    let rooms = left(account).into_iter().filter_map(at_order).chain(clock);
    match account.budget().rule() {
        Rule::Any => rooms.max_by(|a, b| a.share.total_cmp(&b.share)),
        Rule::Every => rooms.min_by(|a, b| a.share.total_cmp(&b.share)),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share, for people")]
fn share(left: u64, limit: u64) -> f64 {
    (left as f64 / limit.max(1) as f64).min(1.0)
}

impl Cost {
    /// The ε of this cost alone at a δ, rounded up; None if every order is exhausted, or the
    /// reserved delta is above δ.
    #[must_use]
    pub fn epsilon(&self, orders: &Orders, delta: Delta) -> Option<Epsilon> {
        let amounts = orders.iter().zip(self.amounts().iter().copied());
        converted(amounts, self.reserved_delta(), delta)
    }
}

fn left(account: &Account) -> Vec<Remaining> {
    let limits = account.budget().limits().iter();
    let orders = account.orders().iter().zip(account.taken().amounts());
    let line = |((order, taken), &limit): ((Order, Amount), &Option<Amount>)| Remaining {
        order,
        taken,
        limit,
        left: limit.map(|limit| Amount::from_pico(limit.pico().saturating_sub(taken.pico()))),
    };
    orders.zip(limits).map(line).collect()
}

/// The smallest ε that the totals convert to.
fn estimate(account: &Account, delta: Delta) -> Option<Epsilon> {
    let taken = account.taken();
    let totals = account.orders().iter().zip(taken.amounts());
    let by_orders = converted(totals, taken.reserved_delta(), delta);
    let both = by_orders.into_iter().chain(by_clock(account, delta));
    both.min_by(|a, b| a.get().total_cmp(&b.get()))
}

/// The ε of the variance of the clock, unless it is exhausted.
fn by_clock(account: &Account, delta: Delta) -> Option<Epsilon> {
    account.clock_left()?;
    let (clock, taken) = (account.budget().clock()?, account.taken());
    let variance = clock.limit.saturating_add(taken.surplus());
    let rest = rest_of(delta, taken.reserved_delta()).filter(|rest| *rest > Delta::ZERO)?;
    (variance != Variance::EXHAUSTED).then(|| variance_epsilon(variance.femto(), rest))
}

/// δ without the reserved deltas, rounded down; None if they are more.
fn rest_of(delta: Delta, reserved_delta: DeltaAmount) -> Option<Delta> {
    let rest = add_down(delta.get(), -units_up(reserved_delta.atto(), 1e18));
    Delta::new(rest).ok()
}

/// The smallest ε that amounts at some orders convert to.
fn converted(
    totals: impl Iterator<Item = (Order, Amount)>,
    reserved_delta: DeltaAmount,
    delta: Delta,
) -> Option<Epsilon> {
    let rest = rest_of(delta, reserved_delta)?;
    let converted = totals.filter_map(|(order, total)| {
        let total = nats_up(total)?;
        if !order.is_finite() {
            return Some(total);
        }
        (rest > Delta::ZERO).then(|| RenyiConversion::Optimal.epsilon(order, total, rest))
    });
    converted
        .filter(|epsilon| epsilon.get().is_finite())
        .min_by(|a, b| a.get().total_cmp(&b.get()))
}

fn guarantee(account: &Account) -> Option<(Epsilon, Delta)> {
    match account.budget().target() {
        Target::Approximate { delta, .. } if !account.is_raised() => {
            Some((whenever(account)?, delta))
        }
        _ if account.taken().reserved_delta() == DeltaAmount::ZERO => {
            let totals = account.orders().iter().zip(account.taken().amounts());
            let mut infinite = totals.filter(|(order, _)| !order.is_finite());
            let pure = infinite.find_map(|(_, total)| nats_up(total));
            pure.map(|pure| (pure, Delta::ZERO))
        }
        _ => None,
    }
}

/// The reading at the part of δ that is not reserved.
fn whenever(account: &Account) -> Option<Epsilon> {
    let budget = account.budget();
    let part = budget.target().part(budget.reserved_delta(), Weight::ONE);
    let (epsilon, ln_delta) = part.ok()?;
    let odometer = RenyiOdometer::new(ln_delta.lower(), epsilon, account.orders().iter())?;
    let totals = account.taken().amounts();
    odometer.reading(totals.map(|total| nats_up(total).unwrap_or(Epsilon::INFINITE)))
}

/// An amount in nats, rounded up; None if it is exhausted.
fn nats_up(amount: Amount) -> Option<Epsilon> {
    if amount == Amount::EXHAUSTED {
        return None;
    }
    Epsilon::new(units_up(amount.pico(), 1e12)).ok()
}

/// `units` divided by `per`, rounded up.
#[allow(clippy::cast_precision_loss, reason = "the step up covers it")]
fn units_up(units: u64, per: f64) -> f64 {
    let near = units as f64;
    let above = if units <= 1 << 53 {
        near
    } else {
        near.next_up()
    };
    div_up(above, per)
}
