//! Finds bounds of a column privately: a histogram of the largest and the smallest value of
//! each unit, in buckets between powers of two.
//!
//! A unit is in at most two groups of this histogram whatever its rows are, so the cost is that
//! of two counts. Choosing bounds from the noisy counts is post-processing. The bounds exclude
//! about one unit in a hundred on each side; with few units they exclude as many as the noise
//! hides.

use mizan_sql::{
    Aggregate, BoundedPlan, Bounds, Column, Dataset, Expr, Function, GroupBounding, Groups, Key,
    Measure, Operator, Output, OutputColumn, Relation, Statistic, Type, UnitAggregate, Value,
};

use super::{Answered, QueryError, QueryOutcome, QueryService, SpendTarget};
use crate::engine::Engine;
use crate::release::Released;

/// Exponents of the powers of two that are bucket edges, for both signs.
const SMALLEST: i32 = -20;
const LARGEST: i32 = 52;

/// The share of units that the bounds may exclude on one side.
const CUT: f64 = 0.01;

/// How many neighbouring buckets are added up, and how many half widths of the noise of one
/// bucket their sum must exceed.
const WINDOW: usize = 4;
const MIN_NOISE_RATIO: f64 = 10.0;

/// The bounds that were found, or the denial.
#[derive(Debug)]
pub enum FoundBounds {
    /// The bounds, and the release that they come from.
    Found(Bounds, Box<Answered>),
    /// The charge does not fit into the budget.
    Denied(Box<super::Denied>),
}

impl<E: Engine> QueryService<'_, E> {
    /// Finds bounds of a numeric column. Declared bounds of the column are ignored, so wrong
    /// bounds can be corrected. The same search on the same data is free.
    ///
    /// # Errors
    ///
    /// As for [`QueryService::query`](super::QueryService::query).
    pub fn find_bounds(
        &self,
        dataset: &str,
        column: &str,
        spend_target: SpendTarget,
    ) -> Result<FoundBounds, QueryError> {
        let mut unbounded = self.catalogue.clone();
        let found = unbounded.datasets.get_mut(dataset);
        let found = found.ok_or(QueryError::NoDataset)?;
        for column in &mut found.columns {
            column.bounds = None;
        }
        let (edges, plan) = plan(found, column).ok_or(QueryError::NotNumeric {
            column: column.to_owned(),
        })?;
        let service = QueryService::new(self.ledger, &unbounded, self.engine);
        let prepared = service.price(&plan, spend_target)?;
        match service.ask(&prepared, None)? {
            QueryOutcome::Denied(denied) => Ok(FoundBounds::Denied(denied)),
            QueryOutcome::Answered(answered) => {
                let bounds = read(&prepared.plan, &answered.released, &edges);
                let bounds = bounds.ok_or(QueryError::NoBounds)?;
                Ok(FoundBounds::Found(bounds, answered))
            }
        }
    }
}

/// The edges of the buckets, ascending.
fn edges(kind: Type) -> Vec<f64> {
    let smallest = if kind == Type::Integer { 0 } else { SMALLEST };
    let powers = (smallest..=LARGEST).map(|power| 2_f64.powi(power));
    let negative = powers.clone().rev().map(|edge| -edge);
    negative.chain([0.0]).chain(powers).collect()
}

fn literal(value: usize) -> Expr {
    Expr::integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn number(value: f64) -> Expr {
    Expr::Literal(Value::number(value), Type::Number)
}

/// The smallest edge that is at or above a column's value, or the largest that is at or below
/// it.
fn bucket(place: usize, edges: &[f64], above: bool) -> Expr {
    let value = || Expr::Cast(Box::new(Expr::column(place)), Type::Number);
    let branch = |(bucket, &edge): (usize, &f64)| {
        let function = if above {
            Function::LessOrEqual
        } else {
            Function::GreaterOrEqual
        };
        let when = Expr::call(function, [value(), number(edge)]);
        (when, literal(bucket))
    };
    let edges = edges.iter().enumerate();
    let (branches, last) = if above {
        let last = edges.len().saturating_sub(1);
        (edges.map(branch).collect(), last)
    } else {
        (edges.rev().map(branch).collect(), 0)
    };
    Expr::Case {
        branches,
        otherwise: Box::new(literal(last)),
    }
}

fn plan(dataset: &Dataset, column: &str) -> Option<(Vec<f64>, BoundedPlan)> {
    let privacy = dataset.privacy.as_ref()?;
    let place = dataset
        .columns
        .iter()
        .position(|found| found.name == column)?;
    let kind = dataset.columns.get(place)?.kind;
    // Clamping the unit column would merge several people into one.
    if !kind.is_numeric() || privacy.unit.iter().any(|unit| unit == column) {
        return None;
    }
    let place_of = |name: &String| dataset.columns.iter().position(|found| &found.name == name);
    let unit: Vec<usize> = privacy.unit.iter().map(place_of).collect::<Option<_>>()?;
    let edges = edges(kind);
    let group = extremes(dataset, &unit, place, kind);
    let sides = [true, false].map(|above| side(&group, unit.len(), &edges, above));
    let [high, _] = &sides;
    let relation = Relation {
        columns: high.columns.clone(),
        unit: (0..unit.len()).collect(),
        one_row_per_unit: false,
        operator: Operator::Union {
            inputs: sides.to_vec(),
        },
    };
    let key = |name: &str, place: usize| Key {
        name: name.to_owned(),
        expression: Expr::column(place),
        kind: Type::Integer,
    };
    let buckets = (0..2).flat_map(|side| (0..edges.len()).map(move |bucket| [side, bucket]));
    let value = |place: usize| Value::Integer(i64::try_from(place).unwrap_or(i64::MAX));
    let groups = buckets.map(|key| key.map(value).to_vec()).collect();
    let shown = |name: &str, place: usize| OutputColumn {
        name: name.to_owned(),
        expression: Expr::column(place),
        kind: Type::Integer,
    };
    let plan = BoundedPlan {
        datasets: vec![dataset.name.clone()],
        public: Vec::new(),
        relation,
        keys: vec![key("side", unit.len()), key("bucket", unit.len() + 1)],
        groups: Groups::Public(groups),
        // At most one bucket of largest values and one of smallest values for each unit.
        groups_per_unit: 2,
        group_bounding: GroupBounding::NotNeeded,
        statistics: vec![Statistic {
            measure: Measure::Units,
            low: 0,
            high: 1,
        }],
        output: Output {
            aggregates: vec![Aggregate::Count { of: 0 }],
            columns: vec![shown("side", 0), shown("bucket", 1), shown("units", 2)],
            ..Output::default()
        },
        clamping: Vec::new(),
        notes: Vec::new(),
    };
    Some((edges, plan))
}

/// One row for each unit: the unit, its largest value, its smallest value.
fn extremes(dataset: &Dataset, unit: &[usize], place: usize, kind: Type) -> Relation {
    let column = |name: &str, kind| Column {
        name: name.to_owned(),
        kind,
        bounds: None,
    };
    let columns: Vec<Column> = dataset
        .columns
        .iter()
        .map(|found| Column {
            name: found.name.clone(),
            kind: found.kind,
            bounds: None,
        })
        .collect();
    let mut grouped: Vec<Column> = unit
        .iter()
        .filter_map(|&place| columns.get(place).cloned())
        .collect();
    grouped.extend([column("largest", kind), column("smallest", kind)]);
    let scan = Relation {
        operator: Operator::Scan {
            dataset: dataset.name.clone(),
        },
        columns,
        unit: unit.to_vec(),
        one_row_per_unit: false,
    };
    Relation {
        columns: grouped,
        unit: (0..unit.len()).collect(),
        one_row_per_unit: true,
        operator: Operator::Group {
            input: Box::new(scan),
            keys: unit.iter().map(|&place| Expr::column(place)).collect(),
            aggregates: vec![
                UnitAggregate::Max(Expr::column(place)),
                UnitAggregate::Min(Expr::column(place)),
            ],
        },
    }
}

/// The unit, the side (largest or smallest), the bucket. Units without a value have no row.
fn side(group: &Relation, units: usize, edges: &[f64], above: bool) -> Relation {
    let place = if above { units } else { units + 1 };
    let known = Expr::call(
        Function::Not,
        [Expr::call(Function::IsNull, [Expr::column(place)])],
    );
    let filtered = Relation {
        operator: Operator::Filter {
            input: Box::new(group.clone()),
            predicate: known,
        },
        ..group.clone()
    };
    let mut expressions: Vec<Expr> = (0..units).map(Expr::column).collect();
    expressions.extend([literal(usize::from(!above)), bucket(place, edges, above)]);
    let mut columns: Vec<Column> = group.columns.iter().take(units).cloned().collect();
    columns.extend(["side", "bucket"].map(|name| Column {
        name: name.to_owned(),
        kind: Type::Integer,
        bounds: None,
    }));
    Relation {
        operator: Operator::Project {
            input: Box::new(filtered),
            expressions,
        },
        columns,
        unit: (0..units).collect(),
        one_row_per_unit: true,
    }
}

/// Bounds that exclude few units, from the noisy counts as they were released. The counts are
/// not clamped at zero: sums of clamped counts would be too high.
fn read(plan: &BoundedPlan, released: &Released, edges: &[f64]) -> Option<Bounds> {
    let mut counts = [vec![0.0; edges.len()], vec![0.0; edges.len()]];
    let noisy = released.counts(plan, 0).ok()?;
    let width = noisy.half_width;
    for (key, count) in noisy.counts {
        let [Value::Integer(side), Value::Integer(bucket)] = key else {
            return None;
        };
        let (side, bucket) = (usize::try_from(*side).ok()?, usize::try_from(*bucket).ok()?);
        *counts.get_mut(side)?.get_mut(bucket)? = count;
    }
    let [above, below] = &counts;
    let high = cut(&above.iter().rev().copied().collect::<Vec<_>>(), width)?;
    let low = cut(below, width)?;
    let high = edges.len().checked_sub(1 + high)?;
    let bounds = Bounds::new(*edges.get(low)?, *edges.get(high)?);
    // With very few units the noise may put the lower bound above the upper one.
    bounds.or_else(|| Bounds::new(*edges.get(high)?, *edges.get(low)?))
}

/// How many buckets can be cut from the end: up to the first window of buckets whose units
/// exceed the noise and the share that may be cut. Noise alone exceeds it about once in 10^8
/// times.
fn cut(counts: &[f64], width: f64) -> Option<usize> {
    let total: f64 = counts.iter().sum();
    let enough = (CUT * total).max(MIN_NOISE_RATIO * width);
    (0..counts.len()).find(|&place| {
        let first = (place + 1).saturating_sub(WINDOW);
        let window = counts.iter().take(place + 1).skip(first);
        window.sum::<f64>() > enough
    })
}
