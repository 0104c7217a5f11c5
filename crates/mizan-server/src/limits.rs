//! A limit on everything: how much of each thing there may be at once, and what
//! one token may ask in a second.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mizan_engine::QueryLimits;

/// Processes that run queries over files, one for each.
#[derive(Clone, Debug)]
pub struct QueryWorkers {
    /// The program; see [`Engines::in_workers`](mizan_engine::Engines::in_workers).
    pub program: PathBuf,
    /// The limits of each.
    pub limits: QueryLimits,
}

/// All limits.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requests of a token in a second, over time.
    pub rate: f64,
    /// Requests of a token that may come at once after a pause.
    pub burst: f64,
    /// Requests of a token that are being answered.
    pub in_flight: u32,
    /// Streams of events of a token.
    pub streams: u32,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// How long a body may take to come.
    pub body_time: Duration,
    /// How long headers and the handshake may take, and a connection may be idle.
    pub header_time: Duration,
    /// Connections.
    pub connections: usize,
    /// Questions that are run over data at once.
    pub queries: usize,
    /// Processes for them. None runs them in this process, without limits.
    pub query_workers: Option<QueryWorkers>,
    /// Questions that wait for that.
    pub waiting: usize,
    /// Threads that compute: prices and the accountant.
    pub computing: usize,
    /// Computations that wait for one.
    pub computing_waiting: usize,
    /// Threads that read and write the ledger; the more, the more charges share a
    /// sync.
    pub ledger: usize,
    /// How long a client waits for a computation.
    pub computing_time: Duration,
    /// How long a shutdown waits for what is charged.
    pub shutdown_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            rate: 50.0,
            burst: 100.0,
            in_flight: 16,
            streams: 4,
            body_bytes: 1 << 20,
            body_time: Duration::from_secs(10),
            header_time: Duration::from_secs(30),
            connections: 2048,
            // One more than can be at work: a token may not have them all.
            queries: processors.max(2) + 1,
            query_workers: None,
            waiting: 256,
            computing: processors.max(2) + 1,
            computing_waiting: 512,
            ledger: 64,
            computing_time: Duration::from_secs(10),
            shutdown_time: Duration::from_secs(60),
        }
    }
}

/// Who asked how much.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimiter(Arc<Mutex<HashMap<String, TokenBucket>>>);

/// A bucket of requests that fills up with time.
#[derive(Debug)]
struct TokenBucket {
    tokens: f64,
    at: Instant,
    in_flight: u32,
    streams: u32,
}

/// What a request or a stream holds while it lasts.
#[derive(Debug)]
pub(crate) struct RequestPermit {
    limiter: RateLimiter,
    token: String,
    stream: bool,
}

tokio::task_local! {
    /// What the request that is being answered holds. Work that outlives its client
    /// holds it too, so that who hangs up has not asked less.
    pub(crate) static REQUEST_PERMIT: Arc<RequestPermit>;
}

/// A bucket that was full for so long is forgotten.
const IDLE_TIME: Duration = Duration::from_secs(600);

/// Buckets are looked over when there are so many.
const SWEEP_ABOVE: usize = 1000;

impl RateLimiter {
    /// Lets a request in, or says after how many seconds to try again.
    pub(crate) fn request(&self, token: &str, limits: &Limits) -> Result<RequestPermit, u64> {
        let now = Instant::now();
        let mut buckets = self.buckets();
        if buckets.len() > SWEEP_ABOVE {
            buckets.retain(|_, bucket| {
                bucket.in_flight > 0 || bucket.streams > 0 || now - bucket.at < IDLE_TIME
            });
        }
        let bucket = buckets.entry(token.to_owned()).or_insert(TokenBucket {
            tokens: limits.burst,
            at: now,
            in_flight: 0,
            streams: 0,
        });
        let filled = bucket.tokens + (now - bucket.at).as_secs_f64() * limits.rate;
        bucket.tokens = filled.min(limits.burst);
        bucket.at = now;
        if bucket.in_flight >= limits.in_flight {
            return Err(1);
        }
        if bucket.tokens < 1.0 {
            let seconds = ((1.0 - bucket.tokens) / limits.rate.max(1e-3)).ceil();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "some seconds"
            )]
            return Err((seconds as u64).clamp(1, 3600));
        }
        bucket.tokens -= 1.0;
        bucket.in_flight += 1;
        Ok(self.permit(token, false))
    }

    /// Lets a stream of events begin.
    pub(crate) fn stream(&self, token: &str, limits: &Limits) -> Option<RequestPermit> {
        let mut buckets = self.buckets();
        let bucket = buckets.get_mut(token)?;
        if bucket.streams >= limits.streams {
            return None;
        }
        bucket.streams += 1;
        Some(self.permit(token, true))
    }

    fn permit(&self, token: &str, stream: bool) -> RequestPermit {
        RequestPermit {
            limiter: self.clone(),
            token: token.to_owned(),
            stream,
        }
    }

    fn buckets(&self) -> MutexGuard<'_, HashMap<String, TokenBucket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RequestPermit {
    /// Whose it is.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        if let Some(bucket) = self.limiter.buckets().get_mut(&self.token) {
            let count = if self.stream {
                &mut bucket.streams
            } else {
                &mut bucket.in_flight
            };
            *count = count.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_ask_so_much_and_others_are_not_touched() {
        let limits = Limits {
            rate: 1e-9,
            burst: 3.0,
            in_flight: 2,
            ..Limits::default()
        };
        let limiter = RateLimiter::default();
        let one = limiter.request("a", &limits).unwrap();
        let _two = limiter.request("a", &limits).unwrap();
        // Two are being answered.
        assert!(limiter.request("a", &limits).is_err());
        drop(one);
        drop(limiter.request("a", &limits).unwrap());
        // Three were asked, and the bucket does not fill up.
        assert!(limiter.request("a", &limits).unwrap_err() >= 1);
        assert!(limiter.request("b", &limits).is_ok());
    }

    #[test]
    fn streams_are_counted_apart() {
        let limits = Limits {
            streams: 1,
            ..Limits::default()
        };
        let limiter = RateLimiter::default();
        drop(limiter.request("a", &limits).unwrap());
        let stream = limiter.stream("a", &limits).unwrap();
        assert!(limiter.stream("a", &limits).is_none());
        drop(stream);
        assert!(limiter.stream("a", &limits).is_some());
    }
}
