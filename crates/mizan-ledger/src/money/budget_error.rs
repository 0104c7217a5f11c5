//! Why a budget is refused.

use mizan_core::{Code, Order};

use crate::money::{AmountError, DeltaAmount};

/// Why a target has no limits, or limits do not guarantee their target.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// No order has a limit above zero.
    #[error("nothing could ever be charged to this budget: no order has a limit above 0")]
    NothingFits,
    /// The reserved delta leaves nothing of δ.
    #[error("a reserved delta of {reserved_delta} leaves nothing of the delta of this budget")]
    ReservedDeltaTooLarge {
        /// The reserved delta.
        reserved_delta: DeltaAmount,
    },
    /// A limit at an order that the account does not have.
    #[error("the account does not keep order {order}")]
    UnknownOrder {
        /// The order.
        order: Order,
    },
    /// A raised budget is lower at some order.
    #[error("the new budget is not higher at every order")]
    NotHigher,
    /// A raised budget is of another kind.
    #[error("a budget can only be raised to one of the same kind, with the same weights")]
    OtherKind,
    /// Stored limits are above what their target allows.
    #[error("the limits do not keep the target of the budget")]
    Unsound,
    /// Not a finite number.
    #[error(transparent)]
    Amount(#[from] AmountError),
}

impl BudgetError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NothingFits => Code::MZ1710,
            Self::ReservedDeltaTooLarge { .. } => Code::MZ1711,
            Self::UnknownOrder { .. } => Code::MZ1712,
            Self::NotHigher => Code::MZ1713,
            Self::OtherKind => Code::MZ1714,
            Self::Unsound => Code::MZ1715,
            Self::Amount(error) => error.code(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NothingFits => "give a larger epsilon or delta, or larger orders",
            Self::ReservedDeltaTooLarge { .. } => "set less of delta aside, and keep delta below 1",
            Self::UnknownOrder { .. } => "create the account with that order, or leave it out",
            Self::NotHigher => {
                "raise epsilon and delta, never lower one of them; a larger reserved delta needs a \
                 larger delta"
            }
            Self::OtherKind => "create a new account for another kind of promise",
            Self::Unsound => "do not trust this ledger; verify a copy of it",
            Self::Amount(error) => error.help(),
        }
    }
}
