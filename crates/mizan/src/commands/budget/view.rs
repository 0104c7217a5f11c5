//! An account in people's terms: what it promises, what is spent and left.

use mizan_core::{Epsilon, Order};
pub(crate) use mizan_engine::reading_delta;
use mizan_ledger::{Account, AccountView, Amount, Budget, Odometer, OwnDelta, Target};
use mizan_report::number;
use serde_json::{Value, json};

use crate::output::{json_number, json_order};

/// Digits for people.
const DIGITS: usize = 4;

/// What an account promises, for people.
pub(crate) fn target_text(budget: &Budget) -> String {
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

/// What an account promises, for programs.
pub(crate) fn target_json(budget: &Budget) -> Value {
    match budget.target() {
        Target::Approximate { epsilon, delta } => {
            json!({"kind": "approximate", "epsilon": epsilon.get(), "delta": delta.get()})
        }
        Target::Pure { epsilon } => json!({"kind": "pure", "epsilon": epsilon.get(), "delta": 0.0}),
        Target::ZeroConcentrated { rho } => json!({"kind": "zcdp", "rho": rho.get()}),
        Target::Curve => json!({"kind": "curve"}),
    }
}

/// An amount as a number; null if it has no bound.
#[expect(clippy::cast_precision_loss, reason = "the exact digits are beside it")]
pub(crate) fn nats(amount: Amount) -> Value {
    if amount == Amount::EXHAUSTED {
        Value::Null
    } else {
        json_number(amount.pico() as f64 / 1e12)
    }
}

/// An amount for people, rounded up or down.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(crate) fn nats_text(amount: Amount, round: fn(f64, usize) -> String) -> String {
    if amount == Amount::EXHAUSTED {
        "∞".to_owned()
    } else if amount == Amount::ZERO {
        "0".to_owned()
    } else {
        round(amount.pico() as f64 / 1e12, DIGITS)
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people and programs")]
pub(crate) fn own_delta(delta: OwnDelta) -> f64 {
    delta.atto() as f64 / 1e18
}

/// A part of a cost.
#[expect(clippy::cast_precision_loss, reason = "billionths")]
pub(crate) fn share(scale: mizan_ledger::Scale) -> f64 {
    scale.nano() as f64 / 1e9
}

/// What is spent and left.
pub(crate) fn read(account: &Account) -> Odometer {
    Odometer::of(account, Some(reading_delta(account)))
}

/// What is spent so far, for programs. It is an estimate.
fn spent_json(account: &Account, odometer: &Odometer) -> Value {
    let epsilon = odometer.estimate.map(|(epsilon, _)| epsilon.get());
    json!({
        "epsilon": epsilon,
        "delta": reading_delta(account).get(),
        "label": "estimate: as if all charges had been fixed in advance",
    })
}

/// What is left in an account and all above it: the least of each.
pub(crate) struct Left<'a> {
    /// Where the least share is left.
    pub(crate) at: &'a Account,
    pub(crate) room: Option<(Order, f64)>,
    /// An estimate.
    pub(crate) epsilon: Option<Epsilon>,
}

pub(crate) fn left(view: &AccountView) -> Left<'_> {
    let odometer = read(&view.account);
    let mut left = Left {
        at: &view.account,
        room: odometer.room,
        epsilon: odometer.remaining,
    };
    for above in &view.above {
        let odometer = read(above);
        let share = |room: Option<(Order, f64)>| room.map_or(0.0, |(_, share)| share);
        if share(odometer.room) < share(left.room) {
            (left.at, left.room) = (above, odometer.room);
        }
        left.epsilon = match (left.epsilon, odometer.remaining) {
            (Some(a), Some(b)) => Some(if b < a { b } else { a }),
            (a, b) => a.or(b),
        };
    }
    left
}

/// What is left, for programs. It is an estimate; the filter decides.
pub(crate) fn remaining_json(view: &AccountView) -> Value {
    let left = left(view);
    json!({
        "epsilon": left.epsilon.map(Epsilon::get),
        "delta": reading_delta(&view.account).get(),
        "share": left.room.map(|(_, share)| share),
        "order": left.room.map(|(order, _)| json_order(order.get())),
        "account": left.at.name().as_str(),
    })
}

/// An account in a list, for programs.
pub(crate) fn account_json(view: &AccountView) -> Value {
    let account = &view.account;
    let odometer = read(account);
    json!({
        "account": account.name().as_str(),
        "parent": view.above.first().map(|above| above.name().as_str()),
        "target": target_json(account.budget()),
        "spent": spent_json(account, &odometer),
        "guarantee": guarantee_json(&odometer),
        "remaining": remaining_json(view),
        "raised": account.is_raised(),
    })
}

/// What the odometer guarantees, for programs.
fn guarantee_json(odometer: &Odometer) -> Value {
    odometer.guarantee.map_or(Value::Null, |(epsilon, delta)| {
        json!({
            "epsilon": epsilon.get(),
            "delta": delta.get(),
            "label": "guarantee: nested filters, whenever one looks",
        })
    })
}

/// Order by order, for programs.
pub(crate) fn orders_json(account: &Account, odometer: &Odometer) -> Value {
    let sums = account.spent().amounts().zip(account.pending().amounts());
    let weights = account.budget().weights().iter();
    let lines = odometer.left.iter().zip(sums).zip(weights);
    let line = |((left, (spent, pending)), weight): (
        (&mizan_ledger::Left, (Amount, Amount)),
        &mizan_ledger::Weight,
    )| {
        json!({
            "order": json_order(left.order.get()),
            "weight": own_delta(OwnDelta::from_atto(weight.atto())),
            "limit": left.limit.map(nats),
            "spent": nats(spent),
            "pending": nats(pending),
            "left": left.left.map(nats),
        })
    };
    lines.map(line).collect()
}

/// What must be said with everything about an account, if the log has a gap.
pub(crate) fn gap_text(view: &AccountView) -> String {
    view.since_gap()
        .map_or_else(String::new, |gap| format!("warning: {gap}\n"))
}

pub(crate) fn gaps_json(view: &AccountView) -> Value {
    let gap = |gap: &mizan_ledger::Gap| {
        json!({
            "position": gap.position,
            "time": crate::times::exact(gap.unix_ms),
            "known_size": gap.known_size,
            "known_root": gap.known_root.to_string(),
        })
    };
    view.gaps.iter().map(gap).collect()
}

/// Spent, guaranteed and left, as lines for people.
pub(crate) fn summary_text(view: &AccountView, terminal: mizan_report::Terminal) -> String {
    let account = &view.account;
    let odometer = read(account);
    let delta = reading_delta(account).get();
    let at = |delta: f64| {
        if delta == 0.0 {
            String::new()
        } else {
            format!(" at δ {}", number::nearest(delta, 3))
        }
    };
    let mut text = String::new();
    let left = left(view);
    if let Some((order, share)) = left.room {
        let bar = terminal.bar(share, 30);
        let percent = number::down(100.0 * share, 3);
        let order = crate::output::order_text(order);
        let of = if left.at.number() == account.number() {
            String::new()
        } else {
            format!(
                " of {}",
                crate::output::shortened(left.at.name().as_str(), 20)
            )
        };
        text.push_str(&format!(
            "  left  {bar} {percent} %{of} (order {order})\n\n"
        ));
    }
    let pending = account.pending().amounts().any(|sum| sum > Amount::ZERO);
    let pending = if pending { ", pending included" } else { "" };
    match odometer.estimate {
        Some((epsilon, _)) => text.push_str(&format!(
            "  spent so far  ε {}{}   estimate{pending}\n",
            number::epsilon_up(epsilon.get(), DIGITS),
            at(delta)
        )),
        None => text.push_str("  spent so far  without bound\n"),
    }
    if let Some((epsilon, delta)) = odometer.guarantee {
        text.push_str(&format!(
            "  guaranteed    ε {}{}   holds whenever you look\n",
            number::epsilon_up(epsilon.get(), DIGITS),
            at(delta.get())
        ));
    }
    if account.is_raised() {
        text.push_str("  raised        the promises of all its budgets add up\n");
    }
    if let Some(epsilon) = left.epsilon {
        text.push_str(&format!(
            "  left          ε {}{}   estimate\n",
            number::down(epsilon.get(), DIGITS),
            at(delta)
        ));
    }
    let (taken, cap) = (account.taken().own_delta(), account.budget().own_delta());
    if cap > OwnDelta::ZERO {
        let taken = own_delta(taken);
        let taken = if taken == 0.0 {
            "0".to_owned()
        } else {
            number::delta_up(taken)
        };
        text.push_str(&format!(
            "  own deltas    {taken} of {}   of releases that may themselves fail\n",
            number::nearest(own_delta(cap), 3)
        ));
    }
    text
}
