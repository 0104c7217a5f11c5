//! Counts rows of public tables before the charge, in a separate session with limits on memory
//! and time.
//!
//! The memory limit of a session does not cover what expressions of join keys allocate, and a
//! long computation does not check the time. So the program counts in a worker process
//! ([`Counter`]), whose limits always hold; only users of the library count in their own
//! process. A worker may be killed at any time, so it writes nothing to disk. Other processes
//! may write public rows to disk while they count.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use mizan_sql::{BoundedPlan, Catalogue, Relation, Value};

use super::dialect::DataFusionDialect;
use super::files::open_all;
use super::{DataFusion, Tables, WORKER_STACK, failed, functions, rows};
use crate::engine::EngineError;
use crate::engines::fan_out::{self, COUNTING, Count};
use crate::engines::lower_sql::relations::Relations;
use crate::engines::thread::on_own_thread;
use crate::engines::worker::Counter;
use crate::version::Version;

/// The memory for counting if no limit is set.
pub(in crate::engines) const MAX_BYTES: usize = 1 << 30;

impl DataFusion {
    /// Refuses a plan in which joins with public files exceed the fan-out limits.
    pub(in crate::engines) fn check_joins(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
    ) -> Result<(), EngineError> {
        if !fan_out::joins_public(&plan.relation) {
            return Ok(());
        }
        self.with_counts(plan, catalogue, |count| {
            fan_out::check(&plan.relation, count)
        })
    }

    /// Passes a function that counts public rows to `work`. Each count is computed once for
    /// each version of the files.
    pub(in crate::engines) fn with_counts<T>(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        work: impl FnOnce(&mut Count<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (tables, versions) = public_tables(&plan.public, catalogue)?;
        let end = Instant::now() + COUNTING;
        let version = |table: &str| versions.get(table).copied();
        // One worker for all counts of a plan, started with the first.
        let mut worker: Option<Counter> = None;
        work(&mut |relation| {
            let count = || {
                let Some(program) = &self.counting else {
                    return self.count(relation, catalogue, &tables, end);
                };
                let counter = match &mut worker {
                    Some(counter) => counter,
                    none => none.insert(Counter::new(
                        program,
                        self.partitions,
                        &versions,
                        catalogue,
                    )?),
                };
                counter.count(relation, end)
            };
            self.fan_outs.count(relation, version, count)
        })
    }

    /// The greatest value of the last column of a public relation.
    pub(in crate::engines) fn count(
        &self,
        relation: &Relation,
        catalogue: &Catalogue,
        tables: &Tables,
        end: Instant,
    ) -> Result<u64, EngineError> {
        let dialect = DataFusionDialect::over(tables);
        let text = Relations::new(&dialect, catalogue).text(relation)?;
        let query = fan_out::query(relation, &text);
        on_own_thread(|| {
            let context = self.counting_session().map_err(failed("starting"))?;
            for (dataset, table) in tables {
                let Some(named) = dialect.tables.get(dataset) else {
                    continue;
                };
                let registered = context.register_table(&named.name, Arc::clone(table));
                registered.map_err(failed("opening tables"))?;
            }
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(self.partitions.min(64))
                .thread_stack_size(WORKER_STACK)
                .enable_all()
                .build()
                .map_err(|_| EngineError::Failed { doing: "starting" })?;
            let counted = runtime.block_on(async {
                let left = end.saturating_duration_since(Instant::now());
                let counted = async { context.sql(&query).await?.collect().await };
                match tokio::time::timeout(left, counted).await {
                    Ok(batches) => batches.map_err(failed("counting public rows")),
                    Err(_) => Err(EngineError::TimedOut {
                        seconds: COUNTING.as_secs(),
                    }),
                }
            });
            // Unfinished tasks are not awaited.
            runtime.shutdown_background();
            let mut most = 0;
            for batch in counted? {
                for row in rows(&batch)? {
                    if let [Value::Integer(found)] = row.as_slice() {
                        most = most.max(found.unsigned_abs());
                    }
                }
            }
            Ok(most)
        })
    }

    fn counting_session(&self) -> datafusion::common::Result<SessionContext> {
        let config = self.session()?.copied_config();
        let mut runtime = RuntimeEnvBuilder::new();
        if self.pool.is_some() {
            let none = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
            runtime = runtime.with_disk_manager_builder(none);
        }
        let memory = self.pool.unwrap_or(MAX_BYTES);
        let runtime = runtime.with_memory_limit(memory, 1.0).build_arc()?;
        let context = SessionContext::new_with_config_rt(config, runtime);
        for function in functions::all() {
            context.register_udf(function);
        }
        Ok(context)
    }
}

/// The public tables of a plan and their versions.
pub(in crate::engines) fn public_tables<'a>(
    names: impl IntoIterator<Item = &'a String>,
    catalogue: &Catalogue,
) -> Result<(Tables, BTreeMap<String, Version>), EngineError> {
    let (mut tables, mut versions) = (Tables::new(), BTreeMap::new());
    for (name, source) in open_all(names, catalogue)? {
        versions.insert(name.clone(), source.version()?);
        tables.insert(name, source.table());
    }
    Ok((tables, versions))
}
