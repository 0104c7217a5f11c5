//! The writer: one thread, one transaction for all that waits, one sync for the
//! transaction. Requests that come while it syncs are the next transaction, so
//! a crowd shares syncs and a lone client never waits for company.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::cache::Cache;
use super::schema::failed;
use super::{audit, rows};
use crate::carry_out::carry_out;
use crate::decide::{Decision, decide};
use crate::store::{Ask, Receipt, StoreError};
use crate::{Entry, Outcome, Refusal, leaf_hash};

/// The most requests in one transaction.
const MAX_BATCH: usize = 256;

/// What requests are told: a result for each up to the first error.
pub(super) type Results = Vec<Result<Receipt, StoreError>>;

/// Requests that follow each other, and where their answers go.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) asks: Vec<Ask>,
    pub(super) reply: SyncSender<Results>,
}

/// What the writer thread owns.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    cache: Option<(i64, Cache)>,
    poisoned: Arc<AtomicBool>,
}

/// How a batch ended.
enum Batch {
    /// Everything is durable; each job is told its own.
    Durable(Vec<Results>),
    /// Nothing was written.
    Failed(StoreError),
    /// SQLite could not say. It has been seen to report an error for a commit
    /// that was there after opening again.
    Unknown(StoreError),
}

impl Writer {
    pub(super) const fn new(connection: Connection, poisoned: Arc<AtomicBool>) -> Self {
        Self {
            connection,
            cache: None,
            poisoned,
        }
    }

    /// Works until nobody can ask any more.
    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let mut count = first.asks.len();
            let mut batch = vec![first];
            while count < MAX_BATCH
                && let Ok(job) = jobs.try_recv()
            {
                count += job.asks.len();
                batch.push(job);
            }
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
        let immediate = TransactionBehavior::Immediate;
        let begun = Transaction::new_unchecked(&self.connection, immediate);
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => return Batch::Failed(failed(error)),
        };
        // Unless all goes well the books are ahead of the file: they come back
        // only then.
        let (version, mut cache, told) = match decide_all(&transaction, self.cache.take(), jobs) {
            Ok(decided) => decided,
            Err(error) => {
                // A full disk has rolled back already, which makes a second
                // rollback an error: look whether one is still under way. It
                // would hold its lock, and the next batch would be part of it.
                drop(transaction);
                return if self.connection.is_autocommit() {
                    Batch::Failed(error)
                } else {
                    Batch::Unknown(error)
                };
            }
        };
        if let Err(error) = transaction.commit() {
            return Batch::Unknown(StoreError::Unknown {
                reason: error.to_string(),
            });
        }
        let head = cache.position.head();
        cache.trim();
        self.cache = Some((version, cache));
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

/// A receipt without the head of the log, which all of a batch share.
struct Told {
    outcome: Outcome,
    refusal: Option<Box<Refusal>>,
    position: Option<u64>,
}

/// The books, the `data_version` they belong to, and what each job is told.
type Decided = (i64, Cache, Vec<Vec<Result<Told, StoreError>>>);

/// Decides and writes each request. An error fails all of them.
fn decide_all(
    connection: &Connection,
    cached: Option<(i64, Cache)>,
    jobs: &[Vec<Ask>],
) -> Result<Decided, StoreError> {
    // Moves when another connection has written.
    let version: i64 = connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .map_err(failed)?;
    let mut cache = match cached {
        Some((known, cache)) if known == version => cache,
        _ => Cache::load(connection)?,
    };
    let size = cache.position.frontier.size();
    let mut all_told = Vec::with_capacity(jobs.len());
    for asks in jobs {
        let mut told = Vec::with_capacity(asks.len());
        for ask in asks {
            cache.prepare(connection, ask.id, &ask.request)?;
            match decide_one(connection, &mut cache, ask) {
                // What follows in the job was asked in the belief that this works.
                Err(error @ StoreError::Request(_)) => {
                    told.push(Err(error));
                    break;
                }
                result => told.push(Ok(result?)),
            }
        }
        all_told.push(told);
    }
    if cache.position.frontier.size() > size {
        cache.save(connection)?;
    }
    Ok((version, cache, all_told))
}

fn decide_one(connection: &Connection, cache: &mut Cache, ask: &Ask) -> Result<Told, StoreError> {
    let (body, refusal) = match decide(cache, ask.id, &ask.request)? {
        Decision::Known(outcome) => {
            return Ok(Told {
                outcome,
                refusal: None,
                position: None,
            });
        }
        Decision::Append { body, refusal } => (body, refusal),
    };
    let position = cache.position.frontier.size();
    // Not an error of the request: the books may be half changed.
    let outcome = carry_out(cache, ask.id, &body)
        .map_err(|error| StoreError::damaged(format!("entry {position}: {error}")))?;
    rows::define(connection, position, &body)?;
    // A clock that goes back does not take the log with it.
    let unix_ms = ask.unix_ms.max(cache.position.unix_ms);
    cache.position.unix_ms = unix_ms;
    let entry = Entry {
        unix_ms,
        id: ask.id,
        body,
    };
    let bytes = entry.encode();
    rows::append(connection, position, ask.id, &bytes, ask.answer.as_deref())?;
    audit::push(connection, &mut cache.position.frontier, leaf_hash(&bytes))?;
    Ok(Told {
        outcome,
        refusal,
        position: Some(position),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Sqlite, Store};
    use crate::{LedgerId, Request, RequestId};

    /// An ask that begins a ledger.
    fn begin() -> Ask {
        let ledger = LedgerId::from_bytes([1; 16]);
        Ask::new(0, RequestId::from_bytes([2; 16]), Request::Open { ledger })
    }

    #[test]
    fn a_failed_commit_poisons_the_writer_and_nothing_more_is_written() {
        let name = format!("mizan-writer-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("ledger");
        drop(Sqlite::create(&path).unwrap());

        let mut connection = super::super::schema::connect(&path).unwrap();
        connection.commit_hook(Some(|| true)).unwrap();
        let mut writer = Writer::new(connection, Arc::default());
        let codes = |results: Vec<Results>| -> Vec<_> {
            results
                .iter()
                .flatten()
                .map(|r| r.as_ref().unwrap_err().code())
                .collect()
        };
        assert_eq!(
            codes(writer.execute(&[vec![begin()], vec![begin()]])),
            ["MZ1766"; 2]
        );
        // The disk recovers, the writer does not: its client has to look first.
        writer.connection.commit_hook(None::<fn() -> bool>).unwrap();
        assert_eq!(codes(writer.execute(&[vec![begin()]])), ["MZ1760"]);
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

        let connection = super::super::schema::connect(&path).unwrap();
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        let mut writer = Writer::new(connection, Arc::default());
        let other = super::super::schema::connect(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let results = writer.execute(&[vec![begin()]]);
        assert_eq!(results, [[Err(StoreError::Busy)]]);
        other.execute_batch("ROLLBACK").unwrap();
        // A full disk, as SQLite tells it.
        let pages = "PRAGMA max_page_count = 1";
        writer.connection.query_row(pages, [], |_| Ok(())).unwrap();
        let room = vec![7; 1 << 20];
        let mut commit = begin();
        commit.answer = Some(room);
        let full = writer.execute(&[vec![commit.clone()]])[0]
            .remove(0)
            .unwrap_err();
        assert_eq!(full.code(), "MZ1760", "{full}");
        let pages = "PRAGMA max_page_count = 100000";
        writer.connection.query_row(pages, [], |_| Ok(())).unwrap();
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
