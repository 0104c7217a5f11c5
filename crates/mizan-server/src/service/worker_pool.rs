//! A bounded number of threads for blocking work, of which one is always left to other
//! access tokens.
//!
//! Work that was started runs to its end, even if its client is gone: a durable charge is
//! followed by its answer, and the permit is released after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mizan_core::Code;
use tokio::sync::Semaphore;

use crate::limits::REQUEST_PERMIT;
use crate::problem::Problem;

/// The threads for one kind of work.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    permits: Arc<Semaphore>,
    threads: usize,
    waiting: AtomicUsize,
    most_waiting: usize,
    /// The share of each access token that is in use.
    shares: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Counts a request that waits, until dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl WorkerPool {
    pub(crate) fn new(threads: usize, most_waiting: usize) -> Self {
        let threads = threads.max(1);
        Self {
            permits: Arc::new(Semaphore::new(threads)),
            threads,
            waiting: AtomicUsize::new(0),
            most_waiting,
            shares: Mutex::default(),
        }
    }

    /// The threads that the token of this request may use: all but one, if there are several.
    fn share(&self) -> Option<Arc<Semaphore>> {
        let token = REQUEST_PERMIT
            .try_with(|permit| permit.token().to_owned())
            .ok()?;
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        // Permits hold a reference: a share without one is not in use.
        shares.retain(|_, share| Arc::strong_count(share) > 1);
        let share = shares.entry(token);
        let share = share
            .or_insert_with(|| Arc::new(Semaphore::new(self.threads.saturating_sub(1).max(1))));
        Some(Arc::clone(share))
    }

    /// Waits for a thread and runs the work. Fails at once if too many requests wait.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.most_waiting {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Problem::busy());
        }
        let waiting = Waiting(&self.waiting);
        let share = match self.share() {
            Some(share) => share.acquire_owned().await.ok(),
            None => None,
        };
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        drop(waiting);
        let Ok(permit) = permit else {
            return Err(Problem::busy());
        };
        // The request counts as running until its work is done, with or without its client.
        let held = REQUEST_PERMIT.try_with(Arc::clone).ok();
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop((permit, share, held));
            result
        });
        // A panic is a fault of Mizan; it has been printed, and its thread is gone.
        done.await.map_err(|_| Problem::internal(Code::MZ2013))
    }

    /// Threads that are busy.
    pub(crate) fn busy(&self) -> usize {
        self.threads
            .saturating_sub(self.permits.available_permits())
    }

    /// Requests that wait for a thread.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Waits until all threads are idle, and accepts no new work.
    pub(crate) async fn finish(&self) {
        let all = u32::try_from(self.threads).unwrap_or(u32::MAX);
        let permits = self.permits.acquire_many(all).await;
        self.permits.close();
        drop(permits);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::limits::{Limits, RateLimiter};

    #[tokio::test]
    async fn one_thread_is_left_to_other_tokens() {
        let pool = Arc::new(WorkerPool::new(2, 10));
        let (limiter, limits) = (RateLimiter::default(), Limits::default());
        let held = |token: &str| Arc::new(limiter.request(token, &limits).unwrap());
        let (stop, stopped) = mpsc::channel::<()>();
        let stopped = Arc::new(Mutex::new(stopped));
        let wait = |token| {
            let (pool, stopped) = (Arc::clone(&pool), Arc::clone(&stopped));
            let work = move || stopped.lock().unwrap().recv().unwrap();
            tokio::spawn(REQUEST_PERMIT.scope(held(token), async move { pool.run(work).await }))
        };
        let greedy = [wait("a"), wait("a"), wait("a")];
        // The first token has one of the two threads; another token gets the other.
        let other = REQUEST_PERMIT.scope(held("b"), pool.run(|| 7)).await;
        assert_eq!(other.unwrap(), 7);
        for _ in &greedy {
            stop.send(()).unwrap();
        }
        for one in greedy {
            one.await.unwrap().unwrap();
        }
        // Shares that are not in use are removed.
        REQUEST_PERMIT
            .scope(held("c"), pool.run(|| ()))
            .await
            .unwrap();
        assert!(pool.shares.lock().unwrap().len() <= 2);
    }
}
