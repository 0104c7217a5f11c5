//! The oracle: a slow, simple implementation of bounded plans with which tests compare engines.

use std::collections::{BTreeMap, BTreeSet};

use mizan_sql::clip::ONE;
use mizan_sql::{
    BoundedPlan, Catalogue, Clip, Expr, GroupBounding, Groups, Measure, Operator, Quantized,
    Relation, Statistic, UnitAggregate, Value,
};

use crate::engines::relations::{value_of_sum, whole_between};
use crate::exact::{Cell, ExactAggregates};
use crate::sampling_hash::{Salt, hash};

/// Rows.
pub(crate) type Rows = Vec<Vec<Value>>;

/// The rows of all datasets, with the columns of the catalogue.
pub(crate) type Data = BTreeMap<String, Rows>;

/// The exact integers of a plan.
pub(crate) fn run(
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    data: &Data,
    salt: &Salt,
) -> ExactAggregates {
    // S0: rows by unit and group.
    let mut units: BTreeMap<Vec<Value>, BTreeMap<Vec<Value>, Rows>> = BTreeMap::new();
    for row in rows(&plan.relation, catalogue, data, salt) {
        let unit: Vec<Value> = plan
            .relation
            .unit
            .iter()
            .map(|place| row[*place].clone())
            .collect();
        if unit.iter().any(Value::is_null) {
            continue;
        }
        let key: Vec<Value> = plan
            .keys
            .iter()
            .map(|key| key.expression.eval(&row))
            .collect();
        if let Groups::Public(groups) = &plan.groups
            && !groups.contains(&key)
        {
            continue;
        }
        let groups = units.entry(unit).or_default();
        groups.entry(key).or_default().push(row);
    }
    let mut exact = ExactAggregates::new();
    let mut values: BTreeMap<(Vec<Value>, usize), BTreeSet<Value>> = BTreeMap::new();
    for (unit, groups) in &units {
        // S3.
        let mut ranked: Vec<_> = groups.iter().collect();
        ranked.sort_by_key(|(key, _)| (hash(salt, unit.iter().chain(*key)), (*key).clone()));
        if plan.group_bounding == GroupBounding::SampleGroups {
            ranked.truncate(usize::try_from(plan.groups_per_unit).unwrap());
        }
        let factor = plan.clip().map(|clip| {
            let squares = ranked.iter().flat_map(|(_, rows)| {
                let squares = |one: &Statistic| {
                    Clip::square(contribution(rows, &one.measure, one), one.sensitivity())
                };
                plan.statistics.iter().map(squares)
            });
            clip.factor(squares.sum())
        });
        for (key, rows) in ranked {
            let cells = exact.entry(key.clone()).or_insert_with(|| {
                let statistics = plan.statistics.iter();
                statistics
                    .map(|statistic| empty(&statistic.measure))
                    .collect()
            });
            for (place, statistic) in plan.statistics.iter().enumerate() {
                match (&statistic.measure, &mut cells[place]) {
                    (Measure::Distinct(expr), _) => {
                        let taken = distinct(rows, expr, statistic, salt, unit, key);
                        values
                            .entry((key.clone(), place))
                            .or_default()
                            .extend(taken);
                    }
                    (Measure::Histogram(expr, how), Cell::Histogram(bins)) => {
                        for bin in bins_of(rows, expr, how, statistic, salt, unit, key) {
                            *bins.entry(bin).or_default() += 1;
                        }
                    }
                    (measure, Cell::Integer(sum)) => {
                        let whole = contribution(rows, measure, statistic);
                        *sum += match factor {
                            Some(factor) => whole * plan.fineness(statistic) * factor / ONE,
                            None => whole,
                        };
                    }
                    _ => unreachable!(),
                }
            }
        }
    }
    for ((key, place), values) in values {
        let count = i64::try_from(values.len()).unwrap();
        exact.get_mut(&key).unwrap()[place] = Cell::Integer(count);
    }
    exact
}

fn empty(measure: &Measure) -> Cell {
    match measure {
        Measure::Histogram(..) => Cell::Histogram(BTreeMap::new()),
        _ => Cell::Integer(0),
    }
}

/// S1 and S2.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a part of an integer, rounded down"
)]
fn contribution(rows: &Rows, measure: &Measure, statistic: &Statistic) -> i64 {
    let count = |count: usize| i64::try_from(count).unwrap();
    let total = match measure {
        Measure::Units => 1,
        Measure::Rows => count(rows.len()),
        Measure::Count(expr) => count(rows.iter().filter(|row| !expr.eval(row).is_null()).count()),
        Measure::Sum(expr, how) | Measure::Scaled(expr, how, _) => {
            let values: Vec<i64> = rows
                .iter()
                .filter_map(|row| quantized(&expr.eval(row), how))
                .collect();
            let sum: i64 = values.iter().sum();
            match measure {
                Measure::Scaled(_, _, rows) if count(values.len()) > *rows => {
                    (sum as f64 * *rows as f64 / values.len() as f64).floor() as i64
                }
                _ => sum,
            }
        }
        _ => unreachable!(),
    };
    total.clamp(statistic.low, statistic.high)
}

fn distinct(
    rows: &Rows,
    expr: &Expr,
    statistic: &Statistic,
    salt: &Salt,
    unit: &[Value],
    key: &[Value],
) -> Vec<Value> {
    let values: BTreeSet<Value> = rows.iter().map(|row| expr.eval(row)).collect();
    let mut values: Vec<Value> = values
        .into_iter()
        .filter(|value| !value.is_null())
        .collect();
    values.sort_by_key(|value| {
        let hash = hash(salt, unit.iter().chain(key).chain([value]));
        (hash, value.clone())
    });
    values.truncate(usize::try_from(statistic.high).unwrap());
    values
}

fn bins_of(
    rows: &Rows,
    expr: &Expr,
    how: &Quantized,
    statistic: &Statistic,
    salt: &Salt,
    unit: &[Value],
    key: &[Value],
) -> Vec<i64> {
    let mut bins: Vec<i64> = rows
        .iter()
        .filter_map(|row| quantized(&expr.eval(row), how))
        .collect();
    bins.sort_by_key(|bin| {
        let value = Value::Integer(*bin);
        (hash(salt, unit.iter().chain(key).chain([&value])), *bin)
    });
    bins.truncate(usize::try_from(statistic.high).unwrap());
    bins
}

#[allow(clippy::cast_precision_loss, reason = "as engines do")]
fn quantized(value: &Value, how: &Quantized) -> Option<i64> {
    let number = match value {
        Value::Date(days) => f64::from(*days),
        Value::Timestamp(time) => *time as f64,
        other => other.as_f64()?,
    };
    Some(how.integer(number))
}

/// The rows of a relation.
pub(crate) fn rows(relation: &Relation, catalogue: &Catalogue, data: &Data, salt: &Salt) -> Rows {
    let of = |input: &Relation| rows(input, catalogue, data, salt);
    match &relation.operator {
        Operator::Scan { dataset } => scan(relation, catalogue, dataset, &data[dataset]),
        Operator::Filter { input, predicate } => {
            let truth = Value::Boolean(true);
            let rows = of(input).into_iter();
            rows.filter(|row| predicate.eval(row) == truth).collect()
        }
        Operator::Project { input, expressions } => of(input)
            .iter()
            .map(|row| expressions.iter().map(|expr| expr.eval(row)).collect())
            .collect(),
        Operator::Join {
            left,
            right,
            keeps_left,
            on,
            condition,
        } => {
            let rights = of(right);
            let mut joined = Rows::new();
            for row in of(left) {
                let mut matched = false;
                for other in &rights {
                    let equal = on.iter().all(|(a, b)| {
                        a.eval(&row).compare(&b.eval(other)) == Some(std::cmp::Ordering::Equal)
                    });
                    let both: Vec<Value> = row.iter().chain(other).cloned().collect();
                    let holds = condition
                        .as_ref()
                        .is_none_or(|condition| condition.eval(&both) == Value::Boolean(true));
                    if equal && holds {
                        matched = true;
                        joined.push(both);
                    }
                }
                if *keeps_left && !matched {
                    let nothing = right.columns.iter().map(|_| Value::Null);
                    joined.push(row.into_iter().chain(nothing).collect());
                }
            }
            joined
        }
        Operator::Union { inputs } => inputs.iter().flat_map(of).collect(),
        Operator::LimitRowsPerUnit {
            input,
            rows: most,
            read,
        } => {
            let mut units: BTreeMap<Vec<Value>, Rows> = BTreeMap::new();
            for mut row in of(input) {
                for (place, value) in row.iter_mut().enumerate() {
                    if !read.contains(&place) {
                        *value = Value::Null;
                    }
                }
                let unit: Vec<Value> = input.unit.iter().map(|at| row[*at].clone()).collect();
                if !unit.iter().any(Value::is_null) {
                    units.entry(unit).or_default().push(row);
                }
            }
            let first = units.into_values().flat_map(|mut rows| {
                rows.sort_by_cached_key(|row| {
                    // The unit comes first.
                    let others = read.iter().filter(|place| !input.unit.contains(place));
                    let ranked = input.unit.iter().chain(others).map(|place| &row[*place]);
                    (hash(salt, ranked), row.clone())
                });
                rows.truncate(usize::try_from(*most).unwrap());
                rows
            });
            first.collect()
        }
        Operator::Group {
            input,
            keys,
            aggregates,
        } => {
            let mut groups: BTreeMap<Vec<Value>, Rows> = BTreeMap::new();
            for row in of(input) {
                let key = keys.iter().map(|key| key.eval(&row)).collect();
                groups.entry(key).or_default().push(row);
            }
            groups
                .into_iter()
                .map(|(mut key, rows)| {
                    for aggregate in aggregates {
                        let kind = relation.columns[key.len()].kind;
                        key.push(unit_aggregate(&rows, aggregate, kind));
                    }
                    key
                })
                .collect()
        }
    }
}

fn scan(relation: &Relation, catalogue: &Catalogue, dataset: &str, rows: &Rows) -> Rows {
    let declared = &catalogue.datasets[dataset].columns;
    let places: Vec<usize> = relation
        .columns
        .iter()
        .map(|column| declared.iter().position(|other| other.name == column.name))
        .map(Option::unwrap)
        .collect();
    rows.iter()
        .map(|row| {
            let values = places.iter();
            values
                .map(|place| clamped(&row[*place], declared[*place].bounds))
                .collect()
        })
        .collect()
}

fn clamped(value: &Value, bounds: Option<mizan_sql::Bounds>) -> Value {
    let Some(bounds) = bounds else {
        return value.clone();
    };
    if let Value::Number(number) = value {
        return Value::number(number.clamp(bounds.low, bounds.high));
    }
    let Some((low, high)) = whole_between(bounds.low, bounds.high) else {
        return Value::Null;
    };
    match value {
        Value::Integer(value) => Value::Integer((*value).clamp(low, high)),
        Value::Timestamp(value) => Value::Timestamp((*value).clamp(low, high)),
        Value::Date(value) => {
            Value::Date(i32::try_from(i64::from(*value).clamp(low, high)).unwrap())
        }
        other => other.clone(),
    }
}

fn unit_aggregate(rows: &Rows, aggregate: &UnitAggregate, kind: mizan_sql::Type) -> Value {
    let count = |count: usize| Value::Integer(i64::try_from(count).unwrap());
    let values = |expr: &Expr| -> Vec<Value> {
        let values = rows.iter().map(|row| expr.eval(row));
        values.filter(|value| !value.is_null()).collect()
    };
    match aggregate {
        UnitAggregate::Rows => count(rows.len()),
        UnitAggregate::Count(expr) => count(values(expr).len()),
        UnitAggregate::CountDistinct(expr) => {
            count(values(expr).into_iter().collect::<BTreeSet<_>>().len())
        }
        UnitAggregate::Min(expr) => values(expr).into_iter().min().unwrap_or(Value::Null),
        UnitAggregate::Max(expr) => values(expr).into_iter().max().unwrap_or(Value::Null),
        UnitAggregate::Sum(expr, how) => {
            let values = values(expr);
            if values.is_empty() {
                return Value::Null;
            }
            let sum: i64 = values
                .iter()
                .filter_map(|value| quantized(value, how))
                .sum();
            let row = [Value::Integer(sum), count(values.len())];
            value_of_sum(how, kind).unwrap().eval(&row)
        }
    }
}
