//! The location of a ledger, and notes about how it was opened.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::ledger::LedgerError;
use crate::store::{self, Postgres, Sqlite, Store};

/// The location of a ledger.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A SQLite file.
    File(PathBuf),
    /// The address of a PostgreSQL database; it may contain a password.
    Postgres(String),
}

impl Location {
    /// The location of a command-line argument: an address that begins with `postgres://` or
    /// `postgresql://`, or a path.
    #[must_use]
    pub fn parse(argument: &OsStr) -> Self {
        let address = argument
            .to_str()
            .filter(|text| text.starts_with("postgres://") || text.starts_with("postgresql://"));
        match address {
            Some(address) => Self::Postgres(address.to_owned()),
            None => Self::File(PathBuf::from(argument)),
        }
    }

    pub(super) fn open(&self) -> Result<Box<dyn Store>, LedgerError> {
        Ok(match self {
            Self::File(path) => Box::new(Sqlite::open(path)?),
            Self::Postgres(address) => Box::new(Postgres::open(address)?),
        })
    }

    /// Creates an empty store, or opens one without entries.
    pub(super) fn create(&self) -> Result<Box<dyn Store>, LedgerError> {
        let made = match self {
            Self::File(path) => Sqlite::create(path).map(|store| Box::new(store) as Box<dyn Store>),
            Self::Postgres(address) => {
                Postgres::create(address).map(|store| Box::new(store) as Box<dyn Store>)
            }
        };
        let error = match made {
            Ok(store) => return Ok(store),
            Err(error) => error,
        };
        match self.open() {
            Ok(store) if store.head()?.ledger.is_none() => Ok(store),
            _ => Err(error.into()),
        }
    }

    /// Upgrades a ledger of an older format; returns the format before.
    ///
    /// # Errors
    ///
    /// It is not a ledger, or its format is newer or cannot be upgraded.
    pub fn upgrade(&self) -> Result<i32, LedgerError> {
        match self {
            Self::File(path) => Ok(Sqlite::upgrade(path)?),
            // Format 1 is the first: a ledger that opens has it.
            Self::Postgres(_) => self.open().map(|_| 1),
        }
    }

    /// Whether restoring the directory of the ledger restores its high-water mark too.
    pub(super) fn shares_directory(&self, state_dir: &Path) -> bool {
        let Self::File(path) = self else {
            return false;
        };
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
        match self {
            Self::File(path) => path.display().fmt(f),
            // If the address cannot be parsed, any part of it may be a password.
            Self::Postgres(address) => match store::shown(address) {
                Some(shown) => f.write_str(&shown),
                None => f.write_str("postgres://..."),
            },
        }
    }
}

// An address may contain a password.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A note about how a ledger was opened, for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// There was no high-water mark, so it was created.
    MarkMade {
        /// The number of entries that could not be compared.
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
                "first use of this ledger on this machine: rollback protection starts now, at {size} entries; an older copy could not have been detected"
            ),
            Self::StateBesideLedger => f.write_str(
                "the state directory is beside the ledger: a backup that restores both hides that it is old",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths_and_shown_without_passwords() {
        let parse = |text: &str| Location::parse(OsStr::new(text));
        assert_eq!(parse("a/ledger"), Location::from(Path::new("a/ledger")));
        for address in [
            "postgres://u:s3cret@host/db?password=s3cret",
            "postgresql://host/db",
        ] {
            let location = parse(address);
            assert_eq!(location, Location::Postgres(address.to_owned()));
            let shown = format!("{location} {location:?}");
            assert!(
                shown.contains("host/db") && !shown.contains("s3cret"),
                "{shown}"
            );
        }
    }
}
