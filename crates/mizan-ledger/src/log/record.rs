//! The record of a request id: enough to return the same outcome to a retry.

use crate::log::{Body, Denial, Digest};
use crate::money::{AccountNumber, Cost, Taken, Variance};
use crate::state::Charge;

/// The record of a request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The hash of the first request with this id.
    pub request: Digest,
    /// Its state.
    pub status: Status,
}

/// The state of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The ledger was created.
    Opened,
    /// This account was created.
    Created(AccountNumber),
    /// The budget of this account was raised.
    Raised(AccountNumber),
    /// A gap was recorded.
    Restored,
    /// Reserved; the query has not read data.
    Reserved(Reservation),
    /// The query may have read data. Without a commit it stays charged forever.
    Started(Reservation),
    /// Committed; the answer may be released, any number of times.
    Released {
        /// The account that was charged.
        account: AccountNumber,
        /// The hash of the commit.
        commit: Digest,
        /// The hash of the answer.
        answer: Digest,
    },
    /// Voided before the query read data.
    Voided(AccountNumber),
    /// Denied by the filter.
    Denied(Denial),
}

/// A reserved cost and its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The charged account; its ancestors are charged too.
    pub account: AccountNumber,
    /// The cost that counts as spent until a commit or void, without its price.
    pub cost: Cost,
    /// What it took from the clock of each account of the chain; empty if none has a clock.
    pub clock: Box<[Taken]>,
}

impl Reservation {
    /// What it took from the clock of the account at a level of the chain; see [`Charge::taken`].
    pub(crate) fn taken(&self, level: usize) -> Option<Option<Taken>> {
        if self.clock.is_empty() {
            return Some(None);
        }
        Some(Some(*self.clock.get(level)?))
    }

    fn of(charge: &Charge, clock: &[Variance]) -> Option<Self> {
        let taken = (0..clock.len()).map(|level| charge.taken(clock, level)?);
        Some(Self {
            account: charge.account,
            cost: charge.cost.clone().with_price(None),
            clock: taken.collect::<Option<_>>()?,
        })
    }
}

/// The outcome of a request, the same for every retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The ledger was created.
    Opened,
    /// This account was created.
    Created(AccountNumber),
    /// The budget of this account was raised.
    Raised(AccountNumber),
    /// A gap was recorded.
    Restored,
    /// Reserved: the query may read data after a start.
    Reserved,
    /// Started: the client that received this first runs the query. It cannot be started again.
    Started,
    /// Committed.
    Released {
        /// The hash of the answer.
        answer: Digest,
    },
    /// Voided.
    Voided,
    /// Denied by the filter; the id stays denied.
    Denied(Denial),
}

impl Status {
    /// The outcome that the client receives.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Opened => Outcome::Opened,
            Self::Created(account) => Outcome::Created(*account),
            Self::Raised(account) => Outcome::Raised(*account),
            Self::Restored => Outcome::Restored,
            Self::Reserved(_) => Outcome::Reserved,
            Self::Started(_) => Outcome::Started,
            Self::Released { answer, .. } => Outcome::Released { answer: *answer },
            Self::Voided(_) => Outcome::Voided,
            Self::Denied(denial) => Outcome::Denied(*denial),
        }
    }

    /// The reservation that is not committed or voided.
    #[must_use]
    pub const fn reservation(&self) -> Option<&Reservation> {
        match self {
            Self::Reserved(held) | Self::Started(held) => Some(held),
            _ => None,
        }
    }
}

impl Record {
    /// The record after an entry with this body, given the record before. None if the entry
    /// cannot follow.
    #[must_use]
    pub fn after(before: Option<&Self>, body: &Body) -> Option<Self> {
        Self::after_request(before, body, || body.request_digest())
    }

    /// The same, with the hash of the request that led to the entry.
    pub(crate) fn after_request(
        before: Option<&Self>,
        body: &Body,
        request: impl Fn() -> Digest,
    ) -> Option<Self> {
        let status = match (before.map(|record| &record.status), body) {
            (None, Body::Opened { .. }) => Status::Opened,
            (None, Body::Created { account, .. }) => Status::Created(*account),
            (None, Body::Raised { account, .. }) => Status::Raised(*account),
            (None, Body::Restored { .. }) => Status::Restored,
            (None, Body::Reserved { charge, clock }) => {
                Status::Reserved(Reservation::of(charge, clock)?)
            }
            (None, Body::Denied { denial, .. }) => Status::Denied(*denial),
            (Some(Status::Reserved(held)), Body::Started) => Status::Started(held.clone()),
            (Some(Status::Reserved(held)), Body::Voided) => Status::Voided(held.account),
            (Some(Status::Started(held)), Body::Committed { answer, .. }) => Status::Released {
                account: held.account,
                commit: request(),
                answer: *answer,
            },
            _ => return None,
        };
        let request = match before {
            Some(before) => before.request,
            None => request(),
        };
        Some(Self { request, status })
    }
}
