//! DataFusion, embedded: CSV and Parquet files on this machine.
//!
//! Each run has its own session, runtime and thread, so no state of a query remains for the
//! next one, and it may be called from any thread. DataFusion's errors may quote values: they
//! are never shown.

pub(in crate::engines) mod bloom;
pub(crate) mod caps;
mod count_min;
pub(in crate::engines) mod counting;
pub(in crate::engines) mod csv;
pub(in crate::engines) mod dialect;
pub(in crate::engines) mod distinct;
pub(in crate::engines) mod file_scan;
pub(in crate::engines) mod file_stamp;
pub(in crate::engines) mod files;
pub(in crate::engines) mod functions;
mod kernels;
mod operators;
pub(in crate::engines) mod parquet;
mod pass_through;
mod per_unit;
pub(in crate::engines) mod planning;
mod row_limit;
pub(in crate::engines) mod sizes;
pub(in crate::engines) mod slices;
mod source;
#[cfg(test)]
pub(crate) mod tests;
mod texts;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use self::caps::Caps;
use self::dialect::DataFusionDialect;
use self::files::Source;
use self::operators::PlanSession;
use self::sizes::{Lines, classes, sized, text_class};
use self::slices::{SLICE_BYTES, SliceTexts};
use super::fan_out::FanOutCache;
use super::plan_bound::{PlanBound, Setting};
use super::thread::{QUIET, on_own_thread};
use super::worker::WorkerProgram;
use crate::engine::{Engine, EngineError};
use crate::exact::{Execution, ExecutionPath};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::UnitAggregation;
use crate::version::Version;

pub(crate) use self::files::{check_rows, inspect};
#[cfg(feature = "ballista")]
pub(in crate::engines) use self::operators::add;
pub(in crate::engines) use self::operators::rows;

/// The stack size of each thread of a runtime.
pub(in crate::engines) const WORKER_STACK: usize = 16 << 20;

/// The most threads of a runtime that read files, beside those that compute.
const READING_THREADS: usize = 32;

/// The number of threads of a runtime.
pub(in crate::engines) fn threads(partitions: usize) -> usize {
    partitions.min(64) + READING_THREADS
}

/// The embedded engine.
#[derive(Clone, Debug)]
pub struct DataFusion {
    partitions: usize,
    /// Whether our operators are used. Plain SQL has the same results.
    operators: bool,
    /// How many bytes of rows are buffered until the heavy units are known. Beyond that all
    /// units are bounded one by one, with the same results.
    keeps: usize,
    /// Small limits, for the failure audit.
    pub(crate) caps: Option<Caps>,
    /// A defect that tests plant, to check that audits find it.
    #[cfg(test)]
    planted: Option<Planted>,
    /// The cache of fan-outs of public tables.
    pub(in crate::engines) fan_outs: FanOutCache,
    /// The program whose worker processes count public rows. None counts in this process.
    pub(in crate::engines) counting: Option<WorkerProgram>,
    /// How many bytes DataFusion's operators may hold together. None is unlimited.
    pool: Option<usize>,
}

/// Defects that tests plant.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planted {
    /// The operators fail, and plain SQL computes the result.
    FailingOperators,
    /// Concatenations have no limit.
    NoTextLimit,
    /// Batches are not cut before texts are computed.
    NoSlices,
    /// This function fails where it should be NULL.
    Fails(&'static str),
    /// This function panics where it should be NULL.
    Panics(&'static str),
}

/// Enough for the rows of three million visits.
const KEEPS: usize = 128 << 20;

/// Tables by the names of datasets.
pub(crate) type Tables = BTreeMap<String, Arc<dyn TableProvider>>;

impl DataFusion {
    /// An engine that uses all processors.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn new() -> Result<Self, EngineError> {
        let processors = std::thread::available_parallelism();
        Self::with_partitions(processors.map_or(1, NonZeroUsize::get))
    }

    /// An engine with this number of partitions. Results do not depend on it.
    ///
    /// # Errors
    ///
    /// None at present.
    pub fn with_partitions(partitions: usize) -> Result<Self, EngineError> {
        Ok(Self {
            partitions: partitions.max(1),
            operators: true,
            keeps: KEEPS,
            caps: None,
            #[cfg(test)]
            planted: None,
            fan_outs: FanOutCache::default(),
            counting: None,
            pool: None,
        })
    }

    /// Sets a memory limit: three quarters of it are for the memory that operators account for,
    /// and the rest for memory that they do not.
    #[must_use]
    pub(crate) fn with_memory(self, bytes: u64) -> Self {
        let pool = usize::try_from(bytes - bytes / 4).unwrap_or(usize::MAX);
        Self {
            pool: Some(pool),
            keeps: self.keeps.min(pool / 8),
            ..self
        }
    }

    /// The number of partitions.
    pub(crate) const fn partitions(&self) -> usize {
        self.partitions
    }

    /// The bounds on memory and time of a plan, from size classes and public rows.
    pub(crate) fn bound(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        lines: Lines,
    ) -> Result<PlanBound, EngineError> {
        let datasets = sized(plan, catalogue, lines)?;
        let sizes = classes(&datasets);
        let mut texts = |name: &str, place: usize| text_class(&datasets, name, place);
        let setting = Setting {
            partitions: self.partitions as u64,
            keeps: self.keeps as u64,
            counts_texts: lines == Lines::Counted,
        };
        self.with_counts(plan, catalogue, |count| {
            PlanBound::of(plan, catalogue, &sizes, setting, &mut texts, count)
        })
    }

    /// Runs a plan over tables of any kind.
    pub(crate) fn run_on(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        tables: &Tables,
        salt: &Salt,
    ) -> Result<Execution, EngineError> {
        let aggregation = UnitAggregation::of(plan)?;
        let dialect = DataFusionDialect::over(tables);
        let work = || {
            let context = self.session().map_err(failed("starting"))?;
            for (dataset, provider) in tables {
                let Some(table) = dialect.tables.get(dataset) else {
                    continue;
                };
                let registered = context.register_table(&table.name, Arc::clone(provider));
                registered.map_err(failed("opening tables"))?;
            }
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(self.partitions.min(64))
                .thread_name(QUIET)
                .max_blocking_threads(READING_THREADS)
                .thread_stack_size(WORKER_STACK)
                .enable_all()
                .build()
                .map_err(|_| EngineError::Failed { doing: "starting" })?;
            runtime.block_on(async {
                let session = PlanSession {
                    context: &context,
                    dialect: &dialect,
                    catalogue,
                    tables,
                    salt,
                    keeps: self.keeps,
                };
                let mut path = ExecutionPath::PlainSql;
                if self.operators {
                    let found = session.run_operators(&aggregation).await;
                    #[cfg(test)]
                    let found = match self.planted {
                        Some(Planted::FailingOperators) => {
                            found.and(Err(EngineError::Failed { doing: "running" }))
                        }
                        _ => found,
                    };
                    // Plans with operators depend on data (counts of rows), so whether there is
                    // an answer must not depend on their success.
                    match found {
                        Err(EngineError::Failed { .. } | EngineError::OutOfMemory) => {
                            path = ExecutionPath::Fallback;
                        }
                        found => {
                            let path = ExecutionPath::Operators;
                            return found.map(|exact| Execution::new(exact, path));
                        }
                    }
                }
                let exact = session.run_plain(&aggregation).await?;
                Ok(Execution::new(exact, path))
            })
        };
        on_own_thread(work)
    }

    fn session(&self) -> datafusion::common::Result<SessionContext> {
        let mut config = SessionConfig::new()
            .with_target_partitions(self.partitions)
            .with_information_schema(false);
        config.options_mut().sql_parser.recursion_limit =
            datafusion::config::ConfigNonZeroUsize::try_new(100_000)?;
        // Private rows are not written to disk.
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
        let mut runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(disk);
        let bytes = self.caps.map(|caps| caps.memory).or(self.pool);
        if let Some(bytes) = bytes {
            runtime = runtime.with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)));
        }
        let mut state = SessionStateBuilder::new()
            .with_config(config)
            .with_runtime_env(runtime.build_arc()?)
            .with_default_features();
        #[cfg(test)]
        let slices = self.planted != Some(Planted::NoSlices);
        #[cfg(not(test))]
        let slices = true;
        if slices {
            let bytes = self.caps.map_or(SLICE_BYTES, |caps| caps.slice);
            state = state.with_physical_optimizer_rule(Arc::new(SliceTexts { bytes }));
        }
        if let Some(caps) = self.caps {
            state = state.with_physical_optimizer_rule(Arc::new(caps));
        }
        let context = SessionContext::new_with_state(state.build());
        for function in functions::all() {
            context.register_udf(match self.caps {
                Some(caps) => caps.function(function),
                None => function,
            });
        }
        context.register_udaf(distinct::function());
        #[cfg(test)]
        if let Some(function) = self.planted.and_then(tests::planted::function) {
            context.register_udf(function);
        }
        Ok(context)
    }
}

impl Engine for DataFusion {
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.check_joins(plan, catalogue)?;
        self.check_planning(plan, catalogue)
    }

    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        planning::check_statements(plan, catalogue)
    }

    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        Self::check_joins(self, plan, catalogue)
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        Source::open(dataset)?.version()
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError> {
        files::at_versions(plan, catalogue, versions, |sources| {
            let tables = sources.into_iter();
            let tables = tables.map(|(name, source)| (name, source.table()));
            self.run_on(plan, catalogue, &tables.collect(), &salt)
        })
    }
}

/// DataFusion's message may quote a value, so it is dropped.
pub(in crate::engines) fn failed(doing: &'static str) -> impl Fn(DataFusionError) -> EngineError {
    move |error| {
        #[cfg(test)]
        eprintln!("{error}");
        match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => EngineError::OutOfMemory,
            _ => EngineError::Failed { doing },
        }
    }
}
