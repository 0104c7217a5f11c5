//! The types of columns and their values.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest stored text, in bytes. Every source reads a longer one as `NULL`.
pub const LONGEST_STORED_TEXT: usize = 1 << 20;

/// The longest text that a function makes, in bytes. A longer one is `NULL`.
pub const LONGEST_COMPUTED_TEXT: usize = 64 << 10;

/// The type of a column. Every value of a file or table is read as one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// True or false.
    Boolean,
    /// 64-bit integers.
    Integer,
    /// Double-precision numbers.
    Number,
    /// Text, compared by its bytes.
    Text,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since 1970-01-01, UTC.
    Timestamp,
}

impl Type {
    /// All types.
    pub const ALL: [Self; 6] = [
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::Text,
        Self::Date,
        Self::Timestamp,
    ];

    /// Its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Text => "text",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
        }
    }

    /// Whether values can be added and averaged.
    #[must_use]
    pub const fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::Number)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value or `NULL`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Value {
    /// SQL `NULL`.
    Null,
    /// True or false.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A number; never NaN, which is read as `NULL`.
    Number(f64),
    /// Text.
    Text(String),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp(i64),
}

impl Value {
    /// A number; NaN becomes `NULL` and minus zero becomes zero.
    #[must_use]
    pub fn number(value: f64) -> Self {
        if value.is_nan() {
            Self::Null
        } else {
            Self::Number(value + 0.0)
        }
    }

    /// The type; None for `NULL`.
    #[must_use]
    pub const fn type_of(&self) -> Option<Type> {
        match self {
            Self::Null => None,
            Self::Boolean(_) => Some(Type::Boolean),
            Self::Integer(_) => Some(Type::Integer),
            Self::Number(_) => Some(Type::Number),
            Self::Text(_) => Some(Type::Text),
            Self::Date(_) => Some(Type::Date),
            Self::Timestamp(_) => Some(Type::Timestamp),
        }
    }

    /// Whether it is `NULL`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// An integer or a number, as a double.
    #[must_use]
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            #[allow(clippy::cast_precision_loss, reason = "as SQL does")]
            Self::Integer(value) => Some(*value as f64),
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// Compares two values of one type as SQL does; None if one is `NULL` or the types differ.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Text(a), Self::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(a.cmp(b)),
            _ => self.as_f64()?.partial_cmp(&other.as_f64()?),
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Boolean(_) => 1,
            Self::Integer(_) => 2,
            Self::Number(_) => 3,
            Self::Text(_) => 4,
            Self::Date(_) => 5,
            Self::Timestamp(_) => 6,
        }
    }
}

/// A total order for keys: `NULL` first, then by type, then by value.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(b),
            _ if self.rank() == other.rank() => self.compare(other).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        };
        self.rank().cmp(&other.rank()).then(by_value)
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_null_and_minus_zero_is_zero() {
        assert!(Value::number(f64::NAN).is_null());
        assert_eq!(Value::number(-0.0), Value::Number(0.0));
        assert_eq!(
            Value::number(-0.0).as_f64().map(f64::is_sign_negative),
            Some(false)
        );
    }

    #[test]
    fn keys_are_ordered_totally() {
        let mut keys = [
            Value::Text("b".into()),
            Value::Integer(3),
            Value::Null,
            Value::Number(f64::INFINITY),
            Value::Integer(-3),
            Value::Text(String::new()),
        ];
        keys.sort();
        assert_eq!(keys[0], Value::Null);
        assert_eq!(keys[1], Value::Integer(-3));
        assert_eq!(keys[5], Value::Text("b".into()));
    }
}
