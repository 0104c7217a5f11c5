//! Scalar functions, by name.

use super::typed::{Typed, call, cast, of_one_type};
use crate::expr::{Function, TimePart, TimeUnit};
use crate::refusal::{Reason, Refusal};
use crate::value::{Type, Value};

/// The call of a scalar function, by its name.
pub(super) fn named(name: &str, arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let simple = match name {
        "abs" => Some(Function::Abs),
        "ceil" | "ceiling" => Some(Function::Ceil),
        "floor" => Some(Function::Floor),
        "sign" | "signum" => Some(Function::Sign),
        "sqrt" => Some(Function::Sqrt),
        "lower" => Some(Function::Lower),
        "upper" => Some(Function::Upper),
        "trim" | "btrim" => Some(Function::Trim),
        "length" | "char_length" | "character_length" => Some(Function::Length),
        "mod" => Some(Function::Remainder),
        "bucket" => Some(Function::Bucket),
        _ => None,
    };
    if let Some(function) = simple {
        let text = matches!(
            function,
            Function::Lower | Function::Upper | Function::Trim | Function::Length
        );
        let kind = if text { Type::Text } else { Type::Integer };
        let arguments = arguments.into_iter().map(|argument| argument.or(kind));
        return call(function, arguments.collect());
    }
    match name {
        "coalesce" | "ifnull" | "nvl" => unified(Function::Coalesce, name, arguments),
        "least" => unified(Function::Least, name, arguments),
        "greatest" => unified(Function::Greatest, name, arguments),
        "nullif" => unified(Function::NullIf, name, arguments),
        "concat" => {
            // concat skips NULL, whereas || with NULL is NULL.
            let mut parts = Vec::with_capacity(arguments.len());
            for argument in arguments {
                let text = as_text(argument)?;
                parts.push(call(Function::Coalesce, vec![text, Typed::text("")])?);
            }
            call(Function::Concat, parts)
        }
        "round" => round(arguments),
        "left" => match <[Typed; 2]>::try_from(arguments) {
            Ok([text, length]) => {
                let parts = vec![text.or(Type::Text), Typed::integer(1), length];
                call(Function::Substring, parts)
            }
            Err(_) => Err(arguments_of(name, "a text and a length")),
        },
        "substr" | "substring" => substring(name, arguments),
        "date_trunc" => match <[Typed; 2]>::try_from(arguments) {
            Ok([unit, time]) => truncate(&unit, time),
            Err(_) => Err(arguments_of(name, "a unit and a time")),
        },
        "date_part" => match <[Typed; 2]>::try_from(arguments) {
            Ok([part, time]) => extract(&part, time),
            Err(_) => Err(arguments_of(name, "a part and a time")),
        },
        _ => Err(Refusal::new(
            Reason::UnknownFunction,
            format!("there is no function {name}"),
            "use another",
        )),
    }
}

fn arguments_of(name: &str, what: &str) -> Refusal {
    Refusal::new(
        Reason::Call,
        format!("{name} takes {what}"),
        format!("give {name} {what}"),
    )
}

fn unified(function: Function, name: &str, arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let (arguments, _) = of_one_type(name, arguments)?;
    call(function, arguments)
}

/// Converts integers, dates and booleans to text where text is expected.
pub(super) fn as_text(value: Typed) -> Result<Typed, Refusal> {
    cast(value, Type::Text)
}

/// `round(x, decimals)`; the decimals are a literal from 0 to 9.
fn round(arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let mut open = arguments.into_iter();
    let (Some(value), decimals, None) = (open.next(), open.next(), open.next()) else {
        return Err(arguments_of("round", "a number, and decimals if you like"));
    };
    let value = value.or(Type::Number);
    let places = match decimals.as_ref().map(Typed::value) {
        None | Some(Some(Value::Integer(0))) => return call(Function::Round, vec![value]),
        Some(Some(Value::Integer(places))) => u32::try_from(*places).ok(),
        Some(_) => None,
    };
    let Some(places) = places.filter(|places| *places <= 9) else {
        return Err(Refusal::new(
            Reason::Call,
            "the decimals of round are not written out as 0 to 9",
            "write round(x, 2)",
        ));
    };
    if value.kind == Some(Type::Integer) {
        return Ok(value);
    }
    let scale = Typed::literal(
        Value::Number(f64::from(10_u32.saturating_pow(places))),
        Type::Number,
    );
    let scaled = call(Function::Multiply, vec![value, scale.clone()])?;
    let rounded = call(Function::Round, vec![scaled])?;
    call(Function::Divide, vec![rounded, scale])
}

fn substring(name: &str, arguments: Vec<Typed>) -> Result<Typed, Refusal> {
    let mut open = arguments.into_iter();
    let (Some(text), Some(position), length, None) =
        (open.next(), open.next(), open.next(), open.next())
    else {
        return Err(arguments_of(name, "a text, a position and a length"));
    };
    let length = length.unwrap_or_else(|| Typed::integer(i64::from(i32::MAX)));
    call(
        Function::Substring,
        vec![text.or(Type::Text), position, length],
    )
}

fn written(what: &str, value: &Typed) -> Result<String, Refusal> {
    match value.value() {
        Some(Value::Text(text)) => Ok(text.to_lowercase()),
        _ => Err(Refusal::new(
            Reason::Call,
            format!("the {what} is not written out"),
            format!("write the {what} as a text, such as 'month'"),
        )),
    }
}

/// A text literal becomes a timestamp or a date.
fn time(value: Typed) -> Result<Typed, Refusal> {
    match value.value() {
        Some(Value::Text(_)) => {
            cast(value.clone(), Type::Date).or_else(|_| cast(value, Type::Timestamp))
        }
        _ => Ok(value.or(Type::Timestamp)),
    }
}

fn truncate(unit: &Typed, value: Typed) -> Result<Typed, Refusal> {
    let name = written("unit", unit)?;
    let unit = TimeUnit::ALL.into_iter().find(|unit| unit.name() == name);
    let unit = unit.ok_or_else(|| {
        Refusal::new(
            Reason::Call,
            "date_trunc has no such unit",
            "write year, quarter, month, week, day, hour, minute or second",
        )
    })?;
    call(Function::Truncate(unit), vec![time(value)?])
}

fn extract(part: &Typed, value: Typed) -> Result<Typed, Refusal> {
    let name = written("part", part)?;
    let name = match name.as_str() {
        "dayofweek" => TimePart::DayOfWeek.name(),
        "dayofyear" => TimePart::DayOfYear.name(),
        name => name,
    };
    let part = TimePart::ALL.into_iter().find(|part| part.name() == name);
    let part = part.ok_or_else(|| {
        Refusal::new(
            Reason::Call,
            "EXTRACT has no such part",
            "write year, quarter, month, week, day, dow, doy, hour, minute or second",
        )
    })?;
    call(Function::Extract(part), vec![time(value)?])
}
