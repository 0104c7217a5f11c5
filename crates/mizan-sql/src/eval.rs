//! The meaning of expressions: the reference that every engine must match bit for bit. It also
//! evaluates post-processing and finds the values of keys.

use std::cmp::Ordering;

use crate::expr::{Expr, Function};
use crate::time;
use crate::value::{LONGEST_COMPUTED_TEXT, LONGEST_STORED_TEXT, Type, Value};

impl Expr {
    /// The value for a row. Evaluation is total: it is `NULL` if there is no value, an argument has
    /// another type than [`Expr::type_of`] requires, or a column does not exist.
    #[must_use]
    pub fn eval(&self, row: &[Value]) -> Value {
        match self {
            Self::Column(place) => row.get(*place).map_or(Value::Null, canonical),
            Self::Literal(value, _) => canonical(value),
            Self::Call(function, arguments) => {
                let values: Vec<_> = arguments.iter().map(|part| part.eval(row)).collect();
                function.apply(&values)
            }
            Self::Case {
                branches,
                otherwise,
            } => {
                let truth = Value::Boolean(true);
                let chosen = branches.iter().find(|(when, _)| when.eval(row) == truth);
                chosen
                    .map_or(otherwise.as_ref(), |(_, then)| then)
                    .eval(row)
            }
            Self::Cast(inner, to) => cast(&inner.eval(row), *to),
        }
    }
}

impl Function {
    /// The value of the function for these arguments.
    #[must_use]
    pub fn apply(self, values: &[Value]) -> Value {
        match self {
            Self::And => logic(values, false),
            Self::Or => logic(values, true),
            Self::In => member(values),
            Self::Coalesce => {
                let first = values.iter().find(|value| !value.is_null());
                first.map_or(Value::Null, canonical)
            }
            Self::Least => extreme(values, Ordering::Less),
            Self::Greatest => extreme(values, Ordering::Greater),
            Self::Concat => concat(values),
            _ => match values {
                [value] => self.of_one(value),
                [first, second] => self.of_two(first, second),
                [
                    Value::Text(text),
                    Value::Integer(position),
                    Value::Integer(length),
                ] if self == Self::Substring => substring(text, *position, *length),
                _ => Value::Null,
            },
        }
    }

    fn of_one(self, value: &Value) -> Value {
        match (self, value) {
            (Self::IsNull, value) => Value::Boolean(value.is_null()),
            (Self::Not, Value::Boolean(value)) => Value::Boolean(!value),
            (Self::Negate, Value::Integer(value)) => integer(value.checked_neg()),
            (Self::Negate, Value::Number(value)) => Value::number(-value),
            (Self::Floor | Self::Ceil | Self::Round, Value::Integer(value)) => {
                Value::Integer(*value)
            }
            (Self::Floor, Value::Number(value)) => Value::number(value.floor()),
            (Self::Ceil, Value::Number(value)) => Value::number(value.ceil()),
            (Self::Round, Value::Number(value)) => Value::number(value.round()),
            (Self::Abs, Value::Integer(value)) => integer(value.checked_abs()),
            (Self::Abs, Value::Number(value)) => Value::number(value.abs()),
            (Self::Sign, Value::Integer(value)) => Value::Integer(value.signum()),
            (Self::Sign, Value::Number(value)) => Value::number(sign(*value)),
            // The root of a negative number is NaN.
            (Self::Sqrt, value) => value
                .as_f64()
                .map_or(Value::Null, |value| Value::number(value.sqrt())),
            (Self::Lower, Value::Text(text)) => computed(text, str::to_ascii_lowercase),
            (Self::Upper, Value::Text(text)) => computed(text, str::to_ascii_uppercase),
            (Self::Trim, Value::Text(text)) => computed(text.trim_matches(' '), str::to_owned),
            (Self::Length, Value::Text(text)) => integer(i64::try_from(text.chars().count()).ok()),
            (Self::Truncate(unit), Value::Date(day)) if !unit.is_within_day() => {
                time::truncate_day(*day, unit).map_or(Value::Null, Value::Date)
            }
            (Self::Truncate(unit), Value::Timestamp(time)) => {
                time::truncate(*time, unit).map_or(Value::Null, Value::Timestamp)
            }
            (Self::Extract(part), Value::Date(day)) => integer(time::part_of_day(*day, part)),
            (Self::Extract(part), Value::Timestamp(time)) => integer(time::part(*time, part)),
            _ => Value::Null,
        }
    }

    fn of_two(self, first: &Value, second: &Value) -> Value {
        let compared = |is: fn(Ordering) -> bool| match first.compare(second) {
            Some(ordering) => Value::Boolean(is(ordering)),
            None => Value::Null,
        };
        match self {
            Self::Add => arithmetic(first, second, i64::checked_add, |a, b| a + b),
            Self::Subtract => arithmetic(first, second, i64::checked_sub, |a, b| a - b),
            Self::Multiply => arithmetic(first, second, i64::checked_mul, |a, b| a * b),
            Self::Divide => match (first.as_f64(), second.as_f64()) {
                (Some(a), Some(b)) if b != 0.0 => Value::number(a / b),
                _ => Value::Null,
            },
            Self::Remainder => match (first, second) {
                (Value::Integer(_), Value::Integer(0)) => Value::Null,
                // The least integer divided by minus one would overflow, although the remainder is
                // 0.
                (Value::Integer(a), Value::Integer(b)) => Value::Integer(a.wrapping_rem(*b)),
                _ => Value::Null,
            },
            Self::Equal => compared(Ordering::is_eq),
            Self::NotEqual => compared(Ordering::is_ne),
            Self::Less => compared(Ordering::is_lt),
            Self::LessOrEqual => compared(Ordering::is_le),
            Self::Greater => compared(Ordering::is_gt),
            Self::GreaterOrEqual => compared(Ordering::is_ge),
            Self::Like => match (first, second) {
                (Value::Text(text), Value::Text(pattern)) => Value::Boolean(like(text, pattern)),
                _ => Value::Null,
            },
            Self::NullIf if first.compare(second) == Some(Ordering::Equal) => Value::Null,
            Self::NullIf => first.clone(),
            Self::Bucket => bucket(first, second),
            _ => Value::Null,
        }
    }
}

/// Rounds towards zero; None beyond 64 bits.
#[allow(clippy::cast_possible_truncation, reason = "checked before")]
pub(crate) fn towards_zero(value: f64) -> Option<i64> {
    // 2^63 is a double, the greatest integer is not.
    let fits = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    fits.contains(&value).then_some(value as i64)
}

/// The canonical form of an input: NaN and a text that is too long become `NULL`, minus zero
/// becomes zero.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(value) => Value::number(*value),
        Value::Text(text) if text.len() > LONGEST_STORED_TEXT => Value::Null,
        other => other.clone(),
    }
}

fn integer(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Integer)
}

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

fn arithmetic(
    first: &Value,
    second: &Value,
    integers: fn(i64, i64) -> Option<i64>,
    numbers: fn(f64, f64) -> f64,
) -> Value {
    if let (Value::Integer(a), Value::Integer(b)) = (first, second) {
        return integer(integers(*a, *b));
    }
    match (first.as_f64(), second.as_f64()) {
        (Some(a), Some(b)) => Value::number(numbers(a, b)),
        _ => Value::Null,
    }
}

/// `AND` is decided by a false, `OR` by a true; otherwise a `NULL` makes the result `NULL`.
fn logic(values: &[Value], deciding: bool) -> Value {
    if values.contains(&Value::Boolean(deciding)) {
        return Value::Boolean(deciding);
    }
    let all = values
        .iter()
        .all(|value| *value == Value::Boolean(!deciding));
    if all && !values.is_empty() {
        Value::Boolean(!deciding)
    } else {
        Value::Null
    }
}

fn member(values: &[Value]) -> Value {
    let Some((first, list)) = values.split_first() else {
        return Value::Null;
    };
    let equal = |other: &&Value| first.compare(other) == Some(Ordering::Equal);
    if list.iter().any(|other| equal(&other)) {
        Value::Boolean(true)
    } else if first.is_null() || list.iter().any(Value::is_null) {
        Value::Null
    } else {
        Value::Boolean(false)
    }
}

fn extreme(values: &[Value], wanted: Ordering) -> Value {
    let mut best = Value::Null;
    for value in values.iter().filter(|value| !value.is_null()) {
        if best.is_null() || value.compare(&best) == Some(wanted) {
            best = value.clone();
        }
    }
    best
}

fn concat(values: &[Value]) -> Value {
    let mut all = String::new();
    for value in values {
        let Value::Text(text) = value else {
            return Value::Null;
        };
        if text.len() > LONGEST_COMPUTED_TEXT - all.len() {
            return Value::Null;
        }
        all.push_str(text);
    }
    Value::Text(all)
}

fn substring(text: &str, position: i64, length: i64) -> Value {
    if position < 1 || length < 0 {
        return Value::Null;
    }
    // No text has more characters than `usize` can count.
    let skipped = usize::try_from(position - 1).unwrap_or(usize::MAX);
    let taken = usize::try_from(length).unwrap_or(usize::MAX);
    let from = place(text, skipped);
    let rest = text.get(from..).unwrap_or_default();
    let part = rest.get(..place(rest, taken)).unwrap_or_default();
    computed(part, str::to_owned)
}

/// The byte offset of a character of a text; the end if the text is shorter.
fn place(text: &str, character: usize) -> usize {
    let mut places = text.char_indices().map(|(place, _)| place);
    places.nth(character).unwrap_or(text.len())
}

/// A text computed from a text of the same length; `NULL` if it is too long.
fn computed(text: &str, make: impl FnOnce(&str) -> String) -> Value {
    match text.len() <= LONGEST_COMPUTED_TEXT {
        true => Value::Text(make(text)),
        false => Value::Null,
    }
}

fn bucket(value: &Value, width: &Value) -> Value {
    match (value, width) {
        (Value::Integer(value), Value::Integer(width)) if *width > 0 => {
            integer(value.checked_sub(value.rem_euclid(*width)))
        }
        (Value::Integer(_), Value::Integer(_)) => Value::Null,
        _ => match (value.as_f64(), width.as_f64()) {
            (Some(value), Some(width)) if width > 0.0 => {
                Value::number((value / width).floor() * width)
            }
            _ => Value::Null,
        },
    }
}

/// A cast by the table in `expr`.
pub(crate) fn cast(value: &Value, to: Type) -> Value {
    if value.type_of() == Some(to) {
        return value.clone();
    }
    match (value, to) {
        (Value::Text(text), to) => to.read(text),
        (Value::Boolean(value), Type::Integer) => Value::Integer(i64::from(*value)),
        (Value::Boolean(value), Type::Number) => Value::Number(f64::from(u8::from(*value))),
        (Value::Boolean(value), Type::Text) => Value::Text(value.to_string()),
        (Value::Integer(value), Type::Boolean) => Value::Boolean(*value != 0),
        (Value::Integer(_), Type::Number) => value.as_f64().map_or(Value::Null, Value::number),
        (Value::Integer(value), Type::Text) => Value::Text(value.to_string()),
        (Value::Integer(days), Type::Date) => {
            let day = i32::try_from(*days).ok();
            let day = day.filter(|day| time::midnight(*day).is_some());
            day.map_or(Value::Null, Value::Date)
        }
        (Value::Integer(time), Type::Timestamp) => match time::day_of(*time) {
            Some(_) => Value::Timestamp(*time),
            None => Value::Null,
        },
        (Value::Number(value), Type::Integer) => integer(towards_zero(value.round_ties_even())),
        (Value::Date(day), Type::Timestamp) => {
            time::midnight(*day).map_or(Value::Null, Value::Timestamp)
        }
        (Value::Date(day), Type::Integer) => integer(time::midnight(*day).map(|_| i64::from(*day))),
        (Value::Date(day), Type::Text) => time::day_text(*day).map_or(Value::Null, Value::Text),
        (Value::Timestamp(time), Type::Date) => {
            time::day_of(*time).map_or(Value::Null, Value::Date)
        }
        (Value::Timestamp(time), Type::Integer) => integer(time::day_of(*time).map(|_| *time)),
        _ => Value::Null,
    }
}

/// Whether a whole text matches a pattern. The time is at most in proportion to the product of the
/// lengths: after a mismatch only the last `%` is tried again.
fn like(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let pattern = tokens(pattern);
    let (mut at, mut place) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let fits = match (pattern.get(place), text.get(at)) {
            (Some(Token::Any), _) => {
                place += 1;
                retry = Some((place, at));
                continue;
            }
            (Some(Token::One), Some(_)) => true,
            (Some(Token::This(wanted)), Some(found)) => wanted == found,
            (None, None) => return true,
            // The text has ended: a later start cannot match.
            (Some(_), None) => return false,
            (None, Some(_)) => false,
        };
        if fits {
            (at, place) = (at + 1, place + 1);
        } else if let Some((after, start)) = retry {
            retry = Some((after, start + 1));
            (at, place) = (start + 1, after);
        } else {
            return false;
        }
    }
}

enum Token {
    Any,
    One,
    This(char),
}

fn tokens(pattern: &str) -> Vec<Token> {
    let mut characters = pattern.chars();
    let mut tokens = Vec::with_capacity(pattern.len());
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '%' => Token::Any,
            '_' => Token::One,
            // Type checking refuses a backslash at the end.
            '\\' => Token::This(characters.next().unwrap_or('\\')),
            other => Token::This(other),
        });
    }
    tokens
}
