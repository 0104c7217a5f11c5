//! The writer: one thread, one transaction for all that waits, one sync for the
//! transaction. Requests that come while it syncs are the next transaction, so
//! a crowd shares syncs and a lone client never waits for company.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use crate::store::batch::{Told, decide_all};
use crate::store::cache::Cache;
use crate::store::rows::Database;
use crate::store::{Ask, Head, Receipt, StoreError};

/// The most requests in one transaction, but for those of a single job.
const MAX_BATCH: usize = 256;

/// The most bytes of events and answers in one transaction, but for those of a
/// single job: a crowd with long answers does not take all memory.
const MAX_BATCH_BYTES: usize = 64 << 20;

/// What requests are told: a result for each up to the first error.
pub(super) type Results = Vec<Result<Receipt, StoreError>>;

/// Requests that follow each other, and where their answers go.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) asks: Vec<Ask>,
    pub(super) reply: SyncSender<Results>,
}

impl Job {
    /// How many requests, and their bytes.
    fn size(&self) -> (usize, usize) {
        let bytes = self.asks.iter().map(Ask::bytes);
        (self.asks.len(), bytes.fold(0, usize::saturating_add))
    }
}

/// What the writer thread owns.
#[derive(Debug)]
pub(super) struct Writer<D> {
    pub(super) database: D,
    cache: Option<Cache>,
    /// How far the log had come when this thread wrote last.
    seen: Option<Head>,
    poisoned: Arc<AtomicBool>,
}

/// How a batch ended.
enum Batch {
    /// Everything is durable; each job is told its own.
    Durable(Vec<Results>),
    /// Nothing was written.
    Failed(StoreError),
    /// The database could not say. SQLite has been seen to report an error for
    /// a commit that was there after opening again; with PostgreSQL the
    /// connection may break before its answer comes.
    Unknown(StoreError),
}

/// A job with all that wait and fit into one transaction, and the first that
/// does not.
fn gather(first: Job, jobs: &Receiver<Job>) -> (Vec<Job>, Option<Job>) {
    let (mut asks, mut bytes) = first.size();
    let mut batch = vec![first];
    while asks < MAX_BATCH
        && let Ok(job) = jobs.try_recv()
    {
        let (more_asks, more_bytes) = job.size();
        (asks, bytes) = (asks + more_asks, bytes.saturating_add(more_bytes));
        if asks > MAX_BATCH || bytes > MAX_BATCH_BYTES {
            return (batch, Some(job));
        }
        batch.push(job);
    }
    (batch, None)
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

    /// Works until nobody can ask any more.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut left = None;
        while let Some(first) = left.take().or_else(|| jobs.recv().ok()) {
            let batch;
            (batch, left) = gather(first, jobs);
            self.serve(batch);
        }
    }

    fn serve(&mut self, jobs: Vec<Job>) {
        let (asks, replies): (Vec<Vec<Ask>>, Vec<_>) =
            jobs.into_iter().map(|job| (job.asks, job.reply)).unzip();
        let results = self.execute(&asks);
        // Whoever stopped listening finds the outcome under the id.
        for (reply, result) in replies.into_iter().zip(results) {
            let _ = reply.send(result);
        }
    }

    /// Executes jobs in one transaction; results for each.
    pub(super) fn execute(&mut self, jobs: &[Vec<Ask>]) -> Vec<Results> {
        if self.poisoned.load(Ordering::Acquire) {
            return vec![vec![Err(StoreError::poisoned())]; jobs.len()];
        }
        let error = match self.batch(jobs) {
            Batch::Durable(results) => return results,
            Batch::Failed(error) => error,
            Batch::Unknown(error) => {
                self.poisoned.store(true, Ordering::Release);
                error
            }
        };
        vec![vec![Err(error)]; jobs.len()]
    }

    fn batch(&mut self, jobs: &[Vec<Ask>]) -> Batch {
        if let Err(error) = self.database.begin() {
            return Batch::Failed(error);
        }
        // Unless all goes well the books are ahead of the database: they come
        // back only then.
        let decided = decide_all(&mut self.database, self.cache.take(), self.seen, jobs);
        let (mut cache, told) = match decided {
            Ok(decided) => decided,
            // A transaction that is still under way would hold its lock, and
            // the next batch would be part of it.
            Err(error) if self.database.roll_back() => return Batch::Failed(error),
            Err(error) => return Batch::Unknown(error),
        };
        if let Err(reason) = self.database.commit() {
            return Batch::Unknown(StoreError::Unknown { reason });
        }
        let head = cache.position.head();
        cache.trim();
        self.cache = Some(cache);
        self.seen = Some(head);
        let receipt = |told: Told| Receipt {
            outcome: told.outcome,
            refusal: told.refusal,
            position: told.position,
            head,
        };
        let results = |told: Vec<Result<Told, StoreError>>| {
            let told = told.into_iter().map(|told| told.map(receipt));
            told.collect()
        };
        Batch::Durable(told.into_iter().map(results).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::store::MAX_ANSWER_BYTES;
    use crate::{AccountNumber, Charge, Cost, OwnDelta, Request, RequestId};

    /// The sizes of the transactions that jobs become.
    fn batches(jobs: impl IntoIterator<Item = Vec<Ask>>) -> Vec<usize> {
        let (sender, waiting) = sync_channel(1000);
        for asks in jobs {
            let (reply, _) = sync_channel(1);
            sender.send(Job { asks, reply }).unwrap();
        }
        drop(sender);
        let (mut left, mut sizes) = (None, Vec::new());
        while let Some(first) = left.take().or_else(|| waiting.recv().ok()) {
            let batch;
            (batch, left) = gather(first, &waiting);
            sizes.push(batch.len());
        }
        sizes
    }

    #[test]
    fn a_transaction_is_bounded_by_requests_and_by_bytes() {
        let id = RequestId::from_bytes([1; 16]);
        let cost = || Cost::new([], OwnDelta::ZERO);
        let start = Ask::new(0, id, Request::Start);
        assert_eq!(batches(vec![vec![start.clone()]; 600]), [256, 256, 88]);
        // Three requests each: 85 of them are 255.
        assert_eq!(batches(vec![vec![start.clone(); 3]; 100]), [85, 15]);
        assert_eq!(batches([vec![start.clone(); 300], vec![start]]), [1, 1]);
        let long = Ask::commit(0, id, cost(), vec![0; MAX_ANSWER_BYTES]).unwrap();
        assert_eq!(batches(vec![vec![long]; 9]), [4, 4, 1]);
        let event = Charge {
            account: AccountNumber::new(0),
            cost: cost(),
            neighbours: None,
            event: "x".repeat(crate::MAX_EVENT_BYTES),
        };
        let event = Ask::new(0, id, Request::Reserve(event));
        assert_eq!(batches(vec![vec![event]; 100]), [64, 36]);
    }
}
