//! The service: every operation of the server. The API and the pages are two views of what
//! these functions return.
//!
//! Each function takes the caller first and shows only what the caller may see. Blocking
//! work runs on bounded worker pools (`worker_pool.rs`): one for the ledger, one for quotes,
//! one for the accountant, one for queries, one for verification.

mod accountant;
mod budgets;
mod event_bound;
mod events;
mod proofs;
mod queries;
mod worker_pool;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use mizan_api::catalogue;
use mizan_api::version::Version;
use mizan_core::Code;
use mizan_engine::{ByteBoundedCache, EngineSet, FanOutCache, PriceCache};
use mizan_ledger::{Ledger, Location};
use mizan_sql::Catalogue;
use tokio::sync::{broadcast, watch};

pub use budgets::{LogParameters, ReceiptView};
pub use events::{EventStream, QueryEvent};
pub use queries::{QueryResult, RequestRecordJson};

use crate::identity::{Caller, Identity, IdentityError, Session, Sessions, SignedIn};
use crate::limits::{Limits, RateLimiter, RequestPermit};
use crate::metrics::Metrics;
use crate::problem::Problem;
use events::{BudgetSnapshot, Notification};
use worker_pool::WorkerPool;

/// Bytes of answers of the accountant that are cached.
const ACCOUNTANT_CACHE_BYTES: usize = 8 << 20;

/// Where the files of a service are, and its limits.
#[derive(Clone, Debug)]
pub struct Options {
    /// The ledger.
    pub ledger: Location,
    /// The state directory, with high-water marks and keys of ledgers.
    pub state_dir: PathBuf,
    /// The catalogue of datasets.
    pub catalogue: PathBuf,
    /// The token file.
    pub tokens: PathBuf,
    /// The limits.
    pub limits: Limits,
    /// Whether clients connect with TLS.
    pub secure: bool,
    /// The program that serves, for the metrics.
    pub version: Version,
}

/// The service. Clones share their state.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    ledger: Ledger,
    catalogue_file: CatalogueFile,
    identity: Identity,
    sessions: Sessions,
    rate_limiter: RateLimiter,
    limits: Limits,
    secure: bool,
    version: Version,
    metrics: Metrics,
    reading: WorkerPool,
    pricing: WorkerPool,
    computing: WorkerPool,
    asking: WorkerPool,
    verifying: WorkerPool,
    /// Idle engines: each runs one query at a time.
    engines: Mutex<Vec<EngineSet>>,
    price_cache: PriceCache,
    /// Row counts of public tables, which engines share.
    fan_outs: FanOutCache,
    /// Answers of the accountant: they depend on the request alone, so they never change.
    accountant_cache: ByteBoundedCache<str>,
    notifications: broadcast::Sender<Notification>,
    budgets: watch::Sender<BudgetSnapshot>,
    stopping: watch::Sender<bool>,
    broken: AtomicBool,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Service")
    }
}

/// The catalogue, read again when its file changes.
struct CatalogueFile {
    path: PathBuf,
    cache: Mutex<CachedCatalogue>,
}

/// The catalogue that was read last, and how many were read before it.
#[derive(Default)]
struct CachedCatalogue {
    number: u64,
    read: Option<(FileStamp, Arc<Catalogue>)>,
}

/// Tells whether the file at a path was replaced or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp {
    length: u64,
    modified: Option<std::time::SystemTime>,
    number: u64,
}

impl CatalogueFile {
    fn stamp(&self) -> Option<FileStamp> {
        let found = std::fs::metadata(&self.path).ok()?;
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let number = 0;
        Some(FileStamp {
            length: found.len(),
            modified: found.modified().ok(),
            number,
        })
    }

    fn read(&self) -> Result<Arc<Catalogue>, Problem> {
        Ok(self.numbered()?.1)
    }

    /// The catalogue, with a number of its own.
    fn numbered(&self) -> Result<(u64, Arc<Catalogue>), Problem> {
        let stamp = self.stamp();
        let mut cached = self
            .cache
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let (Some(stamp), Some((of, catalogue))) = (&stamp, &cached.read)
            && stamp == of
        {
            return Ok((cached.number, Arc::clone(catalogue)));
        }
        // The message may name datasets of others, so it goes to the log only.
        let catalogue = catalogue::read(&self.path).map_err(|failure| {
            crate::log::failure(&failure);
            Problem::internal(Code::MZ1860)
        })?;
        let catalogue = Arc::new(catalogue);
        cached.number += 1;
        cached.read = stamp.map(|stamp| (stamp, Arc::clone(&catalogue)));
        Ok((cached.number, catalogue))
    }
}

impl Service {
    /// Opens the ledger for writing, and the tokens. Needs a runtime for the task that
    /// watches budgets.
    ///
    /// # Errors
    ///
    /// The ledger, the tokens or the catalogue cannot be opened.
    pub fn open(options: Options) -> Result<Self, mizan_api::failure::Failure> {
        let ledger = Ledger::open(&options.ledger, &options.state_dir)?;
        for note in ledger.notes() {
            crate::log::note(&note.to_string());
        }
        let identity = Identity::open(&options.tokens).map_err(failure)?;
        let limits = options.limits;
        let service = Self(Arc::new(Inner {
            ledger,
            catalogue_file: CatalogueFile {
                path: options.catalogue,
                cache: Mutex::default(),
            },
            identity,
            sessions: Sessions::default(),
            rate_limiter: RateLimiter::default(),
            secure: options.secure,
            version: options.version,
            metrics: Metrics::default(),
            reading: WorkerPool::new(limits.ledger, limits.connections),
            pricing: WorkerPool::new(limits.computing, limits.computing_waiting),
            computing: WorkerPool::new(limits.computing, limits.computing_waiting),
            asking: WorkerPool::new(limits.queries, limits.waiting),
            verifying: WorkerPool::new(1, 4),
            engines: Mutex::default(),
            price_cache: PriceCache::default(),
            fan_outs: FanOutCache::default(),
            accountant_cache: ByteBoundedCache::new(ACCOUNTANT_CACHE_BYTES),
            notifications: broadcast::channel(256).0,
            budgets: watch::channel(BudgetSnapshot::default()).0,
            stopping: watch::channel(false).0,
            broken: AtomicBool::new(false),
            limits,
        }));
        // A catalogue that cannot be read is an error at the start, not at the first request.
        service.0.catalogue_file.read().map_err(|_| {
            mizan_api::failure::Failure::new(
                Code::MZ1860,
                "the catalogue cannot be read",
                "see `mizan dataset list`",
            )
        })?;
        events::watch_budgets(service.clone());
        Ok(service)
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Whether clients connect with TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.0.secure
    }

    /// The caller who presents a token, or none if the token is not valid.
    ///
    /// # Errors
    ///
    /// The tokens cannot be read.
    pub fn authenticate(&self, presented: &str) -> Result<Option<Caller>, Problem> {
        Ok(self.0.identity.authenticate(presented)?)
    }

    /// Signs a browser in.
    ///
    /// # Errors
    ///
    /// The token is not valid, or exceeds its rate limit.
    pub fn sign_in(&self, presented: &str) -> Result<SignedIn, Problem> {
        let caller = self.authenticate(presented.trim())?;
        let caller = caller.ok_or_else(Problem::unauthorized)?;
        let _permit = self.permit(&caller.token)?;
        Ok(self.0.sessions.begin(caller, self.0.secure)?)
    }

    /// Signs a browser out; the `Set-Cookie` that removes its cookie.
    #[must_use]
    pub fn sign_out(&self, session: &Session) -> String {
        self.0.sessions.end(session)
    }

    pub(crate) fn sessions(&self) -> &Sessions {
        &self.0.sessions
    }

    pub(crate) fn is_token_valid(&self, token: &str) -> Result<bool, Problem> {
        Ok(self.0.identity.is_token_valid(token)?)
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// A permit for a request of a token, within its rate limit.
    pub(crate) fn permit(&self, token: &str) -> Result<RequestPermit, Problem> {
        let permit = self.0.rate_limiter.request(token, &self.0.limits);
        permit.map_err(Problem::too_many)
    }

    /// The part of the catalogue that a caller may see.
    fn catalogue(&self, caller: &Caller) -> Result<Catalogue, Problem> {
        Ok(caller.sees(self.0.catalogue_file.read()?.as_ref()))
    }

    /// The same, with a name that identifies its content for the cache of quotes.
    fn named_catalogue(&self, caller: &Caller) -> Result<(String, Catalogue), Problem> {
        let (number, catalogue) = self.0.catalogue_file.numbered()?;
        let seen = match caller.sees_all() {
            true => None,
            false => caller.scope.datasets.as_ref(),
        };
        Ok((format!("{number} {seen:?}"), caller.sees(&catalogue)))
    }

    /// An answer of the accountant from the cache.
    pub(crate) fn cached_answer(&self, key: &str) -> Option<Arc<str>> {
        self.0.accountant_cache.get(key)
    }

    /// Puts an answer of the accountant into the cache.
    pub(crate) fn cache_answer(&self, key: String, answer: &Arc<str>) {
        self.0.accountant_cache.keep(key, answer, answer.len());
    }

    /// Reads or writes the ledger on a thread of its pool.
    async fn with_ledger<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let service = self.clone();
        let result = self.0.reading.run(move || work(&service)).await?;
        self.stop_if_fatal(result)
    }

    /// Stops the server if the ledger does not know whether a charge is durable: opening
    /// the ledger again finds out.
    fn stop_if_fatal<T>(&self, result: Result<T, Problem>) -> Result<T, Problem> {
        if let Err(problem) = &result
            && problem.code.kind().stops_server()
        {
            self.0.broken.store(true, Ordering::Relaxed);
            self.stop();
        }
        result
    }

    /// Accepts no new work.
    pub fn stop(&self) {
        self.0.stopping.send_replace(true);
    }

    /// Resolves when the service stops.
    pub async fn stopped(&self) {
        let mut stopping = self.0.stopping.subscribe();
        // The sender is in the service itself.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }

    /// Whether the server stops because the ledger must be opened again.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.0.broken.load(Ordering::Relaxed)
    }

    /// Whether the server is ready: the ledger, the tokens and the catalogue can be read.
    pub async fn ready(&self) -> bool {
        if *self.0.stopping.borrow() {
            return false;
        }
        let read = self.with_ledger(|service| {
            service.0.ledger.head()?;
            service.0.identity.is_token_valid("")?;
            service.0.catalogue_file.read()?;
            Ok(())
        });
        let timeout = std::time::Duration::from_secs(5);
        matches!(tokio::time::timeout(timeout, read).await, Ok(Ok(())))
    }

    /// Waits until all work is done, within the limit of a shutdown. Quotes and the
    /// accountant are not waited for: they charge nothing and may take long.
    pub async fn finish(&self) {
        let all = async {
            self.0.asking.finish().await;
            self.0.verifying.finish().await;
            self.0.reading.finish().await;
        };
        if tokio::time::timeout(self.0.limits.shutdown_time, all)
            .await
            .is_err()
        {
            crate::log::note("some work was not finished in time; its charges stand");
        }
    }

    /// The metrics, as text.
    pub async fn metrics_text(&self) -> Result<String, Problem> {
        let head = self
            .with_ledger(|service| Ok(service.0.ledger.head()?))
            .await?;
        let pools = [
            ("ledger", &self.0.reading),
            ("pricing", &self.0.pricing),
            ("computing", &self.0.computing),
            ("queries", &self.0.asking),
            ("verify", &self.0.verifying),
        ];
        let pools = pools.map(|(name, pool)| (name, pool.busy(), pool.waiting()));
        Ok(self.0.metrics.text(&self.0.version, &pools, head.size))
    }
}

fn failure(error: IdentityError) -> mizan_api::failure::Failure {
    mizan_api::failure::Failure::new(error.code(), &error, error.help())
}
