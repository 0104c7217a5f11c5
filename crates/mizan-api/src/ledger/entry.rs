//! The JSON and text of an entry of the log.

use mizan_ledger::money::{Amount, ClockPrice, ConditionalPrice, Taken, Variance};
use mizan_ledger::{AccountNumber, Body, Budget, Charge, Cost, Entry, Ledger};
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::TargetJson;
use crate::budget::view::{nats, own_delta, target_json, target_text, variance, weight};
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
    /// The limits that enforce the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<EntryLimits>,
    /// The event of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The cost of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<EntryCost>,
    /// What the charge takes from Gaussian clocks.
    #[serde(flatten)]
    pub prices: EntryPrices,
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

/// The prices of a charge on the Gaussian clocks of its chain of accounts.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct EntryPrices {
    /// The price of the charge on a Gaussian clock, if an account of its chain has one and the
    /// event has a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<EntryPrice>,
    /// What it takes from the Gaussian clock of each account, from the charged one up; null
    /// exhausts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Vec<Option<f64>>>,
    /// For each of these accounts the reserved delta that the tail of a plan uses there, besides
    /// the `own_delta` of the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tails: Option<Vec<f64>>,
    /// For each of these accounts the state that its price is for; null if the price holds in
    /// every state.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Option<EntryState>>>)]
    pub states: Option<Vec<Option<EntryState>>>,
    /// A hash of the query that is charged, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// A cost in nats, at the orders of its account; null is unbounded.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryCost {
    /// The cost at each order.
    pub orders: Vec<Option<f64>>,
    /// The reserved delta of the charge, without the tail of a plan.
    pub own_delta: f64,
}

/// The limits of an account, in nats and in variance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryLimits {
    /// The limit at each order of the account; null if it has none.
    pub orders: Vec<Option<f64>>,
    /// The limit on the sum of reserved deltas, with the tails of plans.
    pub own_delta: f64,
    /// The Gaussian clock; null if the account has none.
    pub clock: Option<EntryClock>,
}

/// The Gaussian clock of a budget.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryClock {
    /// The part of delta that it keeps.
    pub weight: f64,
    /// Its variance.
    pub limit: f64,
}

/// The price of a charge on a Gaussian clock.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryPrice {
    /// The reserved delta that it needs besides the variance, for the tail of a plan.
    pub tail: f64,
    /// The prices, from the largest remainder on. The first one that fits is taken.
    pub steps: Vec<EntryPriceStep>,
}

/// The price of a charge if enough is left after it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryPriceStep {
    /// The least variance that must be left after the charge.
    pub remainder: f64,
    /// The variance that it takes then.
    pub variance: f64,
}

/// The state of an account that a price is for: before the charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryState {
    /// The variance that was left.
    pub left: f64,
    /// The sum of the largest losses of all charges, in nats.
    pub losses: f64,
    /// How much more a price that holds in every state would take; null if there is none.
    pub saved: Option<f64>,
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

/// The charge that an entry belongs to, and what it took from clocks: the entries after a reservation
/// do not repeat them.
#[must_use]
pub fn charge(ledger: &Ledger, entry: &Entry) -> Option<(Charge, Box<[Variance]>)> {
    if !matches!(
        entry.body,
        Body::Started | Body::Committed { .. } | Body::Voided
    ) {
        return None;
    }
    let first = ledger.store().places(entry.id).ok()??.first;
    match ledger.entries(first).ok()?.into_iter().next()?.body {
        Body::Reserved { charge, clock } => Some((charge, clock)),
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
        limits: None,
        event: None,
        cost: None,
        prices: EntryPrices::default(),
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
            shown.limits = Some(limits(budget));
        }
        Body::Raised { budget, .. } => {
            shown.target = Some(target_json(budget));
            shown.limits = Some(limits(budget));
        }
        Body::Reserved { charge, clock } => {
            shown.event = Some(charge.event.clone());
            shown.cost = Some(cost(&charge.cost));
            shown.prices = prices(charge, clock);
        }
        Body::Denied { charge, denial } => {
            shown.event = Some(charge.event.clone());
            shown.cost = Some(cost(&charge.cost));
            shown.prices = prices(charge, &[]);
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

/// The prices of a charge, and what it took from the clock of each account.
#[must_use]
pub(super) fn prices(charge: &Charge, clock: &[Variance]) -> EntryPrices {
    let mut prices = EntryPrices {
        price: charge.cost.price().map(price),
        query: charge.query.map(|query| query.to_string()),
        ..EntryPrices::default()
    };
    if !clock.is_empty() {
        let taken = charge.taken_from_clocks(clock);
        let states = charge.conditional.iter().copied();
        let states = taken.iter().zip(states.chain(std::iter::repeat(None)));
        prices.clock = Some(clock.iter().map(|&taken| variance(taken)).collect());
        prices.tails = Some(taken.iter().map(|taken| own_delta(taken.tail)).collect());
        prices.states = Some(states.map(|(taken, price)| state(taken, price?)).collect());
    }
    prices
}

fn limits(budget: &Budget) -> EntryLimits {
    let limit = |limit: &Option<Amount>| limit.and_then(nats);
    EntryLimits {
        orders: budget.limits().iter().map(limit).collect(),
        own_delta: own_delta(budget.reserved_delta()),
        clock: budget.clock().and_then(|clock| {
            Some(EntryClock {
                weight: weight(clock.weight),
                limit: variance(clock.limit)?,
            })
        }),
    }
}

fn price(price: &ClockPrice) -> EntryPrice {
    let step = |(remainder, taken)| {
        Some(EntryPriceStep {
            remainder: variance(remainder)?,
            variance: variance(taken)?,
        })
    };
    EntryPrice {
        tail: own_delta(price.tail()),
        steps: price.by_remainder().filter_map(step).collect(),
    }
}

fn state(taken: &Taken, price: ConditionalPrice) -> Option<EntryState> {
    Some(EntryState {
        left: variance(price.left)?,
        losses: nats(price.losses)?,
        saved: variance(taken.surplus),
    })
}
