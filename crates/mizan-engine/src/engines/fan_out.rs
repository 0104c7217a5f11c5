//! Fan-out: how many rows a join with public tables makes of one private row.
//!
//! Without a limit, joins would turn one private row into as many rows as public tables have,
//! to the power of the number of joins, and whether a predicate selects that row would decide
//! whether the query ends. So the fan-out of every join of a private with a public relation is
//! counted before the charge, from public tables alone, and a plan whose joins exceed the
//! limits is refused. Private rows are not read: neighbouring datasets have the same outcome.
//!
//! # Guarantee
//!
//! Let a plan pass [`check`]. Between two aggregations per unit, the joins with public tables
//! make at most [`MAX_FAN_OUT`] rows of each private row. Each input of a union has this limit of
//! its own: a row that is in n inputs has n times as many. A unit whose rows are limited
//! ([`Operator::LimitRowsPerUnit`]) has at most [`MAX_ROWS_PER_UNIT`] rows after its joins. No join of
//! public relations has more than [`MAX_PUBLIC_ROWS`] rows.

#[cfg(test)]
pub(crate) mod cases;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mizan_sql::{Column, Expr, Function, Operator, Relation, Type, UnitAggregate};
use sha2::{Digest, Sha256};

use crate::byte_cache::ByteBoundedCache;
use crate::engine::EngineError;
use crate::engine::bad;
use crate::version::Version;

/// The most rows that joins with public tables make of one private row.
pub const MAX_FAN_OUT: u64 = 1_000;

/// The most rows of a unit after joins with public tables, if its rows are limited below: a
/// join of two private relations makes at most 2^20 of them.
pub(crate) const MAX_ROWS_PER_UNIT: u64 = 1 << 24;

/// The most rows of a join of public relations.
pub(crate) const MAX_PUBLIC_ROWS: u64 = 100_000_000;

/// The time limit for counting, for one plan.
pub(crate) const COUNTING: Duration = Duration::from_secs(60);

/// Runs a counting query: returns the maximum of its last column.
pub(crate) type Count<'a> = dyn FnMut(&Relation) -> Result<u64, EngineError> + 'a;

/// The growth of private rows by joins.
struct Growth<'a> {
    /// The product of fan-outs.
    fan_out: u64,
    /// A bound on the rows of a unit, if it is known.
    per_unit: Option<u64>,
    /// The public tables in these joins.
    tables: BTreeSet<&'a str>,
}

impl Growth<'_> {
    fn of(rows: Option<u64>) -> Self {
        Self {
            fan_out: 1,
            per_unit: rows,
            tables: BTreeSet::new(),
        }
    }
}

/// Whether a private relation is joined with a public one anywhere.
pub(crate) fn joins_public(relation: &Relation) -> bool {
    let mut joins = relation.nodes().into_iter().filter_map(Relation::as_join);
    joins.any(|join| join.left.unit.is_empty() != join.right.unit.is_empty())
}

/// Refuses a relation whose joins with public tables exceed the limits.
pub(crate) fn check(relation: &Relation, count: &mut Count<'_>) -> Result<(), EngineError> {
    growth(relation, count).map(drop)
}

fn growth<'a>(relation: &'a Relation, count: &mut Count<'_>) -> Result<Growth<'a>, EngineError> {
    let found = match &relation.operator {
        Operator::Scan { .. } => Growth::of(None),
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => growth(input, count)?,
        Operator::LimitRowsPerUnit { input, rows, .. } => {
            let input = growth(input, count)?;
            let per_unit = input.per_unit.map_or(*rows, |found| found.min(*rows));
            Growth {
                per_unit: Some(per_unit),
                ..input
            }
        }
        // Each input emits rows of its own scans, even if they scan the same dataset.
        Operator::Union { inputs } => {
            let mut all = Growth::of(Some(0));
            for input in inputs {
                let input = growth(input, count)?;
                all = both(all, input, u64::saturating_add);
            }
            all
        }
        Operator::Join {
            left,
            right,
            keeps_left,
            on,
            ..
        } => match (left.unit.is_empty(), right.unit.is_empty()) {
            // Rows of a unit are joined with rows of the same unit only. The binder limits both
            // sides, or one side has one row for each unit.
            (false, false) => {
                let (left, mut right) = (growth(left, count)?, growth(right, count)?);
                let kept = u64::from(*keeps_left);
                right.per_unit = right.per_unit.map(|rows| rows.max(kept));
                both(left, right, u64::saturating_mul)
            }
            (false, true) => {
                let keys = on.iter().map(|(_, key)| key.clone()).collect();
                multiplied(growth(left, count)?, right, keys, count)?
            }
            (true, false) => {
                let keys = on.iter().map(|(key, _)| key.clone()).collect();
                multiplied(growth(right, count)?, left, keys, count)?
            }
            (true, true) => return Err(bad("a public relation where a private one belongs")),
        },
    };
    // After this there is one row for each unit, whatever the number of rows before.
    Ok(match relation.one_row_per_unit {
        true => Growth::of(Some(1)),
        false => found,
    })
}

fn both<'a>(mut one: Growth<'a>, other: Growth<'a>, rows: impl Fn(u64, u64) -> u64) -> Growth<'a> {
    one.tables.extend(other.tables);
    Growth {
        fan_out: one.fan_out.max(other.fan_out),
        per_unit: one.per_unit.zip(other.per_unit).map(|(a, b)| rows(a, b)),
        tables: one.tables,
    }
}

/// The growth after a join with a public relation.
fn multiplied<'a>(
    private: Growth<'a>,
    public: &'a Relation,
    keys: Vec<Expr>,
    count: &mut Count<'_>,
) -> Result<Growth<'a>, EngineError> {
    if has_join(public) {
        public_rows(public, count)?;
    }
    let fan_out = fan_out(public, keys, count)?;
    let mut tables = private.tables;
    tables.extend(tables_of(public));
    let product = private.fan_out.saturating_mul(fan_out);
    let refused = |found: u64, limit: u64, tables: &BTreeSet<&str>| EngineError::FanOut {
        tables: tables.iter().map(|table| (*table).to_owned()).collect(),
        found,
        limit,
    };
    if product > MAX_FAN_OUT {
        return Err(refused(product, MAX_FAN_OUT, &tables));
    }
    let limit = private.per_unit.map(|rows| MAX_ROWS_PER_UNIT / rows.max(1));
    match limit.map(|limit| limit.max(1)) {
        Some(limit) if fan_out > limit => Err(refused(fan_out, limit, &tables)),
        _ => Ok(Growth {
            fan_out: product,
            per_unit: private.per_unit.map(|rows| rows.saturating_mul(fan_out)),
            tables,
        }),
    }
}

/// The most rows of a public relation with the same value of the keys, at least one.
pub(crate) fn fan_out(
    public: &Relation,
    keys: Vec<Expr>,
    count: &mut Count<'_>,
) -> Result<u64, EngineError> {
    Ok(count(&rows_per_key(public, keys)?)?.max(1))
}

/// A bound on the number of rows of a public relation. Joins are bounded bottom-up, so that no
/// counted relation exceeds the limit.
pub(crate) fn public_rows(relation: &Relation, count: &mut Count<'_>) -> Result<u64, EngineError> {
    Ok(match &relation.operator {
        Operator::Scan { .. } => count(&rows_per_key(relation, Vec::new())?)?,
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::LimitRowsPerUnit { input, .. }
        | Operator::Group { input, .. } => public_rows(input, count)?,
        Operator::Union { inputs } => {
            let mut rows = 0_u64;
            for input in inputs {
                rows = rows.saturating_add(public_rows(input, count)?);
            }
            rows
        }
        Operator::Join {
            left,
            right,
            keeps_left,
            on,
            ..
        } => {
            let (of_left, of_right) = (public_rows(left, count)?, public_rows(right, count)?);
            let mut rows = of_left.saturating_mul(of_right);
            if rows > MAX_PUBLIC_ROWS && !on.is_empty() {
                let keys = on.iter().map(|(_, key)| key.clone()).collect();
                let per_row = fan_out(right, keys, count)?;
                rows = rows.min(of_left.saturating_mul(per_row));
            }
            if rows > MAX_PUBLIC_ROWS && !on.is_empty() {
                let keys = on.iter().map(|(key, _)| key.clone()).collect();
                let per_row = fan_out(left, keys, count)?;
                rows = rows.min(of_right.saturating_mul(per_row));
            }
            if *keeps_left {
                rows = rows.saturating_add(of_left);
            }
            if rows > MAX_PUBLIC_ROWS {
                return Err(EngineError::PublicRows {
                    tables: tables_of(relation).into_iter().map(str::to_owned).collect(),
                    found: rows,
                    limit: MAX_PUBLIC_ROWS,
                });
            }
            rows
        }
    })
}

fn has_join(relation: &Relation) -> bool {
    relation.nodes().iter().any(|node| node.as_join().is_some())
}

/// The tables that a relation reads.
fn tables_of(relation: &Relation) -> BTreeSet<&str> {
    let nodes = relation.nodes().into_iter();
    nodes.filter_map(Relation::scanned).collect()
}

/// The number of rows of a public relation for each value of some keys, in the last column. A
/// `NULL` key equals nothing, so its rows are left out.
fn rows_per_key(public: &Relation, keys: Vec<Expr>) -> Result<Relation, EngineError> {
    let mut columns = Vec::with_capacity(keys.len() + 1);
    for key in &keys {
        let kind = key.type_of(&public.columns);
        columns.push(column(kind.map_err(|_| bad("a key without a type"))?));
    }
    columns.push(column(Type::Integer));
    let is_null = keys
        .iter()
        .map(|key| Expr::call(Function::IsNull, [key.clone()]));
    let mut something: Vec<Expr> = is_null
        .map(|is_null| Expr::call(Function::Not, [is_null]))
        .collect();
    let predicate = match something.len() {
        0 | 1 => something.pop(),
        _ => Some(Expr::call(Function::And, something)),
    };
    let input = match predicate {
        None => public.clone(),
        Some(predicate) => Relation {
            columns: public.columns.clone(),
            unit: Vec::new(),
            one_row_per_unit: false,
            operator: Operator::Filter {
                input: Box::new(public.clone()),
                predicate,
            },
        },
    };
    Ok(Relation {
        columns,
        unit: Vec::new(),
        one_row_per_unit: false,
        operator: Operator::Group {
            input: Box::new(input),
            keys,
            aggregates: vec![UnitAggregate::Rows],
        },
    })
}

const fn column(kind: Type) -> Column {
    Column {
        name: String::new(),
        kind,
        bounds: None,
    }
}

/// The query of a count, given the SQL of its relation.
pub(crate) fn query(counted: &Relation, text: &str) -> String {
    let last = counted.columns.len().saturating_sub(1);
    format!("SELECT MAX(c{last}) FROM ({text}) AS t")
}

/// The error of a failed count. A count that is too large or too slow is a refusal, and nothing
/// was charged.
fn of_counting(error: EngineError) -> EngineError {
    match error {
        EngineError::OutOfMemory => EngineError::CountingMemory,
        EngineError::DeadlineExceeded { .. } | EngineError::TimedOut { .. } => {
            EngineError::CountingTime {
                seconds: COUNTING.as_secs(),
            }
        }
        other => other,
    }
}

/// A cache of counts of public relations. The key consists of the versions of their tables and
/// the relation itself. Engines and threads share it, so that a server counts once.
#[derive(Clone, Debug)]
pub struct FanOutCache(Arc<ByteBoundedCache<u64>>);

impl Default for FanOutCache {
    fn default() -> Self {
        // About four thousand counts.
        Self(Arc::new(ByteBoundedCache::new(1 << 20)))
    }
}

impl FanOutCache {
    /// The count of a relation, computed if it is not cached. `version` returns the version of
    /// a table.
    pub(crate) fn count(
        &self,
        relation: &Relation,
        version: impl Fn(&str) -> Option<Version>,
        count: impl FnOnce() -> Result<u64, EngineError>,
    ) -> Result<u64, EngineError> {
        let tables = tables_of(relation);
        let mut digest = Sha256::new();
        digest.update((tables.len() as u64).to_be_bytes());
        for table in tables {
            let version = version(table).ok_or_else(|| EngineError::NotInCatalogue {
                dataset: table.to_owned(),
            })?;
            digest.update(version.as_bytes());
        }
        digest.update(relation.canonical());
        let key: String = digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        if let Some(known) = self.0.get(&key) {
            return Ok(*known);
        }
        let found = count().map_err(of_counting)?;
        self.0.keep(key, &Arc::new(found), size_of::<u64>());
        Ok(found)
    }
}
