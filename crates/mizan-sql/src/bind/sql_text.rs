//! Planner expressions in short SQL without table names, for column names and messages only.

use datafusion_common::ScalarValue;
use datafusion_expr::expr::AggregateFunction;
use datafusion_expr::{BinaryExpr, Expr as Planned};

/// The longest name, in characters.
const LONGEST: usize = 120;

/// An expression as short SQL text.
pub(super) fn sql_text(planned: &Planned) -> String {
    let text = written(planned, 0);
    if text.chars().count() <= LONGEST {
        return text;
    }
    let cut: String = text.chars().take(LONGEST - 3).collect();
    cut + "..."
}

/// The depth below which an expression is abbreviated.
const DEEPEST: usize = 40;

fn written(planned: &Planned, depth: usize) -> String {
    if depth > DEEPEST {
        return "...".to_owned();
    }
    let next = |part: &Planned| written(part, depth + 1);
    let list = |parts: &[Planned]| parts.iter().map(next).collect::<Vec<_>>().join(", ");
    match planned {
        Planned::Alias(alias) => alias.name.clone(),
        Planned::Column(column) => column.name.clone(),
        Planned::Literal(value, _) => literal(value),
        Planned::BinaryExpr(BinaryExpr { left, op, right }) => {
            let side = |side: &Planned, least: u8| match side {
                Planned::BinaryExpr(inner) if inner.op.precedence() < least => {
                    format!("({})", next(side))
                }
                other => next(other),
            };
            let own = op.precedence();
            format!("{} {op} {}", side(left, own), side(right, own + 1))
        }
        Planned::ScalarFunction(function) => {
            format!("{}({})", function.func.name(), list(&function.args))
        }
        Planned::AggregateFunction(AggregateFunction { func, params }) => {
            let distinct = if params.distinct { "distinct " } else { "" };
            let filter = params
                .filter
                .as_ref()
                .map_or_else(String::new, |filter| format!(" filter ({})", next(filter)));
            let arguments = match params.args.as_slice() {
                // The planner's form of COUNT(*).
                [Planned::Literal(ScalarValue::Int64(Some(1)), _)] if func.name() == "count" => {
                    "*".to_owned()
                }
                arguments => list(arguments),
            };
            format!("{}({distinct}{arguments}){filter}", func.name())
        }
        Planned::Not(inner) => format!("not {}", next(inner)),
        Planned::Negative(inner) => format!("-{}", next(inner)),
        Planned::IsNull(inner) => format!("{} is null", next(inner)),
        Planned::IsNotNull(inner) => format!("{} is not null", next(inner)),
        Planned::Cast(cast) => next(&cast.expr),
        Planned::TryCast(cast) => next(&cast.expr),
        Planned::Case(case) => {
            let mut text = "case".to_owned();
            if let Some(operand) = &case.expr {
                text = format!("{text} {}", next(operand));
            }
            for (when, then) in &case.when_then_expr {
                text = format!("{text} when {} then {}", next(when), next(then));
            }
            if let Some(otherwise) = &case.else_expr {
                text = format!("{text} else {}", next(otherwise));
            }
            text + " end"
        }
        other => other.human_display().to_string(),
    }
}

fn literal(value: &ScalarValue) -> String {
    match value {
        ScalarValue::Utf8(Some(text)) => format!("'{text}'"),
        other => other.to_string(),
    }
}
