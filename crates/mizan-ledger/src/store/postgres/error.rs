//! What an error of PostgreSQL means here, as long as nothing was committed.

use std::error::Error as _;

use ::postgres::Error;
use ::postgres::error::{Severity, SqlState};

use crate::store::StoreError;

/// The whole story: the library's own sentences leave out the cause.
pub(super) fn sentence(error: &Error) -> String {
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

/// Whether the connection is of no more use.
pub(super) fn is_lost(error: &Error) -> bool {
    error.as_db_error().is_none_or(|error| {
        let severity = error.parsed_severity();
        matches!(severity, None | Some(Severity::Fatal | Severity::Panic))
    })
}

/// There is no connection.
pub(super) fn unreachable(error: &Error) -> StoreError {
    StoreError::Unreachable {
        reason: sentence(error),
    }
}

/// What an error before a commit means.
pub(super) fn failed(error: &Error) -> StoreError {
    if is_lost(error) {
        return unreachable(error);
    }
    let reason = sentence(error);
    match error.code() {
        Some(
            &SqlState::LOCK_NOT_AVAILABLE
            | &SqlState::T_R_DEADLOCK_DETECTED
            | &SqlState::T_R_SERIALIZATION_FAILURE,
        ) => StoreError::Busy,
        // A row that should not be there, one that a trigger protects, or a
        // page that cannot be read.
        Some(
            &SqlState::UNIQUE_VIOLATION
            | &SqlState::RAISE_EXCEPTION
            | &SqlState::DATA_CORRUPTED
            | &SqlState::INDEX_CORRUPTED,
        ) => StoreError::Damaged { reason },
        _ => StoreError::Unusable { reason },
    }
}
