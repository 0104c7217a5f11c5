//! Typed expressions and the implicit conversions of SQL: a text literal takes the type of what it
//! is compared with, integers become numbers, dates become timestamps. An expression of literals
//! only is computed at once.

use datafusion_common::ScalarValue;
use datafusion_common::arrow::datatypes::DataType;

use crate::expr::{Expr, Function};
use crate::refusal::{Reason, Refusal};
use crate::typing;
use crate::value::{Type, Value};

/// An expression and its type; a bare `NULL` has none yet.
#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) expr: Expr,
    pub(super) kind: Option<Type>,
}

impl Typed {
    pub(super) const fn new(expr: Expr, kind: Type) -> Self {
        Self {
            expr,
            kind: Some(kind),
        }
    }

    pub(super) fn literal(value: Value, kind: Type) -> Self {
        Self::new(Expr::Literal(value, kind), kind)
    }

    pub(super) fn integer(value: i64) -> Self {
        Self::literal(Value::Integer(value), Type::Integer)
    }

    pub(super) fn boolean(value: bool) -> Self {
        Self::literal(Value::Boolean(value), Type::Boolean)
    }

    pub(super) fn text(value: &str) -> Self {
        Self::literal(Value::Text(value.to_owned()), Type::Text)
    }

    /// The value, if it is a literal.
    pub(super) const fn value(&self) -> Option<&Value> {
        match &self.expr {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        }
    }

    /// Gives a bare `NULL` a type.
    pub(super) fn or(self, kind: Type) -> Self {
        match self.kind {
            Some(_) => self,
            None => Self::literal(Value::Null, kind),
        }
    }
}

/// A chain of `AND` or `OR` as a balanced tree: both are associative.
pub(super) fn balanced(function: Function, mut parts: Vec<Typed>) -> Result<Typed, Refusal> {
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut open = parts.into_iter();
        while let Some(left) = open.next() {
            joined.push(match open.next() {
                Some(right) => call(function, vec![left, right])?,
                None => left,
            });
        }
        parts = joined;
    }
    Ok(parts
        .pop()
        .unwrap_or_else(|| Typed::boolean(function == Function::And)))
}

/// A call with typed arguments. A call of literals only is computed.
pub(super) fn call(function: Function, arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let mut exprs = Vec::with_capacity(arguments.len());
    let mut kinds = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let argument = argument.or(Type::Integer);
        kinds.push(argument.kind.unwrap_or(Type::Integer));
        exprs.push(argument.expr);
    }
    let kind = typing::call(function, &exprs, &kinds)
        .map_err(|problem| Refusal::new(Reason::Types, problem.to_string(), problem.help()))?;
    Ok(folded(Expr::Call(function, exprs), kind))
}

fn folded(expr: Expr, kind: Type) -> Typed {
    let literals = expr
        .children()
        .into_iter()
        .all(|part| matches!(part, Expr::Literal(..)));
    if !literals {
        return Typed::new(expr, kind);
    }
    match expr.eval(&[]) {
        // Literals are finite; a result that is not finite is left to be computed.
        Value::Number(value) if !value.is_finite() => Typed::new(expr, kind),
        value => Typed::literal(value, kind),
    }
}

/// Converts to another type. A literal that does not convert is refused.
pub(super) fn cast(from: Typed, to: Type) -> Result<Typed, Refusal> {
    let Some(kind) = from.kind else {
        return Ok(from.or(to));
    };
    if kind == to {
        return Ok(from);
    }
    typing::cast(kind, to)
        .map_err(|problem| Refusal::new(Reason::Types, problem.to_string(), problem.help()))?;
    let written = from.value().filter(|value| !value.is_null()).cloned();
    let cast = folded(Expr::Cast(Box::new(from.expr), to), to);
    if let (Some(written), Some(Value::Null)) = (written, cast.value()) {
        let example = match to {
            Type::Date => ", such as '2026-01-31'",
            Type::Timestamp => ", such as '2026-01-31 12:00:00'",
            Type::Boolean => ", true or false",
            _ => "",
        };
        return Err(Refusal::new(
            Reason::Literal,
            format!("{} is not a valid {to}", written_out(&written)),
            format!("write a {to}{example}"),
        ));
    }
    Ok(cast)
}

/// A literal as SQL text.
fn written_out(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.chars().take(40).collect::<String>()),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        _ => "this literal".to_owned(),
    }
}

pub(super) fn convert(from: Typed, to: &DataType) -> Result<Typed, Refusal> {
    let to = match to {
        DataType::Boolean => Type::Boolean,
        kind if kind.is_integer() => Type::Integer,
        kind if kind.is_floating() || kind.is_decimal() => Type::Number,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Type::Text,
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Timestamp(_, None) => Type::Timestamp,
        other => {
            return Err(Refusal::new(
                Reason::Types,
                format!("the type {other} is not supported"),
                "use boolean, integer, double, text, date or timestamp",
            ));
        }
    };
    cast(from, to)
}

pub(super) fn literal(value: &ScalarValue) -> Result<Typed, Refusal> {
    let integer = |value: i64| Typed::integer(value);
    let found = match value {
        ScalarValue::Null => Typed {
            expr: Expr::Literal(Value::Null, Type::Text),
            kind: None,
        },
        ScalarValue::Boolean(Some(value)) => Typed::boolean(*value),
        ScalarValue::Int8(Some(value)) => integer((*value).into()),
        ScalarValue::Int16(Some(value)) => integer((*value).into()),
        ScalarValue::Int32(Some(value)) => integer((*value).into()),
        ScalarValue::Int64(Some(value)) => integer(*value),
        ScalarValue::UInt64(Some(value)) => match i64::try_from(*value) {
            Ok(value) => integer(value),
            #[allow(clippy::cast_precision_loss, reason = "as SQL does")]
            Err(_) => Typed::literal(Value::number(*value as f64), Type::Number),
        },
        ScalarValue::Float64(Some(value)) if value.is_finite() => {
            Typed::literal(Value::number(*value), Type::Number)
        }
        ScalarValue::Utf8(Some(value))
        | ScalarValue::LargeUtf8(Some(value))
        | ScalarValue::Utf8View(Some(value)) => Typed::text(value),
        _ => {
            return Err(Refusal::new(
                Reason::Literal,
                "a literal of this kind is not supported",
                "write a number, a text, a date or a timestamp",
            ));
        }
    };
    Ok(found)
}

pub(super) fn condition(value: Typed) -> Result<Typed, Refusal> {
    let value = value.or(Type::Boolean);
    if value.kind == Some(Type::Boolean) {
        return Ok(value);
    }
    Err(Refusal::new(
        Reason::Types,
        "something other than a condition stands where one is needed",
        "compare it with something",
    ))
}

pub(super) fn not(value: Typed) -> Result<Typed, Refusal> {
    call(Function::Not, vec![value])
}

pub(super) fn is_null(value: Typed) -> Result<Typed, Refusal> {
    call(Function::IsNull, vec![value])
}

pub(super) fn is_true(value: Typed) -> Result<Typed, Refusal> {
    call(Function::Coalesce, vec![value, Typed::boolean(false)])
}

/// `IS NOT DISTINCT FROM`, which uses each of its two values twice.
pub(super) fn same((left, right): (Typed, Typed), again: (Typed, Typed)) -> Result<Typed, Refusal> {
    let neither = call(Function::And, vec![is_null(left)?, is_null(right)?])?;
    let equal = compare(Function::Equal, again.0, again.1)?;
    call(Function::Coalesce, vec![equal, neither])
}

pub(super) fn arithmetic(function: Function, left: Typed, right: Typed) -> Result<Typed, Refusal> {
    let timed = |value: &Typed| matches!(value.kind, Some(Type::Date | Type::Timestamp));
    if timed(&left) || timed(&right) {
        return Err(Refusal::new(
            Reason::Types,
            "arithmetic with dates is supported between a written date and a written INTERVAL only",
            "compare with a date that is written out, or use EXTRACT and date_trunc",
        ));
    }
    call(
        function,
        vec![left.or(Type::Integer), right.or(Type::Integer)],
    )
}

/// A comparison of values of one type, or of numbers.
pub(super) fn compare(function: Function, left: Typed, right: Typed) -> Result<Typed, Refusal> {
    let numeric = |value: &Typed| value.kind.is_some_and(Type::is_numeric);
    if numeric(&left) && numeric(&right) {
        return call(function, vec![left, right]);
    }
    let (both, _) = of_one_type("a comparison", vec![left, right])?;
    call(function, both)
}

/// Converts values to one type as SQL does: a bare `NULL` has any type, integers become numbers,
/// dates become timestamps, and text literals take the type of the others.
pub(super) fn of_one_type(what: &str, values: Vec<Typed>) -> Result<(Vec<Typed>, Type), Refusal> {
    let mut kind: Option<Type> = None;
    let written = |value: &Typed| matches!(value.value(), Some(Value::Text(_)));
    let typed = values.iter().filter(|value| !written(value));
    for other in typed.filter_map(|value| value.kind) {
        kind = Some(match (kind, other) {
            (None, other) => other,
            (Some(Type::Integer), Type::Number) | (Some(Type::Number), Type::Integer) => {
                Type::Number
            }
            (Some(Type::Date), Type::Timestamp) | (Some(Type::Timestamp), Type::Date) => {
                Type::Timestamp
            }
            (Some(kind), other) if kind == other => kind,
            (Some(kind), other) => {
                return Err(Refusal::new(
                    Reason::Types,
                    format!("{what} of {kind} and {other} is not supported"),
                    "write CAST(... AS ...) to make them one type",
                ));
            }
        });
    }
    let kind = kind.unwrap_or(Type::Text);
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        // '2.5' next to integers is a number.
        let exact = if kind == Type::Integer && written(&value) {
            cast(value.clone(), kind).or_else(|_| cast(value, Type::Number))?
        } else {
            cast(value, kind)?
        };
        all.push(exact);
    }
    if all.iter().any(|value| value.kind != Some(kind)) {
        return of_one_type(what, all);
    }
    Ok((all, kind))
}
