//! PostgreSQL: the plan runs inside the database, and only bounded integers come back.
//!
//! - [`source`]: the address of a table; [`shared`]: whether two addresses are the same table;
//!   [`session`]: one snapshot of a database; [`table`], [`columns`]: metadata of tables;
//! - [`dialect`]: total expressions, with [`numbers`], [`casts`] and [`calendar`], each of
//!   which computes operands [`with_operands`].
//!
//! An engine answers one query at a time: from [`Engine::prepare`] to the end of
//! [`Engine::run`] everything is read from one snapshot.

mod calendar;
mod casts;
mod columns;
mod dialect;
mod numbers;
mod session;
mod shared;
mod shared_operands;
mod source;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mizan_sql::{BoundedPlan, Catalogue, Dataset, Type, Value};

use self::dialect::PostgresDialect;
use self::session::Session;
pub(crate) use self::shared::share_tables;
use self::source::Source;
use super::dispatch::Inspected;
use super::fan_out::{self, COUNTING, FanOutCache};
use super::lower_sql::SqlLowering;
use super::lower_sql::relations::{self, Relations};
use super::redundant_limits;
use super::result_collector::ResultCollector;
use super::thread::{on_own_thread, on_own_thread_within};
use crate::engine::{Engine, EngineError};
use crate::exact::{Execution, ExecutionPath};
use crate::sampling_hash::Salt;
use crate::unit_aggregation::{Part, UnitAggregation, ValueMeasure};
use crate::version::Version;

/// The extra time after a query's timeout before the connection is given up. The server
/// enforces the timeout. If it does not, it hangs, or something in between keeps the connection
/// open but drops its data.
const GRACE_TIMEOUT: Duration = Duration::from_secs(15);

/// The engine that runs plans in a database.
#[derive(Default)]
pub(crate) struct Postgres {
    /// The snapshot of the query that is being answered.
    session: Mutex<Option<Session>>,
    counted: Arc<Counts>,
    /// The cache of fan-outs of public tables.
    pub(in crate::engines) fan_outs: FanOutCache,
}

/// A cache of the most rows of a unit in tables. The key is the version of a table and the
/// query of its units.
#[derive(Default)]
struct Counts(Mutex<Vec<(Version, String, u64)>>);

impl Counts {
    /// The most entries.
    const MOST: usize = 64;

    fn find(&self, version: Version, units: &str) -> Option<u64> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counts = counts.iter().rev();
        let found = counts.find(|(of, query, _)| (*of, query.as_str()) == (version, units));
        found.map(|(_, _, rows)| *rows)
    }

    fn keep(&self, version: Version, units: String, rows: u64) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= Self::MOST {
            counts.remove(0);
        }
        counts.push((version, units, rows));
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    /// Takes the session out.
    fn take(&self) -> Option<Session> {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    fn keep(&self, session: Session) {
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }
}

impl Engine for Postgres {
    /// Takes the snapshot, counts public rows in it, and lets PostgreSQL plan the statements.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        drop(self.take());
        self.keep(on_own_thread(|| begin(plan, catalogue, &self.fan_outs))?);
        Ok(())
    }

    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        if !fan_out::joins_public(&plan.relation) {
            return Ok(());
        }
        on_own_thread(|| {
            let mut session = Session::begin(&sources(&plan.public, catalogue)?)?;
            check_joins(&mut session, plan, catalogue, &self.fan_outs)
        })
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        let source = Source::parse(&dataset.source)?;
        let session = match self.take() {
            Some(session) if session.table(&source).is_some() => session,
            _ => on_own_thread(|| Session::begin(std::slice::from_ref(&source)))?,
        };
        let table = session.table(&source);
        let table = table.ok_or(EngineError::Failed { doing: "starting" })?;
        for column in &dataset.columns {
            let (kind, found) = columns::readable(table, column)?;
            if relations::is_unit(dataset, column)
                && !(relations::fits_unit(kind, column.kind) && found.is_within_64_bits())
            {
                return Err(columns::unreadable(table, column, found));
            }
        }
        let version = session.version(table);
        self.keep(session);
        Ok(version)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Execution, EngineError> {
        let session = self.take().ok_or(EngineError::Disconnected)?;
        let names: Vec<&String> = plan.datasets.iter().chain(&plan.public).collect();
        if names.len() != versions.len() {
            return Err(EngineError::BadPlan {
                reason: "there is not a version for every dataset".into(),
            });
        }
        for (name, version) in names.into_iter().zip(versions) {
            let source = Source::parse(&relations::dataset(catalogue, name)?.source)?;
            let table = session.table(&source);
            if table.map(|table| session.version(table)) != Some(*version) {
                return Err(EngineError::Changed {
                    dataset: name.clone(),
                });
            }
        }
        let most = session.timeout() + GRACE_TIMEOUT;
        let (plan, catalogue) = (plan.clone(), catalogue.clone());
        let counts = Arc::clone(&self.counted);
        on_own_thread_within(most, EngineError::Disconnected, move || {
            compute(session, &plan, &catalogue, &salt, &counts)
        })
    }
}

/// A session with the tables of a plan, in which PostgreSQL can plan its statements.
fn begin(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    fan_outs: &FanOutCache,
) -> Result<Session, EngineError> {
    let sources = sources(plan.datasets.iter().chain(&plan.public), catalogue)?;
    let mut session = Session::begin(&sources)?;
    check_joins(&mut session, plan, catalogue, fan_outs)?;
    let aggregation = UnitAggregation::of(plan)?;
    for text in texts(&session, plan, &aggregation, catalogue, &[0; 16])? {
        plan_text(&mut session, &text)?;
    }
    Ok(session)
}

/// Lets PostgreSQL plan a statement.
fn plan_text(session: &mut Session, text: &str) -> Result<(), EngineError> {
    if text.contains('\0') {
        return Err(EngineError::NotHere {
            what: "a text that contains a zero character",
        });
    }
    session.plan(text)
}

/// The addresses of tables, which must be in one database.
fn sources<'a>(
    names: impl IntoIterator<Item = &'a String>,
    catalogue: &Catalogue,
) -> Result<Vec<Source>, EngineError> {
    let mut sources = Vec::new();
    for name in names {
        sources.push(Source::parse(&relations::dataset(catalogue, name)?.source)?);
    }
    let databases = sources.iter().map(|source| &source.database);
    if databases
        .clone()
        .zip(databases.skip(1))
        .any(|(a, b)| a != b)
    {
        return Err(EngineError::NotHere {
            what: "a query over tables of several databases",
        });
    }
    Ok(sources)
}

/// Refuses a plan in which joins with public tables exceed the fan-out limits.
fn check_joins(
    session: &mut Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    fan_outs: &FanOutCache,
) -> Result<(), EngineError> {
    if !fan_out::joins_public(&plan.relation) {
        return Ok(());
    }
    let mut versions = BTreeMap::new();
    for name in &plan.public {
        let source = Source::parse(&relations::dataset(catalogue, name)?.source)?;
        if let Some(table) = session.table(&source) {
            versions.insert(name.as_str(), session.version(table));
        }
    }
    let version = |table: &str| versions.get(table).copied();
    let end = Instant::now() + COUNTING;
    fan_out::check(&plan.relation, &mut |relation| {
        fan_outs.count(relation, version, || {
            let text = {
                let dialect = dialect(session, plan, catalogue)?;
                Relations::new(&dialect, catalogue).text(relation)?
            };
            let text = fan_out::query(relation, &text);
            plan_text(session, &text)?;
            session.count(&text, end)
        })
    })
}

/// Runs the statements of a plan.
fn compute(
    mut session: Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: &Salt,
    counts: &Counts,
) -> Result<Execution, EngineError> {
    let aggregation = UnitAggregation::of(plan)?;
    let most = most_rows(&mut session, plan, catalogue, counts)?;
    let input = aggregation.input.clone();
    let counted = aggregation.over(redundant_limits::remove_redundant_limits(input, &most));
    // Statements without these row limits depend on data, so whether there is an answer must
    // not depend on them.
    let (texts, path) = match texts(&session, plan, &counted, catalogue, salt) {
        Ok(texts) if session.can_plan(&texts)? => (texts, ExecutionPath::PlainSql),
        _ => {
            let texts = texts(&session, plan, &aggregation, catalogue, salt)?;
            (texts, ExecutionPath::Fallback)
        }
    };
    let kinds: Vec<Type> = plan.keys.iter().map(|key| key.kind).collect();
    let mut collector = ResultCollector::new(&aggregation);
    for (part, text) in aggregation.parts().into_iter().zip(&texts) {
        session.query(text, &kinds, |row| collector.add(part, row))?;
    }
    session.end()?;
    Ok(Execution::new(collector.finish(), path))
}

/// The most rows of a unit in the datasets below row limits. Counting the rows of units takes
/// less time than ranking them, and a count is valid until something is written.
fn most_rows(
    session: &mut Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    counts: &Counts,
) -> Result<redundant_limits::MostRows, EngineError> {
    let mut most = redundant_limits::MostRows::new();
    for name in redundant_limits::limited(&plan.relation) {
        let dialect = dialect(session, plan, catalogue)?;
        let Some(units) = relations::units(&dialect, catalogue, name)? else {
            continue;
        };
        let dataset = relations::dataset(catalogue, name)?;
        let table = session.table(&Source::parse(&dataset.source)?);
        let version = table.map(|table| session.version(table));
        let known = version.and_then(|version| counts.find(version, &units));
        if let Some(rows) = known {
            most.insert(name.to_owned(), rows);
            continue;
        }
        let width = dataset.privacy.as_ref().map_or(0, |p| p.unit.len());
        let by: Vec<String> = (0..width).map(|place| format!("c{place}")).collect();
        let text = format!(
            "SELECT max(n) FROM (SELECT COUNT(*) AS n FROM ({units}) AS t GROUP BY {}) AS t",
            by.join(", ")
        );
        let mut found = None;
        session.query(&text, &[], |row| {
            if let [Value::Integer(rows)] = row.as_slice() {
                found = Some(rows.unsigned_abs());
            }
            Ok(())
        })?;
        if let (Some(rows), Some(version)) = (found, version) {
            most.insert(name.to_owned(), rows);
            counts.keep(version, units, rows);
        }
    }
    Ok(most)
}

/// The dialect over the tables of a plan.
fn dialect<'a>(
    session: &'a Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
) -> Result<PostgresDialect<'a>, EngineError> {
    let mut tables = BTreeMap::new();
    for name in plan.datasets.iter().chain(&plan.public) {
        let dataset = relations::dataset(catalogue, name)?;
        if let Some(table) = session.table(&Source::parse(&dataset.source)?) {
            tables.insert(name.clone(), table);
        }
    }
    Ok(PostgresDialect { tables })
}

/// The statement of each part of an aggregation over the tables of a plan.
fn texts(
    session: &Session,
    plan: &BoundedPlan,
    aggregation: &UnitAggregation,
    catalogue: &Catalogue,
    salt: &Salt,
) -> Result<Vec<String>, EngineError> {
    let dialect = dialect(session, plan, catalogue)?;
    let lowering = SqlLowering::new(&dialect, catalogue, aggregation, salt)?;
    let parts = aggregation.parts().into_iter();
    Ok(parts.map(|part| integers(&lowering, part)).collect())
}

/// The statement of a part with every number as a 64-bit integer. PostgreSQL adds up 64-bit
/// integers as `numeric`. These sums are bounded, so they fit into 64 bits.
fn integers(lowering: &SqlLowering<'_>, part: Part) -> String {
    let aggregation = lowering.aggregation;
    let keys = aggregation.keys.iter().enumerate();
    let mut columns: Vec<String> = keys
        .map(|(place, key)| format!("k{place}::{}", casts::held(key.kind)))
        .collect();
    let computed = match part {
        Part::Sums => aggregation.contributions.len() + 1,
        Part::Values(_, statistic) => match statistic.measure {
            ValueMeasure::Distinct => 2,
            ValueMeasure::Histogram => {
                columns.push(format!("v{}::bigint", statistic.value));
                1
            }
        },
    };
    columns.extend((0..computed).map(|place| format!("o{place}::bigint")));
    let (columns, text) = (columns.join(", "), lowering.statement(part));
    format!("SELECT {columns} FROM ({text}) AS t")
}

/// The columns of a table.
pub(crate) fn inspect(source: &str) -> Result<Inspected, EngineError> {
    let source = Source::parse(source)?;
    let session = on_own_thread(|| Session::begin(std::slice::from_ref(&source)))?;
    let mut found = Inspected::default();
    for column in session
        .table(&source)
        .into_iter()
        .flat_map(|table| &table.columns)
    {
        let name = column.name.clone();
        match column.kind() {
            Some(kind) => found.columns.push((name, Some(kind))),
            None => found.left_out.push((name, column.shown.clone())),
        }
    }
    Ok(found)
}
