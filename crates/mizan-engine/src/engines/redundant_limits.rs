//! Removes row limits that no unit exceeds.
//!
//! An engine that has counted the rows of units can skip these limits and their cost.

use std::collections::{BTreeMap, BTreeSet};

use mizan_sql::{Expr, Operator, Relation, Value};

/// The most rows of a unit in each dataset that was counted.
pub(crate) type MostRows = BTreeMap<String, u64>;

/// The private datasets below some row limit.
pub(crate) fn limited(relation: &Relation) -> BTreeSet<&str> {
    let is_limit = |node: &&Relation| matches!(node.operator, Operator::LimitRowsPerUnit { .. });
    let limits = relation.nodes().into_iter().filter(is_limit);
    let below = limits.flat_map(Relation::nodes);
    let private = below.filter(|node| !node.unit.is_empty());
    private.filter_map(Relation::scanned).collect()
}

/// The relation without row limits that no unit exceeds. Its rows are the same, except those
/// whose unit is NULL.
pub(crate) fn remove_redundant_limits(mut relation: Relation, most: &MostRows) -> Relation {
    bounded(&mut relation, most);
    relation
}

/// Removes these limits, and returns a bound on the rows of a unit, if it is known.
fn bounded(relation: &mut Relation, most: &MostRows) -> Option<u64> {
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
        Operator::LimitRowsPerUnit { input, rows, read } => match bounded(input, most) {
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
    // Rows of public tables belong to no unit.
    if is_public {
        return None;
    }
    if relation.one_row_per_unit {
        return Some(1);
    }
    rows
}

/// The dataset whose rows (or a subset of them, with the same units) are the rows of the
/// relation, if there is one.
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
