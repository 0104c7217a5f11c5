//! The SQL audit: random queries over random data, with and without one unit. The results of
//! the engine may differ by no more than the plan claims.
//!
//! This tests everything between a query and its noise at once: the binder, the sensitivities
//! and the engine. A violation is a defect that would break the privacy guarantee.

mod dice;
pub(crate) mod failure;
#[cfg(test)]
pub(crate) mod parity;
mod random_query;
#[cfg(test)]
mod tests;
mod world;

use std::collections::BTreeSet;
use std::path::Path;

use mizan_sql::{BoundedPlan, Catalogue, GroupBounding, Operator, Relation};

use crate::engine::{Engine, EngineError};
use crate::exact::{Cell, ExactAggregates};
use dice::Dice;
use world::{Tables, Text};

/// The result of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SqlAudit {
    /// How many queries were generated.
    pub questions: u64,
    /// How many queries were refused, which is not a violation.
    pub refused: u64,
    /// How many pairs of data with and without a unit were compared.
    pub pairs: u64,
    /// Violations of the claims; empty if all is well.
    pub violations: Vec<Violation>,
}

/// A difference beyond the claimed sensitivity, or an error that depends on data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The query.
    pub sql: String,
    /// What happened.
    pub what: String,
}

/// Compares `pairs` pairs of small datasets, written to `folder`.
///
/// # Errors
///
/// The folder cannot be written to.
pub fn audit_sql<E: Engine>(
    engine: &E,
    folder: &Path,
    pairs: u64,
    next: &mut dyn FnMut() -> u64,
    progress: impl FnMut(u64),
) -> std::io::Result<SqlAudit> {
    let mut failed = None;
    let place = folder.to_string_lossy();
    let run = |catalogue: &Catalogue, tables: &Tables, plans: &[AuditQuery], salt| {
        if let Err(error) = write(folder, catalogue, tables) {
            failed.get_or_insert(error);
        }
        let run = |query: &AuditQuery| run(engine, catalogue, &query.plan, salt);
        plans.iter().map(run).collect()
    };
    let audit = audit_with(&place, pairs, &mut Dice(next), run, progress);
    failed.map_or(Ok(audit), Err)
}

/// A query and its plan.
pub(crate) struct AuditQuery {
    pub(crate) sql: String,
    pub(crate) plan: BoundedPlan,
}

/// The result of a plan, or an error message.
pub(crate) type RunResult = Result<ExactAggregates, String>;

/// Compares pairs of datasets with a function that runs plans over tables.
pub(crate) fn audit_with(
    place: &str,
    pairs: u64,
    dice: &mut Dice<'_>,
    mut run: impl FnMut(&Catalogue, &Tables, &[AuditQuery], [u8; 16]) -> Vec<RunResult>,
    mut progress: impl FnMut(u64),
) -> SqlAudit {
    let mut audit = SqlAudit::default();
    while audit.pairs < pairs {
        let before = audit.pairs;
        let catalogue = world::catalogue(dice, place);
        let tables = world::tables(dice, &catalogue);
        let plans = audit.random_queries(dice, &catalogue);
        let salt = salt(dice);
        let with = run(&catalogue, &tables, &plans, salt);
        for unit in units(&tables).into_iter().take(3) {
            let fewer = run(&catalogue, &without(&tables, &unit), &plans, salt);
            for (query, (with, fewer)) in plans.iter().zip(with.iter().zip(fewer)) {
                audit.compare_results(query, with, &fewer);
            }
        }
        // A world without units has no pairs; the next world has.
        progress(audit.pairs - before);
    }
    audit
}

impl SqlAudit {
    /// Generates queries; returns those that are allowed.
    fn random_queries(&mut self, dice: &mut Dice<'_>, catalogue: &Catalogue) -> Vec<AuditQuery> {
        let mut plans = Vec::new();
        for _ in 0..8 {
            let sql = random_query::random_query(dice);
            self.questions += 1;
            match mizan_sql::plan(&sql, catalogue) {
                Ok(mut plan) => {
                    tighten(&mut plan.relation, 1 + dice.below(4));
                    // As with Gaussian noise.
                    if let Some(clipped) = plan.clipped().filter(|_| dice.one_in(2)) {
                        plan = clipped;
                    }
                    plans.push(AuditQuery { sql, plan });
                }
                Err(_) => self.refused += 1,
            }
        }
        plans
    }

    fn compare_results(&mut self, query: &AuditQuery, with: &RunResult, without: &RunResult) {
        self.pairs += 1;
        let what = match (with, without) {
            (Ok(with), Ok(without)) => compare(&query.plan, with, without).err(),
            (Err(error), _) | (_, Err(error)) => Some(format!("an error: {error}")),
        };
        if let Some(what) = what {
            let sql = query.sql.clone();
            self.violations.push(Violation { sql, what });
        }
    }
}

fn run<E: Engine>(
    engine: &E,
    catalogue: &Catalogue,
    plan: &BoundedPlan,
    salt: [u8; 16],
) -> RunResult {
    let run = || -> Result<ExactAggregates, EngineError> {
        let versions = engine.versions(plan, catalogue)?;
        engine
            .run(plan, catalogue, &versions, salt)?
            .without_fallback()
    };
    run().map_err(|error| error.to_string())
}

/// Whether two results differ by at most the claimed sensitivity.
pub(crate) fn compare(
    plan: &BoundedPlan,
    with: &ExactAggregates,
    without: &ExactAggregates,
) -> Result<(), String> {
    let groups: BTreeSet<_> = with.keys().chain(without.keys()).collect();
    let mut differing = 0;
    let mut squares = vec![0; plan.statistics.len()];
    for group in groups {
        let mut differs = false;
        let statistics = plan.statistics.iter().zip(&mut squares).enumerate();
        for (place, (statistic, square)) in statistics {
            let cell = |exact: &ExactAggregates| {
                exact.get(group).and_then(|cells| cells.get(place).cloned())
            };
            let change = change(cell(with), cell(without));
            differs |= change > 0;
            let sensitivity = plan.sensitivity(statistic);
            if change > u128::from(sensitivity) {
                return Err(format!(
                    "statistic {place} changes by {change}, {sensitivity} is claimed"
                ));
            }
            *square += change * change;
        }
        differing += u64::from(differs);
    }
    if plan.group_bounding == GroupBounding::ClipL2 {
        return within_norm(plan, &squares);
    }
    if differing > plan.groups_per_unit {
        return Err(format!(
            "{differing} groups change, {} are claimed",
            plan.groups_per_unit
        ));
    }
    Ok(())
}

/// Whether changes are within the norm that is claimed where units are clipped, given the sum
/// of squared changes of each statistic.
fn within_norm(plan: &BoundedPlan, squares: &[u128]) -> Result<(), String> {
    // In units of 2^-40, rounded down.
    let squares = plan.statistics.iter().zip(squares);
    let norm: u128 = squares
        .map(|(statistic, square)| {
            let sensitivity = u128::from(plan.sensitivity(statistic).max(1));
            (square << 40) / (sensitivity * sensitivity)
        })
        .sum();
    let claimed = u128::from(plan.groups_per_unit) * plan.statistics.len() as u128;
    if norm > claimed << 40 {
        return Err(format!(
            "the squared norm of the change is {norm} / 2^40, {claimed} is claimed"
        ));
    }
    Ok(())
}

/// The distance of two cells; for histograms, the sum over all bins.
fn change(a: Option<Cell>, b: Option<Cell>) -> u128 {
    match (a, b) {
        (Some(Cell::Histogram(a)), b) => {
            let empty = std::collections::BTreeMap::new();
            let b = match &b {
                Some(Cell::Histogram(b)) => b,
                _ => &empty,
            };
            let bins: BTreeSet<_> = a.keys().chain(b.keys()).collect();
            let of = |bins: &std::collections::BTreeMap<i64, i64>, bin| {
                i128::from(bins.get(bin).copied().unwrap_or(0))
            };
            bins.into_iter()
                .map(|bin| (of(&a, bin) - of(b, bin)).unsigned_abs())
                .sum()
        }
        (None, Some(Cell::Histogram(b))) => change(Some(Cell::Histogram(b)), None),
        (a, b) => {
            let of = |cell: Option<Cell>| match cell {
                Some(Cell::Integer(value)) => i128::from(value),
                _ => 0,
            };
            (of(a) - of(b)).unsigned_abs()
        }
    }
}

/// Lowers the row limits of joins, so that units of small tables exceed them.
fn tighten(relation: &mut Relation, most: u64) {
    if let Operator::LimitRowsPerUnit { rows, .. } = &mut relation.operator {
        *rows = most;
    }
    for input in relation.inputs_mut() {
        tighten(input, most);
    }
}

fn salt(dice: &mut Dice<'_>) -> [u8; 16] {
    let mut salt = [0; 16];
    for byte in &mut salt {
        *byte = u8::try_from(dice.below(256)).unwrap_or(0);
    }
    salt
}

/// The units in the first column of private tables.
fn units(tables: &Tables) -> BTreeSet<Text> {
    let private = tables.iter().filter(|(name, _)| name != "labels");
    let rows = private.flat_map(|(_, rows)| rows);
    rows.filter_map(|row| row.first().cloned()).collect()
}

fn without(tables: &Tables, unit: &Text) -> Tables {
    let keep = |(name, rows): &(String, Vec<Vec<Text>>)| {
        let rows = rows.iter();
        let rows = rows.filter(|row| name == "labels" || row.first() != Some(unit));
        (name.clone(), rows.cloned().collect())
    };
    tables.iter().map(keep).collect()
}

fn write(folder: &Path, catalogue: &Catalogue, tables: &Tables) -> std::io::Result<()> {
    for (name, rows) in tables {
        let Some(dataset) = catalogue.datasets.get(name) else {
            continue;
        };
        let header: Vec<&str> = dataset.columns.iter().map(|column| &*column.name).collect();
        let mut text = header.join(",");
        text.push('\n');
        for row in rows {
            let cells = row.iter().map(|cell| match cell {
                None => String::new(),
                Some(cell) => format!("\"{}\"", cell.replace('"', "\"\"")),
            });
            text.push_str(&cells.collect::<Vec<_>>().join(","));
            text.push('\n');
        }
        std::fs::write(folder.join(format!("{name}.csv")), text)?;
    }
    Ok(())
}
