//! Charges for releases that another program makes.

use mizan_core::{Epsilon, PrivacyEvent};
use mizan_ledger::ledger::FittingCount;
use mizan_ledger::log::Denial;
use mizan_ledger::money::{Alternative, ClockPrice, RefusalClock, RefusalLine, alternatives};
use mizan_ledger::{AccountView, Charge, Done, Ledger, Outcome, Refusal, RequestId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::budget::view::{self, GapJson, LogJson, Remaining, log_json, nats, variance};
use crate::failure::Failure;
use crate::lookup;
use crate::number::OrderJson;

/// A charge. Its id is the header `Idempotency-Key`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"account": "census", "event": "gaussian(20)"}))]
pub struct SpendRequest {
    /// The account.
    pub account: String,
    /// The event, as text or as the text of its JSON form.
    pub event: String,
}

/// A charge and its outcome.
#[derive(Debug)]
pub struct Spend {
    /// The event.
    pub event: PrivacyEvent,
    /// The charge of the event to the account, as it would be now.
    pub charge: Charge,
    /// The account after the charge.
    pub view: AccountView,
    /// The entry in the ledger.
    pub done: Done,
    /// The refusal, if the charge was refused.
    pub refused: Option<Refused>,
}

/// A refusal of a charge.
#[derive(Debug)]
pub struct Refused {
    /// The account and orders where it does not fit.
    pub denial: Denial,
    /// The name of that account.
    pub by: String,
    /// Smaller charges that would fit.
    pub fitting: Vec<Alternative>,
}

/// The cost of an event by itself.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CostJson {
    /// The epsilon; null is unbounded.
    pub epsilon: Option<f64>,
    /// The delta of the epsilon.
    pub delta: f64,
    /// The event.
    pub event: String,
    /// The reserved delta that it needs.
    pub own_delta: f64,
    /// The cost at each order.
    pub orders: Vec<OrderCost>,
    /// The least variance that it takes from a Gaussian clock; null if it exhausts it.
    pub clock: Option<f64>,
}

/// A cost at an order, in nats; null is unbounded.
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
    /// The receipt, which proves the charge.
    pub receipt: String,
    /// The id of the charge.
    pub id: String,
    /// The account.
    pub account: String,
    /// The event.
    pub event: String,
    /// Always true.
    pub accepted: bool,
    /// Whether it had been charged before under this id and was not charged again.
    pub repeated: bool,
    /// The cost of the event by itself.
    pub spent: CostJson,
    /// The remaining budget.
    pub remaining: Remaining,
    /// About how many more charges of the event fit.
    pub about_more: u64,
    /// Whether more than that may fit.
    pub about_more_at_least: bool,
    /// Size and root of the log.
    pub log: LogJson,
    /// The gaps in the log.
    pub gaps: Vec<GapJson>,
}

/// A charge that was refused. Nothing was charged.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SpendRefused {
    /// Always false.
    pub accepted: bool,
    /// Whether it had been refused before under this id.
    pub repeated: bool,
    /// The receipt, which proves the refusal.
    pub receipt: String,
    /// The id of the request.
    pub id: String,
    /// The account that should have paid.
    pub account: String,
    /// The account that refused: this one or one above it.
    pub refused_by: String,
    /// The event.
    pub event: String,
    /// The cost of the event by itself.
    pub asked: CostJson,
    /// The remaining budget.
    pub remaining: Remaining,
    /// Smaller charges that would fit.
    pub largest_that_fits: Largest,
    /// The amounts at each order; null if the charge was refused before.
    pub orders: Option<Vec<RefusedOrder>>,
    /// The Gaussian clock; null if the account has none, or if the charge was refused before.
    pub clock: Option<RefusedClock>,
    /// The reserved delta; null if the charge was refused before.
    pub own_delta: Option<RefusedOwnDelta>,
    /// Size and root of the log.
    pub log: LogJson,
    /// The gaps in the log.
    pub gaps: Vec<GapJson>,
}

/// Smaller charges that would fit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Largest {
    /// The share of the cost that fits.
    pub share: f64,
    /// The same event with fewer repetitions.
    pub fewer: Option<String>,
    /// The same event with more noise.
    pub noisier: Option<String>,
}

/// The amounts at an order of a refused charge, in nats; null is unbounded or without a limit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedOrder {
    /// The order.
    pub order: OrderJson,
    /// The cost.
    pub asked: Option<f64>,
    /// The amount that is spent.
    pub spent: Option<f64>,
    /// The amount of open reservations.
    pub pending: Option<f64>,
    /// The limit.
    pub limit: Option<f64>,
}

/// The Gaussian clock in a refusal, in variance; null is unbounded.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedClock {
    /// The least variance that the charge takes, however much is left; null if it has no price.
    pub asked: Option<f64>,
    /// The variance that it takes of what is left; if it does not fit, the least that would have
    /// to be left. Null if it has no price.
    pub needed: Option<f64>,
    /// Whether what is left pays for it. Then the charge was refused because of the reserved delta.
    pub fits: bool,
    /// The reserved delta that this price needs besides `own_delta`, for the tail of a plan.
    pub tail: f64,
    /// The variance that is spent.
    pub spent: Option<f64>,
    /// The variance that is reserved.
    pub pending: Option<f64>,
    /// The limit.
    pub limit: Option<f64>,
}

/// The reserved delta of a refused charge.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedOwnDelta {
    /// The amount that the charge needs, without the tail of `clock`.
    pub asked: f64,
    /// The amount that is spent.
    pub taken: f64,
    /// The total amount.
    pub limit: f64,
}

impl Spend {
    /// Charges an event. Afterwards the charge is durable, or refused forever.
    ///
    /// # Errors
    ///
    /// The cost of the event is unknown, or the id was used for another charge.
    pub fn charge(
        ledger: &Ledger,
        account: &AccountView,
        event: PrivacyEvent,
        id: Option<RequestId>,
    ) -> Result<Self, Failure> {
        let number = account.account.number();
        let done = ledger.spend(id, number, &event)?;
        let view = ledger.account(number)?;
        let charge = ledger.price(number, &event)?;
        let refused = match done.outcome {
            Outcome::Denied(denial) => Some(Refused {
                denial,
                by: lookup::name_of(ledger, denial.account),
                fitting: match done.refusal {
                    Some(_) => alternatives(view.chain(), &event),
                    None => Vec::new(),
                },
            }),
            _ => None,
        };
        Ok(Self {
            event,
            charge,
            view,
            done,
            refused,
        })
    }

    /// How many more charges of the event fit.
    #[must_use]
    pub fn more(&self) -> FittingCount {
        self.view.how_many(&self.charge)
    }

    /// The cost of the event by itself as JSON.
    fn cost_json(&self) -> CostJson {
        let (account, cost) = (&self.view.account, &self.charge.cost);
        let delta = view::reading_delta(account);
        let orders = account.orders().iter().zip(cost.amounts());
        let orders = orders.map(|(order, &amount)| OrderCost {
            order: OrderJson::of(order.get()),
            epsilon: nats(amount),
        });
        let epsilon = cost.epsilon(account.orders(), delta);
        CostJson {
            epsilon: epsilon.map(Epsilon::get),
            delta: delta.get(),
            event: self.event.to_string(),
            own_delta: view::own_delta(cost.reserved_delta()),
            orders: orders.collect(),
            clock: (cost.price().map(ClockPrice::least)).and_then(variance),
        }
    }

    /// The JSON form of an accepted charge.
    #[must_use]
    pub fn json(&self) -> SpendAnswer {
        let more = self.more();
        SpendAnswer {
            receipt: self.done.receipt.to_string(),
            id: self.done.id.to_string(),
            account: self.view.account.name().as_str().to_owned(),
            event: self.event.to_string(),
            accepted: true,
            repeated: !self.done.fresh,
            spent: self.cost_json(),
            remaining: view::remaining_json(&self.view),
            about_more: more.count,
            about_more_at_least: more.at_least,
            log: log_json(self.done.receipt.head),
            gaps: view::gaps_json(&self.view.gaps),
        }
    }

    /// The JSON form of a refused charge.
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
            clock: refusal.and_then(|refusal| refusal.clock).map(clock_json),
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

/// The clock of a refusal as JSON.
pub(crate) fn clock_json(clock: RefusalClock) -> RefusedClock {
    RefusedClock {
        asked: clock.asked.and_then(variance),
        needed: clock.needed.and_then(variance),
        fits: clock.fits,
        tail: view::own_delta(clock.tail),
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
