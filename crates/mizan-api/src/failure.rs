//! The form of all errors: a code, the problem, its place and the remedy.

use std::fmt::Display;

use mizan_accounting::Unsupported;
use mizan_accounting::calibrate::CalibrationError;
use mizan_accounting::divergence::DistributionError;
use mizan_accounting::methods::Refusal;
use mizan_audit::AuditError;
use mizan_core::{Code, DecimalError, EventError, UnitError};
use mizan_engine::{EngineError, QueryError, RegistrationError};
use mizan_ledger::evidence::{TextError, VerifyError};
use mizan_ledger::money::{CostError, NameError};
use mizan_ledger::{BudgetError, LedgerError, RequestError};
use mizan_noise::NoiseError;
use mizan_sql::{CatalogueError, TextSpan};

use crate::words::shortened;

/// The longest message, in characters: a message may quote megabytes of input.
const LONGEST_MESSAGE: usize = 1000;

/// An error for the user.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// The problem.
    pub message: String,
    /// The place, as two lines with a caret.
    pub place: Option<String>,
    /// The place in the query, for clients that draw the caret.
    pub position: Option<Box<TextSpan>>,
    /// The remedy.
    pub help: String,
    /// The id of the charge that was durable before the error.
    pub charged: Option<Box<str>>,
    /// The id of a charge that was voided before the error, while the Gaussian clock keeps what it
    /// took.
    pub clock_keeps: Option<Box<str>>,
}

impl Failure {
    /// An error without a place.
    pub fn new(code: Code, message: impl Display, help: impl Into<String>) -> Self {
        Self {
            code,
            message: shortened(&message.to_string(), LONGEST_MESSAGE),
            place: None,
            position: None,
            help: help.into(),
            charged: None,
            clock_keeps: None,
        }
    }

    /// An error of reading or writing a file.
    #[must_use]
    pub fn file(action: &str, path: &str, error: &std::io::Error) -> Self {
        Self::new(
            Code::MZ0002,
            format!("cannot {action} {path}: {error}"),
            "check the path and its permissions",
        )
    }

    /// The error of a query, with its place if it has one.
    #[must_use]
    pub fn of_query_error(error: &QueryError, sql: &str) -> Self {
        let charged = match error {
            QueryError::AfterCharge { id, .. } | QueryError::NoAnswer { id, .. } => {
                Some(id.to_string().into())
            }
            _ => None,
        };
        let clock_keeps = match error {
            QueryError::VoidedWithClock { id, .. } => Some(id.to_string().into()),
            _ => None,
        };
        Self {
            place: error.refusal().and_then(|refusal| refusal.caret(sql)),
            position: error
                .refusal()
                .and_then(|refusal| refusal.place.map(Box::new)),
            charged,
            clock_keeps,
            ..Self::new(error.code(), error, error.help())
        }
    }

    /// Adds the option that the value was given for.
    #[must_use]
    pub fn of_option(mut self, option: &str) -> Self {
        self.message = format!("{option}: {}", self.message);
        self
    }
}

/// The errors of the libraries all have a `code` and a `help`.
macro_rules! failures {
    ($($Error:ty),*) => {$(
        impl From<$Error> for Failure {
            fn from(error: $Error) -> Self {
                Self::new(error.code(), &error, error.help())
            }
        }
    )*};
}
failures!(
    AuditError,
    BudgetError,
    CatalogueError,
    CostError,
    EngineError,
    LedgerError,
    NameError,
    RegistrationError,
    TextError,
    VerifyError,
    CalibrationError,
    DecimalError,
    DistributionError,
    NoiseError,
    Refusal,
    UnitError,
    Unsupported
);
#[cfg(feature = "ballista")]
failures!(mizan_engine::NodeError);

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        LedgerError::from(error).into()
    }
}

impl From<EventError> for Failure {
    fn from(error: EventError) -> Self {
        let place = error
            .caret()
            .or_else(|| error.path().map(|path| format!("  at {path}")));
        Self {
            place,
            ..Self::new(error.code(), &error, error.help())
        }
    }
}
