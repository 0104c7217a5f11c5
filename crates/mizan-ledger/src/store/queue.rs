//! The write queue (group commit). A client that finds no write in progress writes in its own
//! thread, without a switch to another thread and back. A client that finds one in progress
//! waits, and the thread of the store writes all waiting jobs in one transaction with one sync.
//! So concurrent clients share syncs, and no client waits for others to arrive.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::store::writer::{Results, Write};
use crate::store::{StoreError, Submission};

/// The largest number of waiting jobs; a further client blocks until one is done.
const MAX_WAITING: usize = 4096;

/// The most requests in one transaction, unless a single job has more.
const MAX_BATCH: usize = 256;

/// The most bytes of events and answers in one transaction, unless a single job has more. It bounds
/// the memory for many clients with long answers.
const MAX_BATCH_BYTES: usize = 64 << 20;

/// Requests that are decided in turn, and the channel for their results.
#[derive(Debug)]
struct Job {
    submissions: Vec<Submission>,
    reply: SyncSender<Results>,
}

/// The number of requests, and their bytes.
fn size(submissions: &[Submission]) -> (usize, usize) {
    let bytes = submissions.iter().map(Submission::bytes);
    (submissions.len(), bytes.fold(0, usize::saturating_add))
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Whether a write is in progress.
    taken: bool,
    closed: bool,
}

impl State {
    /// The first waiting jobs that fit one transaction.
    fn gather(&mut self) -> Vec<Job> {
        let (mut submissions, mut bytes) = (0_usize, 0_usize);
        let mut batch = Vec::new();
        while let Some(job) = self.waiting.front() {
            let (more_asks, more_bytes) = size(&job.submissions);
            (submissions, bytes) = (submissions + more_asks, bytes.saturating_add(more_bytes));
            if !batch.is_empty() && (submissions > MAX_BATCH || bytes > MAX_BATCH_BYTES) {
                break;
            }
            batch.extend(self.waiting.pop_front());
        }
        batch
    }
}

/// The writer and the waiting jobs.
pub(super) struct Queue {
    state: Mutex<State>,
    /// There may be work for the thread.
    work: Condvar,
    /// There may be room for another waiting job.
    room: Condvar,
    /// None after it panicked.
    writer: Mutex<Option<Box<dyn Write>>>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// The right to write; released when it is dropped.
struct Turn<'a>(&'a Queue);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.taken = false;
        if !state.waiting.is_empty() || state.closed {
            self.0.work.notify_one();
        }
    }
}

impl Queue {
    pub(super) fn new(writer: Box<dyn Write>) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            writer: Mutex::new(Some(writer)),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes requests in turn, alone or in a transaction with others.
    pub(super) fn execute(&self, submissions: Vec<Submission>) -> Results {
        let submissions: Vec<Submission> =
            submissions.into_iter().map(Submission::drafted).collect();
        let mut state = self.state();
        if !state.taken && state.waiting.is_empty() {
            state.taken = true;
            drop(state);
            let _turn = Turn(self);
            let results = self.write(&[submissions]).pop();
            return results.unwrap_or_else(|| vec![Err(StoreError::poisoned())]);
        }
        while state.waiting.len() >= MAX_WAITING {
            state = self
                .room
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (reply, answer) = sync_channel(1);
        state.waiting.push_back(Job { submissions, reply });
        drop(state);
        // Every waiting job receives a result.
        let gone = |_| vec![Err(StoreError::poisoned())];
        answer.recv().unwrap_or_else(gone)
    }

    /// The loop of the thread, until the queue is closed.
    pub(super) fn work(&self) {
        while let Some((turn, batch)) = self.next() {
            let (submissions, replies): (Vec<Vec<Submission>>, Vec<_>) = batch
                .into_iter()
                .map(|job| (job.submissions, job.reply))
                .unzip();
            let results = self.write(&submissions);
            // Release the right to write before clients receive their results.
            drop(turn);
            // A client that stopped listening can look up the outcome by its id.
            for (reply, result) in replies.into_iter().zip(results) {
                let _ = reply.send(result);
            }
        }
    }

    fn next(&self) -> Option<(Turn<'_>, Vec<Job>)> {
        let mut state = self.state();
        while state.taken || state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state = self
                .work
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.taken = true;
        let batch = state.gather();
        self.room.notify_all();
        Some((Turn(self), batch))
    }

    /// Lets the thread end.
    pub(super) fn close(&self) {
        self.state().closed = true;
        self.work.notify_one();
    }

    fn write(&self, jobs: &[Vec<Submission>]) -> Vec<Results> {
        let mut place = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = place.as_mut() else {
            return vec![vec![Err(StoreError::poisoned())]; jobs.len()];
        };
        let execute = AssertUnwindSafe(|| writer.execute(jobs));
        catch_unwind(execute).unwrap_or_else(|_| {
            // Its state is unknown after a panic.
            *place = None;
            let reason = "the writer panicked".to_owned();
            vec![vec![Err(StoreError::Unknown { reason })]; jobs.len()]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::RequestId;
    use crate::money::{AccountNumber, Cost, DeltaAmount};
    use crate::state::{Charge, Request};
    use crate::store::MAX_ANSWER_BYTES;

    /// The sizes of the transactions that jobs become.
    fn batches(jobs: impl IntoIterator<Item = Vec<Submission>>) -> Vec<usize> {
        let waiting = jobs.into_iter().map(|submissions| {
            let (reply, _) = sync_channel(1);
            Job { submissions, reply }
        });
        let mut state = State {
            waiting: waiting.collect(),
            ..State::default()
        };
        let mut sizes = Vec::new();
        while !state.waiting.is_empty() {
            sizes.push(state.gather().len());
        }
        sizes
    }

    #[test]
    fn a_transaction_is_bounded_by_requests_and_by_bytes() {
        let id = RequestId::from_bytes([1; 16]);
        let cost = || Cost::new([], DeltaAmount::ZERO);
        let start = Submission::new(0, id, Request::Start);
        assert_eq!(batches(vec![vec![start.clone()]; 600]), [256, 256, 88]);
        // Three requests each: 85 of them are 255.
        assert_eq!(batches(vec![vec![start.clone(); 3]; 100]), [85, 15]);
        assert_eq!(batches([vec![start.clone(); 300], vec![start]]), [1, 1]);
        let long = Submission::commit(0, id, cost(), vec![0; MAX_ANSWER_BYTES]).unwrap();
        assert_eq!(batches(vec![vec![long]; 9]), [4, 4, 1]);
        let event = Charge {
            conditional: Box::default(),
            query: None,
            account: AccountNumber::new(0),
            cost: cost(),
            neighbours: None,
            event: "x".repeat(crate::state::MAX_EVENT_BYTES),
        };
        let event = Submission::new(0, id, Request::Reserve(event));
        assert_eq!(batches(vec![vec![event]; 100]), [64, 36]);
    }

    #[test]
    fn after_a_panic_of_the_writer_no_client_waits() {
        struct Falls;
        impl Write for Falls {
            fn execute(&mut self, _: &[Vec<Submission>]) -> Vec<Results> {
                std::thread::sleep(std::time::Duration::from_millis(20));
                std::panic::panic_any("as planned");
            }
        }
        let queue = Queue::new(Box::new(Falls));
        let id = RequestId::from_bytes([1; 16]);
        let submission = || queue.execute(vec![Submission::new(0, id, Request::Start)]);
        let told: Vec<_> = std::thread::scope(|scope| {
            let thread = scope.spawn(|| queue.work());
            let clients: Vec<_> = (0..8).map(|_| scope.spawn(submission)).collect();
            let told = clients.into_iter().map(|client| client.join().unwrap());
            let told = told.flatten().map(|result| result.unwrap_err()).collect();
            queue.close();
            thread.join().unwrap();
            told
        });
        assert_eq!(told.len(), 8);
        let unknown = |error: &&StoreError| matches!(error, StoreError::Unknown { .. });
        assert_eq!(told.iter().filter(unknown).count(), 1);
    }
}
