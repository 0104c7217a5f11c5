//! Limits that change nothing, where it is known how many rows units have.
//!
//! An engine that has counted rows can leave them out, and what they cost with them.

use std::collections::{BTreeMap, BTreeSet};

use mizan_sql::{Expr, Operator, Relation, Value};

/// The most rows of a unit in datasets, as far as they were counted.
pub(crate) type Most = BTreeMap<String, u64>;

/// The private datasets whose rows are limited somewhere.
pub(crate) fn limited(relation: &Relation) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    gather(relation, false, &mut found);
    found
}

fn gather<'a>(relation: &'a Relation, limited: bool, found: &mut BTreeSet<&'a str>) {
    let mut inner = |input: &'a Relation, limited: bool| gather(input, limited, found);
    match &relation.operator {
        Operator::Scan { dataset } => {
            if limited && !relation.unit.is_empty() {
                found.insert(dataset);
            }
        }
        Operator::First { input, .. } => inner(input, true),
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => inner(input, limited),
        Operator::Union { inputs } => {
            for input in inputs {
                inner(input, limited);
            }
        }
        Operator::Join { left, right, .. } => {
            inner(left, limited);
            inner(right, limited);
        }
    }
}

/// The relation without limits that nobody reaches. Its rows are the same, but for
/// those of nobody.
pub(crate) fn without_idle(mut relation: Relation, most: &Most) -> Relation {
    bounded(&mut relation, most);
    relation
}

/// Takes out idle limits, and says how many rows a unit has at most, if it is known.
fn bounded(relation: &mut Relation, most: &Most) -> Option<u64> {
    let is_public = relation.unit.is_empty();
    let rows = match &mut relation.operator {
        Operator::Scan { dataset } => most.get(dataset).copied(),
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => bounded(input, most),
        Operator::Union { inputs } => {
            let rows = inputs.iter_mut().map(|input| bounded(input, most));
            let rows: Vec<Option<u64>> = rows.collect();
            let mut rows = rows.into_iter();
            rows.try_fold(0_u64, |sum, rows| sum.checked_add(rows?))
        }
        Operator::Join {
            left,
            right,
            keeps_left,
            ..
        } => {
            let (of_left, of_right) = (bounded(left, most), bounded(right, most));
            let kept = u64::from(*keeps_left);
            of_left
                .zip(of_right)
                .and_then(|(left, right)| left.checked_mul(right.max(kept)))
        }
        Operator::First { input, rows, read } => match bounded(input, most) {
            Some(found) if found <= *rows => {
                let columns = relation.columns.iter().enumerate();
                let expressions = columns.map(|(place, column)| match read.contains(&place) {
                    true => Expr::Column(place),
                    false => Expr::Literal(Value::Null, column.kind),
                });
                relation.operator = Operator::Project {
                    expressions: expressions.collect(),
                    input: input.clone(),
                };
                return Some(found);
            }
            _ => Some(*rows),
        },
    };
    // Rows of public tables are nobody's.
    if is_public {
        return None;
    }
    if relation.one_row_per_unit {
        return Some(1);
    }
    rows
}

/// The dataset of which each row is a row of the relation, of the same unit, or none.
pub(crate) fn source(relation: &Relation) -> Option<&str> {
    match &relation.operator {
        Operator::Scan { dataset } if !relation.unit.is_empty() => Some(dataset),
        Operator::Filter { input, .. } if input.unit == relation.unit => source(input),
        Operator::Project { input, expressions } => {
            let unit = relation.unit.iter().map(|place| expressions.get(*place));
            let below: Vec<Expr> = input.unit.iter().copied().map(Expr::Column).collect();
            let same = unit.eq(below.iter().map(Some));
            same.then(|| source(input)).flatten()
        }
        _ => None,
    }
}
