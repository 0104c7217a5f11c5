//! Work that blocks, on so many threads and no more.
//!
//! What was begun is finished, whether or not its client is still there: a charge
//! that is durable is followed by its answer, and the permit is given back after
//! it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Threads for one kind of work.
#[derive(Debug)]
pub(crate) struct Lane {
    permits: Arc<Semaphore>,
    threads: usize,
    waiting: AtomicUsize,
    most_waiting: usize,
}

/// One who waits, until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lane {
    pub(crate) fn new(threads: usize, most_waiting: usize) -> Self {
        let threads = threads.max(1);
        Self {
            permits: Arc::new(Semaphore::new(threads)),
            threads,
            waiting: AtomicUsize::new(0),
            most_waiting,
        }
    }

    /// Waits for a thread and runs. Too many who wait are turned away.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.most_waiting {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Problem::busy());
        }
        let waiting = Waiting(&self.waiting);
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        drop(waiting);
        let Ok(permit) = permit else {
            return Err(Problem::busy());
        };
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(permit);
            result
        });
        // A panic is a mistake of ours; it has been printed, and its thread is gone.
        done.await.map_err(|_| Problem::internal("MZ2013"))
    }

    /// How many threads are at work.
    pub(crate) fn busy(&self) -> usize {
        self.threads
            .saturating_sub(self.permits.available_permits())
    }

    /// How many wait for one.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits until nobody is at work, and lets nobody begin.
    pub(crate) async fn finish(&self) {
        let all = u32::try_from(self.threads).unwrap_or(u32::MAX);
        let permits = self.permits.acquire_many(all).await;
        self.permits.close();
        drop(permits);
    }
}
