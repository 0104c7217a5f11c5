//! A ledger in one SQLite file, which several processes may share.
//!
//! One thread of each process writes (`writer.rs`); reads have a connection of
//! their own and wait for nobody. `schema.rs` has the file, `rows.rs` its rows.

mod audit;
mod cache;
mod rows;
mod schema;
mod upgrade;
mod writer;

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use self::schema::failed;
use self::writer::{Job, Writer};
use crate::record::Record;
use crate::store::{Ask, Head, Places, Receipt, Store, StoreError};
use crate::{Account, AccountName, AccountNumber, Digest, Entry, RequestId};

/// How many requests may wait; whoever comes then waits to wait.
const MAX_WAITING: usize = 4096;

/// A ledger in a SQLite file.
///
/// ```
/// use mizan_ledger::store::{Ask, Sqlite, Store};
/// use mizan_ledger::{LedgerId, Outcome, Request, RequestId};
///
/// # let directory = std::env::temp_dir().join(format!("mizan-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory)?;
/// let path = directory.join("budget.ledger");
/// let store = Sqlite::create(&path)?;
/// let request = Request::Open { ledger: LedgerId::from_bytes([1; 16]) };
/// let id = RequestId::from_bytes([2; 16]);
/// let receipt = store.execute(Ask::new(0, id, request))?;
/// assert_eq!(receipt.outcome, Outcome::Opened);
/// drop(store);
/// assert_eq!(Sqlite::open(&path)?.head()?, receipt.head);
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sqlite {
    reader: Mutex<Connection>,
    // Both are taken when the store is dropped.
    jobs: Option<SyncSender<Job>>,
    writer: Option<JoinHandle<()>>,
    poisoned: Arc<AtomicBool>,
}

impl Sqlite {
    /// Makes a ledger in a new file, complete or not at all. It has not begun.
    ///
    /// # Errors
    ///
    /// There is such a file already, or none can be made.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        schema::create(path)?;
        Self::open(path)
    }

    /// Opens a ledger.
    ///
    /// # Errors
    ///
    /// The file is missing, read-only, damaged, of another version or no ledger.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let connection = schema::connect(path)?;
        settle(&connection)?;
        rows::position(&connection)?;
        let reader = schema::connect(path)?;
        let poisoned = Arc::new(AtomicBool::new(false));
        let writer = Writer::new(connection, Arc::clone(&poisoned));
        let (jobs, waiting) = sync_channel(MAX_WAITING);
        let writer = thread::Builder::new()
            .name("mizan-ledger".to_owned())
            .spawn(move || writer.run(&waiting))
            .map_err(|error| StoreError::unusable(path, error))?;
        Ok(Self {
            reader: Mutex::new(reader),
            jobs: Some(jobs),
            writer: Some(writer),
            poisoned,
        })
    }

    /// Brings the file of an older version up to date; its format before.
    ///
    /// # Errors
    ///
    /// It is no ledger, of a newer format, or of one that no way leads from.
    pub fn upgrade(path: &Path) -> Result<i32, StoreError> {
        upgrade::upgrade(path)
    }

    /// Reads from one moment of the log.
    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(StoreError::poisoned());
        }
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = reader.unchecked_transaction().map_err(failed)?;
        read(&snapshot)
    }
}

/// Syncs what is there. After a process died, what it wrote can be read before
/// it is on the disk, and a retry could be told of an entry that a power failure
/// then takes away. A checkpoint syncs it.
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
        // Another process is at it, and may not have synced yet.
        if begun.elapsed() >= schema::BUSY_TIMEOUT {
            return Err(StoreError::Busy);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.jobs = None;
        // What was asked is answered first. A writer that panicked has nothing
        // left to say.
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl Store for Sqlite {
    fn execute(&self, ask: Ask) -> Result<Receipt, StoreError> {
        let result = self.execute_all(vec![ask]).pop();
        result.unwrap_or_else(|| Err(StoreError::poisoned()))
    }

    fn execute_all(&self, asks: Vec<Ask>) -> Vec<Result<Receipt, StoreError>> {
        let (reply, answer) = sync_channel(1);
        let sent = self
            .jobs
            .as_ref()
            .map(|jobs| jobs.send(Job { asks, reply }));
        let Some(Ok(())) = sent else {
            return vec![Err(StoreError::poisoned())];
        };
        // A writer that died after it took the requests may have written them.
        answer.recv().unwrap_or_else(|_| {
            let reason = "the writer stopped".to_owned();
            vec![Err(StoreError::Unknown { reason })]
        })
    }

    fn record(&self, id: RequestId) -> Result<Option<Record>, StoreError> {
        self.read(|connection| rows::record(connection, id))
    }

    fn answer(&self, id: RequestId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|connection| rows::answer(connection, id))
    }

    fn account(&self, number: AccountNumber) -> Result<Option<Account>, StoreError> {
        self.read(|connection| rows::account(connection, number))
    }

    fn named(&self, name: &AccountName) -> Result<Option<AccountNumber>, StoreError> {
        self.read(|connection| rows::named(connection, name))
    }

    fn entries(&self, from: u64) -> Result<Vec<Entry>, StoreError> {
        self.read(|connection| rows::entries(connection, from))
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.read(|connection| Ok(rows::position(connection)?.head()))
    }

    fn places(&self, id: RequestId) -> Result<Option<Places>, StoreError> {
        self.read(|connection| audit::places(connection, id))
    }

    fn node(&self, level: u32, index: u64) -> Result<Option<Digest>, StoreError> {
        self.read(|connection| audit::node(connection, level, index).map(Some))
    }

    fn index_after(
        &self,
        id: Option<RequestId>,
    ) -> Result<Option<Vec<(RequestId, Places)>>, StoreError> {
        self.read(|connection| audit::index_after(connection, id).map(Some))
    }

    fn answer_hashes(&self, positions: Range<u64>) -> Result<Vec<(u64, Digest)>, StoreError> {
        self.read(|connection| audit::answer_hashes(connection, positions))
    }
}
