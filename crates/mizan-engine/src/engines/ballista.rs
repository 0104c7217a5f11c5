//! Ballista: the plan runs on a cluster that sees the same files, and only bounded
//! integers come back.
//!
//! - [`address`]: where its scheduler is; [`status`]: whether that is one of ours;
//! - [`asked`]: which statements; [`session`]: statements to it; [`codec`]: how plans travel; [`rehearsal`]: whether
//!   they can; [`probe`]: whether files are there; [`tally`]: who has many rows;
//! - [`nodes`]: schedulers and executors themselves, with [`error`].
//!
//! The SQL is DataFusion's. What a cluster says of errors is never shown.

mod address;
mod asked;
mod codec;
mod error;
mod nodes;
mod probe;
mod rehearsal;
mod session;
mod status;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use self::asked::Asked;
use self::session::Session;
use super::datafusion::dialect::{DataFusionDialect, Table};
use super::datafusion::files::Source;
use super::datafusion::{DataFusion, Tables, failed, unchanged};
use super::fan_out::FanOutCache;
use super::relations;
use super::statements::statements;
use super::thread::{QUIET, on_own_thread};
use super::worker::WorkerProgram;
use crate::engine::{Engine, EngineError};
use crate::exact::{Execution, ExecutionPath};
use crate::order::Salt;
use crate::version::Version;

pub use self::address::Address;
pub use self::error::NodeError;
pub use self::nodes::{Executor, Scheduler, run_executor, run_scheduler};
pub use self::status::{ClusterStatus, cluster_status};

/// All nodes of a cluster, and who asks it, are of one version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What they call themselves.
const AGENT: &str = concat!("mizan/", env!("CARGO_PKG_VERSION"));

/// Deep plans are deep recursions.
const WORKER_STACK: usize = 32 << 20;

/// The engine that is a cluster.
#[derive(Clone, Debug)]
pub struct Ballista {
    scheduler: Address,
    /// In how many parts work is split; as many as run at a time if nobody says.
    partitions: Option<usize>,
    /// Counts of public tables.
    pub(in crate::engines) fan_outs: FanOutCache,
    /// The program whose worker processes count public rows. None counts in this process.
    pub(in crate::engines) counting: Option<WorkerProgram>,
}

impl Ballista {
    /// The cluster of a scheduler. Nothing is sent yet.
    #[must_use]
    pub fn new(scheduler: Address) -> Self {
        Self {
            scheduler,
            partitions: None,
            fan_outs: FanOutCache::default(),
            counting: None,
        }
    }

    /// A session, once the scheduler answers and somebody works for it.
    fn session(&self) -> Result<Session, EngineError> {
        let status = cluster_status(&self.scheduler)?;
        if status.cores() == 0 {
            return Err(EngineError::NoExecutors {
                place: self.scheduler.to_string(),
            });
        }
        let partitions = self.partitions.unwrap_or_else(|| status.cores());
        Session::new(&self.scheduler, partitions).map_err(failed("starting"))
    }

    /// Does something in a session that knows these tables.
    fn on_cluster<T: Send, F: Future<Output = Result<T, EngineError>>>(
        &self,
        tables: &Tables,
        work: impl FnOnce(Arc<Session>, DataFusionDialect) -> F + Send,
    ) -> Result<T, EngineError> {
        on_own_thread(|| {
            let session = Arc::new(self.session()?);
            let mut dialect = DataFusionDialect::default();
            for (place, (dataset, table)) in tables.iter().enumerate() {
                let name = format!("d{place}");
                let registered = session.register(&name, Arc::clone(table));
                registered.map_err(failed("opening tables"))?;
                let schema = table.schema();
                dialect
                    .tables
                    .insert(dataset.clone(), Table { name, schema });
            }
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .thread_name(QUIET)
                .thread_stack_size(WORKER_STACK)
                .enable_all()
                .build()
                .map_err(|_| EngineError::Failed { doing: "starting" })?;
            runtime.block_on(async {
                let done = work(Arc::clone(&session), dialect).await;
                session.tidy_up().await;
                done
            })
        })
    }

    /// Whether the scheduler still says something.
    async fn answers(&self) -> bool {
        let scheduler = self.scheduler.clone();
        let status = tokio::task::spawn_blocking(move || cluster_status(&scheduler));
        status.await.is_ok_and(|status| status.is_ok())
    }

    /// Runs a plan over files that the cluster sees.
    fn run_on(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        opened: &Opened,
        salt: &Salt,
    ) -> Result<Execution, EngineError> {
        self.on_cluster(&opened.tables, |session, dialect| async move {
            let asked = Asked {
                session: &session,
                dialect: &dialect,
                catalogue,
                rows: &opened.rows,
                salt,
            };
            let (exact, path) = match asked.run_counted(plan).await {
                Ok(exact) => (exact, ExecutionPath::Operators),
                // What is planned there depends on data, so whether there is an answer
                // must not. Of a scheduler that is silent there is none, and nobody waits
                // for it twice.
                Err(error) => match self.answers().await {
                    true => (asked.run_whole(plan).await?, ExecutionPath::Fallback),
                    false => return Err(error),
                },
            };
            Ok(Execution { exact, path })
        })
    }

    /// How long plain SQL takes over the files of a catalogue, for benchmarks.
    #[doc(hidden)]
    pub fn measure_plain(
        &self,
        catalogue: &Catalogue,
        sql: &str,
    ) -> Result<std::time::Duration, EngineError> {
        let names: Vec<&String> = catalogue.datasets.keys().collect();
        let tables = Opened::new(&names, catalogue)?.tables;
        let start = std::time::Instant::now();
        self.on_cluster(&Tables::new(), |session, _| async move {
            for (name, table) in tables {
                let registered = session.register(&name, table);
                registered.map_err(failed("opening tables"))?;
            }
            session.run(sql, |_| Ok(())).await
        })?;
        Ok(start.elapsed())
    }
}

impl Engine for Ballista {
    /// Counts public rows, asks whether the scheduler is there and ours, plans the
    /// statements, and lets executors look for the files.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.check_joins(plan, catalogue)?;
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        let opened = Opened::new(&names, catalogue)?;
        let places = probe::places(&names, catalogue)?;
        self.on_cluster(&opened.tables, |session, dialect| async move {
            for statement in statements(&dialect, catalogue, plan, &[0; 16])? {
                session.plan(&statement.plain_sql()).await?;
            }
            match probe::not_seen(&session, &places).await? {
                Some(path) => Err(EngineError::NotSeen { path }),
                None => Ok(()),
            }
        })
    }

    /// Executors read the same files as this machine, so they are counted here.
    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let mut engine = DataFusion::new()?;
        engine.fan_outs = self.fan_outs.clone();
        engine.counting.clone_from(&self.counting);
        engine.check_joins(plan, catalogue)
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        Source::open(dataset)?.version()
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Execution, EngineError> {
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        if names.len() != versions.len() {
            return Err(EngineError::BadPlan {
                reason: "there is not a version for every dataset".into(),
            });
        }
        let same = || {
            for (name, version) in names.iter().zip(versions) {
                let dataset = relations::dataset(catalogue, name)?;
                unchanged(name, version, self.version(dataset)?)?;
            }
            Ok(())
        };
        same()?;
        let execution = self.run_on(plan, catalogue, &Opened::new(&names, catalogue)?, &salt);
        // A failure may come of a change too, and then this says so.
        same()?;
        execution
    }
}

/// The files of datasets.
struct Opened {
    tables: Tables,
    /// How many rows files say that they have. Those that do not are text, where looking
    /// at a column costs as much as looking at all.
    rows: BTreeMap<String, u64>,
}

impl Opened {
    fn new(names: &[&String], catalogue: &Catalogue) -> Result<Self, EngineError> {
        let (mut tables, mut rows) = (Tables::new(), BTreeMap::new());
        for name in names {
            let source = Source::open(relations::dataset(catalogue, name)?)?;
            tables.insert((*name).clone(), source.table());
            rows.extend(source.rows.map(|rows| ((*name).clone(), rows)));
        }
        Ok(Self { tables, rows })
    }
}
