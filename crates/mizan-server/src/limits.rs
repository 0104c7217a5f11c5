//! Limits of the server, and the rate limiter: one token bucket per access token.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mizan_engine::QueryLimits;

/// Worker processes for queries over files, one process per query.
#[derive(Clone, Debug)]
pub struct QueryWorkers {
    /// The program; see [`EngineSet::in_workers`](mizan_engine::EngineSet::in_workers).
    pub program: PathBuf,
    /// The limits of each process.
    pub limits: QueryLimits,
}

/// The limits of a server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Requests per second of an access token, on average: the fill rate of its bucket.
    pub rate: f64,
    /// Requests that an access token may send at once: the capacity of its bucket.
    pub burst: f64,
    /// Concurrent requests of an access token.
    pub in_flight: u32,
    /// Concurrent event streams of an access token.
    pub streams: u32,
    /// Bytes of a request body.
    pub body_bytes: usize,
    /// How long a request body may take to arrive.
    pub body_time: Duration,
    /// How long headers and the TLS handshake may take, and a connection may stall.
    pub header_time: Duration,
    /// Open connections.
    pub connections: usize,
    /// Queries that run over data at once.
    pub queries: usize,
    /// Worker processes for them. None runs queries in this process, without limits.
    pub query_workers: Option<QueryWorkers>,
    /// Queries that wait for a thread.
    pub waiting: usize,
    /// Threads for quotes, and as many for the accountant.
    pub computing: usize,
    /// Computations that wait for a thread.
    pub computing_waiting: usize,
    /// Threads that read and write the ledger. More threads let more charges share one
    /// sync.
    pub ledger: usize,
    /// How long a client waits for a computation.
    pub computing_time: Duration,
    /// How long a shutdown waits for queries that are charged.
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
            // One more than there are processors: a single token cannot use all threads.
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

/// Limits the requests of each access token with a token bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateLimiter(Arc<Mutex<HashMap<String, TokenBucket>>>);

/// The token bucket of one access token: it fills at a constant rate up to the burst, and
/// each request takes one.
#[derive(Debug)]
struct TokenBucket {
    tokens: f64,
    at: Instant,
    in_flight: u32,
    streams: u32,
}

/// What a request or an event stream holds while it runs: its place among the concurrent
/// ones of its access token.
#[derive(Debug)]
pub(crate) struct RequestPermit {
    limiter: RateLimiter,
    token: String,
    stream: bool,
}

tokio::task_local! {
    /// The permit of the request that is being answered. Work that outlives its client
    /// holds it too, so that closing the connection does not make room for more.
    pub(crate) static REQUEST_PERMIT: Arc<RequestPermit>;
}

/// Buckets that were not used for this long are removed.
const IDLE_TIME: Duration = Duration::from_secs(600);

/// Unused buckets are looked for when there are more than this.
const SWEEP_ABOVE: usize = 1000;

impl RateLimiter {
    /// A permit for a request, or after how many seconds to retry.
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

    /// A permit for an event stream.
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
    /// The access token that holds it.
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
    fn rate_and_concurrency_are_limited_for_each_token() {
        let limits = Limits {
            rate: 1e-9,
            burst: 3.0,
            in_flight: 2,
            ..Limits::default()
        };
        let limiter = RateLimiter::default();
        let one = limiter.request("a", &limits).unwrap();
        let _two = limiter.request("a", &limits).unwrap();
        // Two run at once.
        assert!(limiter.request("a", &limits).is_err());
        drop(one);
        drop(limiter.request("a", &limits).unwrap());
        // Three were taken, and the bucket does not fill up.
        assert!(limiter.request("a", &limits).unwrap_err() >= 1);
        assert!(limiter.request("b", &limits).is_ok());
    }

    #[test]
    fn streams_have_a_limit_of_their_own() {
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
