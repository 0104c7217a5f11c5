//! Why a query has no answer.

use mizan_core::Code;
use mizan_ledger::money::{CostError, NameError};
use mizan_ledger::store::StoreError;
use mizan_ledger::{LedgerError, RequestError, RequestId};
use mizan_sql::Refusal;

use super::NoAnswerReason;
use crate::engine::EngineError;
use crate::release::ReleaseError;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The query cannot be answered with differential privacy.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// The query cannot be answered with this budget or accuracy.
    #[error("{0}")]
    Release(#[from] ReleaseError),
    /// The data cannot be read.
    #[error("{0}")]
    Engine(#[from] EngineError),
    /// The ledger cannot be read or written.
    #[error("{0}")]
    Ledger(#[from] LedgerError),
    /// The cost cannot be computed.
    #[error("{0}")]
    Cost(#[from] CostError),
    /// The account name in the catalogue is not valid.
    #[error("{0}")]
    Name(#[from] NameError),
    /// The ledger does not have the account of a dataset.
    #[error("the ledger has no account {account}, which this dataset is charged to")]
    NoAccount {
        /// Its name.
        account: String,
    },
    /// The plan reads a dataset that is not private or not in the catalogue.
    #[error("the dataset is not in the catalogue")]
    NoDataset,
    /// The target of the account has no epsilon to take a tenth of.
    #[error("the target of the account has no epsilon to take a tenth of")]
    NoUsual,
    /// Bounds were requested for a column that is not numeric.
    #[error("{column} is not a numeric column, so it has no bounds")]
    NotNumeric {
        /// The column.
        column: String,
    },
    /// The noise is larger than the counts: no bounds can be chosen.
    #[error("no bounds can be distinguished from the noise; the search was charged")]
    NoBounds,
    /// The data owner settled the charge, so it has no answer and never will.
    #[error("the charge {id} was settled without an answer")]
    Settled {
        /// Its id.
        id: RequestId,
    },
    /// The charge is spent and has no answer, which was decided after noise may have been drawn.
    #[error("{}", match reason {
        NoAnswerReason::TooLarge => "the answer is too large for the ledger",
        NoAnswerReason::Failed => "the release failed after the charge",
    })]
    NoAnswer {
        /// The id of the charge.
        id: RequestId,
        /// Why.
        reason: NoAnswerReason,
    },
    /// The query failed before it read data. Its charge was voided, but the Gaussian clock keeps what
    /// it took.
    #[error("{error}; the charge {id} was voided, but the Gaussian clock keeps its variance")]
    VoidedWithClock {
        /// The id of the charge.
        id: RequestId,
        /// Why.
        error: Box<QueryError>,
    },
    /// The query failed after its charge became durable.
    #[error("{error}")]
    AfterCharge {
        /// The id of the charge.
        id: RequestId,
        /// Why.
        error: Box<QueryError>,
    },
}

impl From<RequestError> for QueryError {
    fn from(error: RequestError) -> Self {
        Self::Ledger(LedgerError::Store(StoreError::Request(error)))
    }
}

impl QueryError {
    /// The same error, marked as one that happened after the charge.
    pub(crate) fn after_charge(self, id: RequestId) -> Self {
        Self::AfterCharge {
            id,
            error: Box::new(self),
        }
    }

    /// The same error, marked as one whose charge was voided while the clock keeps what it took.
    pub(super) fn voided_with_clock(self, id: RequestId) -> Self {
        Self::VoidedWithClock {
            id,
            error: Box::new(self),
        }
    }

    /// A stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(refusal) => refusal.code(),
            Self::Release(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::Ledger(error) => error.code(),
            Self::Cost(error) => error.code(),
            Self::Name(error) => error.code(),
            Self::NoAccount { .. } => Code::MZ1990,
            Self::NoDataset => Code::MZ1991,
            Self::NoUsual => Code::MZ1992,
            Self::NotNumeric { .. } => Code::MZ1995,
            Self::NoBounds => Code::MZ1996,
            Self::Settled { .. } => Code::MZ1997,
            Self::NoAnswer {
                reason: NoAnswerReason::TooLarge,
                ..
            } => Code::MZ1767,
            Self::NoAnswer {
                reason: NoAnswerReason::Failed,
                ..
            } => Code::MZ1998,
            Self::VoidedWithClock { error, .. } | Self::AfterCharge { error, .. } => error.code(),
        }
    }

    /// What the analyst or the data owner can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.help(),
            Self::Release(error) => error.help(),
            Self::Engine(error) => error.help(),
            Self::Ledger(error) => error.help(),
            Self::Cost(error) => error.help(),
            Self::Name(error) => error.help().to_owned(),
            Self::NoAccount { account } => {
                format!(
                    "create it with `mizan budget create {account} ...`, or name the right ledger"
                )
            }
            Self::NoDataset => "see the datasets with `mizan dataset list`".to_owned(),
            Self::NoUsual => "say how much to spend with --epsilon".to_owned(),
            Self::NotNumeric { .. } => {
                "name a column of integers or numbers; see `mizan dataset show`".to_owned()
            }
            Self::NoBounds => "spend more with --epsilon, or declare bounds".to_owned(),
            Self::Settled { .. } => {
                "send the query without an --id, or with a new one: that is a new charge".to_owned()
            }
            Self::NoAnswer { id, reason } => {
                let next = match reason {
                    NoAnswerReason::TooLarge => "ask for fewer groups or columns",
                    NoAnswerReason::Failed => "tell the operator",
                };
                format!(
                    "{next}; the charge {id} is spent in full, and asking the same again returns this error at no cost"
                )
            }
            Self::VoidedWithClock { error, .. } => format!(
                "{}; that is a new charge, and the voided one counts on the clock as if it had been answered",
                error.help()
            ),
            Self::AfterCharge { id, error }
                if matches!(**error, Self::Engine(EngineError::Changed { .. })) =>
            {
                format!(
                    "{}: that is another query with its own charge; the charge {id} stands, because its data may have been read",
                    error.help()
                )
            }
            Self::AfterCharge { id, error }
                if matches!(
                    **error,
                    Self::Engine(EngineError::Disconnected | EngineError::TimedOut { .. })
                ) =>
            {
                format!(
                    "{}; the charge {id} stands: send the same query again to continue at no cost (with the same --id, or if nothing was written to the server since and it was not restarted)",
                    error.help()
                )
            }
            // The ledger's own help text is about its last request only.
            Self::AfterCharge { id, error } if matches!(**error, Self::Ledger(_)) => {
                let next = match **error {
                    Self::Ledger(LedgerError::Store(
                        StoreError::Unreachable { .. } | StoreError::Unknown { .. },
                    )) => "check the server of the ledger".to_owned(),
                    Self::Ledger(LedgerError::Store(StoreError::Busy)) => {
                        "wait until other requests are done".to_owned()
                    }
                    _ => error.help(),
                };
                format!(
                    "{next}; the charge {id} stands: send the same query again (same --id, or unchanged data) to continue at no cost"
                )
            }
            Self::AfterCharge { id, error } => format!(
                "{}; the charge {id} stands: send the same query again (same --id, or unchanged data) to continue at no cost",
                error.help()
            ),
        }
    }

    /// The refusal of the query, if this error is one.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }
}
