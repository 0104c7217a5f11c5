//! The handle of a store in a database: a queue for writes, and a separate connection for reads,
//! which does not wait for writes.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use zeroize::Zeroizing;

use crate::guards::IdKey;
use crate::log::{Digest, Entry, Record, RequestId};
use crate::money::{Account, AccountName, AccountNumber};
use crate::store::queue::Queue;
use crate::store::rows::{Database, Rows};
use crate::store::writer::Writer;
use crate::store::{Head, Places, Receipt, Store, StoreError, Submission, audit, read};

/// A connection that reads.
pub(super) trait Reader: Send {
    /// The rows of a snapshot.
    type Rows: Rows;

    /// Reads one snapshot of the database. May call the function twice.
    fn snapshot<T>(
        &mut self,
        read: impl FnMut(&mut Self::Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError>;

    /// Writes a row of `answers` unless it exists. It is durable when this returns.
    fn keep_once(&mut self, seq: i64, bytes: &[u8]) -> Result<(), StoreError>;
}

/// The row of `answers` with the key of ids, before all positions of the log.
const ID_KEY_ROW: i64 = -1;

/// A queue with its thread, and a reader.
pub(super) struct Handle<R> {
    reader: Mutex<R>,
    queue: Arc<Queue>,
    // Joined when the store is dropped.
    thread: Option<JoinHandle<()>>,
    poisoned: Arc<AtomicBool>,
}

impl<R: Reader> Handle<R> {
    /// Starts the thread that writes.
    pub(super) fn new<D: Database + Send + 'static>(
        database: D,
        reader: R,
    ) -> Result<Self, StoreError> {
        let poisoned = Arc::new(AtomicBool::new(false));
        let writer = Writer::new(database, Arc::clone(&poisoned));
        let queue = Arc::new(Queue::new(Box::new(writer)));
        let waiting = Arc::clone(&queue);
        let thread = thread::Builder::new()
            .name("mizan-ledger".to_owned())
            .spawn(move || waiting.work())
            .map_err(|error| StoreError::Unusable {
                reason: error.to_string(),
            })?;
        Ok(Self {
            reader: Mutex::new(reader),
            queue,
            thread: Some(thread),
            poisoned,
        })
    }

    fn read<T>(
        &self,
        read: impl FnMut(&mut R::Rows) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(StoreError::poisoned());
        }
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.snapshot(read)
    }
}

impl<R: Reader> Handle<R> {
    /// The key of ids, drawn if there is none. If several processes draw one at the same time, the
    /// first to write it decides.
    fn id_key(&self) -> Result<IdKey, StoreError> {
        let known = |rows: &mut R::Rows| match rows.answer(ID_KEY_ROW)? {
            None => Ok(None),
            Some(bytes) => match <[u8; 32]>::try_from(bytes) {
                Ok(bytes) => Ok(Some(IdKey::from_bytes(bytes))),
                Err(_) => Err(StoreError::damaged("its key of ids has not 32 bytes")),
            },
        };
        if let Some(key) = self.read(known)? {
            return Ok(key);
        }
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut_slice()).map_err(|error| StoreError::Unusable {
            reason: error.to_string(),
        })?;
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.keep_once(ID_KEY_ROW, bytes.as_slice())?;
        drop(reader);
        let key = self.read(known)?;
        key.ok_or_else(|| StoreError::damaged("its key of ids is not kept"))
    }
}

impl<R> Drop for Handle<R> {
    fn drop(&mut self) {
        self.queue.close();
        // A panic of the thread was reported to its clients already.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

// The address of a connection may contain a password.
impl<R> fmt::Debug for Handle<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Handle");
        shown.field("poisoned", &self.poisoned);
        shown.finish_non_exhaustive()
    }
}

/// A store that is a handle.
pub(super) trait Handled: Send + Sync {
    /// The connection for reads.
    type Reader: Reader;

    /// The handle.
    fn handle(&self) -> &Handle<Self::Reader>;
}

impl<H: Handled> Store for H {
    fn execute(&self, submission: Submission) -> Result<Receipt, StoreError> {
        let result = self.execute_all(vec![submission]).pop();
        result.unwrap_or_else(|| Err(StoreError::poisoned()))
    }

    fn execute_all(&self, submissions: Vec<Submission>) -> Vec<Result<Receipt, StoreError>> {
        self.handle().queue.execute(submissions)
    }

    fn record(&self, id: RequestId) -> Result<Option<Record>, StoreError> {
        self.handle().read(|rows| read::record(rows, id))
    }

    fn answer(&self, id: RequestId) -> Result<Option<Vec<u8>>, StoreError> {
        self.handle().read(|rows| read::answer(rows, id))
    }

    fn account(&self, number: AccountNumber) -> Result<Option<Account>, StoreError> {
        self.handle().read(|rows| read::account(rows, number))
    }

    fn named(&self, name: &AccountName) -> Result<Option<AccountNumber>, StoreError> {
        self.handle().read(|rows| read::named(rows, name))
    }

    fn entries(&self, from: u64) -> Result<Vec<Entry>, StoreError> {
        self.handle().read(|rows| read::entries(rows, from))
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.handle().read(|rows| Ok(read::position(rows)?.head()))
    }

    fn id_key(&self) -> Result<Option<IdKey>, StoreError> {
        self.handle().id_key().map(Some)
    }

    fn places(&self, id: RequestId) -> Result<Option<Places>, StoreError> {
        self.handle().read(|rows| audit::places(rows, id))
    }

    fn account_rows(&self) -> Result<Option<u64>, StoreError> {
        let rows = self.handle().read(|rows| rows.accounts())?;
        Ok(Some(u64::try_from(rows).unwrap_or(u64::MAX)))
    }

    fn node(&self, level: u32, index: u64) -> Result<Option<Digest>, StoreError> {
        let node = self.handle().read(|rows| audit::node(rows, level, index));
        node.map(Some)
    }

    fn index_after(
        &self,
        id: Option<RequestId>,
    ) -> Result<Option<Vec<(RequestId, Places)>>, StoreError> {
        let page = self.handle().read(|rows| audit::index_after(rows, id));
        page.map(Some)
    }

    fn answer_hashes(&self, positions: Range<u64>) -> Result<Vec<(u64, Digest)>, StoreError> {
        let handle = self.handle();
        handle.read(|rows| audit::answer_hashes(rows, &positions))
    }
}
