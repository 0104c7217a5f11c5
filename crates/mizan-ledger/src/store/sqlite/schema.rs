//! The SQLite file: its tables, how it is created, and the checks before it is used.
//!
//! The log is authoritative. `records` is an index of it, `accounts` has its totals, and `head` and
//! `nodes` are its Merkle tree; `verify` computes all of them again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::guards::state_dir::sync_directory;
use crate::store::StoreError;

/// "Mizn", the application id of a ledger.
pub(super) const APPLICATION_ID: i32 = 0x4d69_7a6e;

/// The version of the tables.
pub(super) const FORMAT: i32 = 1;

/// Older versions can corrupt a file when two processes write and one resets
/// the write-ahead log.
const OLDEST_SQLITE: i32 = 3_051_003;

/// How long to wait for the lock of another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The name and definition of every table and trigger, exactly as SQLite stores them: a file without
/// its triggers is refused.
const SCHEMA: [(&str, &str); 11] = [
    (
        "accounts",
        "CREATE TABLE accounts (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created INTEGER NOT NULL, raised INTEGER, neighbours INTEGER NOT NULL, spent BLOB NOT NULL, pending BLOB NOT NULL) STRICT",
    ),
    (
        "answers",
        "CREATE TABLE answers (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    ),
    (
        "answers_keep",
        "CREATE TRIGGER answers_keep BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers are kept'); END",
    ),
    (
        "answers_stay",
        "CREATE TRIGGER answers_stay BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers never change'); END",
    ),
    (
        "head",
        "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 0), ledger BLOB, accounts INTEGER NOT NULL, size INTEGER NOT NULL, frontier BLOB NOT NULL) STRICT",
    ),
    (
        "log",
        "CREATE TABLE log (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT",
    ),
    // REPLACE deletes rows without firing the other triggers, but fires this one.
    (
        "log_grows",
        "CREATE TRIGGER log_grows BEFORE INSERT ON log WHEN NEW.seq <> (SELECT coalesce(max(seq) + 1, 0) FROM log) BEGIN SELECT RAISE(ABORT, 'the log only grows at its end'); END",
    ),
    (
        "log_keeps",
        "CREATE TRIGGER log_keeps BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'entries are kept'); END",
    ),
    (
        "log_stays",
        "CREATE TRIGGER log_stays BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'entries never change'); END",
    ),
    (
        "nodes",
        "CREATE TABLE nodes (level INTEGER NOT NULL, place INTEGER NOT NULL, hash BLOB NOT NULL, PRIMARY KEY (level, place)) STRICT, WITHOUT ROWID",
    ),
    (
        "records",
        "CREATE TABLE records (id BLOB PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    ),
];

/// The store error of an error of SQLite before a commit.
#[allow(
    clippy::needless_pass_by_value,
    reason = "it is handed to map_err all over"
)]
pub(super) fn failed(error: rusqlite::Error) -> StoreError {
    use rusqlite::Error;
    let reason = error.to_string();
    match (error.sqlite_error_code(), &error) {
        (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), _) => StoreError::Busy,
        (Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), _)
        | (
            _,
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::QueryReturnedNoRows
            | Error::Utf8Error(..),
        ) => StoreError::Damaged { reason },
        _ => StoreError::Unusable { reason },
    }
}

fn check_library() -> Result<(), StoreError> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        let version = rusqlite::version();
        return Err(StoreError::OldSqlite { version });
    }
    Ok(())
}

/// Creates a file that appears under its name when it is complete, and never replaces another.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    check_library()?;
    let unusable = |error: std::io::Error| StoreError::unusable(path, error);
    // SQLite would apply the leftover log of an earlier file to this one.
    for left in ["-wal", "-journal"].map(|end| beside(path, end)) {
        if fs::symlink_metadata(&left).is_ok() {
            let reason = "belongs to a file that is gone; move it away first";
            return Err(StoreError::unusable(&left, reason));
        }
    }
    let draft = draft(path).map_err(unusable)?;
    let made = fill(&draft).and_then(|()| {
        let file = File::open(&draft).map_err(unusable)?;
        file.sync_all().map_err(unusable)?;
        fs::hard_link(&draft, path).map_err(unusable)
    });
    let removed = fs::remove_file(&draft).map_err(unusable);
    made.and(removed)?;
    sync_name(path)
}

/// A new file that no other thread, process or machine uses. Names left behind by processes that
/// died are skipped.
fn draft(path: &Path) -> std::io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let draft = beside(path, &format!(".new-{process}-{number}"));
        match File::create_new(&draft) {
            Ok(_) => return Ok(draft),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// The path with a suffix.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Syncs the directory: otherwise the name, and the ledger with it, may be gone after a power
/// failure.
fn sync_name(path: &Path) -> Result<(), StoreError> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let synced = sync_directory(parent.unwrap_or(Path::new(".")));
    synced.map_err(|error| StoreError::unusable(path, error))
}

fn fill(draft: &Path) -> Result<(), StoreError> {
    let connection = Connection::open(draft).map_err(|error| StoreError::unusable(draft, error))?;
    let mut sql = String::from("BEGIN;");
    for (_, definition) in SCHEMA {
        sql.push_str(definition);
        sql.push(';');
    }
    sql.push_str("INSERT INTO head VALUES (0, NULL, 0, 0, x''); COMMIT;");
    let fill = || {
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        connection.execute_batch(&sql)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
    };
    fill().map_err(failed)?;
    connection.close().map_err(|(_, error)| failed(error))
}

/// Opens a connection to a ledger that exists.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    check_library()?;
    check_file(path)?;
    // Without SQLITE_OPEN_CREATE and URIs: the path is used as it is.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| StoreError::unusable(path, error))?;
    if connection.is_readonly("main").map_err(failed)? {
        return Err(StoreError::unusable(path, "it is read-only"));
    }
    configure(&connection).map_err(failed)?;
    check_contents(path, &connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    for (name, value) in [
        ("trusted_schema", "OFF"),
        ("cell_size_check", "ON"),
        ("synchronous", "FULL"),
        // 16 MiB: ids are random, and so is the access to the pages of their index.
        ("cache_size", "-16384"),
        // On macOS a plain fsync leaves data in the cache of the drive.
        ("fullfsync", "ON"),
        ("checkpoint_fullfsync", "ON"),
    ] {
        connection.pragma_update(None, name, value)?;
    }
    // These pragmas return a row.
    connection.pragma_update_and_check(None, "mmap_size", 0, |_| Ok(()))?;
    // 32 MiB: a page that changes often is copied into the file less often.
    connection.pragma_update_and_check(None, "wal_autocheckpoint", 8000, |_| Ok(()))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(())
}

/// The checks that do not change the file, which may not be a ledger.
///
/// Only SQLite opens the file: when a process closes any descriptor of a file, it loses its POSIX
/// locks on it, and another process that closes the ledger would then delete the write-ahead log
/// that is in use.
fn check_file(path: &Path) -> Result<(), StoreError> {
    let unusable = |error: std::io::Error| StoreError::unusable(path, error);
    let about = fs::metadata(path).map_err(unusable)?;
    if about.is_dir() {
        return Err(StoreError::unusable(path, "it is a directory"));
    }
    let not_a_ledger = |reason| StoreError::NotALedger {
        path: path.to_owned(),
        reason,
    };
    if !about.is_file() {
        return Err(not_a_ledger("it is not a regular file"));
    }
    if about.permissions().readonly() {
        return Err(StoreError::unusable(path, "it is read-only"));
    }
    match about.len() {
        0 => return Err(not_a_ledger("it is empty")),
        1..100 => return Err(not_a_ledger("it is too short")),
        _ => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| StoreError::unusable(path, error))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let application = match pragma("application_id") {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            return Err(not_a_ledger("it is not a SQLite file"));
        }
        application => application.map_err(failed)?,
    };
    check_marks(path, application, pragma("user_version").map_err(failed)?)?;
    // SQLite detects missing pages, but reads half a page at the end as padded with zeros. With a
    // write-ahead log that page may be complete there. The log is beside the file, not beside a
    // link to it.
    let wal = beside(&fs::canonicalize(path).map_err(unusable)?, "-wal");
    let has_wal = fs::metadata(wal).is_ok_and(|about| about.len() > 0);
    let page = pragma("page_size").map_err(failed)?;
    let page = u64::try_from(page).unwrap_or(0);
    if !has_wal && about.len().checked_rem(page) != Some(0) {
        let reason = format!("{} ends within a page", path.display());
        return Err(StoreError::damaged(reason));
    }
    Ok(())
}

fn check_marks(path: &Path, application: i32, format: i32) -> Result<(), StoreError> {
    if application != APPLICATION_ID {
        return Err(StoreError::NotALedger {
            path: path.to_owned(),
            reason: "it is a SQLite file of something else",
        });
    }
    if format != FORMAT {
        return Err(StoreError::Format {
            found: format,
            known: FORMAT,
        });
    }
    Ok(())
}

/// Checks what SQLite reads from the file, which may differ from the header on disk.
fn check_contents(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    let application = pragma("application_id").map_err(failed)?;
    check_marks(path, application, pragma("user_version").map_err(failed)?)?;
    let mode: String = connection
        .pragma_query_value(None, "journal_mode", |row| row.get(0))
        .map_err(failed)?;
    if mode != "wal" {
        return Err(StoreError::unusable(
            path,
            "this file system has no shared memory for a write-ahead log",
        ));
    }
    let read = || {
        let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
    };
    let found = read().map_err(failed)?;
    let expected = SCHEMA.iter().copied();
    if !expected.eq(found.iter().map(|(a, b)| (a.as_str(), b.as_str()))) {
        return Err(StoreError::damaged("its tables or triggers were changed"));
    }
    Ok(())
}
