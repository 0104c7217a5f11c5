//! Where a ledger is kept. A [`Store`] makes an entry durable before it answers;
//! what it decides, the pure core decides.
//!
//! [`Sqlite`] is one file, shared by several processes. [`Postgres`] is a database,
//! shared by several machines. [`Sim`] is in memory and fails on demand, for tests.
//!
//! The way of a request through the two databases is the same: `handle.rs` has
//! the queue, `writer.rs` the thread, `batch.rs` one transaction, `cache.rs` the
//! books it decides with. `rows.rs` is what a database is asked, `read.rs` what
//! is believed of its answers.

mod batch;
mod cache;
mod error;
mod handle;
mod postgres;
mod read;
mod rows;
mod sim;
mod sqlite;
mod writer;

pub use error::StoreError;
pub use postgres::Postgres;
pub use sim::{Fault, Sim};
pub use sqlite::Sqlite;

use crate::record::{Outcome, Record};
use crate::{
    Account, AccountName, AccountNumber, Cost, Digest, Entry, LedgerId, Refusal, Request, RequestId,
};

/// The longest answer that is kept for retries.
pub const MAX_ANSWER_BYTES: usize = 16 << 20;

/// How many entries are read at once, at most.
pub const MAX_PAGE: usize = 1024;

/// A request as it comes to a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    unix_ms: u64,
    id: RequestId,
    request: Request,
    answer: Option<Vec<u8>>,
}

impl Ask {
    /// A request, its id and the time on the clock of whoever asks. A commit
    /// made this way has its answer kept elsewhere.
    #[must_use]
    pub const fn new(unix_ms: u64, id: RequestId, request: Request) -> Self {
        Self {
            unix_ms,
            id,
            request,
            answer: None,
        }
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

/// A place where a ledger is kept. All methods can be called from many threads.
pub trait Store: Send + Sync {
    /// Decides a request. What it led to is durable when this returns.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unknown`]: it may or may not have happened, and this handle
    /// says no more; open again and look the id up. With every other error
    /// nothing has happened.
    fn execute(&self, ask: Ask) -> Result<Receipt, StoreError>;

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
}
