//! The faults that a verification finds.

use mizan_core::{Code, Order};

use crate::ledger::LedgerError;
use crate::state::{ReplayError, RequestError};
use crate::store::StoreError;

/// The first fault of a ledger.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The ledger cannot be read, or contradicts a receipt or a checkpoint.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// An entry cannot follow those before it.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Stored data beside the log does not follow from the log.
    #[error("{}{what}", position.map(|p| format!("entry {p}: ")).unwrap_or_default())]
    Wrong {
        /// The position, if it belongs to an entry.
        position: Option<u64>,
        /// The fault.
        what: String,
    },
    /// A charge is below the cost of its event.
    #[error(
        "entry {position} took less than `{event}` costs{}",
        order.map(|order| format!(" at order {order}")).unwrap_or_default()
    )]
    Underpriced {
        /// The position of the entry.
        position: u64,
        /// The event.
        event: String,
        /// The first order at which it is; None if it is the reserved delta or the clock.
        order: Option<Order>,
    },
    /// The cost of the event of a charge cannot be computed.
    #[error("entry {position}: `{event}` cannot be priced: {reason}")]
    NoPrice {
        /// The position of the entry.
        position: u64,
        /// The event.
        event: String,
        /// Why.
        reason: String,
    },
}

impl From<StoreError> for VerifyError {
    fn from(error: StoreError) -> Self {
        Self::Ledger(error.into())
    }
}

impl From<RequestError> for VerifyError {
    fn from(error: RequestError) -> Self {
        Self::Ledger(error.into())
    }
}

impl VerifyError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Ledger(error) => error.code(),
            Self::Replay(error) => error.code(),
            Self::Wrong { .. } => Code::MZ1788,
            Self::Underpriced { .. } | Self::NoPrice { .. } => Code::MZ1789,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Ledger(error) => return error.help(),
            Self::Replay(error) => error.help(),
            Self::Wrong { .. } => {
                "do not release from this ledger; restore it and compare with a receipt or a checkpoint"
            }
            Self::Underpriced { .. } | Self::NoPrice { .. } => {
                "its account may have promised too much: charge what is missing, and ask who wrote the entry"
            }
        }
        .to_owned()
    }

    pub(super) fn at(position: u64, what: impl Into<String>) -> Self {
        Self::Wrong {
            position: Some(position),
            what: what.into(),
        }
    }

    pub(super) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong {
            position: None,
            what: what.into(),
        }
    }
}
