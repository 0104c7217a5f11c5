//! What every error looks like: a code, what is wrong, where, and what to do.

use std::fmt::Display;
use std::process::ExitCode;

use mizan_accounting::Unsupported;
use mizan_accounting::account::Refusal;
use mizan_accounting::calibrate::CalibrationError;
use mizan_accounting::divergence::DistributionError;
use mizan_audit::AuditError;
use mizan_core::{DecimalError, EventError, UnitError};
use mizan_engine::{EngineError, QuestionError};
use mizan_ledger::{BudgetError, CostError, LedgerError, NameError, TextError, VerifyError};
use mizan_noise::NoiseError;
use mizan_sql::CatalogueError;
use serde_json::json;

use crate::cli::Format;

/// Nobody reads more; what was typed may be megabytes.
const LONGEST_MESSAGE: usize = 1000;

/// An error on its way to the person.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    /// The place, as two lines with a caret.
    place: Option<String>,
    help: String,
}

impl Failure {
    pub(crate) fn new(code: &'static str, message: impl Display, help: impl Into<String>) -> Self {
        Self {
            code,
            message: crate::output::shortened(&message.to_string(), LONGEST_MESSAGE),
            place: None,
            help: help.into(),
        }
    }

    /// A command line that does not parse.
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let rendered = error.render().to_string();
        let message = rendered.strip_prefix("error: ").unwrap_or(&rendered);
        let message = message
            .split("\n\nFor more information")
            .next()
            .unwrap_or(message);
        Self::new(
            "MZ0001",
            message.trim_end(),
            "see `mizan --help`, or `mizan COMMAND --help`",
        )
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(action: &str, path: &str, error: &std::io::Error) -> Self {
        Self::new(
            "MZ0002",
            format!("cannot {action} {path}: {error}"),
            "check the path and its permissions",
        )
    }

    /// A question without an answer, with its place if it has one.
    pub(crate) fn of_question(error: &QuestionError, sql: &str) -> Self {
        Self {
            place: error.refusal().and_then(|refusal| refusal.caret(sql)),
            ..Self::new(error.code(), error, error.help())
        }
    }

    /// Says what the value was meant for.
    pub(crate) fn of_option(mut self, option: &str) -> Self {
        self.message = format!("{option}: {}", self.message);
        self
    }

    pub(crate) fn show(&self, format: Format) -> String {
        match format {
            Format::Text => {
                let place = self
                    .place
                    .as_ref()
                    .map(|place| format!("{place}\n"))
                    .unwrap_or_default();
                format!(
                    "error[{}]: {}\n{place}help: {}\n",
                    self.code, self.message, self.help
                )
            }
            Format::Json => {
                let error = json!({"code": self.code, "message": self.message, "place": self.place, "help": self.help});
                format!("{}\n", json!({ "error": error }))
            }
        }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(2)
    }
}

/// The errors of the libraries all have `code` and `help`.
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
