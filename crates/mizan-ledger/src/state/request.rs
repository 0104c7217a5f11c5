//! The requests that a ledger accepts, and their canonical bytes.

use mizan_core::PrivacyEvent;

use crate::log::bytes::Writer;
use crate::log::{Body, Digest, LedgerId};
use crate::money::{
    Account, AccountName, AccountNumber, Amount, Budget, ClockPrice, ConditionalPrice, Cost,
    CostError, DeltaAmount, Neighbours, Orders, Taken, Target, Variance, conditional_prices,
};

/// The longest text of an event that is stored.
pub const MAX_EVENT_BYTES: usize = mizan_core::MAX_TEXT_BYTES;

/// A cost, its event, and the account that pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The charged account; its ancestors are charged too.
    pub account: AccountNumber,
    /// The cost at every order of the account, and its price on the clock. A charge to a chain
    /// without a clock is recorded without a price.
    pub cost: Cost,
    /// The neighbouring relation that the event depends on.
    pub neighbours: Option<Neighbours>,
    /// The text of the event. The verifier computes its cost again.
    pub event: String,
    /// For each account of the chain, from the charged account up to the root, a price that holds
    /// in one state of it only; empty if there is none. It is not part of the bytes that identify
    /// the request.
    pub conditional: Box<[Option<ConditionalPrice>]>,
    /// A hash of the query that is charged, if it is known. A repetition of this query is paid for
    /// whatever was answered since. It is not part of the bytes that identify the request, and is
    /// recorded only if an account of the chain has a clock.
    pub query: Option<Digest>,
}

impl Charge {
    /// The charge of an event to an account.
    ///
    /// # Errors
    ///
    /// Some part of the event has no Rényi curve.
    pub fn of(event: &PrivacyEvent, account: &Account) -> Result<Self, CostError> {
        Self::to(event, account, std::iter::empty())
    }

    /// The charge of an event to an account and its ancestors. It has no price if none of them has a
    /// clock; [`Charge::of`] does not know the ancestors and prices it all the same.
    ///
    /// # Errors
    ///
    /// Some part of the event has no Rényi curve.
    pub fn to<'a>(
        event: &PrivacyEvent,
        account: &'a Account,
        above: impl Iterator<Item = &'a Account> + Clone,
    ) -> Result<Self, CostError> {
        Ok(Self {
            account: account.number(),
            cost: Cost::to(event, account, above)?,
            neighbours: Neighbours::of(event),
            event: event.to_string(),
            conditional: Box::default(),
            query: None,
        })
    }

    /// The same charge with the prices that its event has in the present state of the accounts of
    /// its chain, from the charged account up to the root.
    #[must_use]
    pub fn in_state<'a>(
        self,
        event: &PrivacyEvent,
        chain: impl Iterator<Item = &'a Account>,
    ) -> Self {
        // An event that has a cost can be charged; without prices it only costs more.
        match conditional_prices(&self.cost, event, chain) {
            Some(conditional) => Self {
                conditional,
                ..self
            },
            None => self,
        }
    }

    /// What the charge takes from the clock of the account at a level of its chain, given the
    /// variance that it takes from each. None in the option if no account of the chain has a clock,
    /// and outside of it if there is no such level.
    pub(crate) fn taken(&self, clock: &[Variance], level: usize) -> Option<Option<Taken>> {
        if clock.is_empty() {
            return Some(None);
        }
        let variance = *clock.get(level)?;
        let price = self.cost.price();
        let mut taken = Taken {
            variance,
            ..Taken::default()
        };
        if self.conditional.get(level).is_some_and(Option::is_some) {
            taken.remainder = Variance::EXHAUSTED;
            let anywhere = price.map_or(Variance::EXHAUSTED, ClockPrice::anywhere);
            taken.surplus = match anywhere {
                Variance::EXHAUSTED => Variance::EXHAUSTED,
                anywhere => anywhere.saturating_sub(variance),
            };
        } else if variance != Variance::ZERO && variance != Variance::EXHAUSTED {
            taken.tail = price.map_or(DeltaAmount::ZERO, ClockPrice::tail);
            taken.remainder = price.map_or(Variance::EXHAUSTED, |price| price.remainder(variance));
        }
        Some(Some(taken))
    }
}

/// A request, without its id.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Creates the ledger: the first request, and only the first.
    Open {
        /// Its id.
        ledger: LedgerId,
    },
    /// Creates an account.
    Create {
        /// Its name, unique in the ledger.
        name: AccountName,
        /// Its parent account, which has the same orders.
        parent: Option<AccountNumber>,
        /// The orders of its limits and totals.
        orders: Orders,
        /// Its budget.
        budget: Budget,
    },
    /// Reserves a cost. The query must not read data before this is durable.
    Reserve(Charge),
    /// Announces that the query of a reservation is about to read data.
    Start,
    /// Commits a reservation. The answer must not be released before this is durable.
    Commit {
        /// The cost of the mechanisms that ran, at most the reservation. It must depend on the
        /// data only through released answers.
        cost: Cost,
        /// The hash of the answer, which the store keeps beside the log.
        answer: Digest,
    },
    /// Voids a reservation, as long as its query has not read data.
    Void,
    /// Raises the budget of an account.
    Raise {
        /// The account.
        account: AccountNumber,
        /// The higher budget.
        budget: Budget,
    },
    /// Records that the log was restored although a longer one was known.
    Restore {
        /// The size of the longer log.
        size: u64,
        /// Its root.
        root: Digest,
    },
}

impl Request {
    /// Whether this is the first request of an id, unless it is a retry.
    pub(crate) const fn begins(&self) -> bool {
        !matches!(self, Self::Start | Self::Commit { .. } | Self::Void)
    }

    /// The hash of the canonical bytes; requests with the same id must have the same. The prices
    /// of a charge are not part of it: they follow from the event and the account, and a later
    /// version may find smaller ones.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Writer::default();
        self.write(&mut bytes);
        Digest::of(&[&bytes.finish()])
    }

    fn write(&self, to: &mut Writer) {
        match self {
            Self::Open { ledger } => {
                to.u8(0);
                to.array(ledger.as_bytes());
            }
            Self::Create {
                name,
                parent,
                orders,
                budget,
            } => {
                to.u8(1);
                write_creation(to, name, *parent, orders, budget);
                budget.write_clock(to);
            }
            Self::Reserve(charge) => ask_reserve(to, charge),
            Self::Start => to.u8(4),
            Self::Commit { cost, answer } => ask_commit(to, cost, answer),
            Self::Void => to.u8(6),
            Self::Raise { account, budget } => {
                to.u8(7);
                to.u32(account.get());
                budget.write(to);
                budget.write_clock(to);
            }
            Self::Restore { size, root } => {
                to.u8(8);
                to.u64(*size);
                to.array(root.as_bytes());
            }
        }
    }
}

fn ask_reserve(to: &mut Writer, charge: &Charge) {
    to.u8(2);
    charge.write(to);
}

fn ask_commit(to: &mut Writer, cost: &Cost, answer: &Digest) {
    to.u8(5);
    write_commit(to, cost, answer);
}

impl Body {
    /// The hash of the request that led to this entry, without building the request for the
    /// frequent kinds.
    pub(crate) fn request_digest(&self) -> Digest {
        let mut bytes = Writer::default();
        match self {
            Self::Reserved { charge, .. } => ask_reserve(&mut bytes, charge),
            Self::Committed { cost, answer } => ask_commit(&mut bytes, cost, answer),
            _ => return self.request().digest(),
        }
        Digest::of(&[&bytes.finish()])
    }
}

pub(crate) fn write_creation(
    to: &mut Writer,
    name: &AccountName,
    parent: Option<AccountNumber>,
    orders: &Orders,
    budget: &Budget,
) {
    match parent {
        None => to.u8(0),
        Some(parent) => {
            to.u8(1);
            to.u32(parent.get());
        }
    }
    to.text(name.as_str());
    to.count(orders.len());
    for order in orders.iter() {
        to.u64(order.get().to_bits());
    }
    budget.write(to);
}

pub(crate) fn write_commit(to: &mut Writer, cost: &Cost, answer: &Digest) {
    cost.write(to);
    to.array(answer.as_bytes());
}

impl Charge {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.u32(self.account.get());
        self.cost.write(to);
        to.u8(match self.neighbours {
            None => 0,
            Some(Neighbours::AddOrRemove) => 1,
            Some(Neighbours::Replace) => 2,
        });
        to.text(&self.event);
    }
}

impl Cost {
    pub(crate) fn write(&self, to: &mut Writer) {
        to.count(self.amounts().len());
        for amount in self.amounts() {
            to.u64(amount.pico());
        }
        to.u64(self.reserved_delta().atto());
    }
}

impl Budget {
    pub(crate) fn write(&self, to: &mut Writer) {
        match self.target() {
            Target::Approximate { epsilon, delta } => {
                to.u8(1);
                to.u64(epsilon.get().to_bits());
                to.u64(delta.get().to_bits());
            }
            Target::Pure { epsilon } => {
                to.u8(2);
                to.u64(epsilon.get().to_bits());
            }
            Target::ZeroConcentrated { rho } => {
                to.u8(3);
                to.u64(rho.get().to_bits());
            }
            Target::Curve => to.u8(4),
        }
        to.u64(self.reserved_delta().atto());
        to.count(self.limits().len());
        for (weight, limit) in self.weights().iter().zip(self.limits()) {
            to.u64(weight.atto());
            // Every limit is below an exhausted amount, so that stands for "no limit".
            to.u64(limit.unwrap_or(Amount::EXHAUSTED).pico());
        }
    }

    /// The weight and the limit of the clock; nothing without one.
    pub(crate) fn write_clock(&self, to: &mut Writer) {
        if let Some(clock) = self.clock() {
            to.u64(clock.weight.atto());
            to.u64(clock.limit.femto());
        }
    }
}

/// The steps of a price and its tail; none without one.
pub(crate) fn write_price(to: &mut Writer, price: Option<&ClockPrice>) {
    let steps = price.map_or(&[][..], ClockPrice::steps);
    to.count(steps.len());
    for step in steps {
        to.u8(step.last);
        to.u64(step.price);
    }
    if let Some(price) = price {
        to.u64(price.tail().atto());
    }
}

/// What a charge takes from each clock of a chain, in which states of the accounts, and for which
/// query.
pub(crate) fn write_taken(to: &mut Writer, charge: &Charge, clock: &[Variance]) {
    to.count(clock.len());
    for (level, taken) in clock.iter().enumerate() {
        to.u64(taken.femto());
        match charge.conditional.get(level).copied().flatten() {
            None => to.u8(0),
            Some(state) => {
                to.u8(1);
                to.u64(state.left.femto());
                to.u64(state.losses.pico());
            }
        }
    }
    match charge.query {
        None => to.u8(0),
        Some(query) => {
            to.u8(1);
            to.array(query.as_bytes());
        }
    }
}
