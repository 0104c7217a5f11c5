//! Counting rows of public tables before a query is charged, in a session of its own
//! with a limit on memory and time. Public rows may be written to disk on the way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::SessionContext;
use mizan_sql::{BoundedPlan, Catalogue, Relation, Value};

use super::dialect::{DataFusionDialect, Table};
use super::files::Source;
use super::{DataFusion, Tables, WORKER_STACK, failed, functions, rows};
use crate::engine::EngineError;
use crate::engines::fan_out::{self, COUNTING, Count};
use crate::engines::relations::{self, Relations};
use crate::engines::thread::on_own_thread;
use crate::version::Version;

/// The most memory that counting may take.
const MAX_BYTES: usize = 1 << 30;

impl DataFusion {
    /// Refuses a plan whose joins with public files multiply rows too much.
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

    /// Does something that counts rows of the public tables of a plan. Each count is made
    /// once for the files as they are.
    pub(in crate::engines) fn with_counts<T>(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        work: impl FnOnce(&mut Count<'_>) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        let (mut tables, mut versions) = (Tables::new(), BTreeMap::<&str, Version>::new());
        for name in &plan.public {
            let source = Source::open(relations::dataset(catalogue, name)?)?;
            versions.insert(name, source.version()?);
            let table = source.table();
            tables.insert(name.clone(), table);
        }
        let end = Instant::now() + COUNTING;
        let version = |table: &str| versions.get(table).copied();
        work(&mut |relation| {
            let count = || self.count(relation, catalogue, &tables, end);
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
        let mut dialect = DataFusionDialect::default();
        for (place, (dataset, table)) in tables.iter().enumerate() {
            let name = format!("d{place}");
            let schema = table.schema();
            dialect
                .tables
                .insert(dataset.clone(), Table { name, schema });
        }
        let text = Relations::new(&dialect, catalogue, &[0; 16]).text(relation)?;
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
            // What is still under way is not waited for.
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
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_limit(MAX_BYTES, 1.0)
            .build_arc()?;
        let context = SessionContext::new_with_config_rt(config, runtime);
        for function in functions::all() {
            context.register_udf(function);
        }
        Ok(context)
    }
}
