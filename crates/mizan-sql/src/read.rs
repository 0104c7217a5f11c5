//! Parses texts as values, by one strict grammar for casts, CSV files and the command line.
//!
//! ```text
//! boolean   := true | false | t | f | yes | no | y | n | on | off | 1 | 0    in any case
//! integer   := [+-] digit+                                       within 64 bits
//! number    := [+-] (digit+ [. digit*] | . digit+) [e [+-] digit+]       finite
//! date      := YYYY-MM-DD                                  years 0001 to 9999
//! timestamp := date [(T | space) hh:mm:ss [. digit{1,9}] [Z | (+|-) hh:mm]]
//! ```
//!
//! Integers and numbers have at most 1,000 characters. Surrounding spaces (no other white space) are
//! ignored. Timestamps without an offset are in UTC; digits beyond microseconds are truncated. Every
//! other text is `NULL`. All engines agree on texts of this grammar, but each accepts other texts
//! too, so their own casts need a guard.

use crate::time;
use crate::value::{Type, Value};

/// The longest text of an integer or a number: some engines do not hold longer ones.
pub const LONGEST_NUMBER: usize = 1000;

impl Type {
    /// Parses a text as a value of this type; `NULL` if it does not parse.
    #[must_use]
    #[inline]
    pub fn read(self, text: &str) -> Value {
        let trimmed = text.trim_matches(' ');
        match self {
            Self::Text => Some(Value::Text(text.to_owned())),
            Self::Boolean => boolean(trimmed).map(Value::Boolean),
            Self::Integer => integer(trimmed).map(Value::Integer),
            Self::Number => number(trimmed).map(Value::number),
            Self::Date => date(trimmed.as_bytes()).map(Value::Date),
            Self::Timestamp => timestamp(trimmed.as_bytes()).map(Value::Timestamp),
        }
        .unwrap_or(Value::Null)
    }
}

/// Parses a boolean without surrounding spaces.
#[must_use]
#[inline]
pub fn boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["true", "t", "yes", "y", "on", "1"]) {
        Some(true)
    } else if is(["false", "f", "no", "n", "off", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// Parses an integer without surrounding spaces.
#[must_use]
#[inline]
pub fn integer(text: &str) -> Option<i64> {
    // The standard library has the same grammar.
    text.parse().ok().filter(|_| text.len() <= LONGEST_NUMBER)
}

/// Parses a finite number without surrounding spaces.
#[must_use]
#[inline]
pub fn number(text: &str) -> Option<f64> {
    // The standard library has the same grammar, and words such as `inf` and `nan`.
    let plain = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    if text.len() > LONGEST_NUMBER || !text.bytes().all(plain) {
        return None;
    }
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Parses a date without surrounding spaces.
#[must_use]
#[inline]
pub fn date(text: &[u8]) -> Option<i32> {
    let [a, b, c, d, b'-', e, f, b'-', g, h] = text else {
        return None;
    };
    let year = i16::from(two(*a, *b)?) * 100 + i16::from(two(*c, *d)?);
    time::day(year, two(*e, *f)?, two(*g, *h)?)
}

/// Parses a timestamp without surrounding spaces.
#[must_use]
#[inline]
pub fn timestamp(text: &[u8]) -> Option<i64> {
    let (day, rest) = text.split_at_checked(10)?;
    let midnight = time::midnight(date(day)?)?;
    let [b'T' | b' ', a, b, b':', c, d, b':', e, f, rest @ ..] = rest else {
        return rest.is_empty().then_some(midnight);
    };
    let clock = clock(two(*a, *b)?, two(*c, *d)?)?;
    let seconds = within(two(*e, *f)?, 59)?;
    let (fraction, rest) = fraction(rest)?;
    let time = midnight + (clock * 60 + seconds) * 1_000_000 + fraction - offset(rest)?;
    time::day_of(time).map(|_| time)
}

/// The microseconds of the digits after a point, and the text that follows.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.', rest @ ..] = text else {
        return Some((0, text));
    };
    let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at_checked(count)?;
    if !(1..=9).contains(&count) {
        return None;
    }
    let mut digits = digits.iter();
    let microseconds = (0..6).fold(0, |sum, _| {
        let digit = digits.next().map_or(0, |byte| i64::from(byte - b'0'));
        sum * 10 + digit
    });
    Some((microseconds, rest))
}

/// The offset from UTC in microseconds, positive to the east.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        [] | [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), a, b, b':', c, d] => {
            let minutes = clock(two(*a, *b)?, two(*c, *d)?)?;
            // PostgreSQL has no larger offsets.
            if minutes >= 16 * 60 {
                return None;
            }
            let minutes = if *sign == b'+' { minutes } else { -minutes };
            Some(minutes * 60_000_000)
        }
        _ => None,
    }
}

/// The minutes of an offset.
fn clock(hours: i8, minutes: i8) -> Option<i64> {
    Some(within(hours, 23)? * 60 + within(minutes, 59)?)
}

fn within(value: i8, most: i8) -> Option<i64> {
    (value <= most).then_some(value.into())
}

/// The value of two digits.
fn two(tens: u8, ones: u8) -> Option<i8> {
    if !tens.is_ascii_digit() || !ones.is_ascii_digit() {
        return None;
    }
    i8::try_from((tens - b'0') * 10 + (ones - b'0')).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing(kind: Type, texts: &[&str]) {
        for text in texts {
            assert_eq!(kind.read(text), Value::Null, "{kind} {text:?}");
        }
    }

    #[test]
    fn booleans() {
        for text in ["true", "T", " Yes ", "y", "ON", "1"] {
            assert_eq!(Type::Boolean.read(text), Value::Boolean(true), "{text}");
        }
        for text in ["false", "F", "no", "N", "off", "0"] {
            assert_eq!(Type::Boolean.read(text), Value::Boolean(false), "{text}");
        }
        nothing(Type::Boolean, &["", "tr", "2", "ja", "\ttrue", "of", "01"]);
    }

    #[test]
    fn integers() {
        let cases = [
            ("0", 0),
            ("-0", 0),
            ("+7", 7),
            (" 007 ", 7),
            ("-9223372036854775808", i64::MIN),
            ("9223372036854775807", i64::MAX),
        ];
        for (text, value) in cases {
            assert_eq!(Type::Integer.read(text), Value::Integer(value), "{text}");
        }
        let bad = [
            "",
            "-",
            "+",
            "1.0",
            "1e3",
            "0x1",
            "1_000",
            "1,000",
            "١",
            "\t1",
            "1\n",
            "- 1",
            "--1",
            "9223372036854775808",
            "-9223372036854775809",
            "NULL",
            "nan",
        ];
        nothing(Type::Integer, &bad);
    }

    #[test]
    fn numbers() {
        let cases = [
            ("0", 0.0),
            ("-0.0", 0.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("+1.5e3", 1500.0),
            (" 1E-400 ", 0.0),
            ("1.7976931348623157e308", f64::MAX),
            ("5e-324", 5e-324),
        ];
        for (text, value) in cases {
            assert_eq!(Type::Number.read(text), Value::Number(value), "{text}");
        }
        let bad = [
            "",
            ".",
            "e",
            "e5",
            "-",
            "1e",
            "1e+",
            "inf",
            "-Infinity",
            "NaN",
            "1e309",
            "-1e999",
            "0x1p3",
            "1_0",
            "1,5",
            "1.2.3",
            "\u{a0}1",
            "1d",
        ];
        nothing(Type::Number, &bad);
    }

    #[test]
    fn dates() {
        assert_eq!(Type::Date.read("1970-01-02"), Value::Date(1));
        assert_eq!(Type::Date.read(" 2024-02-29 "), Value::Date(19_782));
        assert_eq!(Type::Date.read("9999-12-31"), Value::Date(time::LAST_DAY));
        let bad = [
            "",
            "2023-02-29",
            "0000-01-01",
            "2024-13-01",
            "2024-00-01",
            "2024-1-1",
            "20240101",
            "+2024-01-01",
            "2024-01-01T00:00:00",
            "10000-01-01",
            "2024/01/01",
            "2024-01-0é",
        ];
        nothing(Type::Date, &bad);
    }

    #[test]
    fn timestamps() {
        let cases = [
            ("1970-01-01", 0),
            ("1970-01-01 00:00:01", 1_000_000),
            ("1970-01-01T00:00:00.5Z", 500_000),
            ("1970-01-01T00:00:00.123456789", 123_456),
            ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T23:00:00.000001-01:00", 1),
        ];
        for (text, value) in cases {
            assert_eq!(
                Type::Timestamp.read(text),
                Value::Timestamp(value),
                "{text}"
            );
        }
        let bad = [
            "",
            "1970-01-01T",
            "1970-01-01T00:00",
            "1970-01-01T24:00:00",
            "1970-01-01T00:60:00",
            "1970-01-01T00:00:60",
            "1970-01-01T00:00:00.",
            "1970-01-01T00:00:00.1234567890",
            "1970-01-01T00:00:00z",
            "1970-01-01T00:00:00+1",
            "1970-01-01T00:00:00+16:00",
            "1970-01-01t00:00:00",
            "1970-01-01T00:00:00 UTC",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "1970-01-01  00:00:00",
        ];
        nothing(Type::Timestamp, &bad);
    }
}
