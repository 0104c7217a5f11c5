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
pub(in crate::engines) mod parquet;
mod pass_through;
mod per_unit;
pub(in crate::engines) mod planning;
mod row_limit;
pub(in crate::engines) mod sizes;
pub(in crate::engines) mod slices;
mod source;
#[cfg(test)]
pub(in crate::engines) mod tests;
mod texts;
pub(crate) mod values;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::error::DataFusionError;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use mizan_sql::{BoundedPlan, Catalogue, Dataset, Value};

use self::caps::Caps;
use self::count_min::CountMin;
use self::dialect::{DataFusionDialect, Table};
use self::files::Source;
use self::per_unit::{CountedUnits, per_unit, per_unit_at_once};
use self::row_limit::RowLimitTable;
use self::sizes::{Lines, classes, sized, text_class};
use self::slices::{SLICE_BYTES, SliceTexts};
use self::values::Values;
use super::fan_out::FanOutCache;
use super::plan_bound::{PlanBound, Setting};
use super::result_collector::ResultCollector;
use super::statement::{LightUnits, PerUnit, ResultLayout, RowLimit, Statement};
use super::statements::statements;
use super::thread::{QUIET, on_own_thread};
use super::worker::WorkerProgram;
use super::{redundant_limits, relations};
use crate::engine::{Engine, EngineError};
use crate::exact::{ExactAggregates, Execution, ExecutionPath};
use crate::sampling_hash::Salt;
use crate::version::Version;

pub(crate) use self::files::{check_rows, inspect};

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
        let mut dialect = DataFusionDialect::default();
        for (place, (dataset, table)) in tables.iter().enumerate() {
            let table = Table {
                name: format!("d{place}"),
                schema: table.schema(),
            };
            dialect.tables.insert(dataset.clone(), table);
        }
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
                let mut sketches = UnitSketches {
                    context: &context,
                    dialect: &dialect,
                    catalogue,
                    tables,
                    known: BTreeMap::new(),
                };
                let mut path = ExecutionPath::PlainSql;
                if self.operators {
                    // Plans with operators depend on data (counts of rows), so whether there is
                    // an answer must not depend on their success.
                    match self.run_counted(plan, &mut sketches, salt).await {
                        Err(EngineError::Failed { .. } | EngineError::OutOfMemory) => {
                            path = ExecutionPath::Fallback;
                        }
                        found => {
                            let path = ExecutionPath::Operators;
                            return found.map(|exact| Execution { exact, path });
                        }
                    }
                }
                let statements = statements(&dialect, catalogue, plan, salt)?;
                let exact = run_plain(&context, plan, &statements).await?;
                Ok(Execution { exact, path })
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

    /// Runs a plan with our operators, without the row limits that no unit exceeds.
    async fn run_counted(
        &self,
        plan: &BoundedPlan,
        sketches: &mut UnitSketches<'_>,
        salt: &Salt,
    ) -> Result<ExactAggregates, EngineError> {
        let plan = sketches.remove_redundant_limits(plan).await?;
        let statements = statements(sketches.dialect, sketches.catalogue, &plan, salt)?;
        #[cfg(test)]
        if self.planted == Some(Planted::FailingOperators) {
            return Err(EngineError::Failed { doing: "running" });
        }
        let context = sketches.context;
        let mut collector = ResultCollector::new(&plan);
        for statement in &statements {
            let Statement {
                text,
                row_limits,
                limits,
                per_unit: sums,
                layout,
            } = statement;
            // The operator for sums does its own group sampling.
            let limits = limits.iter().filter(|_| sums.is_none());
            for row_limit in row_limits.iter().chain(limits) {
                let planned = plan_row_limit(context, row_limit, salt).await;
                planned.map_err(failed("planning"))?;
            }
            let Some(sums) = sums else {
                query(context, text, layout, &mut collector).await?;
                continue;
            };
            let rows = match &sums.light_units {
                Some(light) => self.per_unit_counted(sums, light, sketches, salt).await?,
                None => per_unit(context, sums, None, salt)
                    .await
                    .map_err(failed("running"))?,
            };
            for row in rows {
                collector.add(layout, row)?;
            }
        }
        Ok(collector.finish())
    }

    /// Sums in which light units need no contribution bounding. Rows are counted beforehand
    /// over the whole dataset, or in the same pass.
    async fn per_unit_counted(
        &self,
        spec: &PerUnit,
        light: &LightUnits,
        sketches: &mut UnitSketches<'_>,
        salt: &Salt,
    ) -> Result<Vec<Vec<Value>>, EngineError> {
        let context = sketches.context;
        // With keys more bytes are buffered, and allocating them takes longer than reading the
        // ids again.
        if spec.keys == 0 {
            let at_once = per_unit_at_once(context, spec, light, self.keeps, salt).await;
            if let Some(rows) = at_once.map_err(failed("running"))? {
                return Ok(rows);
            }
        }
        let sketch = match &light.dataset {
            Some(dataset) => sketches.sketch(dataset).await?,
            None => None,
        };
        let counted = sketch.map(|sketch| CountedUnits { light, sketch });
        let rows = per_unit(context, spec, counted, salt).await;
        rows.map_err(failed("running"))
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
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        if names.len() != versions.len() {
            return Err(EngineError::BadPlan {
                reason: "there is not a version for every dataset".into(),
            });
        }
        let mut tables = Tables::new();
        for (name, version) in names.iter().zip(versions) {
            let source = Source::open(relations::dataset(catalogue, name)?)?;
            unchanged(name, version, source.version()?)?;
            tables.insert((*name).clone(), source.table());
        }
        let execution = self.run_on(plan, catalogue, &tables, &salt);
        // A change of the data may be the cause of a failure, and is reported then.
        for (name, version) in names.iter().zip(versions) {
            let dataset = relations::dataset(catalogue, name)?;
            unchanged(name, version, self.version(dataset)?)?;
        }
        execution
    }
}

/// Count-min sketches of the rows of units, computed on demand.
struct UnitSketches<'a> {
    context: &'a SessionContext,
    dialect: &'a DataFusionDialect,
    catalogue: &'a Catalogue,
    tables: &'a Tables,
    /// None where counting would take too long.
    known: BTreeMap<String, Option<CountMin>>,
}

impl UnitSketches<'_> {
    /// The plan without the row limits that no unit exceeds.
    async fn remove_redundant_limits(
        &mut self,
        plan: &BoundedPlan,
    ) -> Result<BoundedPlan, EngineError> {
        let mut most = redundant_limits::MostRows::new();
        for dataset in redundant_limits::limited(&plan.relation) {
            let rows = self.sketch(dataset).await?.and_then(CountMin::most);
            most.extend(rows.map(|rows| (dataset.to_owned(), rows)));
        }
        let mut plan = plan.clone();
        plan.relation = redundant_limits::remove_redundant_limits(plan.relation, &most);
        Ok(plan)
    }

    async fn sketch(&mut self, dataset: &str) -> Result<Option<&CountMin>, EngineError> {
        if !self.known.contains_key(dataset) {
            let table = self.tables.get(dataset);
            let cheap = table.is_some_and(|table| count_min::is_cheap(table.as_ref()));
            let units = relations::units(self.dialect, self.catalogue, dataset)?;
            let sketch = match units.filter(|_| cheap) {
                Some(units) => {
                    let sketch = CountMin::of(self.context, &units).await;
                    Some(sketch.map_err(failed("running"))?)
                }
                None => None,
            };
            self.known.insert(dataset.to_owned(), sketch);
        }
        Ok(self.known.get(dataset).and_then(Option::as_ref))
    }
}

pub(in crate::engines) fn unchanged(
    dataset: &str,
    expected: &Version,
    found: Version,
) -> Result<(), EngineError> {
    if *expected == found {
        return Ok(());
    }
    Err(EngineError::Changed {
        dataset: dataset.to_owned(),
    })
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

/// Runs a plan in plain SQL, without our operators.
async fn run_plain(
    context: &SessionContext,
    plan: &BoundedPlan,
    statements: &[Statement],
) -> Result<ExactAggregates, EngineError> {
    let mut collector = ResultCollector::new(plan);
    for statement in statements {
        let (text, layout) = (statement.plain_sql(), &statement.layout);
        query(context, &text, layout, &mut collector).await?;
    }
    Ok(collector.finish())
}

/// Runs a query and collects its rows.
async fn query(
    context: &SessionContext,
    text: &str,
    layout: &ResultLayout,
    collector: &mut ResultCollector,
) -> Result<(), EngineError> {
    let planned = context.sql(text).await.map_err(failed("planning"))?;
    let stream = planned.execute_stream().await;
    let mut stream = stream.map_err(failed("planning"))?;
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(failed("running"))?;
        add(collector, layout, &batch)?;
    }
    Ok(())
}

/// Registers a table of limited rows that statements read.
async fn plan_row_limit(
    context: &SessionContext,
    row_limit: &RowLimit,
    salt: &Salt,
) -> datafusion::common::Result<()> {
    let rows = context.sql(&row_limit.rows).await?;
    let rows = rows.create_physical_plan().await?;
    let partitions = context.state().config().target_partitions();
    let table = RowLimitTable::new(rows, partitions, row_limit, salt)?;
    context.deregister_table(&row_limit.table)?;
    context.register_table(&row_limit.table, Arc::new(table))?;
    Ok(())
}

/// The rows of a batch.
pub(in crate::engines) fn rows(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, EngineError> {
    let columns = batch.columns().iter().map(|column| Values::new(column));
    let columns = columns.collect::<Result<Vec<_>, _>>();
    let columns = columns.map_err(failed("reading results"))?;
    let row = |row| columns.iter().map(|column| column.get(row)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

pub(in crate::engines) fn add(
    collector: &mut ResultCollector,
    layout: &ResultLayout,
    batch: &RecordBatch,
) -> Result<(), EngineError> {
    for row in rows(batch)? {
        collector.add(layout, row)?;
    }
    Ok(())
}
