//! What can be asked of a ledger.

use mizan_core::PrivacyEvent;

use crate::log::bytes::Writer;
use crate::log::{Body, Digest, LedgerId};
use crate::money::{
    Account, AccountName, AccountNumber, Amount, Budget, Cost, CostError, Neighbours, Orders,
    Target,
};

/// The longest text of an event that is stored.
pub const MAX_EVENT_BYTES: usize = mizan_core::MAX_TEXT_BYTES;

/// A cost, the account it is for, and what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The account that is charged, and all above it.
    pub account: AccountNumber,
    /// How much, at every order of the account.
    pub cost: Cost,
    /// Which neighbours it insists on.
    pub neighbours: Option<Neighbours>,
    /// The event, as people write it; an auditor prices it again.
    pub event: String,
}

impl Charge {
    /// What an event costs an account.
    ///
    /// # Errors
    ///
    /// Some part of the event has no Rényi curve.
    pub fn of(event: &PrivacyEvent, account: &Account) -> Result<Self, CostError> {
        Ok(Self {
            account: account.number(),
            cost: Cost::of(event, account.orders())?,
            neighbours: Neighbours::of(event),
            event: event.to_string(),
        })
    }
}

/// A request, without its id.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Begins a ledger: the first request, and only the first.
    Open {
        /// What it is called.
        ledger: LedgerId,
    },
    /// Creates an account.
    Create {
        /// Its name, which no other account has.
        name: AccountName,
        /// The account above it, whose orders it shares.
        parent: Option<AccountNumber>,
        /// The orders at which its books are kept.
        orders: Orders,
        /// What may be taken.
        budget: Budget,
    },
    /// Reserves a cost. Nothing may touch data before this is durable.
    Reserve(Charge),
    /// Says that data is about to be touched under a reservation.
    Start,
    /// Settles a reservation. No answer may leave before this is durable.
    Commit {
        /// What was spent: the cost of what really ran. It must not be chosen
        /// by looking at the data other than through the answers themselves.
        cost: Cost,
        /// The hash of the answer, which the store keeps beside the log.
        answer: Digest,
    },
    /// Gives a reservation back, as long as no data was touched.
    Void,
    /// Raises the budget of an account.
    Raise {
        /// The account.
        account: AccountNumber,
        /// The higher budget.
        budget: Budget,
    },
    /// Says that the log was restored although a longer one was known.
    Restore {
        /// How many entries the longer one had.
        size: u64,
        /// Its root.
        root: Digest,
    },
}

impl Request {
    /// Whether it begins something, under an id that is new unless it is a retry.
    pub(crate) const fn begins(&self) -> bool {
        !matches!(self, Self::Start | Self::Commit { .. } | Self::Void)
    }

    /// What tells bodies apart: the hash of the canonical bytes of the request.
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
            }
            Self::Reserve(charge) => ask_reserve(to, charge),
            Self::Start => to.u8(4),
            Self::Commit { cost, answer } => ask_commit(to, cost, answer),
            Self::Void => to.u8(6),
            Self::Raise { account, budget } => {
                to.u8(7);
                to.u32(account.get());
                budget.write(to);
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
    /// The hash of the request that this is the outcome of; without making that
    /// request, where there are many.
    pub(crate) fn request_digest(&self) -> Digest {
        let mut bytes = Writer::default();
        match self {
            Self::Reserved(charge) => ask_reserve(&mut bytes, charge),
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
            // No limit is as large as an exhausted amount, so that stands for none.
            to.u64(limit.unwrap_or(Amount::EXHAUSTED).pico());
        }
    }
}
