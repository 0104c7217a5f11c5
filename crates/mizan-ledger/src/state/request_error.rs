//! Why a request is invalid. A charge that does not fit is not an error: it is denied, and the
//! denial is recorded.

use mizan_core::Code;

use crate::log::RequestId;
use crate::money::{AccountNumber, BudgetError, MAX_HEIGHT};
use crate::state::MAX_EVENT_BYTES;

/// Why a request is invalid. It leaves no entry and no record.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The ledger is not created yet.
    #[error("this ledger has not begun")]
    NotOpen,
    /// The ledger is created already.
    #[error("this ledger has begun already")]
    AlreadyOpen,
    /// The id belongs to another request.
    #[error("the id {id} was used before, for another request")]
    IdReused {
        /// The id.
        id: RequestId,
    },
    /// The id has no reservation.
    #[error("nothing is reserved under the id {id}")]
    UnknownId {
        /// The id.
        id: RequestId,
    },
    /// The id does not belong to a charge.
    #[error("this id does not belong to a charge")]
    NotACharge,
    /// No such account.
    #[error("there is no account {account}")]
    UnknownAccount {
        /// Its number.
        account: AccountNumber,
    },
    /// Another account has the name.
    #[error("the name is taken by account {account}")]
    NameTaken {
        /// Its number.
        account: AccountNumber,
    },
    /// The parent account has other orders.
    #[error("the account above keeps other orders")]
    OtherOrders,
    /// The tree of accounts would be deeper than [`MAX_HEIGHT`].
    #[error("at most {MAX_HEIGHT} accounts may stand above each other")]
    TooHigh,
    /// All account numbers are in use.
    #[error("this ledger has no room for another account")]
    TooManyAccounts,
    /// A cost has another number of orders than the account.
    #[error("the cost has {given} orders, the account {expected}")]
    WrongLength {
        /// How many the cost has.
        given: usize,
        /// How many the account has.
        expected: usize,
    },
    /// The text of an event is too long to be stored.
    #[error("the event has {bytes} bytes, at most {MAX_EVENT_BYTES} are stored")]
    EventTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// Guarantees for different neighbouring relations do not compose.
    #[error(
        "account {account} is about other neighbours: poisson adds or removes a person, without-replacement and shuffle replace one"
    )]
    OtherNeighbours {
        /// The account, or one above the one charged.
        account: AccountNumber,
    },
    /// A commit before the start.
    #[error("the charge {id} was not started, so it cannot be committed")]
    NotStarted {
        /// The id.
        id: RequestId,
    },
    /// A second start.
    #[error("the charge {id} was started before and may have touched data")]
    AlreadyStarted {
        /// The id.
        id: RequestId,
    },
    /// A commit above the reservation at some order.
    #[error("the commit of {id} is above its reservation")]
    MoreThanReserved {
        /// The id.
        id: RequestId,
    },
    /// A void after the query may have read data.
    #[error("the charge {id} may have touched data, so it cannot be given back")]
    Touched {
        /// The id.
        id: RequestId,
    },
    /// The charge was voided.
    #[error("the charge {id} was given back")]
    Voided {
        /// The id.
        id: RequestId,
    },
    /// The totals do not follow from the log.
    #[error("account {account} does not hold what was reserved")]
    NotHeld {
        /// The account, or one above the one charged.
        account: AccountNumber,
    },
    /// The charge has a price for one state of an account, whose state has changed since. Without
    /// that price it would be denied, or admitted by an order and exhaust the clock.
    #[error("account {account} has changed since the charge was priced")]
    OutdatedPrice {
        /// The account, or one above the one charged.
        account: AccountNumber,
    },
    /// The budget does not guarantee its target, or is not higher.
    #[error(transparent)]
    Budget(#[from] BudgetError),
}

impl RequestError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotOpen => Code::MZ1730,
            Self::AlreadyOpen => Code::MZ1731,
            Self::IdReused { .. } => Code::MZ1732,
            Self::UnknownId { .. } => Code::MZ1733,
            Self::NotACharge => Code::MZ1734,
            Self::UnknownAccount { .. } => Code::MZ1735,
            Self::NameTaken { .. } => Code::MZ1736,
            Self::OtherOrders => Code::MZ1737,
            Self::TooHigh => Code::MZ1738,
            Self::TooManyAccounts => Code::MZ1739,
            Self::WrongLength { .. } => Code::MZ1740,
            Self::EventTooLong { .. } => Code::MZ1741,
            Self::NotStarted { .. } => Code::MZ1742,
            Self::AlreadyStarted { .. } => Code::MZ1743,
            Self::MoreThanReserved { .. } => Code::MZ1744,
            Self::Touched { .. } => Code::MZ1745,
            Self::Voided { .. } => Code::MZ1746,
            Self::OtherNeighbours { .. } => Code::MZ1747,
            Self::NotHeld { .. } => Code::MZ1748,
            Self::OutdatedPrice { .. } => Code::MZ1753,
            Self::Budget(error) => error.code(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotOpen => "begin with `mizan init`",
            Self::AlreadyOpen => "use the ledger as it is, or begin another file",
            Self::IdReused { .. } => "use a new id for a new request",
            Self::UnknownId { .. } | Self::NotACharge => "reserve first, and use the id of that",
            Self::UnknownAccount { .. } => "`mizan budget list` names the accounts",
            Self::NameTaken { .. } => "choose another name",
            Self::OtherOrders => "leave the orders out: they are those of the account above",
            Self::TooHigh | Self::TooManyAccounts => "use fewer accounts",
            Self::WrongLength { .. } => "compute the cost at the orders of the account",
            Self::EventTooLong { .. } => "charge it in several parts",
            Self::OtherNeighbours { .. } => {
                "keep an account of its own for the other kind of sample"
            }
            Self::NotStarted { .. } => "start the charge, touch the data, then commit",
            Self::AlreadyStarted { .. } => {
                "commit it if its answer is known; otherwise it stays charged, and a new try needs a new id"
            }
            Self::MoreThanReserved { .. } => "reserve the most that may be spent",
            Self::Touched { .. } => {
                "it stays charged; a refund after a failure would be a free query"
            }
            Self::Voided { .. } => "reserve again under a new id",
            Self::NotHeld { .. } => "do not release from this ledger; run `mizan ledger verify`",
            Self::OutdatedPrice { .. } => "nothing was charged; try again with the same id",
            Self::Budget(error) => error.help(),
        }
    }
}
