//! The oracle: a slow, simple implementation that defines the meaning of a [`UnitAggregation`].
//! Tests compare engines with it. It shares no code with them.

use std::collections::{BTreeMap, BTreeSet};

use mizan_sql::clip::{ONE, fineness};
use mizan_sql::{
    BoundedPlan, Catalogue, Clip, Expr, Groups, Operator, Quantized, Relation, UnitAggregate, Value,
};

use crate::exact::{Cell, ExactAggregates};
use crate::sampling_hash::{Salt, hash};
use crate::unit_aggregation::{
    Contribution, ContributionKind, GroupStatistic, UnitAggregation, UnitBounding, ValueMeasure,
    ValueStatistic,
};

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
    evaluate(&UnitAggregation::of(plan).unwrap(), catalogue, data, salt)
}

/// The rows of a unit in a group: the values of each.
type UnitRows = Vec<Vec<Value>>;

/// The meaning of an aggregation: its exact integers by group.
pub(crate) fn evaluate(
    aggregation: &UnitAggregation,
    catalogue: &Catalogue,
    data: &Data,
    salt: &Salt,
) -> ExactAggregates {
    // S0: rows by unit and group.
    let mut units: BTreeMap<Vec<Value>, BTreeMap<Vec<Value>, UnitRows>> = BTreeMap::new();
    for row in rows(&aggregation.input, catalogue, data, salt) {
        let unit = aggregation.input.unit.iter();
        let unit: Vec<Value> = unit.map(|place| row[*place].clone()).collect();
        if unit.iter().any(Value::is_null) {
            continue;
        }
        let keys = aggregation.keys.iter();
        let key: Vec<Value> = keys.map(|key| key.expression.eval(&row)).collect();
        if let Groups::Public(groups) = &aggregation.groups
            && !groups.contains(&key)
        {
            continue;
        }
        let values = aggregation.values.iter().map(|value| {
            let found = value.expression.eval(&row);
            match &value.quantized {
                Some(how) => quantized(&found, how).map_or(Value::Null, Value::Integer),
                None => found,
            }
        });
        let groups = units.entry(unit).or_default();
        groups.entry(key).or_default().push(values.collect());
    }
    let mut exact = ExactAggregates::new();
    let mut distinct: BTreeMap<(&Vec<Value>, usize), BTreeSet<&Value>> = BTreeMap::new();
    for (unit, groups) in &units {
        // S3.
        let mut ranked: Vec<_> = groups.iter().collect();
        ranked.sort_by_key(|(key, _)| (hash(salt, unit.iter().chain(*key)), (*key).clone()));
        if let UnitBounding::SampleGroups(most) = aggregation.bounding {
            ranked.truncate(usize::try_from(most).unwrap());
        }
        let factor = aggregation.clip().map(|clip| {
            let squares = ranked.iter().flat_map(|(_, rows)| {
                let square =
                    |one: &Contribution| Clip::square(contributed(rows, one), one.sensitivity());
                aggregation.contributions.iter().map(square)
            });
            clip.factor(squares.sum())
        });
        // S4.
        for (key, rows) in ranked {
            let statistics = aggregation.statistics.iter();
            let cells = exact
                .entry(key.clone())
                .or_insert_with(|| statistics.clone().map(empty).collect::<Vec<Cell>>());
            for (place, (statistic, cell)) in statistics.zip(cells).enumerate() {
                match (statistic, cell) {
                    (GroupStatistic::Sum(of), Cell::Integer(sum)) => {
                        let one = &aggregation.contributions[*of];
                        let whole = contributed(rows, one);
                        *sum += match factor {
                            Some(factor) => whole * fineness(one.sensitivity()) * factor / ONE,
                            None => whole,
                        };
                    }
                    (GroupStatistic::Values(of), cell) => {
                        let taken = of_unit(rows, *of, |value| {
                            hash(salt, unit.iter().chain(key).chain([value]))
                        });
                        match cell {
                            Cell::Histogram(bins) => {
                                for value in taken {
                                    let Value::Integer(bin) = value else {
                                        unreachable!()
                                    };
                                    *bins.entry(*bin).or_default() += 1;
                                }
                            }
                            Cell::Integer(count) => {
                                let known = distinct.entry((key, place)).or_default();
                                known.extend(taken);
                                *count = i64::try_from(known.len()).unwrap();
                            }
                        }
                    }
                    _ => unreachable!(),
                }
            }
        }
    }
    exact
}

const fn empty(statistic: &GroupStatistic) -> Cell {
    match statistic {
        GroupStatistic::Values(ValueStatistic {
            measure: ValueMeasure::Histogram,
            ..
        }) => Cell::Histogram(BTreeMap::new()),
        _ => Cell::Integer(0),
    }
}

/// S1 and S2: the contribution of a unit with these rows.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a part of an integer, rounded down"
)]
fn contributed(rows: &UnitRows, contribution: &Contribution) -> i64 {
    let there = |value: usize| {
        rows.iter()
            .map(move |row| &row[value])
            .filter(|v| !v.is_null())
    };
    let sum = |value: usize| -> i64 {
        let integers = there(value).map(|value| match value {
            Value::Integer(integer) => integer,
            _ => unreachable!(),
        });
        integers.sum()
    };
    let count = |count: usize| i64::try_from(count).unwrap();
    let total = match contribution.of {
        ContributionKind::Unit => 1,
        ContributionKind::Rows => count(rows.len()),
        ContributionKind::Count(value) => count(there(value).count()),
        // Without values it is zero, whatever the bounds.
        ContributionKind::Sum(value) | ContributionKind::Scaled(value, _)
            if there(value).next().is_none() =>
        {
            return 0;
        }
        ContributionKind::Scaled(value, rows) if count(there(value).count()) > rows => {
            (sum(value) as f64 * rows as f64 / there(value).count() as f64).floor() as i64
        }
        ContributionKind::Sum(value) | ContributionKind::Scaled(value, _) => sum(value),
    };
    total.clamp(contribution.low, contribution.high)
}

/// The values that a unit with these rows contributes.
fn of_unit(
    rows: &UnitRows,
    statistic: ValueStatistic,
    hash: impl Fn(&Value) -> i64,
) -> Vec<&Value> {
    let values = rows.iter().map(|row| &row[statistic.value]);
    let mut values: Vec<&Value> = values.filter(|value| !value.is_null()).collect();
    values.sort_by_cached_key(|value| (hash(value), (*value).clone()));
    if statistic.measure == ValueMeasure::Distinct {
        values.dedup();
    }
    let most = statistic
        .limit
        .map_or(usize::MAX, |most| usize::try_from(most).unwrap());
    values.truncate(most);
    values
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
    let Some((low, high)) = bounds.whole() else {
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
            how.value_of_sum(kind).unwrap().eval(&row)
        }
    }
}
