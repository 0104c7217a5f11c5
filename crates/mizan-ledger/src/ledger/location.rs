//! Where a ledger is, and what is worth telling about how it was found.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::LedgerError;
use crate::store::{Sqlite, Store};

/// Where a ledger is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In a SQLite file.
    File(PathBuf),
}

impl Location {
    /// The location that people mean by an argument.
    #[must_use]
    pub fn parse(argument: &OsStr) -> Self {
        Self::File(PathBuf::from(argument))
    }

    pub(super) fn open(&self) -> Result<Box<dyn Store>, LedgerError> {
        let Self::File(path) = self;
        Ok(Box::new(Sqlite::open(path)?))
    }

    /// Makes a place for a ledger, or finds one in which none has begun.
    pub(super) fn create(&self) -> Result<Box<dyn Store>, LedgerError> {
        let Self::File(path) = self;
        let error = match Sqlite::create(path) {
            Ok(store) => return Ok(Box::new(store)),
            Err(error) => error,
        };
        match self.open() {
            Ok(store) if store.head()?.ledger.is_none() => Ok(store),
            _ => Err(error.into()),
        }
    }

    /// Brings a ledger of an older version up to date; its version before.
    ///
    /// # Errors
    ///
    /// It is no ledger, of a newer version, or of one that no way leads from.
    pub fn upgrade(&self) -> Result<i32, LedgerError> {
        let Self::File(path) = self;
        Ok(Sqlite::upgrade(path)?)
    }

    /// Whether whoever restores the ledger's directory restores its mark too.
    pub(super) fn shares_directory(&self, state_dir: &Path) -> bool {
        let Self::File(path) = self;
        let real = |path: &Path| path.canonicalize().ok();
        let directory = real(path).and_then(|path| path.parent().map(Path::to_owned));
        let state_dir = real(state_dir);
        directory.is_some_and(|directory| state_dir.is_some_and(|s| s.starts_with(directory)))
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::File(path) = self;
        path.display().fmt(f)
    }
}

/// What should be told about how a ledger was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// There was no mark.
    MarkMade {
        /// How many entries were believed.
        size: u64,
    },
    /// The state directory is in the directory of the ledger.
    StateBesideLedger,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MarkMade { size } => write!(
                f,
                "this machine sees the ledger for the first time: its {size} entries are taken as they are, and cannot be told from an old copy"
            ),
            Self::StateBesideLedger => f.write_str(
                "the state directory is beside the ledger: a backup that restores both hides that it is old",
            ),
        }
    }
}
