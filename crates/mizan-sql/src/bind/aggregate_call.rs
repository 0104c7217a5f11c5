//! Reads the aggregates of a query: the statistic and the expression it is over.

use datafusion_expr::expr::AggregateFunction;

use super::scalar::{Scope, place};
use super::sql_text::sql_text;
use crate::expr::Expr;
use crate::message::Effect;
use crate::parse::Words;
use crate::refusal::{Reason, Refusal, TextSpan};
use crate::relation::{Bounds, Column, Relation};
use crate::value::{Type, Value};

/// The statistic that an aggregate computes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AggregateKind {
    /// The number of units.
    Units,
    /// The number of rows.
    Rows,
    /// The number of rows where the argument is not `NULL`.
    Count,
    /// The number of distinct values; `one_per_unit` says that each unit has at most one.
    Distinct {
        one_per_unit: bool,
    },
    Sum,
    Mean,
    Variance {
        sample: bool,
        root: bool,
    },
    Minimum,
    Maximum,
    Quantile(f64),
}

/// An aggregate call of a query.
#[derive(Clone, Debug)]
pub(super) struct AggregateCall {
    pub(super) what: AggregateKind,
    /// The argument, over the rows of the relation; a `FILTER` is part of it.
    pub(super) argument: Expr,
    pub(super) kind: Type,
    /// The argument as the query writes it.
    written: String,
    function: String,
    /// Its place in the query.
    pub(super) place: Option<TextSpan>,
}

impl AggregateCall {
    /// Reads an aggregate call over rows.
    pub(super) fn read(
        call: &AggregateFunction,
        scope: &Scope<'_>,
        relation: &Relation,
        words: &Words,
    ) -> Result<Self, Refusal> {
        let column = call.params.args.iter().find_map(place);
        let here = column.or_else(|| words.place(call.func.name()));
        let read_call = read(call, scope, relation).map_err(|refusal| refusal.at(here))?;
        Ok(Self {
            place: here,
            ..read_call
        })
    }

    /// The bounds of the argument, which sums need.
    pub(super) fn bounds(&self, columns: &[Column]) -> Result<Bounds, Refusal> {
        self.argument.bounds(columns).ok_or_else(|| {
            let (name, written) = (&self.function, &self.written);
            let call = name.to_uppercase();
            let column = match &self.argument {
                Expr::Column(_) => written.as_str(),
                _ => "COLUMN",
            };
            Refusal::new(
                Reason::NoBounds,
                format!("{call}({written}) needs bounds for {written}"),
                format!(
                    "the owner declares them with `mizan dataset add --bound {column}=LO:HI` or finds them with `mizan dataset bounds`, or write {call}(LEAST(GREATEST({written}, lo), hi))"
                ),
            )
        })
    }

    /// The effect that tells the analyst the grid of a quantile.
    pub(super) fn on_a_grid(&self, step: f64) -> Effect {
        Effect::Grid {
            aggregate: format!("{}({})", self.function.to_uppercase(), self.written),
            step,
            kind: self.kind,
        }
    }

    /// The refusal of bounds that do not fit any grid.
    pub(super) fn too_wide(&self) -> Refusal {
        Refusal::new(
            Reason::TooWide,
            format!(
                "the bounds of {} are too wide, or the row limit per unit is too large, for exact integers",
                self.written
            ),
            "declare tighter bounds, or fewer rows per unit",
        )
    }

    fn unsupported(&self, why: &str, help: &str) -> Refusal {
        Refusal::new(
            Reason::Aggregate,
            format!("{}({}) {why}", self.function.to_uppercase(), self.written),
            help,
        )
    }

    /// Refuses sums of values that are not numbers.
    fn checked(self) -> Result<Self, Refusal> {
        let sums = matches!(
            self.what,
            AggregateKind::Sum | AggregateKind::Mean | AggregateKind::Variance { .. }
        );
        if !sums || self.kind.is_numeric() {
            return Ok(self);
        }
        Err(self.unsupported(
            &format!("needs numbers, not {}", self.kind),
            "write CASE WHEN ... THEN 1 ELSE 0 END, or CAST(... AS double)",
        ))
    }

    /// Refuses quantiles of values without a distance.
    pub(super) fn on_a_scale(&self) -> Result<(), Refusal> {
        if !matches!(self.kind, Type::Text | Type::Boolean) {
            return Ok(());
        }
        Err(self.unsupported(
            &format!("of {} is not supported", self.kind),
            "ask about numbers, dates or timestamps",
        ))
    }
}

fn read(
    call: &AggregateFunction,
    scope: &Scope<'_>,
    relation: &Relation,
) -> Result<AggregateCall, Refusal> {
    let name = call.func.name();
    let arguments = call.params.args.as_slice();
    let filter = call
        .params
        .filter
        .as_ref()
        .map(|filter| scope.condition(filter))
        .transpose()?;
    let refused = |message: &str, help: &str| {
        Refusal::new(
            Reason::Aggregate,
            format!("{}: {message}", name.to_uppercase()),
            help,
        )
    };
    if name == "count" {
        return count(call, scope, relation, filter);
    }
    if call.params.distinct && !matches!(name, "min" | "max") {
        return Err(refused(
            "DISTINCT is supported with COUNT only",
            "leave DISTINCT out, or count different values with COUNT(DISTINCT x)",
        ));
    }
    let (Some(first), quantile, true) = (arguments.first(), arguments.get(1), arguments.len() <= 2)
    else {
        return Err(refused("the number of arguments is wrong", "give it one"));
    };
    let (argument, kind) = scope.expression(first)?;
    let takes_two = matches!(
        name,
        "quantile" | "quantile_cont" | "percentile_cont" | "approx_percentile_cont"
    );
    if takes_two != quantile.is_some() {
        return Err(refused(
            "the number of arguments is wrong",
            if takes_two {
                "write quantile(x, 0.9) or percentile_cont(0.9) WITHIN GROUP (ORDER BY x)"
            } else {
                "give it one"
            },
        ));
    }
    let what = match name {
        "sum" => AggregateKind::Sum,
        "avg" | "mean" => AggregateKind::Mean,
        "min" => AggregateKind::Minimum,
        "max" => AggregateKind::Maximum,
        "median" | "approx_median" => AggregateKind::Quantile(0.5),
        "var" | "var_samp" | "variance" => AggregateKind::Variance {
            sample: true,
            root: false,
        },
        "var_pop" => AggregateKind::Variance {
            sample: false,
            root: false,
        },
        "stddev" | "stddev_samp" => AggregateKind::Variance {
            sample: true,
            root: true,
        },
        "stddev_pop" => AggregateKind::Variance {
            sample: false,
            root: true,
        },
        "quantile" | "quantile_cont" | "percentile_cont" | "approx_percentile_cont" => {
            let at = quantile.map(|at| scope.expression(at)).transpose()?;
            let at = match &at {
                Some((Expr::Literal(value, _), _)) => value.as_f64(),
                _ => None,
            };
            let at = at.filter(|at| (0.0..=1.0).contains(at)).ok_or_else(|| {
                refused(
                    "the quantile is not written out as a number from 0 to 1",
                    "write quantile(x, 0.9)",
                )
            })?;
            // `DESC` takes the quantile from the greatest value.
            let descending = call.params.order_by.iter().any(|by| !by.asc);
            AggregateKind::Quantile(if descending { 1.0 - at } else { at })
        }
        // The planner knows it, but nothing here does.
        _ => {
            return Err(refused(
                "this aggregate is not supported",
                "use another one",
            ));
        }
    };
    AggregateCall {
        what,
        argument: filtered(argument, kind, filter),
        kind,
        written: sql_text(first),
        function: name.to_owned(),
        place: None,
    }
    .checked()
}

fn count(
    call: &AggregateFunction,
    scope: &Scope<'_>,
    relation: &Relation,
    filter: Option<Expr>,
) -> Result<AggregateCall, Refusal> {
    let mut arguments = Vec::new();
    for argument in &call.params.args {
        arguments.push(scope.expression(argument)?);
    }
    let unit = |expr: &Expr| match expr {
        Expr::Column(place) => relation.unit.contains(place),
        _ => false,
    };
    let aggregate_call = |what, argument, kind| {
        let written: Vec<String> = call.params.args.iter().map(sql_text).collect();
        AggregateCall {
            what,
            argument,
            kind,
            written: written.join(", "),
            function: "count".to_owned(),
            place: None,
        }
    };
    let one = || filtered(Expr::integer(1), Type::Integer, filter.clone());
    let written_out = |expr: &Expr| matches!(expr, Expr::Literal(value, _) if !value.is_null());
    if call.params.distinct {
        let whole_unit = !relation.unit.is_empty()
            && arguments.iter().all(|(expr, _)| unit(expr))
            && relation.unit.iter().all(|place| {
                let column = Expr::Column(*place);
                arguments.iter().any(|(expr, _)| *expr == column)
            });
        return match (arguments.as_slice(), &filter) {
            (_, None) if whole_unit => Ok(aggregate_call(
                AggregateKind::Units,
                Expr::integer(1),
                Type::Integer,
            )),
            // The number of units with a row that passes the filter: a unit has one distinct value.
            (_, Some(_)) if whole_unit => {
                let one_per_unit = relation.unit.len() == 1;
                match (one_per_unit, arguments.first()) {
                    (true, Some((expr, kind))) => {
                        let expr = filtered(expr.clone(), *kind, filter.clone());
                        Ok(aggregate_call(
                            AggregateKind::Distinct { one_per_unit },
                            expr,
                            *kind,
                        ))
                    }
                    _ => Err(several()),
                }
            }
            ([(expr, kind)], _) if !written_out(expr) => {
                let expr = filtered(expr.clone(), *kind, filter.clone());
                let one_per_unit =
                    column_of_results(&expr).is_some_and(|place| relation.unit.contains(&place));
                Ok(aggregate_call(
                    AggregateKind::Distinct { one_per_unit },
                    expr,
                    *kind,
                ))
            }
            _ => Err(several()),
        };
    }
    match arguments.as_slice() {
        // Rows whose unit is `NULL` are dropped before, so the unit is never `NULL` here.
        [] => Ok(aggregate_call(rows_or_count(&filter), one(), Type::Integer)),
        [(expr, _)] if written_out(expr) || unit(expr) => {
            Ok(aggregate_call(rows_or_count(&filter), one(), Type::Integer))
        }
        [(expr, kind)] if filter.is_none() && never_null(expr) => {
            Ok(aggregate_call(AggregateKind::Rows, expr.clone(), *kind))
        }
        [(expr, kind)] => {
            let expr = filtered(expr.clone(), *kind, filter);
            Ok(aggregate_call(AggregateKind::Count, expr, *kind))
        }
        _ => Err(several()),
    }
}

const fn rows_or_count(filter: &Option<Expr>) -> AggregateKind {
    match filter {
        None => AggregateKind::Rows,
        Some(_) => AggregateKind::Count,
    }
}

fn several() -> Refusal {
    Refusal::new(
        Reason::Aggregate,
        "COUNT of several columns, or of different rows, is not supported",
        "count one expression, or all unit columns with DISTINCT",
    )
}

/// `FILTER (WHERE ...)` as a value that is `NULL` unless the filter is true.
fn filtered(expr: Expr, kind: Type, filter: Option<Expr>) -> Expr {
    match filter {
        None => expr,
        Some(filter) => Expr::Case {
            branches: vec![(filter, expr)],
            otherwise: Box::new(Expr::Literal(Value::Null, kind)),
        },
    }
}

/// The one column that every result of an expression comes from, unless the result is `NULL`. If it
/// is a column of the unit, all rows of a unit have the same value. Results from two columns of the
/// unit can have two values.
fn column_of_results(expr: &Expr) -> Option<usize> {
    fn visit(expr: &Expr, found: &mut Option<usize>) -> bool {
        match expr {
            Expr::Literal(Value::Null, _) => true,
            Expr::Column(place) => *found.get_or_insert(*place) == *place,
            Expr::Case {
                branches,
                otherwise,
            } => branches.iter().all(|(_, then)| visit(then, found)) && visit(otherwise, found),
            _ => false,
        }
    }
    let mut found = None;
    visit(expr, &mut found).then_some(found).flatten()
}

/// Whether the expression is not `NULL` in any row.
pub(super) fn never_null(expr: &Expr) -> bool {
    use crate::expr::Function;
    match expr {
        Expr::Literal(value, _) => !value.is_null(),
        Expr::Call(Function::IsNull, _) => true,
        Expr::Call(Function::Coalesce | Function::Least | Function::Greatest, arguments) => {
            arguments.iter().any(never_null)
        }
        Expr::Case {
            branches,
            otherwise,
        } => branches.iter().all(|(_, then)| never_null(then)) && never_null(otherwise),
        _ => false,
    }
}
