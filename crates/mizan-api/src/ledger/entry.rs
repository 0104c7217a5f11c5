//! The JSON and text of an entry of the log.

use mizan_ledger::{AccountNumber, Body, Charge, Cost, Entry, Ledger};
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::TargetJson;
use crate::budget::view::{nats, own_delta, target_json, target_text, variance};
use crate::times;
use crate::words::shortened;

/// An entry of the log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryJson {
    /// Its position: the number of entries before it.
    pub position: u64,
    /// Its time.
    pub time: String,
    /// The id that it belongs to.
    pub id: String,
    /// Its kind: opened, created, reserved, denied, started, committed, voided, raised or restored.
    pub kind: String,
    /// The id of the ledger that was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
    /// The account of the entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The parent of an account that was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub parent: Option<Option<String>>,
    /// The target of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetJson>,
    /// The event of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The cost of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<EntryCost>,
    /// What it takes from the Gaussian clock of each account, from the charged one up; null
    /// exhausts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Vec<Option<f64>>>,
    /// The account that refused the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<String>,
    /// The hash of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The number of entries in the newer log, when an older copy was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_size: Option<u64>,
    /// The root of the newer log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_root: Option<String>,
}

/// A cost in nats, at the orders of its account; null is unbounded.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryCost {
    /// The cost at each order.
    pub orders: Vec<Option<f64>>,
    /// The reserved delta of the charge.
    pub own_delta: f64,
}

/// The kind of an entry, in one word.
#[must_use]
pub fn kind(body: &Body) -> &'static str {
    match body {
        Body::Opened { .. } => "opened",
        Body::Created { .. } => "created",
        Body::Reserved { .. } => "reserved",
        Body::Denied { .. } => "denied",
        Body::Started => "started",
        Body::Committed { .. } => "committed",
        Body::Voided => "voided",
        Body::Raised { .. } => "raised",
        Body::Restored { .. } => "restored",
    }
}

/// The account that an entry names.
#[must_use]
pub fn account(body: &Body) -> Option<AccountNumber> {
    match body {
        Body::Created { account, .. } | Body::Raised { account, .. } => Some(*account),
        Body::Reserved { charge, .. } | Body::Denied { charge, .. } => Some(charge.account),
        _ => None,
    }
}

/// The charge that an entry belongs to: the entries after a reservation do not repeat its account
/// and event.
#[must_use]
pub fn charge(ledger: &Ledger, entry: &Entry) -> Option<Charge> {
    if !matches!(
        entry.body,
        Body::Started | Body::Committed { .. } | Body::Voided
    ) {
        return None;
    }
    let first = ledger.store().places(entry.id).ok()??.first;
    match ledger.entries(first).ok()?.into_iter().next()?.body {
        Body::Reserved { charge, .. } => Some(charge),
        _ => None,
    }
}

/// A one-line description of an entry, without its account.
#[must_use]
pub fn about(body: &Body) -> String {
    match body {
        Body::Opened { ledger } => shortened(&format!("ledger {ledger}"), 20),
        Body::Created { budget, .. } | Body::Raised { budget, .. } => target_text(budget),
        Body::Reserved { charge, .. } | Body::Denied { charge, .. } if charge.event.is_empty() => {
            "a cost without an event".to_owned()
        }
        Body::Reserved { charge, .. } | Body::Denied { charge, .. } => charge.event.clone(),
        Body::Restored { size, .. } => format!("a gap: {size} entries were known"),
        Body::Started | Body::Committed { .. } | Body::Voided => String::new(),
    }
}

/// The JSON form of an entry, with the names of accounts.
#[must_use]
pub fn json(position: u64, entry: &Entry, name: &dyn Fn(AccountNumber) -> String) -> EntryJson {
    let mut shown = EntryJson {
        position,
        time: times::exact(entry.unix_ms),
        id: entry.id.to_string(),
        kind: kind(&entry.body).to_owned(),
        ledger: None,
        account: account(&entry.body).map(name),
        parent: None,
        target: None,
        event: None,
        cost: None,
        clock: None,
        refused_by: None,
        answer: None,
        known_size: None,
        known_root: None,
    };
    match &entry.body {
        Body::Opened { ledger } => shown.ledger = Some(ledger.to_string()),
        Body::Created { parent, budget, .. } => {
            shown.parent = Some(parent.map(name));
            shown.target = Some(target_json(budget));
        }
        Body::Raised { budget, .. } => shown.target = Some(target_json(budget)),
        Body::Reserved { charge, clock } => {
            shown.event = Some(charge.event.clone());
            shown.cost = Some(cost(&charge.cost));
            let taken = || clock.iter().map(|&taken| variance(taken)).collect();
            shown.clock = (!clock.is_empty()).then(taken);
        }
        Body::Denied { charge, denial } => {
            shown.event = Some(charge.event.clone());
            shown.cost = Some(cost(&charge.cost));
            shown.refused_by = Some(name(denial.account));
        }
        Body::Committed {
            cost: spent,
            answer,
        } => {
            shown.cost = Some(cost(spent));
            shown.answer = Some(answer.to_string());
        }
        Body::Restored { size, root } => {
            shown.known_size = Some(*size);
            shown.known_root = Some(root.to_string());
        }
        Body::Started | Body::Voided => {}
    }
    shown
}

/// The JSON form of a cost, in nats at the orders of its account.
fn cost(cost: &Cost) -> EntryCost {
    EntryCost {
        orders: cost.amounts().iter().map(|&amount| nats(amount)).collect(),
        own_delta: own_delta(cost.reserved_delta()),
    }
}
