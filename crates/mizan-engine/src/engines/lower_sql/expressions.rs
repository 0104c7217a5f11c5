//! Expressions as SQL.

use mizan_sql::{Bounds, Column, Expr, Function, Type, Value};

use super::dialect::{Dialect, Sql};
use crate::engine::{EngineError, bad};

/// The names of columns in the scope of an expression.
pub(crate) type Names<'a> = &'a dyn Fn(usize) -> String;

/// The columns `c0`, `c1`, ...
pub(crate) fn plain(place: usize) -> String {
    format!("c{place}")
}

/// A `CASE` with more branches counts as one of many.
const FEW_BRANCHES: usize = 8;

/// An expression as SQL.
pub(crate) fn expression(
    dialect: &dyn Dialect,
    expr: &Expr,
    columns: &[Column],
    names: Names<'_>,
) -> Result<Sql, EngineError> {
    let render = |part: &Expr| expression(dialect, part, columns, names);
    match expr {
        Expr::Column(place) => {
            let column = columns.get(*place).ok_or_else(|| bad("no such column"))?;
            Ok(Sql {
                bounds: column.bounds,
                ..Sql::new(names(*place), column.kind)
            })
        }
        Expr::Literal(value, kind) => literal(dialect, value, *kind),
        Expr::Cast(inner, to) => {
            let inner = render(inner)?;
            Ok(cast(dialect, inner, *to))
        }
        Expr::Case {
            branches,
            otherwise,
        } => {
            let mut conditions = Vec::with_capacity(branches.len());
            let mut results = Vec::with_capacity(branches.len() + 1);
            for (when, then) in branches {
                conditions.push(render(when)?.text);
                results.push(render(then)?);
            }
            results.push(render(otherwise)?);
            let results = agree(dialect, results);
            let kind = kind_of(&results)?;
            let mut text = String::from("CASE");
            let mut texts = results.into_iter().map(|result| result.text);
            for (when, then) in conditions.iter().zip(texts.by_ref()) {
                text.push_str(&format!(" WHEN {when} THEN {then}"));
            }
            let otherwise = texts.next();
            let otherwise = otherwise.ok_or_else(|| bad("a CASE without its last result"))?;
            if branches.is_empty() {
                return Ok(Sql::new(otherwise, kind));
            }
            let case = Sql::new(format!("({text} ELSE {otherwise} END)"), kind);
            Ok(match branches.len() > FEW_BRANCHES {
                true => Sql::new(dialect.many_branches(&case), kind),
                false => case,
            })
        }
        Expr::Call(function, arguments) => {
            let flat = match function {
                Function::Concat => Some(flattened(arguments)),
                _ => None,
            };
            let arguments = flat.as_ref().unwrap_or(arguments);
            let compares = compares(*function);
            let rendered = arguments
                .iter()
                .map(|part| match part {
                    Expr::Literal(value, kind) if compares => compared(dialect, value, *kind),
                    part => render(part),
                })
                .collect::<Result<Vec<_>, _>>()?;
            let (kind, bounds) = kind_of_call(*function, arguments, &rendered)?;
            let text = call(dialect, *function, rendered, kind, bounds)?;
            Ok(Sql { text, kind, bounds })
        }
    }
}

/// Whether a function only compares its arguments and returns none of them.
const fn compares(function: Function) -> bool {
    matches!(
        function,
        Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
            | Function::In
            | Function::Like
    )
}

/// The arguments of a concatenation, with nested concatenations inlined and consecutive
/// literals merged.
fn flattened(arguments: &[Expr]) -> Vec<Expr> {
    let mut parts: Vec<Expr> = Vec::with_capacity(arguments.len());
    let mut open: Vec<&Expr> = arguments.iter().rev().collect();
    while let Some(part) = open.pop() {
        if let Expr::Call(Function::Concat, inner) = part {
            open.extend(inner.iter().rev());
            continue;
        }
        if let (Some(Expr::Literal(Value::Text(before), _)), Expr::Literal(Value::Text(text), _)) =
            (parts.last_mut(), part)
        {
            before.push_str(text);
            continue;
        }
        parts.push(part.clone());
    }
    parts
}

/// A literal; an error if its value does not have its type.
fn literal(dialect: &dyn Dialect, value: &Value, kind: Type) -> Result<Sql, EngineError> {
    of_literal(value, kind, &|value| dialect.literal(value, kind))
}

/// A literal that is only compared with; an error if its value does not have its type.
pub(crate) fn compared(
    dialect: &dyn Dialect,
    value: &Value,
    kind: Type,
) -> Result<Sql, EngineError> {
    of_literal(value, kind, &|value| dialect.compared(value, kind))
}

fn of_literal(
    value: &Value,
    kind: Type,
    written: &dyn Fn(&Value) -> String,
) -> Result<Sql, EngineError> {
    if value.type_of().is_some_and(|found| found != kind) {
        return Err(bad("a literal does not have its type"));
    }
    let value = match value {
        Value::Number(number) => Value::number(*number),
        other => other.clone(),
    };
    Ok(Sql {
        bounds: Expr::Literal(value.clone(), kind).bounds(&[]),
        ..Sql::new(written(&value), kind)
    })
}

fn cast(dialect: &dyn Dialect, value: Sql, to: Type) -> Sql {
    if value.kind == to {
        return value;
    }
    let cast = Expr::Cast(Box::new(Expr::Column(0)), to);
    Sql {
        bounds: cast.bounds(&[column(&value)]),
        ..Sql::new(dialect.cast(&value, to), to)
    }
}

/// The type and the bounds of an expression.
fn column(sql: &Sql) -> Column {
    Column {
        name: String::new(),
        kind: sql.kind,
        bounds: sql.bounds,
    }
}

/// Casts integers to numbers if there are numbers among the parts.
fn agree(dialect: &dyn Dialect, parts: Vec<Sql>) -> Vec<Sql> {
    let mixed = parts.iter().all(|part| part.kind.is_numeric())
        && parts.iter().any(|part| part.kind == Type::Number);
    if !mixed {
        return parts;
    }
    let parts = parts.into_iter();
    parts
        .map(|part| cast(dialect, part, Type::Number))
        .collect()
}

fn kind_of(parts: &[Sql]) -> Result<Type, EngineError> {
    let kind = parts.first().map(|part| part.kind);
    let same = parts.iter().all(|part| Some(part.kind) == kind);
    kind.filter(|_| same)
        .ok_or_else(|| bad("the results of CASE have different types"))
}

/// The type and the bounds of a call, from those of its arguments. Literals are passed as such,
/// since some functions require them.
fn kind_of_call(
    function: Function,
    arguments: &[Expr],
    rendered: &[Sql],
) -> Result<(Type, Option<Bounds>), EngineError> {
    let columns: Vec<Column> = rendered.iter().map(column).collect();
    let arguments = arguments.iter().enumerate().map(|(place, argument)| {
        if matches!(argument, Expr::Literal(..)) {
            argument.clone()
        } else {
            Expr::Column(place)
        }
    });
    let call = Expr::Call(function, arguments.collect());
    let kind = call.type_of(&columns);
    let kind = kind.map_err(|problem| bad(problem.to_string()))?;
    Ok((kind, call.bounds(&columns)))
}

fn call(
    dialect: &dyn Dialect,
    function: Function,
    arguments: Vec<Sql>,
    makes: Type,
    bounds: Option<Bounds>,
) -> Result<String, EngineError> {
    let operator = match function {
        Function::Equal => "=",
        Function::NotEqual => "<>",
        Function::Less => "<",
        Function::LessOrEqual => "<=",
        Function::Greater => ">",
        Function::GreaterOrEqual => ">=",
        Function::And => "AND",
        Function::Or => "OR",
        _ => "",
    };
    let text = match (function, agree(dialect, arguments).as_slice()) {
        (_, parts) if !operator.is_empty() => {
            format!("({})", join(parts, &format!(" {operator} ")))
        }
        (Function::Not, [part]) => format!("(NOT {})", part.text),
        (Function::IsNull, [part]) => format!("({} IS NULL)", part.text),
        // False, or NULL for NULL.
        (Function::In, [part]) => format!("(({} IS NULL) AND NULL)", part.text),
        (Function::In, [part, list @ ..]) => {
            format!("({} IN ({}))", part.text, join(list, ", "))
        }
        (Function::Coalesce, parts) => format!("COALESCE({})", join(parts, ", ")),
        (_, []) => return Err(bad("a function without arguments")),
        (_, parts) => dialect.call(function, parts, makes, bounds),
    };
    Ok(text)
}

/// Texts with a separator.
pub(crate) fn join(parts: &[Sql], between: &str) -> String {
    let texts: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    texts.join(between)
}
