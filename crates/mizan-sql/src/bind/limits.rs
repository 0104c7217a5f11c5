//! Limits below the aggregate: the rows of a unit that enter a join, and the declared bounds that
//! are applied.
//!
//! A unit with n rows on both sides of a join has n² rows after it, so the data of one unit could
//! decide how long a query takes. Where two private relations meet, each unit contributes at most
//! [`MAX_JOINED`] rows to each side, and the result is limited again before it enters the next
//! join. No limit is needed where one side has at most one row per unit. A join with a public table
//! multiplies rows by its fan-out. Engines count the fan-out from public rows and limit it before
//! the charge, and the result is limited like a dataset before it enters the next join.

use std::collections::BTreeSet;

use super::rows::Binder;
use crate::expr::Expr;
use crate::message::{Effect, bound_value};
use crate::plan::{Key, MAX_JOINED, Statistic};
use crate::relation::{Operator, Relation, UnitAggregate};

/// The places of the columns that the query reads.
type Read = BTreeSet<usize>;

impl Binder<'_> {
    /// Adds row limits to the joins of the relation of a plan and records their effects.
    pub(super) fn with_limits(
        &mut self,
        relation: Relation,
        keys: &[Key],
        statistics: &[Statistic],
    ) -> Relation {
        let keys = keys.iter().map(|key| &key.expression);
        let measured = statistics.iter().filter_map(|one| one.measure.argument());
        let read = keys.chain(measured).flat_map(Expr::columns).collect();
        self.joins_bounded(relation, read)
    }

    fn joins_bounded(&mut self, mut relation: Relation, mut read: Read) -> Relation {
        read.extend(&relation.unit);
        match &mut relation.operator {
            Operator::Scan { dataset } => {
                let name = dataset.clone();
                self.bounds_read(&name, &relation, &read);
            }
            Operator::Filter { input, predicate } => {
                read.extend(predicate.columns());
                self.replace(input, read);
            }
            Operator::LimitRowsPerUnit { input, .. } => self.replace(input, read),
            Operator::Project { input, expressions } => {
                let used = read.iter().filter_map(|place| expressions.get(*place));
                let used = used.flat_map(Expr::columns).collect();
                self.replace(input, used);
            }
            Operator::Union { inputs } => {
                for input in inputs {
                    self.replace(input, read.clone());
                }
            }
            Operator::Group {
                input,
                keys,
                aggregates,
            } => {
                let aggregate = aggregates.iter().filter_map(UnitAggregate::argument);
                let used = keys.iter().chain(aggregate);
                let used = used.flat_map(Expr::columns).collect();
                self.replace(input, used);
            }
            Operator::Join {
                left,
                right,
                on,
                condition,
                ..
            } => {
                read.extend(condition.iter().flat_map(Expr::columns));
                let width = left.columns.len();
                let mut of_left: Read = read.range(..width).copied().collect();
                let mut of_right: Read = read.range(width..).map(|place| place - width).collect();
                for (ours, theirs) in on {
                    of_left.extend(ours.columns());
                    of_right.extend(theirs.columns());
                }
                let multiplies = !left.unit.is_empty()
                    && !right.unit.is_empty()
                    && most(left) != Some(1)
                    && most(right) != Some(1);
                for (side, read) in [(left, of_left), (right, of_right)] {
                    self.replace(side, read.clone());
                    if multiplies && most(side).is_none_or(|rows| rows > MAX_JOINED) {
                        self.record_effect(Effect::JoinedRows { limit: MAX_JOINED });
                        first(side, read);
                    }
                }
            }
        }
        relation
    }

    fn replace(&mut self, relation: &mut Relation, read: Read) {
        *relation = self.joins_bounded(relation.clone(), read);
    }

    /// Bounds are enforced wherever a column is read, also in conditions and keys.
    fn bounds_read(&mut self, dataset: &str, relation: &Relation, read: &Read) {
        for column in read.iter().filter_map(|place| relation.columns.get(*place)) {
            if let Some(bounds) = column.bounds {
                self.record_effect(Effect::Clamped {
                    dataset: dataset.to_owned(),
                    column: column.name.clone(),
                    low: bound_value(bounds.low, column.kind),
                    high: bound_value(bounds.high, column.kind),
                });
            }
        }
    }
}

/// The most rows of a unit; None if only the data limits them.
fn most(relation: &Relation) -> Option<u64> {
    if relation.one_row_per_unit {
        return Some(1);
    }
    match &relation.operator {
        Operator::Scan { .. } => None,
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => most(input),
        Operator::LimitRowsPerUnit { rows, .. } => Some(*rows),
        Operator::Union { inputs } => inputs.iter().try_fold(0_u64, |sum, input| {
            let rows = most(input)?;
            sum.checked_add(rows)
        }),
        Operator::Join { left, right, .. } => {
            let public = left.unit.is_empty() || right.unit.is_empty();
            let product = most(left)?.checked_mul(most(right)?);
            product.filter(|_| !public)
        }
    }
}

/// Adds a limit on the rows of each unit.
fn first(relation: &mut Relation, mut read: Read) {
    read.extend(&relation.unit);
    *relation = Relation {
        columns: relation.columns.clone(),
        unit: relation.unit.clone(),
        one_row_per_unit: false,
        operator: Operator::LimitRowsPerUnit {
            input: Box::new(relation.clone()),
            rows: MAX_JOINED,
            read: read.into_iter().collect(),
        },
    };
}
