//! An entry of the log for people and for programs.

use mizan_ledger::{AccountNumber, Body, Charge, Cost, Entry, Ledger};
use serde_json::{Value, json};

use crate::commands::budget::view;
use crate::output::shortened;
use crate::times;

/// Entries with the names of their accounts.
pub(super) struct Names<'a>(pub(super) &'a dyn Fn(AccountNumber) -> String);

/// What happened, in one word.
pub(super) fn kind(body: &Body) -> &'static str {
    match body {
        Body::Opened { .. } => "opened",
        Body::Created { .. } => "created",
        Body::Reserved(_) => "reserved",
        Body::Denied { .. } => "denied",
        Body::Started => "started",
        Body::Committed { .. } => "committed",
        Body::Voided => "voided",
        Body::Raised { .. } => "raised",
        Body::Restored { .. } => "restored",
    }
}

/// The account that an entry names.
pub(super) fn account(body: &Body) -> Option<AccountNumber> {
    match body {
        Body::Created { account, .. } | Body::Raised { account, .. } => Some(*account),
        Body::Reserved(charge) | Body::Denied { charge, .. } => Some(charge.account),
        _ => None,
    }
}

/// The charge that an entry is about: what follows a reservation names neither
/// the account nor the event.
pub(super) fn charge(ledger: &Ledger, entry: &Entry) -> Option<Charge> {
    if !matches!(
        entry.body,
        Body::Started | Body::Committed { .. } | Body::Voided
    ) {
        return None;
    }
    let first = ledger.store().places(entry.id).ok()??.first;
    match ledger.entries(first).ok()?.into_iter().next()?.body {
        Body::Reserved(charge) => Some(charge),
        _ => None,
    }
}

/// What there is to say beyond the account, in one line.
pub(super) fn about(body: &Body) -> String {
    match body {
        Body::Opened { ledger } => shortened(&format!("ledger {ledger}"), 20),
        Body::Created { budget, .. } | Body::Raised { budget, .. } => view::target_text(budget),
        Body::Reserved(charge) | Body::Denied { charge, .. } if charge.event.is_empty() => {
            "a cost without an event".to_owned()
        }
        Body::Reserved(charge) | Body::Denied { charge, .. } => charge.event.clone(),
        Body::Restored { size, .. } => format!("a gap: {size} entries were known"),
        Body::Started | Body::Committed { .. } | Body::Voided => String::new(),
    }
}

/// All of it, for programs.
pub(super) fn json(position: u64, entry: &Entry, names: &Names<'_>) -> Value {
    let name = |number: AccountNumber| (names.0)(number);
    let mut value = json!({
        "position": position,
        "time": times::exact(entry.unix_ms),
        "id": entry.id.to_string(),
        "kind": kind(&entry.body),
    });
    let more = match &entry.body {
        Body::Opened { ledger } => json!({"ledger": ledger.to_string()}),
        Body::Created {
            account,
            parent,
            budget,
            ..
        } => json!({
            "account": name(*account),
            "parent": parent.map(name),
            "target": view::target_json(budget),
        }),
        Body::Raised { account, budget } => json!({
            "account": name(*account),
            "target": view::target_json(budget),
        }),
        Body::Reserved(charge) => json!({
            "account": name(charge.account),
            "event": charge.event,
            "cost": cost(&charge.cost),
        }),
        Body::Denied { charge, denial } => json!({
            "account": name(charge.account),
            "event": charge.event,
            "cost": cost(&charge.cost),
            "refused_by": name(denial.account),
        }),
        Body::Committed {
            cost: spent,
            answer,
        } => json!({
            "cost": cost(spent),
            "answer": answer.to_string(),
        }),
        Body::Restored { size, root } => json!({
            "known_size": size,
            "known_root": root.to_string(),
        }),
        Body::Started | Body::Voided => json!({}),
    };
    if let (Value::Object(all), Value::Object(more)) = (&mut value, more) {
        all.extend(more);
    }
    value
}

/// A cost in nats, at the orders of its account.
fn cost(cost: &Cost) -> Value {
    json!({
        "orders": cost.amounts().iter().map(|&amount| view::nats(amount)).collect::<Vec<_>>(),
        "own_delta": view::own_delta(cost.own_delta()),
    })
}
