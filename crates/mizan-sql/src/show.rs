//! The text and JSON forms of values.

use std::fmt;

use serde_json::Value as Json;

use crate::time;
use crate::value::Value;

/// Text as it is, dates as 2024-01-31, timestamps as 2024-01-31T23:59:59, numbers in the shortest
/// form that parses to the same double, and NULL.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Date(day) => match time::day_text(*day) {
                Some(text) => f.write_str(&text),
                None => write!(f, "day {day}"),
            },
            Self::Timestamp(at) => match time::time_text(*at) {
                Some(text) => f.write_str(&text),
                None => write!(f, "microsecond {at}"),
            },
        }
    }
}

impl Value {
    /// As JSON: dates and timestamps are texts, infinities are null.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Null => Json::Null,
            Self::Boolean(value) => Json::from(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Number(value) => Json::from(*value),
            Self::Text(_) | Self::Date(_) | Self::Timestamp(_) => Json::from(self.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_documented_texts() {
        let shown = |value: Value| (value.to_string(), value.to_json());
        assert_eq!(
            shown(Value::Date(20_089)),
            ("2025-01-01".into(), "2025-01-01".into())
        );
        assert_eq!(shown(Value::Number(0.1)), ("0.1".into(), 0.1.into()));
        assert_eq!(shown(Value::Integer(-3)), ("-3".into(), (-3).into()));
        assert_eq!(shown(Value::Null), ("NULL".into(), Json::Null));
        assert_eq!(shown(Value::Date(i32::MAX)).0, format!("day {}", i32::MAX));
    }
}
