//! Stores: where a ledger is kept. A [`Store`] makes an entry durable before it returns the
//! outcome. The decisions are those of [`state`](crate::state).
//!
//! [`Sqlite`] is one file, which several processes can share. [`Postgres`] is a database, which
//! several machines can share. [`Sim`] is in memory and fails on demand, for tests.
//!
//! A request takes the same path in both databases: `handle.rs` has the queue, `draft.rs` encodes
//! the entry before its turn, `writer.rs` writes, `batch.rs` is one transaction, `cache.rs` has
//! the accounts and records for the decisions. `rows.rs` has the queries, and `read.rs` checks
//! what they return; `audit.rs` does so for proofs and audits.

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

/// The longest answer that is stored for retries.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// The largest number of entries in one read.
pub const MAX_PAGE: usize = 1024;

/// A request to a store, with its id, time and answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    unix_ms: u64,
    id: RequestId,
    request: Request,
    answer: Option<Vec<u8>>,
    draft: Option<Draft>,
}

impl Submission {
    /// A request, its id and the time of the client. If it is a commit, the answer is not stored
    /// here.
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

    /// The bytes of its event and answer, which only [`MAX_ANSWER_BYTES`] and
    /// [`MAX_EVENT_BYTES`](crate::state::MAX_EVENT_BYTES) bound.
    fn bytes(&self) -> usize {
        let event = match &self.request {
            Request::Reserve(charge) => charge.event.len(),
            _ => 0,
        };
        event.saturating_add(self.answer.as_ref().map_or(0, Vec::len))
    }

    /// A commit with its answer, which the store keeps for retries.
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
            return Err(StoreError::AnswerTooLong);
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

/// The durable outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The outcome.
    pub outcome: Outcome,
    /// The numbers of each order, if the charge was denied by this request.
    pub refusal: Option<Box<Refusal>>,
    /// The position of its entry in the log; None if it was decided before.
    pub position: Option<u64>,
    /// The log that contains it.
    pub head: Head,
}

/// The state of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The id of the ledger, once it is created.
    pub ledger: Option<LedgerId>,
    /// The number of accounts.
    pub accounts: u32,
    /// The number of entries.
    pub size: u64,
    /// The root of the Merkle tree.
    pub root: Digest,
}

impl Head {
    /// The size and root of a created ledger; None if it is not created yet.
    #[must_use]
    pub fn tree_head(&self) -> Option<TreeHead> {
        self.ledger.map(|ledger| TreeHead {
            ledger,
            size: self.size,
            root: self.root,
        })
    }
}

/// The lowest level of the Merkle tree whose full nodes are stored, each over 2^level entries.
/// Nodes below are computed again on demand. One row for 128 entries costs little, and the root at
/// any earlier size follows from a few rows and at most 255 entries.
pub const NODE_LEVEL: u32 = 8;

/// The positions of the first and the last entry of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

/// A store of a ledger. All methods can be called from many threads.
pub trait Store: Send + Sync {
    /// Decides a request. Its entry is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`]: the entry may or may not be durable, and this handle refuses all
    /// further requests; open the store again and look up the id. With every other error nothing
    /// was written.
    fn execute(&self, submission: Submission) -> Result<Receipt, StoreError>;

    /// The record of an id.
    ///
    /// # Errors
    ///
    /// The store cannot be read; this holds for every method below.
    fn record(&self, id: RequestId) -> Result<Option<Record>, StoreError>;

    /// The stored answer of an id, if there is one.
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

    /// The state of the log.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn head(&self) -> Result<Head, StoreError>;

    /// The key from which ids are derived, the same for all machines that share the ledger; drawn
    /// at first use. None if the store has no secrets.
    ///
    /// # Errors
    ///
    /// The store cannot be read or written.
    fn id_key(&self) -> Result<Option<IdKey>, StoreError> {
        Ok(None)
    }

    /// Decides requests in turn up to the first error, which is then the last result. Requests
    /// after it are not decided; entries before it are durable.
    ///
    /// Databases use one transaction for all of them.
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

    /// The positions of the entries of a request.
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

    /// The number of account rows, apart from the number in the head; None if the store has no
    /// such rows.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    fn account_rows(&self) -> Result<Option<u64>, StoreError> {
        Ok(None)
    }

    /// A full node of the Merkle tree, on [`NODE_LEVEL`] or above; None if the store has no nodes.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the node is missing.
    fn node(&self, _level: u32, _index: u64) -> Result<Option<Digest>, StoreError> {
        Ok(None)
    }

    /// A page of the index: the ids after the given one, ordered by their bytes; empty at the end.
    /// None if the store has no such index.
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

    /// The hashes of the stored answers of these positions.
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

/// A count as a position.
pub(crate) fn as_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
