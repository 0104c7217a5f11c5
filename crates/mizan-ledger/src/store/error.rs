//! Why a store fails or refuses a request.

use std::path::{Path, PathBuf};

use mizan_core::Code;

use crate::log::DecodeError;
use crate::state::RequestError;
use crate::store::MAX_ANSWER_BYTES;

/// Why a store fails or refuses a request. Nothing was written, except that after
/// [`Unknown`](Self::Unknown) it is not known.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The request is invalid.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The file cannot be used: missing, a directory, read-only, a full disk.
    #[error("the ledger cannot be used: {reason}")]
    Unusable {
        /// The error of the operating system.
        reason: String,
    },
    /// The file or database is not a ledger.
    #[error("{path} is not a ledger: {reason}", path = path.display())]
    NotALedger {
        /// The file, or the address of the database.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// The ledger was written by another version.
    #[error("the ledger has format {found}, this program reads format {known}")]
    Format {
        /// The version of the ledger.
        found: i32,
        /// The version that is read.
        known: i32,
    },
    /// An entry was written by another version.
    #[error("entry {position}: {error}")]
    Version {
        /// Its position.
        position: i64,
        /// The version.
        error: DecodeError,
    },
    /// The ledger contradicts itself.
    #[error("the ledger is damaged: {reason}")]
    Damaged {
        /// The contradiction.
        reason: String,
    },
    /// Another process held the write lock for the whole timeout.
    #[error("another process is writing to the ledger")]
    Busy,
    /// This version of SQLite has a known defect.
    #[error("SQLite {version} can corrupt a file that two processes write to")]
    OldSqlite {
        /// Its version.
        version: &'static str,
    },
    /// The commit failed, so it is not known whether the entry is durable.
    #[error("it is not known whether this was written: {reason}")]
    Unknown {
        /// The error of the operating system.
        reason: String,
    },
    /// An earlier write has an unknown outcome, so this handle refuses all requests.
    #[error(
        "the ledger cannot be used: an earlier write may or may not have happened; open it again"
    )]
    Closed,
    /// The text is not the address of a database.
    #[error("the address of the ledger cannot be used: {reason}")]
    Address {
        /// What is wrong with it, without quoting it.
        reason: &'static str,
    },
    /// A setting of the server could lose acknowledged entries.
    #[error("the server has {setting} = {value}, a ledger needs {needed}")]
    Unsafe {
        /// The name of the setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The value that a ledger needs.
        needed: &'static str,
    },
    /// The server is a standby, which cannot be written.
    #[error("the server is a standby")]
    Standby,
    /// The server is too old.
    #[error("the server is PostgreSQL {version}, a ledger needs 12 or newer")]
    OldPostgres {
        /// Its version.
        version: String,
    },
    /// No connection, or it was lost before anything was written.
    #[error("the server cannot be reached: {reason}")]
    Unreachable {
        /// What the system or the server says.
        reason: String,
    },
    /// The database has a ledger already.
    #[error("{place} has a ledger already", place = place.display())]
    Exists {
        /// The database.
        place: PathBuf,
    },
    /// The answer is longer than [`MAX_ANSWER_BYTES`].
    ///
    /// The message does not say how long it is, because that depends on what is released.
    #[error("the answer is longer than {MAX_ANSWER_BYTES} bytes")]
    AnswerTooLong,
}

impl StoreError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Request(error) => error.code(),
            Self::Unusable { .. } => Code::MZ1760,
            Self::NotALedger { .. } => Code::MZ1761,
            Self::Format { .. } => Code::MZ1762,
            Self::Version { error, .. } => error.code(),
            Self::Damaged { .. } => Code::MZ1763,
            Self::Busy => Code::MZ1764,
            Self::OldSqlite { .. } => Code::MZ1765,
            Self::Unknown { .. } => Code::MZ1766,
            Self::AnswerTooLong => Code::MZ1767,
            Self::Address { .. } => Code::MZ1768,
            Self::Unsafe { .. } => Code::MZ1769,
            Self::Standby => Code::MZ1770,
            Self::OldPostgres { .. } => Code::MZ1771,
            Self::Unreachable { .. } => Code::MZ1772,
            Self::Exists { .. } => Code::MZ1773,
            Self::Closed => Code::MZ1774,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Request(error) => error.help(),
            Self::Unusable { .. } => "check the path, its permissions and the space on the disk",
            Self::NotALedger { .. } => "give the place of a ledger that Mizan made, or make one",
            Self::Format { found, known } if *found > *known => {
                "use the version of Mizan that wrote this ledger, or a newer one"
            }
            Self::Format { .. } => {
                "run `mizan init --upgrade` on it, or use the version of Mizan that wrote it"
            }
            Self::Version { error, .. } => error.help(),
            Self::Damaged { .. } => {
                "do not release from it; restore it and compare with a receipt or a checkpoint"
            }
            Self::Busy => "nothing was charged; try again with the same id",
            Self::OldSqlite { .. } => "use SQLite 3.51.3 or newer",
            Self::Unknown { .. } | Self::Closed => {
                "open the ledger again and retry with the same id"
            }
            Self::AnswerTooLong => "keep the answer elsewhere and commit its hash",
            Self::Address { .. } => {
                "write postgres://user:password@host/database, with %40 for an @ in the password"
            }
            Self::Unsafe { .. } => {
                "change it in the configuration of the server, the database or the role"
            }
            Self::Standby => "give the address of the primary server",
            Self::OldPostgres { .. } => "upgrade the server",
            Self::Unreachable { .. } => {
                "this step wrote nothing, and a charge made before stands; check the address and the server, then try again with the same id"
            }
            Self::Exists { .. } => "open that one, or give another database",
        }
    }

    pub(crate) fn unusable(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Unusable {
            reason: format!("{}: {reason}", path.display()),
        }
    }

    /// The error of a handle after a write with an unknown outcome.
    pub(crate) const fn poisoned() -> Self {
        Self::Closed
    }

    /// The error of an entry that cannot be decoded: a newer program reads one of a newer version.
    pub(crate) fn entry(position: i64, error: DecodeError) -> Self {
        match error {
            DecodeError::Version { .. } => Self::Version { position, error },
            _ => Self::damaged(format!("entry {position}: {error}")),
        }
    }

    pub(crate) fn damaged(reason: impl Into<String>) -> Self {
        Self::Damaged {
            reason: reason.into(),
        }
    }
}
