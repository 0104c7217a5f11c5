//! Errors of PostgreSQL: their text, and whether the connection is lost.

use std::error::Error as _;

use postgres::Error;
use postgres::error::Severity;

/// There is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unreachable {
    /// The error of the operating system or the server.
    pub reason: String,
}

/// The message with its causes, which the library's own message leaves out.
#[must_use]
pub fn sentence(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        sentence.push_str(": ");
        sentence.push_str(&error.to_string());
        cause = error.source();
    }
    sentence
}

/// Whether the connection is lost.
#[must_use]
pub fn is_lost(error: &Error) -> bool {
    error.as_db_error().is_none_or(|error| {
        let severity = error.parsed_severity();
        matches!(severity, None | Some(Severity::Fatal | Severity::Panic))
    })
}
