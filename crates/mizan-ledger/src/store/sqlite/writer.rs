//! The writer: one thread, one transaction for all that waits, one sync for the
//! transaction. Requests that come while it syncs are the next transaction, so
//! a crowd shares syncs and a lone client never waits for company.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use rusqlite::{Connection, TransactionBehavior};

use super::cache::Cache;
use super::rows;
use super::schema::failed;
use crate::carry_out::carry_out;
use crate::decide::{Decision, decide};
use crate::store::{Ask, Receipt, StoreError};
use crate::{Entry, leaf_hash};

/// The most requests in one transaction.
const MAX_BATCH: usize = 256;

/// A request and where its answer goes.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) ask: Ask,
    pub(super) reply: SyncSender<Result<Receipt, StoreError>>,
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
    /// Everything is durable; each request is told its own.
    Durable(Vec<Result<Receipt, StoreError>>),
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
            let batch: Vec<Job> = std::iter::once(first)
                .chain(jobs.try_iter())
                .take(MAX_BATCH)
                .collect();
            self.serve(batch);
        }
    }

    fn serve(&mut self, jobs: Vec<Job>) {
        let (asks, replies): (Vec<Ask>, Vec<_>) =
            jobs.into_iter().map(|job| (job.ask, job.reply)).unzip();
        let results = self.execute(&asks);
        // Whoever stopped listening finds the outcome under the id.
        for (reply, result) in replies.into_iter().zip(results) {
            let _ = reply.send(result);
        }
    }

    /// Executes requests in one transaction; a result for each.
    pub(super) fn execute(&mut self, asks: &[Ask]) -> Vec<Result<Receipt, StoreError>> {
        if self.poisoned.load(Ordering::Acquire) {
            return vec![Err(StoreError::poisoned()); asks.len()];
        }
        let error = match self.batch(asks) {
            Batch::Durable(results) => return results,
            Batch::Failed(error) => error,
            Batch::Unknown(error) => {
                self.poisoned.store(true, Ordering::Release);
                error
            }
        };
        // The books may be ahead of the file.
        self.cache = None;
        vec![Err(error); asks.len()]
    }

    fn batch(&mut self, asks: &[Ask]) -> Batch {
        let begun = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = match begun {
            Ok(transaction) => transaction,
            Err(error) => return Batch::Failed(failed(error)),
        };
        let mut results = match decide_all(&transaction, &mut self.cache, asks) {
            Ok(results) => results,
            Err(error) => {
                // A transaction that cannot be given up holds its lock, and what
                // comes next would be written with it.
                return match transaction.rollback() {
                    Ok(()) => Batch::Failed(error),
                    Err(_) => Batch::Unknown(error),
                };
            }
        };
        if let Err(error) = transaction.commit() {
            return Batch::Unknown(StoreError::Unknown {
                reason: error.to_string(),
            });
        }
        if let Some((_, cache)) = &mut self.cache {
            let head = cache.position.head();
            for receipt in results.iter_mut().flatten() {
                receipt.head = head;
            }
            cache.trim();
        }
        Batch::Durable(results)
    }
}

/// Decides and writes each request. An error fails all of them.
fn decide_all(
    connection: &Connection,
    cached: &mut Option<(i64, Cache)>,
    asks: &[Ask],
) -> Result<Vec<Result<Receipt, StoreError>>, StoreError> {
    // Moves when another connection has written.
    let version: i64 = connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .map_err(failed)?;
    let mut cache = match cached.take() {
        Some((known, cache)) if known == version => cache,
        _ => Cache::load(connection)?,
    };
    let size = cache.position.frontier.size();
    let mut results = Vec::with_capacity(asks.len());
    for ask in asks {
        cache.prepare(connection, ask.id, &ask.request)?;
        match decide_one(connection, &mut cache, ask) {
            Err(error @ StoreError::Request(_)) => results.push(Err(error)),
            result => results.push(Ok(result?)),
        }
    }
    if cache.position.frontier.size() > size {
        cache.save(connection)?;
    }
    *cached = Some((version, cache));
    Ok(results)
}

fn decide_one(
    connection: &Connection,
    cache: &mut Cache,
    ask: &Ask,
) -> Result<Receipt, StoreError> {
    let (body, refusal) = match decide(cache, ask.id, &ask.request)? {
        Decision::Known(outcome) => {
            return Ok(Receipt {
                outcome,
                refusal: None,
                position: None,
                head: cache.position.head(),
            });
        }
        Decision::Append { body, refusal } => (body, refusal),
    };
    let position = cache.position.frontier.size();
    let outcome = carry_out(cache, ask.id, &body)
        .map_err(|error| StoreError::damaged(format!("entry {position}: {error}")))?;
    rows::define(connection, position, &body)?;
    let entry = Entry {
        unix_ms: ask.unix_ms,
        id: ask.id,
        body,
    };
    let bytes = entry.encode();
    rows::append(connection, position, ask.id, &bytes, ask.answer.as_deref())?;
    cache.position.frontier.push(leaf_hash(&bytes));
    Ok(Receipt {
        outcome,
        refusal,
        position: Some(position),
        head: cache.position.head(),
    })
}
