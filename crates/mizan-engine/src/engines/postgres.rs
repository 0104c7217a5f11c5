//! PostgreSQL: the plan runs inside the database, and only bounded integers come
//! back.
//!
//! - [`source`]: where a table is; [`session`]: one snapshot of its database;
//!   [`table`], [`columns`]: what it holds;
//! - [`dialect`]: total expressions, by [`numbers`], [`casts`] and [`calendar`], each
//!   of which computes operands [`once`].
//!
//! An engine answers one question at a time: from [`Engine::prepare`] to the end of
//! [`Engine::run`] everything is of one snapshot.

mod calendar;
mod casts;
mod columns;
mod dialect;
mod numbers;
mod once;
mod session;
mod source;
mod table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use mizan_sql::{BoundedPlan, Catalogue, Dataset, Type};

use self::dialect::PostgresDialect;
use self::session::Session;
use self::source::Source;
use super::by_source::Inspected;
use super::gather::Gather;
use super::relations;
use super::statement::{Counted, First, Shape, Statement};
use super::statements::statements;
use super::thread::on_own_thread;
use crate::engine::{Engine, EngineError};
use crate::exact::Exact;
use crate::order::Salt;
use crate::version::Version;

/// The engine that is a database.
#[derive(Default)]
pub(crate) struct Postgres {
    /// The snapshot of the question that is being answered.
    session: Mutex<Option<Session>>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

impl Postgres {
    /// The session, taken out.
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
    /// Takes the snapshot, and lets PostgreSQL plan the statements.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        drop(self.take());
        self.keep(on_own_thread(|| begin(plan, catalogue))?);
        Ok(())
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
            columns::readable(table, column)?;
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
    ) -> Result<Exact, EngineError> {
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
        on_own_thread(move || compute(session, plan, catalogue, &salt))
    }
}

/// A session with the tables of a plan, whose statements PostgreSQL can plan.
fn begin(plan: &BoundedPlan, catalogue: &Catalogue) -> Result<Session, EngineError> {
    let mut sources = Vec::new();
    for name in plan.datasets.iter().chain(&plan.public) {
        sources.push(Source::parse(&relations::dataset(catalogue, name)?.source)?);
    }
    let databases = sources.iter().map(|source| &source.database);
    if databases
        .clone()
        .zip(databases.skip(1))
        .any(|(a, b)| a != b)
    {
        return Err(EngineError::NotHere {
            what: "a question about tables of several databases",
        });
    }
    let mut session = Session::begin(&sources)?;
    for text in texts(&session, plan, catalogue, &[0; 16])?.1 {
        if text.contains('\0') {
            return Err(EngineError::NotHere {
                what: "a text with a zero character in it",
            });
        }
        session.plan(&text)?;
    }
    Ok(session)
}

/// Runs the statements of a plan.
fn compute(
    session: Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: &Salt,
) -> Result<Exact, EngineError> {
    let (statements, texts) = texts(&session, plan, catalogue, salt)?;
    let kinds: Vec<Type> = plan.keys.iter().map(|key| key.kind).collect();
    let mut gather = Gather::new(plan);
    session.run(&texts, &kinds, |place, row| {
        let statement = statements.get(place);
        let statement = statement.ok_or(EngineError::Failed { doing: "running" })?;
        gather.add(&statement.shape, row)
    })?;
    Ok(gather.finish())
}

/// The statements of a plan, and their texts with every number as a 64-bit integer.
fn texts(
    session: &Session,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: &Salt,
) -> Result<(Vec<Statement>, Vec<String>), EngineError> {
    let mut tables = BTreeMap::new();
    for name in plan.datasets.iter().chain(&plan.public) {
        let dataset = relations::dataset(catalogue, name)?;
        if let Some(table) = session.table(&Source::parse(&dataset.source)?) {
            tables.insert(name.clone(), table);
        }
    }
    let dialect = PostgresDialect { tables };
    let statements = statements(&dialect, catalogue, plan, salt)?;
    let texts = statements.iter().map(|statement| integers(statement, plan));
    let texts = texts.collect();
    Ok((statements, texts))
}

/// Sums of 64-bit integers are `numeric` in PostgreSQL; these fit, for they are
/// bounded.
fn integers(statement: &Statement, plan: &BoundedPlan) -> String {
    let keys = plan.keys.iter().enumerate();
    let mut columns: Vec<String> = keys
        .map(|(place, key)| format!("k{place}::{}", casts::held(key.kind)))
        .collect();
    let computed = match &statement.shape {
        Shape::Sums(statistics) => statistics.len() + 1,
        Shape::Distinct(_) => 2,
        Shape::Histogram(_) => {
            columns.push("v0::bigint".to_owned());
            1
        }
    };
    columns.extend((0..computed).map(|place| format!("o{place}::bigint")));
    let (columns, text) = (columns.join(", "), statement.with_tables(first));
    format!("SELECT {columns} FROM ({text}) AS t")
}

/// A table of the first rows of each unit. Hardly any unit has more than may count,
/// so those are found first, and ranked alone. Of groups, which are fewer than rows
/// and may well be too many, all are ranked.
fn first(first: &First) -> String {
    let First {
        table, text, rows, ..
    } = first;
    if first.of == Counted::Groups {
        return format!("{table} AS ({text})");
    }
    let names = first.names.join(", ");
    let unit: Vec<&str> = first
        .names
        .iter()
        .take(first.units)
        .map(String::as_str)
        .collect();
    let unit = unit.join(", ");
    let among = |is: &str| {
        format!(
            "SELECT {names} FROM {table}_all WHERE ({unit}) {is} (SELECT {unit} FROM {table}_many)"
        )
    };
    let ranked = text.replacen(rows.as_str(), &among("IN"), 1);
    format!(
        "{table}_all AS NOT MATERIALIZED ({rows}), {table}_many AS MATERIALIZED \
         (SELECT {unit} FROM {table}_all GROUP BY {unit} HAVING COUNT(*) > {}), \
         {table} AS ({} UNION ALL SELECT {names} FROM ({ranked}) AS t)",
        first.most,
        among("NOT IN")
    )
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

/// Whether two sources are one table, or a table and a partition of it, by whatever
/// way they are reached.
pub(crate) fn share_tables(one: &str, other: &str) -> bool {
    let parts = |source: &str| {
        let source = Source::parse(source).ok()?;
        let session = on_own_thread(|| Session::begin(std::slice::from_ref(&source))).ok()?;
        let table = session.table(&source)?;
        let parts = table.parts.iter().map(|(part, _)| *part);
        Some((session.server().to_owned(), parts.collect::<BTreeSet<_>>()))
    };
    match (parts(one), parts(other)) {
        (Some((server, parts)), Some((other_server, others))) => {
            server == other_server && !parts.is_disjoint(&others)
        }
        _ => one == other,
    }
}
