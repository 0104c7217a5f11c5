//! Why a ledger cannot be opened, or a request fails.

use std::fmt;
use std::path::{Path, PathBuf};

use mizan_core::Code;

use crate::evidence::TextError;
use crate::log::LedgerId;
use crate::money::CostError;
use crate::state::RequestError;
use crate::store::StoreError;

/// Why a ledger cannot be opened, or a request fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// The store failed, or refused the request.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The event has no cost.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A receipt, key or checkpoint is malformed.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The ledger is an old copy.
    #[error(
        "this ledger has {size} entries, but {known} were written on this machine: it is an old copy, and what was spent since is missing from it"
    )]
    Behind {
        /// The size of the log.
        size: u64,
        /// The size in the high-water mark.
        known: u64,
        /// The file of the mark.
        mark: PathBuf,
    },
    /// The ledger is a second copy, or an old copy with new entries.
    #[error(
        "the first {known} entries of this ledger are not those that were written on this machine: two copies of it were used, and neither knows what the other spent"
    )]
    Forked {
        /// The size in the high-water mark.
        known: u64,
        /// The file of the mark.
        mark: PathBuf,
    },
    /// The high-water mark is damaged or of another ledger.
    #[error("the high-water mark {} cannot be used: {reason}", mark.display())]
    BadMark {
        /// The file of the mark.
        mark: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// There is no state directory.
    #[error("there is no directory for the high-water marks and keys of ledgers")]
    NoStateDir,
    /// The state directory cannot be used.
    #[error("what is known of this ledger cannot be kept: {reason}")]
    StateDir {
        /// The error of the operating system.
        reason: String,
    },
    /// There is no signing key.
    #[error("there is no signing key {}", key.display())]
    KeyMissing {
        /// The expected file.
        key: PathBuf,
    },
    /// Other users can read the signing key.
    #[error("others than its owner may read the signing key {}", key.display())]
    KeyShared {
        /// The file of the key.
        key: PathBuf,
    },
    /// The ledger was opened for reading.
    #[error("this ledger was opened for reading only")]
    ReadOnly,
    /// A receipt or checkpoint belongs to another ledger.
    #[error("this is about the ledger {found}, not about {ledger}")]
    OtherLedger {
        /// The id of this ledger.
        ledger: LedgerId,
        /// The id in the receipt or checkpoint.
        found: LedgerId,
    },
    /// The log does not extend a receipt or checkpoint.
    #[error(
        "the log does not begin with the {size} entries that this was given for: entries were changed or taken away"
    )]
    NotExtended {
        /// The size of the log of the receipt or checkpoint.
        size: u64,
    },
    /// A checkpoint was signed with another key.
    #[error("this checkpoint was not signed with the key of the ledger")]
    BadSignature,
    /// A query is not charged before the owner has looked at those that failed.
    #[error(
        "{count} queries failed after their charge to the account, or to one above it, and queries are refused from {} on",
        crate::evidence::MAX_UNANSWERED
    )]
    TooManyUnanswered {
        /// How many failed.
        count: usize,
    },
    /// Too many queries run, and each could fail.
    #[error(
        "{} queries run under this ledger, which is the most",
        crate::guards::MAX_RUNNING
    )]
    TooManyRunning,
    /// The operating system returned no random bytes.
    #[error("the system gives no random numbers: {reason}")]
    Random {
        /// The error of the operating system.
        reason: String,
    },
}

impl From<RequestError> for LedgerError {
    fn from(error: RequestError) -> Self {
        Self::Store(error.into())
    }
}

impl LedgerError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.code(),
            Self::Cost(error) => error.code(),
            Self::Text(error) => error.code(),
            Self::Behind { .. } => Code::MZ1775,
            Self::Forked { .. } => Code::MZ1776,
            Self::BadMark { .. } => Code::MZ1777,
            Self::NoStateDir => Code::MZ1778,
            Self::StateDir { .. } => Code::MZ1779,
            Self::KeyMissing { .. } => Code::MZ1780,
            Self::KeyShared { .. } => Code::MZ1781,
            Self::ReadOnly => Code::MZ1783,
            Self::OtherLedger { .. } => Code::MZ1784,
            Self::NotExtended { .. } => Code::MZ1785,
            Self::BadSignature => Code::MZ1786,
            Self::Random { .. } => Code::MZ1787,
            Self::TooManyUnanswered { .. } => Code::MZ1795,
            Self::TooManyRunning => Code::MZ1796,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Store(error) => error.help(),
            Self::Cost(error) => return error.help(),
            Self::Text(error) => error.help(),
            Self::Behind { .. } | Self::Forked { .. } => {
                "use the copy with all entries; if it is lost, the data owner can continue from this copy with `mizan ledger restore`, which records the gap permanently"
            }
            Self::TooManyUnanswered { .. } => {
                "the data owner lists them with `mizan budget show` and settles them with `mizan budget settle`. Sending a failed query again costs nothing, and it still counts as failed. Nothing was charged"
            }
            Self::TooManyRunning => "retry when other queries have ended. Nothing was charged",
            Self::BadMark { mark, .. } => {
                return format!(
                    "make sure that the ledger is the right copy, by a receipt or a checkpoint; then remove {}, and it is made again",
                    mark.display()
                );
            }
            Self::NoStateDir | Self::StateDir { .. } => {
                "set MIZAN_STATE_DIR to a directory that can be written to, away from the ledger"
            }
            Self::KeyMissing { .. } => {
                "copy the key from the machine that made the ledger; charges and receipts work without it"
            }
            Self::KeyShared { key } => {
                return format!("run `chmod 600 {}` if you are sure that no other user has read it", key.display());
            }
            Self::ReadOnly => "open it for writing, with a state directory",
            Self::OtherLedger { .. } => "give the path of that ledger",
            Self::NotExtended { .. } => {
                "do not release from this ledger; look for the copy that has these entries"
            }
            Self::BadSignature => "ask the owner of the ledger for its public key",
            Self::Random { .. } => "nothing was charged; try again when getrandom works",
        }
        .to_owned()
    }

    pub(crate) fn state_dir(path: &Path, reason: impl fmt::Display) -> Self {
        Self::StateDir {
            reason: format!("{}: {reason}", path.display()),
        }
    }
}
