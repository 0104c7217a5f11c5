//! The numbers in the text of an event: from a token to a checked value.

use super::EventProblem;
use super::decimal::{DecimalError, Round, parse_decimal, parse_whole};
use super::names::{Kind, Parameter};
use super::snippet::quote;
use crate::units::{Count, Range, UnitError};
use std::borrow::Cow;

/// Reads a number for a parameter, rounded to its costly side.
pub(super) fn read_number(
    event: &'static str,
    parameter: &Parameter,
    text: &str,
) -> Result<f64, EventProblem> {
    let Kind::Number { range, costly, .. } = parameter.kind else {
        return Err(not_a_number(event, parameter, (Count::RANGE, true), text));
    };
    let too_large = || {
        let (quantity, value, allowed) = (parameter.name, quote(text), range.words());
        EventProblem::Value {
            event,
            unit: UnitError::TooLarge {
                quantity,
                value,
                allowed,
            },
        }
    };
    if is_infinity(text) {
        let infinite = range == Range::FromOne && !text.starts_with('-');
        return if infinite {
            Ok(f64::INFINITY)
        } else {
            Err(too_large())
        };
    }
    // No parameter is negative: away from zero, a tiny one stays refused.
    let side = if text.starts_with('-') {
        Round::Down
    } else {
        costly
    };
    let value = match digits(text).map(|digits| parse_decimal(&digits, side)) {
        Some(Ok(value)) => value,
        Some(Err(DecimalError::TooLarge)) => return Err(too_large()),
        Some(Err(DecimalError::TooLong)) => {
            return Err(EventProblem::TooManyDigits {
                event,
                parameter: parameter.name,
            });
        }
        Some(Err(_)) | None => {
            return Err(not_a_number(event, parameter, (range.words(), false), text));
        }
    };
    range
        .check(parameter.name, value)
        .map_err(|unit| EventProblem::Value {
            event,
            unit: as_typed(unit, value, text),
        })
}

/// Reads a number for a parameter that has no costly side: the nearest double.
pub(super) fn read_nearest(
    event: &'static str,
    parameter: &Parameter,
    text: &str,
) -> Result<f64, EventProblem> {
    let rounded = read_number(event, parameter, text)?;
    Ok(nearest(text).unwrap_or(rounded))
}

/// Reads a privacy loss: any finite number, the nearest double.
pub(super) fn read_loss(text: &str) -> Result<f64, EventProblem> {
    let (event, parameter, found) = ("finite", "loss", || format!("`{}`", quote(text)));
    match digits(text).map(|digits| parse_decimal(&digits, Round::Down)) {
        Some(Ok(rounded)) => Ok(nearest(text).unwrap_or(rounded)),
        Some(Err(DecimalError::TooLong)) => Err(EventProblem::TooManyDigits { event, parameter }),
        _ => Err(EventProblem::NotANumber {
            event,
            parameter,
            allowed: "that is finite",
            whole: false,
            found: found(),
        }),
    }
}

/// The double nearest to a decimal.
fn nearest(text: &str) -> Option<f64> {
    digits(text)?.parse::<f64>().ok().filter(|x| x.is_finite())
}

/// Whether a literal is this very double.
pub(super) fn is_exactly(text: &str, value: f64) -> bool {
    let side = |round| digits(text).and_then(|digits| parse_decimal(&digits, round).ok());
    side(Round::Down) == Some(value) && side(Round::Up) == Some(value)
}

/// Reads a whole number: `1000`, `1_000`, `1e3`.
pub(super) fn read_count(
    event: &'static str,
    parameter: &Parameter,
    text: &str,
) -> Result<Count, EventProblem> {
    let whole = match digits(text).map(|digits| parse_whole(&digits)) {
        Some(Ok(whole)) => whole,
        Some(Err(DecimalError::TooLong)) => {
            return Err(EventProblem::TooManyDigits {
                event,
                parameter: parameter.name,
            });
        }
        Some(Err(_)) | None => {
            return Err(not_a_number(event, parameter, (Count::RANGE, true), text));
        }
    };
    whole
        .and_then(|value| Count::new(value).ok())
        .ok_or_else(|| {
            let (quantity, value, allowed) = (parameter.name, quote(text), Count::RANGE);
            EventProblem::Value {
                event,
                unit: UnitError::OutOfRange {
                    quantity,
                    value,
                    allowed,
                },
            }
        })
}

/// The text without the underscores between digits; `None` when there are
/// others.
fn digits(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('_') {
        return Some(Cow::Borrowed(text));
    }
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    let all_between = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'_')
        .all(|(at, _)| {
            is_digit(at.checked_sub(1).and_then(|before| bytes.get(before)))
                && is_digit(bytes.get(at + 1))
        });
    all_between.then(|| Cow::Owned(text.replace('_', "")))
}

pub(super) fn is_infinity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity")
}

fn not_a_number(
    event: &'static str,
    parameter: &Parameter,
    (allowed, whole): (&'static str, bool),
    text: &str,
) -> EventProblem {
    let found = format!("`{}`", quote(text));
    EventProblem::NotANumber {
        event,
        parameter: parameter.name,
        allowed,
        whole,
        found,
    }
}

/// The error with the number as it was typed, and as it was rounded where
/// that is what made it wrong.
fn as_typed(unit: UnitError, rounded: f64, typed: &str) -> UnitError {
    match unit {
        UnitError::OutOfRange {
            quantity, allowed, ..
        } => {
            let mantissa = typed.split(['e', 'E']).next().unwrap_or(typed);
            let typed_zero = !mantissa.contains(|digit| matches!(digit, '1'..='9'));
            let value = if rounded == 0.0 && !typed_zero {
                format!("{}, which is too small for a double", quote(typed))
            } else {
                quote(typed)
            };
            UnitError::OutOfRange {
                quantity,
                value,
                allowed,
            }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::EventKind;
    use super::*;

    fn sigma(text: &str) -> Result<f64, String> {
        let syntax = EventKind::Gaussian.syntax();
        let (_, sigma) = syntax.parameter("sigma").unwrap();
        read_number(syntax.name, &sigma, text).map_err(|problem| problem.to_string())
    }

    fn count(text: &str) -> Result<u64, &'static str> {
        read_count("repeat", &super::super::names::COUNT, text)
            .map(Count::get)
            .map_err(|problem| problem.code().as_str())
    }

    #[test]
    fn sigma_rounds_down_and_says_what_is_wrong() {
        assert_eq!(sigma("1.1"), Ok(1.1_f64.next_down()));
        assert_eq!(sigma("1_000.5"), Ok(1000.5));
        let range = "gaussian: sigma must be above 0, and finite, got";
        for bad in [
            "0", "-1", "inf", "-inf", "Infinity", "1e400", "-1e-400", "0e5",
        ] {
            assert_eq!(sigma(bad), Err(format!("{range} {bad}")));
        }
        assert_eq!(
            sigma("1e-400"),
            Err(format!("{range} 1e-400, which is too small for a double"))
        );
        for bad in ["nan", "x", "1.5x", "1_", "1__0", "١", "1e", "0x10"] {
            let message = sigma(bad).unwrap_err();
            assert!(
                message.ends_with(&format!(
                    "must be a number above 0, and finite, found `{bad}`"
                )),
                "{message}"
            );
        }
        assert!(
            sigma(&"9".repeat(10_001))
                .unwrap_err()
                .contains("more than 10000 digits")
        );
    }

    #[test]
    fn an_order_may_be_infinite_and_rounds_down() {
        let order = |text| read_number("rdp", &super::super::names::ORDER, text);
        assert_eq!(order("inf"), Ok(f64::INFINITY));
        assert_eq!(order("1.1"), Ok(1.1_f64.next_down()));
        assert_eq!(order("1.00000000000000000001"), Ok(1.0));
        assert!(order("0.99999999999999999999").is_err() && order("-inf").is_err());
    }

    #[test]
    fn counts_are_whole_and_exact() {
        for (text, value) in [
            ("1000", 1000),
            ("1_000", 1000),
            ("1e6", 1_000_000),
            ("2.0", 2),
        ] {
            assert_eq!(count(text), Ok(value));
        }
        assert_eq!(count("9007199254740992"), Ok(1 << 53));
        for bad in ["0", "1.5", "9007199254740993", "1e300", "-1"] {
            assert_eq!(count(bad), Err("MZ1110"), "{bad}");
        }
        assert_eq!(count("many"), Err("MZ1109"));
    }
}
