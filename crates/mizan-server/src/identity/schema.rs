//! The token file: its tables, and how it is opened.
//!
//! It is a SQLite database beside the ledger. The command line and a server may use it at
//! the same time, changes are atomic, and the rows of `acts` cannot be changed.

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::IdentityError;

/// "MzTk".
const APPLICATION: i64 = 0x4d7a_546b;

const VERSION: i64 = 1;

const TABLES: &str = "
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    datasets TEXT,
    accounts TEXT,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER
) STRICT;
CREATE TABLE acts (
    number INTEGER PRIMARY KEY,
    unix_ms INTEGER NOT NULL,
    act TEXT NOT NULL,
    token TEXT NOT NULL,
    about TEXT NOT NULL
) STRICT;
CREATE TRIGGER acts_stay BEFORE UPDATE ON acts BEGIN SELECT RAISE(ABORT, 'acts stay as they are'); END;
CREATE TRIGGER acts_remain BEFORE DELETE ON acts BEGIN SELECT RAISE(ABORT, 'acts stay as they are'); END;
CREATE TABLE generation (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), number INTEGER NOT NULL) STRICT;
INSERT INTO generation VALUES (1, 1);
CREATE TABLE asked (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    unix_ms INTEGER NOT NULL,
    what TEXT NOT NULL,
    epsilon TEXT,
    accuracy TEXT,
    PRIMARY KEY (id, name)
) STRICT, WITHOUT ROWID;
";

/// Opens the file, and creates it if it does not exist.
pub(super) fn open(path: &Path) -> Result<Connection, IdentityError> {
    let failed = |error: std::io::Error| IdentityError::File {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    private(path).map_err(failed)?;
    if is_shared(path).map_err(failed)? {
        return Err(IdentityError::Shared {
            path: path.to_owned(),
        });
    }
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let number =
        |name: &str| transaction.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    match (number("application_id")?, number("user_version")?) {
        (APPLICATION, VERSION) => {}
        (0, 0) => {
            let tables = "SELECT COUNT(*) FROM sqlite_schema";
            if transaction.query_row(tables, [], |row| row.get::<_, i64>(0))? != 0 {
                return Err(IdentityError::Format {
                    path: path.to_owned(),
                });
            }
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        _ => {
            return Err(IdentityError::Format {
                path: path.to_owned(),
            });
        }
    }
    transaction.commit()?;
    Ok(connection)
}

/// Creates an empty file that only its owner may read; SQLite gives the files beside it the
/// same permissions.
fn private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        opened => opened.map(|_| ()),
    }
}

#[cfg(unix)]
fn is_shared(path: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    Ok(std::fs::metadata(path)?.mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_shared(_: &Path) -> std::io::Result<bool> {
    Ok(false)
}
