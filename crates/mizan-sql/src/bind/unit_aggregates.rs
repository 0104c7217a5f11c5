//! `GROUP BY` below the aggregate: exact aggregates over the rows of one unit, if the unit is among
//! the keys.

use datafusion_expr::expr::AggregateFunction;
use datafusion_expr::logical_plan::Aggregate;
use datafusion_expr::{Expr as Planned, LogicalPlan};

use super::aggregate_call::{AggregateCall, AggregateKind};
use super::grid;
use super::local::Rows;
use super::rows::Binder;
use super::scalar::Scope;
use super::sql_text::sql_text;
use crate::expr::{Expr, Function};
use crate::message::Effect;
use crate::plan::MAX_ROWS;
use crate::refusal::{Reason, Refusal};
use crate::relation::{Bounds, UnitAggregate};
use crate::value::{Type, Value};

/// The most rows of any relation, as a double.
#[allow(clippy::cast_precision_loss, reason = "a power of two")]
const MOST_ROWS: f64 = MAX_ROWS as f64;

/// A translated aggregate: the places of its computed aggregates, and the expression over them.
struct ComputedColumn {
    name: String,
    expr: Expr,
    kind: Type,
}

/// The aggregates that a group computes.
#[derive(Default)]
struct Computed(Vec<(String, UnitAggregate, Type, Option<Bounds>)>);

impl Computed {
    /// The place of an aggregate; equal aggregates share one.
    fn place(&mut self, aggregate: UnitAggregate, kind: Type, bounds: Option<Bounds>) -> usize {
        let known = self
            .0
            .iter()
            .position(|(_, other, _, _)| *other == aggregate);
        known.unwrap_or_else(|| {
            self.0.push((String::new(), aggregate, kind, bounds));
            self.0.len() - 1
        })
    }
}

impl Binder<'_> {
    /// An inner `GROUP BY`.
    pub(super) fn inner_group_by(&mut self, aggregate: &Aggregate) -> Result<Rows, Refusal> {
        let input = self.rows(&aggregate.input, Vec::new())?;
        let fields = input.fields();
        let schema = aggregate.input.schema();
        self.no_repeated_keys(aggregate)?;
        let mut keys: Vec<(String, Expr, Type)> = Vec::new();
        for (expr, field) in aggregate.group_expr.iter().zip(aggregate.schema.fields()) {
            self.no_grouping_sets(expr)?;
            let (expr, kind) = Scope::new(schema, &fields, self.words).expression(expr)?;
            keys.push((field.name().clone(), expr, kind));
        }
        let limit = match input.is_public() {
            true => None,
            false => self.rows_per_unit(&input).ok(),
        };
        let mut computed = Computed::default();
        let mut columns_made = Vec::new();
        for expr in &aggregate.aggr_expr {
            let function = aggregate_of(expr)?;
            let scope = Scope::new(schema, &fields, self.words);
            let call = AggregateCall::read(function, &scope, &input.relation, self.words)?;
            let at = self.words.place(function.func.name());
            columns_made.push(
                self.of_one_unit(
                    &call,
                    sql_text(expr),
                    &input,
                    limit,
                    keys.len(),
                    &mut computed,
                )
                .map_err(|refusal| refusal.at(at))?,
            );
        }
        let plain = keys
            .iter()
            .enumerate()
            .map(|(place, (name, _, kind))| (name.clone(), Expr::Column(place), *kind))
            .collect::<Vec<_>>();
        let unit_names = unit_names(&input);
        let grouped = input.group(keys, computed.0).ok_or_else(|| {
            Refusal::new(
                Reason::GroupMixesPeople,
                "the inner GROUP BY mixes people: the unit is not among its keys",
                format!(
                    "add {unit_names} to the inner SELECT and GROUP BY, or ask about the groups directly"
                ),
            )
            .at(self.words.place("group").or_else(|| self.inner_place(aggregate)))
        })?;
        let results = columns_made
            .into_iter()
            .map(|columns_made| (columns_made.name, columns_made.expr, columns_made.kind));
        Ok(grouped.project(plain.into_iter().chain(results).collect()))
    }

    fn inner_place(&self, aggregate: &Aggregate) -> Option<crate::refusal::TextSpan> {
        let first = aggregate.aggr_expr.first()?;
        let function = aggregate_of(first).ok()?;
        self.words.place(function.func.name())
    }

    /// Refuses repeated keys: the planner removes them from the columns but not from the keys, so
    /// that later keys would be read as others.
    pub(super) fn no_repeated_keys(&self, aggregate: &Aggregate) -> Result<(), Refusal> {
        let sets = aggregate.group_expr.iter();
        let sets = sets.filter(|expr| matches!(expr, Planned::GroupingSet(_)));
        let expected = aggregate.group_expr.len() + aggregate.aggr_expr.len();
        if sets.count() > 0 || aggregate.schema.fields().len() == expected {
            return Ok(());
        }
        Err(Refusal::new(
            Reason::Clause,
            "GROUP BY names a key twice",
            "name each key once",
        )
        .at(self.words.place("group")))
    }

    pub(super) fn no_grouping_sets(&self, expr: &Planned) -> Result<(), Refusal> {
        if !matches!(expr, Planned::GroupingSet(_)) {
            return Ok(());
        }
        Err(Refusal::new(
            Reason::GroupingSets,
            "GROUPING SETS, CUBE and ROLLUP group the same rows several times, which is not supported",
            "send one query for each grouping",
        )
        .at(self.words.place("group")))
    }

    /// An aggregate over the rows of one unit, with its bounds. The limits of the dataset are
    /// enforced here too.
    fn of_one_unit(
        &mut self,
        call: &AggregateCall,
        name: String,
        input: &Rows,
        limit: Option<u64>,
        keys: usize,
        computed: &mut Computed,
    ) -> Result<ComputedColumn, Refusal> {
        let columns = &input.relation.columns;
        let column = |place: usize| Expr::Column(keys + place);
        let integer = Type::Integer;
        let (expr, kind) = match &call.what {
            AggregateKind::Units => (Expr::integer(1), integer),
            AggregateKind::Rows | AggregateKind::Count | AggregateKind::Distinct { .. } => {
                let aggregate = match call.what {
                    AggregateKind::Rows => UnitAggregate::Rows,
                    AggregateKind::Count => UnitAggregate::Count(call.argument.clone()),
                    _ => UnitAggregate::CountDistinct(call.argument.clone()),
                };
                // A count is never NULL and never negative.
                let place = column(computed.place(aggregate, integer, Bounds::new(0.0, MOST_ROWS)));
                let capped = limit.and_then(|limit| Some((limit, i64::try_from(limit).ok()?)));
                if let Some((limit, most)) = capped {
                    self.record_effect(Effect::UnitCount {
                        column: name.clone(),
                        limit,
                    });
                    (
                        Expr::call(Function::Least, [place, Expr::integer(most)]),
                        integer,
                    )
                } else {
                    (place, integer)
                }
            }
            AggregateKind::Minimum | AggregateKind::Maximum => {
                let kind = call.kind;
                let aggregate = if call.what == AggregateKind::Minimum {
                    UnitAggregate::Min(call.argument.clone())
                } else {
                    UnitAggregate::Max(call.argument.clone())
                };
                let bounds = call.argument.bounds(columns);
                (column(computed.place(aggregate, kind, bounds)), kind)
            }
            AggregateKind::Sum | AggregateKind::Mean => {
                let bounds = call.bounds(columns)?;
                let grid = grid::for_sum(bounds, 0.0, call.kind, false, 1)
                    .ok_or_else(|| call.too_wide())?;
                let sum = UnitAggregate::Sum(call.argument.clone(), grid);
                let sum = column(computed.place(sum, call.kind, None));
                if call.what == AggregateKind::Mean {
                    let count = UnitAggregate::Count(call.argument.clone());
                    let count = column(computed.place(count, integer, None));
                    let mean = Expr::call(Function::Divide, [sum, count]);
                    let (low, high) = (Value::number(bounds.low), Value::number(bounds.high));
                    (clamped(mean, Type::Number, low, high), Type::Number)
                } else {
                    let expr = self.clamped_total(sum, call, &name, input, limit, bounds);
                    (expr, call.kind)
                }
            }
            AggregateKind::Variance { .. } | AggregateKind::Quantile(_) => {
                return Err(Refusal::new(
                    Reason::Aggregate,
                    "within one person only COUNT, SUM, AVG, MIN and MAX are supported",
                    "use one of them in the subquery",
                ));
            }
        };
        Ok(ComputedColumn { name, expr, kind })
    }

    /// The sum of a unit, clamped to the declared total or to rows times bounds.
    fn clamped_total(
        &mut self,
        sum: Expr,
        call: &AggregateCall,
        name: &str,
        input: &Rows,
        limit: Option<u64>,
        bounds: Bounds,
    ) -> Expr {
        let declared = self.declared_total(&input.relation, &call.argument);
        #[allow(clippy::cast_precision_loss, reason = "a limit that is public")]
        let by_rows = limit.and_then(|rows| {
            let rows = rows as f64;
            Bounds::new(bounds.low.min(0.0) * rows, bounds.high.max(0.0) * rows)
        });
        let Some(total) = declared.or(by_rows) else {
            return sum;
        };
        let literals = if call.kind == Type::Integer {
            let whole = |value: f64| match Expr::Cast(
                Box::new(Expr::Literal(Value::number(value), Type::Number)),
                Type::Integer,
            )
            .eval(&[])
            {
                Value::Integer(value) => Some(Value::Integer(value)),
                _ => None,
            };
            whole(total.low.floor()).zip(whole(total.high.ceil()))
        } else {
            Some((Value::number(total.low), Value::number(total.high)))
        };
        let Some((low, high)) = literals else {
            return sum;
        };
        self.record_effect(Effect::UnitTotal {
            column: name.to_owned(),
            low: total.low,
            high: total.high,
        });
        clamped(sum, call.kind, low, high)
    }
}

/// `LEAST(GREATEST(x, low), high)`, but `NULL` stays `NULL`.
fn clamped(expr: Expr, kind: Type, low: Value, high: Value) -> Expr {
    let literal = |value: Value| Expr::Literal(value, kind);
    let inside = Expr::call(
        Function::Least,
        [
            Expr::call(Function::Greatest, [expr.clone(), literal(low)]),
            literal(high),
        ],
    );
    Expr::Case {
        branches: vec![(
            Expr::call(Function::IsNull, [expr]),
            Expr::Literal(Value::Null, kind),
        )],
        otherwise: Box::new(inside),
    }
}

fn unit_names(rows: &Rows) -> String {
    let columns = rows.relation.unit.iter();
    let names: Vec<&str> = columns
        .filter_map(|place| rows.relation.columns.get(*place))
        .map(|column| column.name.as_str())
        .collect();
    names.join(", ")
}

/// The aggregate function in an expression of an aggregate node.
pub(super) fn aggregate_of(expr: &Planned) -> Result<&AggregateFunction, Refusal> {
    match expr {
        Planned::Alias(alias) => aggregate_of(&alias.expr),
        Planned::AggregateFunction(function) => Ok(function),
        other => Err(Refusal::new(
            Reason::Internal,
            format!("{} is not an aggregate", sql_text(other)),
            "please report this query",
        )),
    }
}

/// Whether a plan node is an aggregate.
pub(super) const fn is_aggregate(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::Aggregate(_))
}
