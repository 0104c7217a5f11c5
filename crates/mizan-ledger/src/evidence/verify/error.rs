//! What can be wrong with a ledger.

use mizan_core::{Code, Order};

use crate::ledger::LedgerError;
use crate::state::{ReplayError, RequestError};
use crate::store::StoreError;

/// The first thing that is wrong with a ledger.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// It cannot be read, or contradicts a receipt or a checkpoint.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// An entry cannot follow those before it.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// What is kept beside the log is not what the log leads to.
    #[error("{}{what}", position.map(|p| format!("entry {p}: ")).unwrap_or_default())]
    Wrong {
        /// Where, if it has a place.
        position: Option<u64>,
        /// What.
        what: String,
    },
    /// A charge took less than its event costs.
    #[error(
        "entry {position} took less than `{event}` costs{}",
        order.map(|order| format!(" at order {order}")).unwrap_or_default()
    )]
    Underpriced {
        /// Where.
        position: u64,
        /// The event.
        event: String,
        /// The first order at which it did; None: its reserved delta.
        order: Option<Order>,
    },
    /// The event of a charge cannot be priced.
    #[error("entry {position}: `{event}` cannot be priced: {reason}")]
    NoPrice {
        /// Where.
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
