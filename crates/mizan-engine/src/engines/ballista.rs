//! Ballista: the plan runs on a cluster that sees the same files, and only bounded
//! integers come back.
//!
//! - [`address`]: where its scheduler is; [`status`]: whether that is one of ours;
//! - [`session`]: statements to it; [`codec`]: how plans travel; [`probe`]: whether files
//!   are there;
//! - [`nodes`]: schedulers and executors themselves, with [`error`].
//!
//! The SQL is DataFusion's. What a cluster says of errors is never shown.

mod address;
mod codec;
mod error;
mod nodes;
mod probe;
mod session;
mod status;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

use mizan_sql::{BoundedPlan, Catalogue, Dataset, Type, Value};

use self::session::Session;
use super::datafusion::csv::CsvTable;
use super::datafusion::dialect::{DataFusionDialect, Table};
use super::datafusion::files::Source;
use super::datafusion::functions::Does;
use super::datafusion::{Tables, add, among, failed, rows, unchanged};
use super::gather::Gather;
use super::statement::{Few, Statement};
use super::statements::statements;
use super::thread::on_own_thread;
use super::{idle, relations};
use crate::engine::{Engine, EngineError};
use crate::exact::Exact;
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

/// If more units than these have many rows, all are told apart.
const MOST_MANY: usize = 100_000;

/// The engine that is a cluster.
#[derive(Clone, Debug)]
pub struct Ballista {
    scheduler: Address,
    /// In how many parts work is split; as many as run at a time if nobody says.
    partitions: Option<usize>,
}

impl Ballista {
    /// The cluster of a scheduler. Nothing is sent yet.
    #[must_use]
    pub const fn new(scheduler: Address) -> Self {
        Self {
            scheduler,
            partitions: None,
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

    /// Runs a plan over tables that the cluster sees.
    fn run_on(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        tables: &Tables,
        salt: &Salt,
    ) -> Result<Exact, EngineError> {
        self.on_cluster(tables, |session, dialect| async move {
            let asked = Asked {
                session: &session,
                dialect: &dialect,
                catalogue,
                tables,
                salt,
            };
            match asked.run_counted(plan).await {
                Ok(exact) => Ok(exact),
                // What is planned there depends on data, so whether there is an answer
                // must not.
                Err(_) => asked.run_whole(plan).await,
            }
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
        let tables = tables(&names, catalogue)?;
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
    /// Asks whether the scheduler is there and ours, plans the statements, and lets
    /// executors look for the files.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        let tables = tables(&names, catalogue)?;
        let paths = probe::paths(&names, catalogue)?;
        self.on_cluster(&tables, |session, dialect| async move {
            for statement in statements(&dialect, catalogue, plan, &[0; 16])? {
                let planned = session.plan(&statement.plain_sql()).await;
                planned.map_err(failed("planning"))?;
            }
            match probe::not_seen(&session, &paths).await? {
                Some(path) => Err(EngineError::NotSeen { path }),
                None => Ok(()),
            }
        })
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
    ) -> Result<Exact, EngineError> {
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
        let exact = self.run_on(plan, catalogue, &tables(&names, catalogue)?, &salt);
        // A failure may come of a change too, and then this says so.
        same()?;
        exact
    }
}

/// The tables of datasets.
fn tables(names: &[&String], catalogue: &Catalogue) -> Result<Tables, EngineError> {
    let mut tables = Tables::new();
    for name in names {
        let source = Source::open(relations::dataset(catalogue, name)?)?;
        let table = source.table().map_err(failed("opening tables"))?;
        tables.insert((*name).clone(), table);
    }
    Ok(tables)
}

/// What is asked of a cluster, and of what.
struct Asked<'a> {
    session: &'a Session,
    dialect: &'a DataFusionDialect,
    catalogue: &'a Catalogue,
    tables: &'a Tables,
    salt: &'a Salt,
}

impl Asked<'_> {
    /// Runs a plan as it is.
    async fn run_whole(&self, plan: &BoundedPlan) -> Result<Exact, EngineError> {
        let mut gather = Gather::new(plan);
        for statement in statements(self.dialect, self.catalogue, plan, self.salt)? {
            self.gather(&statement.plain_sql(), &statement, &mut gather)
                .await?;
        }
        Ok(gather.finish())
    }

    /// Runs a plan without limits that nobody reaches, where units with few rows are
    /// not told apart.
    async fn run_counted(&self, plan: &BoundedPlan) -> Result<Exact, EngineError> {
        let mut counted = plan.clone();
        counted.relation = idle::without_idle(counted.relation, &self.most_rows(plan).await?);
        let mut gather = Gather::new(plan);
        for statement in statements(self.dialect, self.catalogue, &counted, self.salt)? {
            let few = statement
                .per_unit
                .as_ref()
                .and_then(|sums| sums.few.as_ref());
            let text = match few {
                Some(few) => self.apart(few).await?,
                None => None,
            };
            let text = text.unwrap_or_else(|| statement.plain_sql());
            self.gather(&text, &statement, &mut gather).await?;
        }
        Ok(gather.finish())
    }

    async fn gather(
        &self,
        text: &str,
        statement: &Statement,
        gather: &mut Gather,
    ) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| add(gather, &statement.shape, batch))
            .await
    }

    /// The units of a dataset's rows, and their types, if reading them takes much less
    /// than reading all of it.
    fn units(&self, dataset: &str) -> Result<Option<(String, Vec<Type>)>, EngineError> {
        let csv = self.tables.get(dataset);
        if csv.is_none_or(|table| table.downcast_ref::<CsvTable>().is_some()) {
            return Ok(None);
        }
        let declared = relations::dataset(self.catalogue, dataset)?;
        let unit = declared.privacy.iter().flat_map(|privacy| &privacy.unit);
        let kind = |unit: &String| {
            let column = declared.columns.iter().find(|column| column.name == *unit);
            column.map(|column| column.kind)
        };
        let kinds: Option<Vec<Type>> = unit.map(kind).collect();
        let units = relations::units(self.dialect, self.catalogue, dataset)?;
        Ok(units.zip(kinds))
    }

    /// The most rows of a unit in the datasets of a plan that are limited.
    async fn most_rows(&self, plan: &BoundedPlan) -> Result<idle::Most, EngineError> {
        let mut counted = Vec::new();
        let mut texts = Vec::new();
        for dataset in idle::limited(&plan.relation) {
            let Some((units, kinds)) = self.units(dataset)? else {
                continue;
            };
            let place = counted.len();
            texts.push(format!(
                "SELECT {place} AS p, MAX(n) AS n FROM \
                 (SELECT COUNT(*) AS n FROM ({units}) AS t GROUP BY {}) AS t",
                columns(kinds.len())
            ));
            counted.push(dataset.to_owned());
        }
        let mut most = idle::Most::new();
        if texts.is_empty() {
            return Ok(most);
        }
        let each = |row: Vec<Value>| {
            if let [Value::Integer(place), Value::Integer(rows)] = row.as_slice() {
                let dataset = usize::try_from(*place)
                    .ok()
                    .and_then(|place| counted.get(place));
                most.extend(dataset.map(|dataset| (dataset.clone(), rows.unsigned_abs())));
            }
        };
        self.rows(&texts.join(" UNION ALL "), each).await?;
        Ok(most)
    }

    /// Sums in which only units with many rows are told apart.
    async fn apart(&self, few: &Few) -> Result<Option<String>, EngineError> {
        let Some(dataset) = &few.dataset else {
            return Ok(None);
        };
        let Some((units, kinds)) = self.units(dataset)? else {
            return Ok(None);
        };
        let by = columns(kinds.len());
        let text = format!(
            "SELECT {by} FROM (SELECT {by}, COUNT(*) AS n FROM ({units}) AS t GROUP BY {by}) AS t \
             WHERE n > {} LIMIT {}",
            few.rows.min(i64::MAX.unsigned_abs()),
            MOST_MANY + 1
        );
        let mut many = Vec::new();
        self.rows(&text, |row| many.push(row)).await?;
        if many.len() > MOST_MANY {
            return Ok(None);
        }
        let bits = among::bits(&many, &kinds).map_err(failed("planning"))?;
        let names: Vec<String> = (0..kinds.len()).map(|place| format!("u{place}")).collect();
        let condition = format!(
            "{}({}, {})",
            Does::Among.name(),
            among::literal(&bits),
            names.join(", ")
        );
        let (before, after) = &few.apart;
        Ok(Some(format!("{before}{condition}{after}")))
    }

    /// Gives the rows of a result to somebody.
    async fn rows(&self, text: &str, mut each: impl FnMut(Vec<Value>)) -> Result<(), EngineError> {
        self.session
            .run(text, |batch| {
                for row in rows(batch)? {
                    each(row);
                }
                Ok(())
            })
            .await
    }
}

/// The names of the columns of a unit.
fn columns(width: usize) -> String {
    let names: Vec<String> = (0..width).map(|place| format!("c{place}")).collect();
    names.join(", ")
}
