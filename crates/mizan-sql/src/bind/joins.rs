//! Joins that combine rows of one unit only: two private tables on all columns of the unit, a
//! private table with a public one on any condition.

use datafusion_common::NullEquality;
use datafusion_expr::logical_plan::Join;
use datafusion_expr::{Expr as Planned, JoinType, LogicalPlan};

use super::local::{Rows, fields};
use super::rows::{Binder, conjuncts, first_place, is_over};
use super::scalar::Scope;
use super::typed::{Typed, balanced};
use crate::expr::{Expr, Function};
use crate::refusal::{Reason, Refusal};
use crate::relation::{Column, Operator, Relation};
use crate::value::Type;

/// The equal pairs of a join and the rest of its condition.
struct Condition {
    on: Vec<(Expr, Expr)>,
    rest: Vec<Typed>,
}

impl Binder<'_> {
    /// An inner join. A condition of an outer `WHERE` goes to the side that it is about.
    pub(super) fn inner_join(
        &mut self,
        join: &Join,
        conditions: Vec<Planned>,
    ) -> Result<Rows, Refusal> {
        let mut all = of_join(join);
        all.extend(conditions);
        let (mut to_left, mut to_right, mut both) = (Vec::new(), Vec::new(), Vec::new());
        for condition in all {
            if is_over(&condition, join.left.schema()) {
                to_left.push(condition);
            } else if is_over(&condition, join.right.schema()) {
                to_right.push(condition);
            } else {
                both.push(condition);
            }
        }
        let left = self.rows(&join.left, to_left)?;
        let right = self.rows(&join.right, to_right)?;
        self.joined(join, left, right, &both)
    }

    /// An outer join that keeps the rows of one side.
    pub(super) fn outer_join(&mut self, join: &Join) -> Result<Rows, Refusal> {
        if !matches!(join.join_type, JoinType::Left | JoinType::Right) {
            return Err(Refusal::new(
                Reason::JoinKeepsOthers,
                format!("{} JOIN is not supported", join.join_type),
                "use INNER JOIN or LEFT JOIN",
            )
            .at(self.words.place("join")));
        }
        let left = self.rows(&join.left, Vec::new())?;
        let right = self.rows(&join.right, Vec::new())?;
        self.joined(join, left, right, &of_join(join))
    }

    fn joined(
        &self,
        join: &Join,
        left: Rows,
        right: Rows,
        conditions: &[Planned],
    ) -> Result<Rows, Refusal> {
        let here = first_place(conditions).or_else(|| self.words.place("join"));
        if join.null_equality != NullEquality::NullEqualsNothing {
            return Err(Refusal::new(
                Reason::Clause,
                "a join in which NULL equals NULL is not supported",
                "use INNER JOIN or LEFT JOIN",
            )
            .at(here));
        }
        let keeps = join.join_type != JoinType::Inner;
        let swapped = join.join_type == JoinType::Right;
        let (first, second) = if swapped {
            (right, left)
        } else {
            (left, right)
        };
        if keeps && first.is_public() && !second.is_public() {
            return Err(Refusal::new(
                Reason::JoinKeepsOthers,
                "this join keeps rows of a public table, which have no privacy unit",
                "use INNER JOIN, or keep the private side: private LEFT JOIN public",
            )
            .at(here));
        }
        let width = first.relation.columns.len();
        let shifted: Vec<usize> = second.places.iter().map(|place| place + width).collect();
        let mut places = if swapped {
            [shifted, first.places.clone()].concat()
        } else {
            [first.places.clone(), shifted].concat()
        };
        let columns = [
            first.relation.columns.clone(),
            second.relation.columns.clone(),
        ]
        .concat();
        let named = fields(&places, &columns);
        let mut condition = Condition {
            on: Vec::new(),
            rest: Vec::new(),
        };
        for planned in conditions {
            let expr = Scope::new(&join.schema, &named, self.words).condition(planned)?;
            condition.add(expr, width, &columns);
        }
        let unit = match (first.is_public(), second.is_public()) {
            (false, false) => {
                on_unit(&first.relation, &second.relation, &condition.on)
                    .map_err(|refusal| refusal.at(here))?;
                if !keeps {
                    // The column of the second side equals the unit column of the first, so it
                    // serves as one.
                    let pairs = first.relation.unit.iter().zip(&second.relation.unit);
                    for (ours, theirs) in pairs {
                        for place in &mut places {
                            if *place == theirs + width {
                                *place = *ours;
                            }
                        }
                    }
                }
                first.relation.unit.clone()
            }
            (false, true) => first.relation.unit.clone(),
            (true, false) => second
                .relation
                .unit
                .iter()
                .map(|place| place + width)
                .collect(),
            (true, true) => Vec::new(),
        };
        let one_row_per_unit = !first.is_public()
            && !second.is_public()
            && first.relation.one_row_per_unit
            && second.relation.one_row_per_unit;
        let rest = match condition.rest.is_empty() {
            true => None,
            false => Some(balanced(Function::And, condition.rest)?.expr),
        };
        Ok(Rows {
            places,
            relation: Relation {
                columns,
                unit,
                one_row_per_unit,
                operator: Operator::Join {
                    left: Box::new(first.relation),
                    right: Box::new(second.relation),
                    keeps_left: keeps,
                    on: condition.on,
                    condition: rest,
                },
            },
        })
    }
}

/// The conditions of a join itself.
fn of_join(join: &Join) -> Vec<Planned> {
    let pairs = join.on.iter();
    let mut all: Vec<Planned> = pairs
        .map(|(left, right)| left.clone().eq(right.clone()))
        .collect();
    if let Some(filter) = &join.filter {
        all.extend(conjuncts(filter));
    }
    all
}

impl Condition {
    /// An equality between both sides becomes a pair; other conditions are kept as they are.
    /// Numbers are compared as numbers.
    fn add(&mut self, expr: Expr, width: usize, columns: &[Column]) {
        let Expr::Call(Function::Equal, sides) = &expr else {
            self.rest.push(Typed::new(expr, Type::Boolean));
            return;
        };
        let [a, b] = sides.as_slice() else {
            self.rest.push(Typed::new(expr, Type::Boolean));
            return;
        };
        let is_left = |side: &Expr| {
            let used = side.columns();
            !used.is_empty() && used.iter().all(|place| *place < width)
        };
        let is_right = |side: &Expr| {
            let used = side.columns();
            !used.is_empty() && used.iter().all(|place| *place >= width)
        };
        let (left, right) = if is_left(a) && is_right(b) {
            (a, b)
        } else if is_left(b) && is_right(a) {
            (b, a)
        } else {
            self.rest.push(Typed::new(expr, Type::Boolean));
            return;
        };
        let kinds = (left.type_of(columns), right.type_of(columns));
        let as_number = |side: &Expr| Expr::Cast(Box::new(side.clone()), Type::Number);
        let (left, right) = match kinds {
            (Ok(Type::Integer), Ok(Type::Number)) => (as_number(left), right.clone()),
            (Ok(Type::Number), Ok(Type::Integer)) => (left.clone(), as_number(right)),
            _ => (left.clone(), right.clone()),
        };
        let right = right.map_columns(&mut |place| Expr::Column(place.saturating_sub(width)));
        self.on.push((left, right));
    }
}

/// Two private relations must be joined on the whole unit.
fn on_unit(first: &Relation, second: &Relation, on: &[(Expr, Expr)]) -> Result<(), Refusal> {
    let name = |relation: &Relation, place: usize| {
        let column = relation.columns.get(place);
        column.map_or_else(String::new, |column| column.name.clone())
    };
    let kind = |relation: &Relation, place: usize| {
        let column = relation.columns.get(place);
        column.map(|column| column.kind)
    };
    let same_length = first.unit.len() == second.unit.len();
    let mut missing = Vec::new();
    for (ours, theirs) in first.unit.iter().zip(&second.unit) {
        let joined = on
            .iter()
            .any(|(left, right)| *left == Expr::Column(*ours) && *right == Expr::Column(*theirs));
        if !joined || kind(first, *ours) != kind(second, *theirs) {
            missing.push(format!(
                "{} = {}",
                name(first, *ours),
                name(second, *theirs)
            ));
        }
    }
    if same_length && missing.is_empty() {
        return Ok(());
    }
    let message =
        "two private tables are not joined on the unit: rows of different people would meet";
    let help = if same_length {
        format!(
            "add the unit to the join: ON ... AND {} (each side qualified with its table, of the same type, and selected by its subquery)",
            missing.join(" AND ")
        )
    } else {
        "their units have different columns; ask about one of them only".to_owned()
    };
    Err(Refusal::new(Reason::JoinNotOnUnit, message, help))
}

/// Whether a plan contains an aggregate.
pub(super) fn has_aggregate(plan: &LogicalPlan) -> bool {
    let mut open = vec![plan];
    let mut looked = 0_usize;
    while let Some(plan) = open.pop() {
        looked += 1;
        if matches!(plan, LogicalPlan::Aggregate(_)) {
            return true;
        }
        if looked > 10_000 {
            return true;
        }
        open.extend(plan.inputs());
    }
    false
}
