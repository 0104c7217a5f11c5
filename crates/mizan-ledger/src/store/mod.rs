//! Where a ledger is kept. A [`Store`] makes an entry durable before it answers;
//! what it decides, the pure core decides.
//!
//! [`Sqlite`] is one file, shared by several processes. [`Postgres`] is a database,
//! shared by several machines. [`Sim`] is in memory and fails on demand, for tests.
//!
//! The way of a request through the two databases is the same: `handle.rs` has
//! the queue, `draft.rs` what can be done before its turn, `writer.rs` the thread,
//! `batch.rs` one transaction, `cache.rs` the books it decides with. `rows.rs` is what a database is asked, `read.rs` what
//! is believed of its answers; `audit.rs` the same for proofs and audits.

mod audit;
mod batch;
mod cache;
mod draft;
mod error;
mod handle;
mod postgres;
mod queue;
mod read;
mod rows;
mod sim;
mod sqlite;
mod writer;

pub use error::StoreError;
pub use postgres::Postgres;
pub(crate) use postgres::shown;
pub use sim::{Fault, Sim};
pub use sqlite::Sqlite;

use std::ops::Range;

use self::draft::Draft;
use crate::evidence::TreeHead;
use crate::guards::IdKey;
use crate::log::{Body, Digest, Entry, LedgerId, Outcome, Record, RequestId};
use crate::money::{Account, AccountName, AccountNumber, Cost, Refusal};
use crate::state::Request;

/// The longest answer that is kept for retries.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// How many entries are read at once, at most.
pub const MAX_PAGE: usize = 1024;

/// A request as it comes to a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    unix_ms: u64,
    id: RequestId,
    request: Request,
    answer: Option<Vec<u8>>,
    draft: Option<Draft>,
}

impl Submission {
    /// A request, its id and the time on the clock of whoever asks. A commit
    /// made this way has its answer kept elsewhere.
    #[must_use]
    pub const fn new(unix_ms: u64, id: RequestId, request: Request) -> Self {
        Self {
            unix_ms,
            id,
            request,
            answer: None,
            draft: None,
        }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> RequestId {
        self.id
    }

    /// How many bytes it brings that nobody bounds but [`MAX_ANSWER_BYTES`] and
    /// [`MAX_EVENT_BYTES`](crate::state::MAX_EVENT_BYTES).
    fn bytes(&self) -> usize {
        let event = match &self.request {
            Request::Reserve(charge) => charge.event.len(),
            _ => 0,
        };
        event.saturating_add(self.answer.as_ref().map_or(0, Vec::len))
    }

    /// A commit whose answer the store keeps, so that a retry gets it again.
    ///
    /// # Errors
    ///
    /// The answer is longer than [`MAX_ANSWER_BYTES`].
    pub fn commit(
        unix_ms: u64,
        id: RequestId,
        cost: Cost,
        answer: Vec<u8>,
    ) -> Result<Self, StoreError> {
        if answer.len() > MAX_ANSWER_BYTES {
            let bytes = answer.len();
            return Err(StoreError::AnswerTooLong { bytes });
        }
        let request = Request::Commit {
            cost,
            answer: Digest::of(&[&answer]),
        };
        Ok(Self {
            answer: Some(answer),
            ..Self::new(unix_ms, id, request)
        })
    }
}

/// What a request is told, once it is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// What came of it.
    pub outcome: Outcome,
    /// If it was denied just now: why, order by order.
    pub refusal: Option<Box<Refusal>>,
    /// Where its entry stands in the log; None if it was decided before.
    pub position: Option<u64>,
    /// The log that has it.
    pub head: Head,
}

/// How far a log has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The ledger, once it has begun.
    pub ledger: Option<LedgerId>,
    /// How many accounts there are.
    pub accounts: u32,
    /// How many entries there are.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
}

impl Head {
    /// The same for a log that has begun; None if it has not.
    #[must_use]
    pub fn tree_head(&self) -> Option<TreeHead> {
        self.ledger.map(|ledger| TreeHead {
            ledger,
            size: self.size,
            root: self.root,
        })
    }
}

/// The level from which on stores keep the full nodes of the tree over the log,
/// each over 2^level entries. Those below are hashed again when they are asked
/// for. One row for 128 entries costs nothing to speak of, and the root at any
/// earlier size is then a few rows and at most 255 entries away.
pub const NODE_LEVEL: u32 = 8;

/// Where the first and the last entry of a request stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// A place where a ledger is kept. All methods can be called from many threads.
pub trait Store: Send + Sync {
    /// Decides a request. What it led to is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`]: it may or may not have happened, and this handle
    /// says no more; open again and look the id up. With every other error
    /// nothing has happened.
    fn execute(&self, submission: Submission) -> Result<Receipt, StoreError>;

    /// What is remembered under an id.
    ///
    /// # Errors
    ///
    /// The store cannot be read. So for all below.
    fn record(&self, id: RequestId) -> Result<Option<Record>, StoreError>;

    /// The answer that was released under an id, if it is kept here.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or this is not the answer that was committed.
    fn answer(&self, id: RequestId) -> Result<Option<Vec<u8>>, StoreError>;

    /// An account. Accounts are numbered from 0 to [`Head::accounts`].
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn account(&self, number: AccountNumber) -> Result<Option<Account>, StoreError>;

    /// The account of this name.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn named(&self, name: &AccountName) -> Result<Option<AccountNumber>, StoreError>;

    /// The entries from a position on, at most [`MAX_PAGE`] of them; none at
    /// the end.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn entries(&self, from: u64) -> Result<Vec<Entry>, StoreError>;

    /// How far the log has come.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn head(&self) -> Result<Head, StoreError>;

    /// The secret from which ids are derived, the same for all who share the ledger;
    /// made when it is asked for the first time. None if the store keeps no secrets.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    fn id_key(&self) -> Result<Option<IdKey>, StoreError> {
        Ok(None)
    }

    /// Decides requests in turn up to the first error, which is then the last
    /// result: what comes after it is not asked. What came before it is durable
    /// all the same.
    ///
    /// Stores that can do so take one transaction for all of them.
    fn execute_all(&self, submissions: Vec<Submission>) -> Vec<Result<Receipt, StoreError>> {
        let mut results = Vec::with_capacity(submissions.len());
        for submission in submissions {
            results.push(self.execute(submission));
            if results.last().is_some_and(Result::is_err) {
                break;
            }
        }
        results
    }

    /// Where the entries of a request stand.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn places(&self, id: RequestId) -> Result<Option<Places>, StoreError> {
        let (mut from, mut places) = (0, None);
        loop {
            let page = self.entries(from)?;
            if page.is_empty() {
                return Ok(places);
            }
            for (last, entry) in (from..).zip(&page) {
                if entry.id == id {
                    let first = places.map_or(last, |places: Places| places.first);
                    places = Some(Places { first, last });
                }
            }
            from += as_u64(page.len());
        }
    }

    /// How many accounts the store keeps, beside what its head says; None if it
    /// keeps no such rows.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn account_rows(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// A full node of the tree over the log, on [`NODE_LEVEL`] or above; None if
    /// the store keeps none.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or should have it and has not.
    fn node(&self, _level: u32, _index: u64) -> Result<Option<Digest>, StoreError> {
        Ok(None)
    }

    /// The ids after the given one in the order of their bytes, as the store's
    /// index has them: some of them, none at the end. None if there is no index
    /// that can be walked.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    #[allow(clippy::type_complexity, reason = "it is what it says")]
    fn index_after(
        &self,
        _id: Option<RequestId>,
    ) -> Result<Option<Vec<(RequestId, Places)>>, StoreError> {
        Ok(None)
    }

    /// The hashes of the answers that are kept here for these positions.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or has another answer than the one committed.
    fn answer_hashes(&self, positions: Range<u64>) -> Result<Vec<(u64, Digest)>, StoreError> {
        let mut hashes = Vec::new();
        let mut from = positions.start;
        while from < positions.end {
            let page = self.entries(from)?;
            if page.is_empty() {
                break;
            }
            for (position, entry) in (from..positions.end).zip(&page) {
                if matches!(entry.body, Body::Committed { .. })
                    && let Some(answer) = self.answer(entry.id)?
                {
                    hashes.push((position, Digest::of(&[&answer])));
                }
            }
            from += as_u64(page.len());
        }
        Ok(hashes)
    }
}

/// How many, as positions count.
pub(crate) fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
