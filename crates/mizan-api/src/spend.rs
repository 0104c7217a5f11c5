//! Charges for releases that are made elsewhere.

use mizan_core::{Epsilon, PrivacyEvent};
use mizan_ledger::log::Denial;
use mizan_ledger::money::{Alternative, ClockPrice, RefusalClock, RefusalLine, alternatives};
use mizan_ledger::{Account, AccountView, Cost, Done, Ledger, Outcome, Refusal, RequestId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::books;
use crate::budget::view::{self, GapJson, LogJson, Remaining, log_json, nats, variance};
use crate::failure::Failure;
use crate::number::OrderJson;

/// What to charge. The id of the charge is the header `Idempotency-Key`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"account": "census", "event": "gaussian(20)"}))]
pub struct SpendRequest {
    /// The account.
    pub account: String,
    /// The event, as text or as the text of its JSON form.
    pub event: String,
}

/// A charge and what came of it.
#[derive(Debug)]
pub struct Spend {
    /// What was charged.
    pub event: PrivacyEvent,
    /// What it costs the account.
    pub cost: Cost,
    /// The account after it.
    pub view: AccountView,
    /// The entry in the ledger.
    pub done: Done,
    /// If it was refused: by whom, and what would fit.
    pub refused: Option<Refused>,
}

/// Why a charge was refused.
#[derive(Debug)]
pub struct Refused {
    /// Where it does not fit.
    pub denial: Denial,
    /// The name of that account.
    pub by: String,
    /// What would fit.
    pub fitting: Vec<Alternative>,
}

/// What an event costs by itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CostJson {
    /// Null is without bound.
    pub epsilon: Option<f64>,
    /// At this delta.
    pub delta: f64,
    /// The event.
    pub event: String,
    /// The chance that the release itself fails.
    pub own_delta: f64,
    /// Order by order.
    pub orders: Vec<OrderCost>,
    /// The least variance that it takes from a Gaussian clock; null if it exhausts it.
    pub clock: Option<f64>,
}

/// A cost at an order, in nats; null is without bound.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OrderCost {
    /// The order.
    pub order: OrderJson,
    /// The cost.
    pub epsilon: Option<f64>,
}

/// A charge that was accepted.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SpendAnswer {
    /// A line to keep: it proves the charge.
    pub receipt: String,
    /// The id of the charge.
    pub id: String,
    /// The account.
    pub account: String,
    /// The event.
    pub event: String,
    /// True.
    pub accepted: bool,
    /// Whether it had been charged before under this id, and was not again.
    pub repeated: bool,
    /// What it costs by itself.
    pub spent: CostJson,
    /// What is left.
    pub remaining: Remaining,
    /// About how many more fit.
    pub about_more: u64,
    /// The log.
    pub log: LogJson,
    /// Gaps in the log.
    pub gaps: Vec<GapJson>,
}

/// A charge that was refused. Nothing was charged.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SpendRefused {
    /// False.
    pub accepted: bool,
    /// Whether it had been refused before under this id.
    pub repeated: bool,
    /// A line to keep: it proves the refusal.
    pub receipt: String,
    /// The id.
    pub id: String,
    /// The account that was to be charged.
    pub account: String,
    /// The account that refused: it or one above it.
    pub refused_by: String,
    /// The event.
    pub event: String,
    /// What it would cost by itself.
    pub asked: CostJson,
    /// What is left.
    pub remaining: Remaining,
    /// What would fit instead.
    pub largest_that_fits: Largest,
    /// Order by order, if it was refused just now.
    pub orders: Option<Vec<RefusedOrder>>,
    /// The Gaussian clock, if the account has one and it was refused just now.
    pub clock: Option<RefusedClock>,
    /// Deltas of releases that may themselves fail, if it was refused just now.
    pub own_delta: Option<RefusedOwnDelta>,
    /// The log.
    pub log: LogJson,
    /// Gaps in the log.
    pub gaps: Vec<GapJson>,
}

/// What would fit instead.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Largest {
    /// This part of the cost.
    pub share: f64,
    /// Fewer of the same.
    pub fewer: Option<String>,
    /// The same with more noise.
    pub noisier: Option<String>,
}

/// A refusal at an order, in nats; null is without bound or without a limit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedOrder {
    /// The order.
    pub order: OrderJson,
    /// What was asked.
    pub asked: Option<f64>,
    /// What was taken.
    pub spent: Option<f64>,
    /// What is reserved.
    pub pending: Option<f64>,
    /// What may be taken.
    pub limit: Option<f64>,
}

/// The Gaussian clock in a refusal, in variance; null is without bound.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedClock {
    /// The least that was asked.
    pub asked: Option<f64>,
    /// What was taken.
    pub spent: Option<f64>,
    /// What is reserved.
    pub pending: Option<f64>,
    /// What may be taken.
    pub limit: Option<f64>,
}

/// Deltas of releases that may themselves fail.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedOwnDelta {
    /// What was asked.
    pub asked: f64,
    /// What was taken.
    pub taken: f64,
    /// What may be taken.
    pub limit: f64,
}

impl Spend {
    /// Charges. After this the charge is on the disk, or refused for ever.
    ///
    /// # Errors
    ///
    /// The event has no price, or the id was used for something else.
    pub fn charge(
        ledger: &Ledger,
        account: &AccountView,
        event: PrivacyEvent,
        id: Option<RequestId>,
    ) -> Result<Self, Failure> {
        let number = account.account.number();
        let done = ledger.spend(id, number, &event)?;
        let view = ledger.account(number)?;
        let cost = Cost::of(&event, view.account.orders())?;
        let refused = match done.outcome {
            Outcome::Denied(denial) => Some(Refused {
                denial,
                by: books::name_of(ledger, denial.account),
                fitting: match done.refusal {
                    Some(_) => alternatives(chain(&view), &event),
                    None => Vec::new(),
                },
            }),
            _ => None,
        };
        Ok(Self {
            event,
            cost,
            view,
            done,
            refused,
        })
    }

    /// What the event costs by itself.
    fn cost_json(&self) -> CostJson {
        let account = &self.view.account;
        let delta = view::reading_delta(account);
        let orders = account.orders().iter().zip(self.cost.amounts());
        let orders = orders.map(|(order, &amount)| OrderCost {
            order: OrderJson::of(order.get()),
            epsilon: nats(amount),
        });
        let epsilon = self.cost.epsilon(account.orders(), delta);
        CostJson {
            epsilon: epsilon.map(Epsilon::get),
            delta: delta.get(),
            event: self.event.to_string(),
            own_delta: view::own_delta(self.cost.reserved_delta()),
            orders: orders.collect(),
            clock: (self.cost.price().map(ClockPrice::least)).and_then(variance),
        }
    }

    /// A charge that was accepted, for programs.
    #[must_use]
    pub fn json(&self) -> SpendAnswer {
        SpendAnswer {
            receipt: self.done.receipt.to_string(),
            id: self.done.id.to_string(),
            account: self.view.account.name().as_str().to_owned(),
            event: self.event.to_string(),
            accepted: true,
            repeated: !self.done.fresh,
            spent: self.cost_json(),
            remaining: view::remaining_json(&self.view),
            about_more: self.view.how_many(&self.cost),
            log: log_json(self.done.receipt.head),
            gaps: view::gaps_json(&self.view.gaps),
        }
    }

    /// One that was refused.
    #[must_use]
    pub fn refused_json(&self, refused: &Refused) -> SpendRefused {
        let of = |wanted: fn(&Alternative) -> bool| {
            let found = refused.fitting.iter().find(|similar| wanted(similar));
            found.map(|similar| similar.event().to_string())
        };
        let refusal = self.done.refusal.as_deref();
        SpendRefused {
            accepted: false,
            repeated: !self.done.fresh,
            receipt: self.done.receipt.to_string(),
            id: self.done.id.to_string(),
            account: self.view.account.name().as_str().to_owned(),
            refused_by: refused.by.clone(),
            event: self.event.to_string(),
            asked: self.cost_json(),
            remaining: view::remaining_json(&self.view),
            largest_that_fits: Largest {
                share: view::share(refused.denial.largest),
                fewer: of(|similar| matches!(similar, Alternative::Fewer(_))),
                noisier: of(|similar| matches!(similar, Alternative::Noisier(_))),
            },
            orders: refusal.map(lines),
            clock: refusal.and_then(|refusal| refusal.clock).map(clock),
            own_delta: refusal.map(|refusal| RefusedOwnDelta {
                asked: view::own_delta(refusal.asked_reserved_delta),
                taken: view::own_delta(refusal.taken_reserved_delta),
                limit: view::own_delta(refusal.reserved_delta_limit),
            }),
            log: log_json(self.done.receipt.head),
            gaps: view::gaps_json(&self.view.gaps),
        }
    }
}

/// An account and all above it.
fn chain(view: &AccountView) -> impl Iterator<Item = &Account> + Clone {
    std::iter::once(&view.account).chain(&view.above)
}

fn clock(clock: RefusalClock) -> RefusedClock {
    RefusedClock {
        asked: clock.asked.and_then(variance),
        spent: variance(clock.spent),
        pending: variance(clock.pending),
        limit: variance(clock.limit),
    }
}

fn lines(refusal: &Refusal) -> Vec<RefusedOrder> {
    let line = |line: &RefusalLine| RefusedOrder {
        order: OrderJson::of(line.order.get()),
        asked: nats(line.asked),
        spent: nats(line.spent),
        pending: nats(line.pending),
        limit: line.limit.and_then(nats),
    };
    refusal.lines.iter().map(line).collect()
}
