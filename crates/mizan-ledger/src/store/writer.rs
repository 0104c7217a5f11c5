//! The writer: one transaction, and one sync, for all jobs of a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::store::batch::{BatchOutcome, IdLookup, decide_all};
use crate::store::cache::Cache;
use crate::store::rows::Database;
use crate::store::{Head, Receipt, StoreError, Submission};

/// The results of requests, up to the first error.
pub(super) type Results = Vec<Result<Receipt, StoreError>>;

/// Executes jobs.
pub(super) trait Write: Send {
    /// Executes jobs in one transaction and returns the results of each.
    fn execute(&mut self, jobs: &[Vec<Submission>]) -> Vec<Results>;
}

/// A database and its cache.
#[derive(Debug)]
pub(super) struct Writer<D> {
    pub(super) database: D,
    cache: Option<Cache>,
    /// The state of the log after the last write.
    seen: Option<Head>,
    poisoned: Arc<AtomicBool>,
}

/// How a batch ended.
enum Batch {
    /// Everything is durable; the results of each job.
    Durable(Vec<Results>),
    /// Nothing was written.
    Failed(StoreError),
    /// It is not known. SQLite can report an error for a commit that is there after a restart; with
    /// PostgreSQL the connection may break before the response.
    Unknown(StoreError),
}

impl<D: Database> Writer<D> {
    pub(super) const fn new(database: D, poisoned: Arc<AtomicBool>) -> Self {
        Self {
            database,
            cache: None,
            seen: None,
            poisoned,
        }
    }

    fn batch(&mut self, jobs: &[Vec<Submission>], look: IdLookup) -> Batch {
        if let Err(error) = self.database.begin() {
            return Batch::Failed(error);
        }
        // The cache is ahead of the database until the commit: it is put back only after it.
        let decided = decide_all(&mut self.database, self.cache.take(), self.seen, jobs, look);
        let (mut cache, outcomes) = match decided {
            Ok(Some(decided)) => decided,
            // A transaction that is still open would hold its lock, and the next batch would be
            // part of it.
            undone => {
                let is_over = self.database.roll_back();
                return match undone {
                    Err(error) if is_over => Batch::Failed(error),
                    Err(error) => Batch::Unknown(error),
                    Ok(_) if is_over => self.batch(jobs, IdLookup::All),
                    Ok(_) => Batch::Unknown(StoreError::poisoned()),
                };
            }
        };
        if let Err(reason) = self.database.commit() {
            return Batch::Unknown(StoreError::Unknown { reason });
        }
        let head = cache.position.head();
        cache.trim();
        self.cache = Some(cache);
        self.seen = Some(head);
        let receipt = |decided: BatchOutcome| Receipt {
            outcome: decided.outcome,
            refusal: decided.refusal,
            position: decided.position,
            head,
        };
        let results = |outcomes: Vec<Result<BatchOutcome, StoreError>>| {
            let outcomes = outcomes.into_iter().map(|outcome| outcome.map(receipt));
            outcomes.collect()
        };
        Batch::Durable(outcomes.into_iter().map(results).collect())
    }
}

impl<D: Database + Send> Write for Writer<D> {
    fn execute(&mut self, jobs: &[Vec<Submission>]) -> Vec<Results> {
        if self.poisoned.load(Ordering::Acquire) {
            return vec![vec![Err(StoreError::poisoned())]; jobs.len()];
        }
        let error = match self.batch(jobs, IdLookup::Old) {
            Batch::Durable(results) => return results,
            Batch::Failed(error) => error,
            Batch::Unknown(error) => {
                self.poisoned.store(true, Ordering::Release);
                error
            }
        };
        vec![vec![Err(error)]; jobs.len()]
    }
}
