//! A ledger in one SQLite file, which several processes can share.
//!
//! `schema.rs` has the tables, `rows.rs` the queries.

mod rows;
mod schema;
mod upgrade;

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::rows::File;
use self::schema::failed;
use crate::store::handle::{Handle, Handled};
use crate::store::{StoreError, read};

/// 2 MiB, in SQLite's negative KiB. A reader drops all cached pages after every write by another
/// connection, so a larger cache would not help a busy ledger.
const READER_CACHE: i64 = -2048;

/// A ledger in a SQLite file.
///
/// ```
/// use mizan_ledger::store::{Submission, Sqlite, Store};
/// use mizan_ledger::{Outcome, RequestId};
/// use mizan_ledger::log::LedgerId;
/// use mizan_ledger::state::Request;
///
/// # let directory = std::env::temp_dir().join(format!("mizan-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("budget.ledger");
/// let store = Sqlite::create(&path)?;
/// let request = Request::Open { ledger: LedgerId::from_bytes([1; 16]) };
/// let id = RequestId::from_bytes([2; 16]);
/// let receipt = store.execute(Submission::new(0, id, request))?;
/// assert_eq!(receipt.outcome, Outcome::Opened);
/// drop(store);
/// assert_eq!(Sqlite::open(&path)?.head()?, receipt.head);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sqlite(Handle<File>);

impl Sqlite {
    /// Creates the file of a ledger, which appears when it is complete.
    ///
    /// # Errors
    ///
    /// The file exists already, or cannot be created.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        schema::create(path)?;
        Self::open(path)
    }

    /// Opens a ledger.
    ///
    /// # Errors
    ///
    /// The file is missing, read-only, damaged, of another version, or not a ledger.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let mut file = File::new(schema::connect(path)?);
        settle(&file.connection)?;
        read::position(&mut file)?;
        let reader = schema::connect(path)?;
        reader
            .pragma_update(None, "cache_size", READER_CACHE)
            .map_err(failed)?;
        Handle::new(file, File::new(reader)).map(Self)
    }

    /// Upgrades a file of an older format; returns the format before.
    ///
    /// # Errors
    ///
    /// It is not a ledger, or its format is newer or cannot be upgraded.
    pub fn upgrade(path: &Path) -> Result<i32, StoreError> {
        upgrade::upgrade(path)
    }
}

impl Handled for Sqlite {
    type Reader = File;

    fn handle(&self) -> &Handle<File> {
        &self.0
    }
}

/// Syncs the write-ahead log. After a process died, what it wrote can be read before it is on disk:
/// a retry could return an entry that a power failure then removes. A WAL checkpoint syncs it.
fn settle(connection: &Connection) -> Result<(), StoreError> {
    let begun = Instant::now();
    loop {
        let sql = "PRAGMA wal_checkpoint(PASSIVE)";
        let busy: bool = connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(failed)?;
        if !busy {
            return Ok(());
        }
        // Another process is in the checkpoint, and may not have synced yet.
        if begun.elapsed() >= schema::BUSY_TIMEOUT {
            return Err(StoreError::Busy);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::log::{LedgerId, RequestId};
    use crate::state::Request;
    use crate::store::writer::{Results, Write as _, Writer};
    use crate::store::{Store, Submission};

    /// A submission that creates a ledger.
    fn begin() -> Submission {
        let ledger = LedgerId::from_bytes([1; 16]);
        Submission::new(0, RequestId::from_bytes([2; 16]), Request::Open { ledger })
    }

    #[test]
    fn a_failed_commit_poisons_the_writer_and_nothing_more_is_written() {
        let name = format!("mizan-writer-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ledger");
        drop(Sqlite::create(&path).unwrap());

        let mut connection = schema::connect(&path).unwrap();
        connection.commit_hook(Some(|| true)).unwrap();
        let mut writer = Writer::new(File::new(connection), Arc::default());
        let codes = |results: Vec<Results>| -> Vec<_> {
            results
                .iter()
                .flatten()
                .map(|r| r.as_ref().unwrap_err().code().as_str())
                .collect()
        };
        assert_eq!(
            codes(writer.execute(&[vec![begin()], vec![begin()]])),
            ["MZ1766"; 2]
        );
        // The disk recovers, the writer does not: the client must look up the outcome first.
        writer
            .database
            .connection
            .commit_hook(None::<fn() -> bool>)
            .unwrap();
        assert_eq!(codes(writer.execute(&[vec![begin()]])), ["MZ1774"]);
        drop(writer);

        let store = Sqlite::open(&path).unwrap();
        assert_eq!(store.head().unwrap().size, 0);
        assert_eq!(store.execute(begin()).unwrap().position, Some(0));
        drop(store);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn what_fails_before_the_commit_can_be_tried_again() {
        let name = format!("mizan-writer-busy-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ledger");
        drop(Sqlite::create(&path).unwrap());

        let connection = schema::connect(&path).unwrap();
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        let mut writer = Writer::new(File::new(connection), Arc::default());
        let other = schema::connect(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let results = writer.execute(&[vec![begin()]]);
        assert_eq!(results, [[Err(StoreError::Busy)]]);
        other.execute_batch("ROLLBACK").unwrap();
        // A full disk, as SQLite reports it.
        let pages = "PRAGMA max_page_count = 1";
        writer
            .database
            .connection
            .query_row(pages, [], |_| Ok(()))
            .unwrap();
        let room = vec![7; 1 << 20];
        let mut commit = begin();
        commit.answer = Some(room);
        let full = writer.execute(&[vec![commit.clone()]])[0]
            .remove(0)
            .unwrap_err();
        assert_eq!(full.code(), "MZ1760", "{full}");
        let pages = "PRAGMA max_page_count = 100000";
        writer
            .database
            .connection
            .query_row(pages, [], |_| Ok(()))
            .unwrap();
        assert_eq!(
            writer.execute(&[vec![commit]])[0]
                .remove(0)
                .unwrap()
                .position,
            Some(0)
        );
        drop((writer, other));
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
