//! What a ledger remembers of a request: enough to answer it again.

use crate::log::{Body, Denial, Digest};
use crate::money::{AccountNumber, Cost};
use crate::state::Charge;

/// What is remembered under an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The hash of the request that made it.
    pub request: Digest,
    /// How far it has come.
    pub status: Status,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The ledger began.
    Opened,
    /// This account was created.
    Created(AccountNumber),
    /// The budget of this account was raised.
    Raised(AccountNumber),
    /// A gap was marked.
    Restored,
    /// Reserved; no data was touched.
    Reserved(Reservation),
    /// Data may have been touched. Without a commit it stays charged for ever.
    Started(Reservation),
    /// Settled; the answer may leave, any number of times.
    Released {
        /// The account that was charged.
        account: AccountNumber,
        /// The hash of the commit.
        commit: Digest,
        /// The hash of the answer.
        answer: Digest,
    },
    /// Given back before data was touched.
    Voided(AccountNumber),
    /// Did not fit.
    Denied(Denial),
}

/// A cost that is reserved, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The account that is charged, and all above it.
    pub account: AccountNumber,
    /// What counts as spent until it is settled.
    pub cost: Cost,
}

/// What a request is told, the first time and every time after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The ledger began.
    Opened,
    /// This account was created.
    Created(AccountNumber),
    /// The budget of this account was raised.
    Raised(AccountNumber),
    /// A gap was marked.
    Restored,
    /// Reserved: data may be touched after a start.
    Reserved,
    /// Started: whoever was told first works on it. Nobody starts it again.
    Started,
    /// Settled, with the hash of the answer.
    Released {
        /// The hash of the answer.
        answer: Digest,
    },
    /// Given back.
    Voided,
    /// Did not fit, and never will under this id.
    Denied(Denial),
}

impl Status {
    /// What the request is told.
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

    /// What is reserved and not settled.
    #[must_use]
    pub const fn reservation(&self) -> Option<&Reservation> {
        match self {
            Self::Reserved(held) | Self::Started(held) => Some(held),
            _ => None,
        }
    }
}

impl Record {
    /// What is remembered after an entry with this body, given what was before
    /// under the same id. None if the entry cannot follow.
    #[must_use]
    pub fn after(before: Option<&Self>, body: &Body) -> Option<Self> {
        Self::after_request(before, body, || body.request_digest())
    }

    /// The same, if the hash of the request that became the entry is at hand.
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
            (None, Body::Reserved(Charge { account, cost, .. })) => Status::Reserved(Reservation {
                account: *account,
                cost: cost.clone(),
            }),
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
