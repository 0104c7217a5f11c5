//! Translates errors of PostgreSQL before a commit.

use ::postgres::Error;
use ::postgres::error::SqlState;
use mizan_postgres::{is_lost, sentence};

use crate::store::StoreError;

/// There is no connection.
pub(super) fn unreachable(error: &Error) -> StoreError {
    StoreError::Unreachable {
        reason: sentence(error),
    }
}

/// The store error of an error before a commit.
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
        // A duplicate row, a row that a trigger protects, or an unreadable page.
        Some(
            &SqlState::UNIQUE_VIOLATION
            | &SqlState::RAISE_EXCEPTION
            | &SqlState::DATA_CORRUPTED
            | &SqlState::INDEX_CORRUPTED,
        ) => StoreError::Damaged { reason },
        _ => StoreError::Unusable { reason },
    }
}
