//! Ballista: the plan runs on a cluster that sees the same files, and only bounded integers
//! come back.
//!
//! - [`address`]: the address of the scheduler; [`status`]: the state of the cluster;
//! - [`cluster_query`]: the statements; [`session`]: sends them; [`codec`]: serializes plans;
//!   [`rehearsal`]: checks before the charge that they can be planned and sent; [`probe`]:
//!   checks that executors see the files; [`count_min`]: finds heavy units;
//! - [`nodes`]: schedulers and executors, with [`error`].
//!
//! The SQL is DataFusion's. Error messages of a cluster are never shown.

mod address;
mod cluster_query;
mod codec;
mod count_min;
mod error;
mod nodes;
mod probe;
mod rehearsal;
mod session;
mod status;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use self::cluster_query::ClusterQuery;
use self::session::Session;
use super::datafusion::dialect::DataFusionDialect;
use super::datafusion::files::{Source, at_versions, open_all};
use super::datafusion::{DataFusion, Tables, failed};
use super::fan_out::FanOutCache;
use super::lower_sql::SqlLowering;
use super::thread::{QUIET, on_own_thread};
use super::worker::WorkerProgram;
use crate::engine::{Engine, EngineError};
use crate::exact::{Execution, ExecutionPath};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::UnitAggregation;
use crate::version::Version;

pub use self::address::Address;
pub use self::error::NodeError;
pub use self::nodes::{Executor, Scheduler, run_executor, run_scheduler};
pub use self::status::{ClusterStatus, cluster_status};

/// All nodes and clients of a cluster have the same version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of clients and nodes in requests.
const AGENT: &str = concat!("mizan/", env!("CARGO_PKG_VERSION"));

/// Deep plans recurse deeply.
const WORKER_STACK: usize = 32 << 20;

/// The engine on a cluster.
#[derive(Clone, Debug)]
pub struct Ballista {
    scheduler: Address,
    /// The number of partitions; if None, the number of concurrent tasks of the cluster.
    partitions: Option<usize>,
    /// The cache of fan-outs of public tables.
    pub(in crate::engines) fan_outs: FanOutCache,
    /// The program whose worker processes count public rows. None counts in this process.
    pub(in crate::engines) counting: Option<WorkerProgram>,
    /// A defect that a test plants: the statements with counts fail.
    #[cfg(test)]
    fails: bool,
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
            #[cfg(test)]
            fails: false,
        }
    }

    /// A session, if the scheduler answers and has executors.
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

    /// Runs `work` in a session with these tables.
    fn on_cluster<T: Send, F: Future<Output = Result<T, EngineError>>>(
        &self,
        tables: &Tables,
        work: impl FnOnce(Arc<Session>, DataFusionDialect) -> F + Send,
    ) -> Result<T, EngineError> {
        on_own_thread(|| {
            let session = Arc::new(self.session()?);
            let dialect = DataFusionDialect::over(tables);
            for (named, table) in dialect.tables.values().zip(tables.values()) {
                let registered = session.register(&named.name, Arc::clone(table));
                registered.map_err(failed("opening tables"))?;
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

    /// Whether the scheduler still answers.
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
        let aggregation = &UnitAggregation::of(plan)?;
        self.on_cluster(&opened.tables, |session, dialect| async move {
            let cluster_query = ClusterQuery {
                session: &session,
                dialect: &dialect,
                catalogue,
                rows: &opened.rows,
                salt,
            };
            let found = cluster_query.run_counted(aggregation).await;
            #[cfg(test)]
            let found = match self.fails {
                true => found.and(Err(EngineError::ClusterFailed)),
                false => found,
            };
            let (exact, path) = match found {
                Ok(exact) => (exact, ExecutionPath::Operators),
                // The plan with counts depends on data, so whether there is an answer must not
                // depend on its success. If the scheduler does not answer, there is no answer
                // and no second attempt.
                Err(error) => match self.answers().await {
                    true => (
                        cluster_query.run_whole(aggregation).await?,
                        ExecutionPath::Fallback,
                    ),
                    false => return Err(error),
                },
            };
            Ok(Execution::new(exact, path))
        })
    }

    /// The time of plain SQL over the files of a catalogue, for benchmarks.
    #[doc(hidden)]
    pub fn measure_plain(
        &self,
        catalogue: &Catalogue,
        sql: &str,
    ) -> Result<std::time::Duration, EngineError> {
        let tables = Opened::new(&open_all(catalogue.datasets.keys(), catalogue)?).tables;
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
    /// Counts public rows, checks that the scheduler answers and has this version, plans the
    /// statements, and lets executors check the files.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.check_joins(plan, catalogue)?;
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        let opened = Opened::new(&open_all(names.iter().copied(), catalogue)?);
        let places = probe::places(&names, catalogue)?;
        let aggregation = &UnitAggregation::of(plan)?;
        self.on_cluster(&opened.tables, |session, dialect| async move {
            let lowering = SqlLowering::new(&dialect, catalogue, aggregation, &[0; 16])?;
            for part in aggregation.parts() {
                session.plan(&lowering.statement(part)).await?;
            }
            match probe::not_seen(&session, &places).await? {
                Some(path) => Err(EngineError::NotSeen { path }),
                None => Ok(()),
            }
        })
    }

    /// Executors read the same files as this machine, so public rows are counted here.
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
        at_versions(plan, catalogue, versions, |sources| {
            self.run_on(plan, catalogue, &Opened::new(&sources), &salt)
        })
    }
}

/// The files of datasets.
struct Opened {
    tables: Tables,
    /// The numbers of rows that files store. Text files do not store it; in them reading one
    /// column costs as much as reading all.
    rows: BTreeMap<String, u64>,
}

impl Opened {
    fn new(sources: &BTreeMap<String, Source>) -> Self {
        let tables = sources.iter();
        let rows = tables.clone().filter_map(|(name, source)| {
            let rows = source.rows?;
            Some((name.clone(), rows))
        });
        Self {
            rows: rows.collect(),
            tables: tables
                .map(|(name, source)| (name.clone(), source.table()))
                .collect(),
        }
    }
}
