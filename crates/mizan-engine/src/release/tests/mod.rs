//! Plans for tests of releases, and their exact answers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

mod answers;
mod budget;
mod clamped;
mod clipping;
mod clock;
mod coverage;
mod peers_failures;
mod quantiles;
mod report;
mod small_groups;
mod store;
mod threshold;

use std::collections::BTreeMap;

use mizan_core::{Delta, Epsilon};
use mizan_sql::{
    Aggregate, BoundedPlan, Bounds, Expr, GroupBounding, Groups, Key, Measure, Operator, Output,
    OutputColumn, Quantized, Relation, Statistic, Type, Value,
};

use super::{NoiseTarget, Request};
use crate::exact::{Cell, ExactAggregates};

/// Values from 0 to 200, about 100, in steps of 1/8.
pub(super) const AGES: Quantized = Quantized {
    bounds: Bounds {
        low: 0.0,
        high: 200.0,
    },
    centre: 100.0,
    exponent: -3,
    squared: false,
};

pub(super) const SQUARES: Quantized = Quantized {
    squared: true,
    exponent: 2,
    ..AGES
};

pub(super) fn statistic(measure: Measure, low: i64, high: i64) -> Statistic {
    Statistic { measure, low, high }
}

/// Units, rows, centred sum, squares, histogram, with at most `rows` rows per unit.
pub(super) fn statistics(rows: i64) -> Vec<Statistic> {
    let x = Expr::column(0);
    vec![
        statistic(Measure::Units, 0, 1),
        statistic(Measure::Count(x.clone()), 0, rows),
        statistic(Measure::Sum(x.clone(), AGES), -800 * rows, 800 * rows),
        statistic(Measure::Sum(x.clone(), SQUARES), 0, 2500 * rows),
        statistic(Measure::Histogram(x, AGES), 0, rows),
    ]
}

/// A plan with one text key, or with none.
pub(super) fn plan(
    groups: Option<Groups>,
    groups_per_unit: u64,
    statistics: Vec<Statistic>,
    aggregates: Vec<Aggregate>,
) -> BoundedPlan {
    let relation = Relation {
        operator: Operator::Scan {
            dataset: "people".into(),
        },
        columns: Vec::new(),
        unit: vec![0],
        one_row_per_unit: false,
    };
    let keys: Vec<Key> = groups
        .iter()
        .map(|_| Key {
            name: "city".into(),
            expression: Expr::column(1),
            kind: Type::Text,
        })
        .collect();
    let mut columns: Vec<OutputColumn> = keys
        .iter()
        .enumerate()
        .map(|(place, key)| OutputColumn {
            name: key.name.clone(),
            expression: Expr::column(place),
            kind: Type::Text,
        })
        .collect();
    for (place, aggregate) in aggregates.iter().enumerate() {
        columns.push(OutputColumn {
            name: format!("a{place}"),
            expression: Expr::column(keys.len() + place),
            kind: match aggregate {
                Aggregate::Count { .. } | Aggregate::Sum { integer: true, .. } => Type::Integer,
                _ => Type::Number,
            },
        });
    }
    let groups = groups.unwrap_or_else(|| Groups::Public(vec![Vec::new()]));
    let group_bounding = match &groups {
        Groups::Public(keys) if groups_per_unit >= keys.len() as u64 => GroupBounding::NotNeeded,
        _ => GroupBounding::SampleGroups,
    };
    BoundedPlan {
        datasets: vec!["people".into()],
        public: Vec::new(),
        relation,
        keys,
        groups,
        groups_per_unit,
        group_bounding,
        statistics,
        output: Output {
            aggregates,
            columns,
            ..Output::default()
        },
        clamping: Vec::new(),
        notes: Vec::new(),
    }
}

pub(super) fn count() -> Aggregate {
    Aggregate::Count { of: 1 }
}

pub(super) fn sum() -> Aggregate {
    Aggregate::Sum {
        sum: 2,
        count: Some(1),
        integer: false,
    }
}

pub(super) fn mean() -> Aggregate {
    Aggregate::Mean { sum: 2, count: 1 }
}

pub(super) fn variance(sample: bool, root: bool) -> Aggregate {
    Aggregate::Variance {
        sum: 2,
        squares: 3,
        count: 1,
        sample,
        root,
    }
}

pub(super) fn quantile(at: f64) -> Aggregate {
    Aggregate::Quantile {
        histogram: 4,
        at,
        kind: Type::Number,
    }
}

pub(super) fn request(epsilon: f64, delta: f64) -> Request {
    spend_request(NoiseTarget::Epsilon(Epsilon::new(epsilon).unwrap()), delta)
}

/// A request with half of delta for the noise and half for the threshold.
pub(super) fn spend_request(target: NoiseTarget, delta: f64) -> Request {
    let half = Delta::new(delta / 2.0).unwrap();
    Request {
        target,
        delta: half,
        threshold_delta: half,
        clock: None,
        on_clock: false,
    }
}

pub(super) fn text(name: &str) -> Vec<Value> {
    vec![Value::Text(name.into())]
}

/// The cells of these values, each a row of another unit.
pub(super) fn cells(values: &[f64]) -> Vec<Cell> {
    let mut histogram = BTreeMap::new();
    let (mut total, mut squares) = (0, 0);
    for &value in values {
        total += AGES.integer(value);
        squares += SQUARES.integer(value);
        *histogram.entry(AGES.integer(value)).or_insert(0) += 1;
    }
    let rows = i64::try_from(values.len()).unwrap();
    vec![
        Cell::Integer(rows),
        Cell::Integer(rows),
        Cell::Integer(total),
        Cell::Integer(squares),
        Cell::Histogram(histogram),
    ]
}

/// One group without a key.
pub(super) fn one_group(values: &[f64]) -> ExactAggregates {
    ExactAggregates::from([(Vec::new(), cells(values))])
}

/// Bell-shaped values, without randomness.
pub(super) fn people(count: usize) -> Vec<f64> {
    (0..count)
        .map(|i| {
            let spread = ((i * 7919) % 1000) as f64 / 1000.0;
            40.0 + 60.0 * spread * spread + ((i * 31) % 17) as f64
        })
        .collect()
}
