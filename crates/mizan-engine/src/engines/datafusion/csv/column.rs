//! A column of a CSV file: parses fields as the declared type. A field that does not parse is
//! NULL.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Builder, Int64Builder, StringViewBuilder};
use mizan_sql::{Type, Value, read};

use super::super::values::array_of;

/// A builder for the fields of a column.
pub(super) enum Column {
    /// Text.
    Text(StringViewBuilder),
    /// Integers.
    Integer(Int64Builder),
    /// Numbers.
    Number(Float64Builder),
    /// The other types.
    Other(Type, Vec<Value>),
}

impl Column {
    /// An empty column.
    pub(super) fn new(kind: Type) -> Self {
        match kind {
            Type::Text => Self::Text(StringViewBuilder::new()),
            Type::Integer => Self::Integer(Int64Builder::new()),
            Type::Number => Self::Number(Float64Builder::new()),
            Type::Boolean | Type::Date | Type::Timestamp => Self::Other(kind, Vec::new()),
        }
    }

    /// Appends a field, or NULL.
    #[inline]
    #[allow(clippy::cast_precision_loss, reason = "so few digits are exact")]
    pub(super) fn append(&mut self, field: Option<&[u8]>) {
        let text = |field| std::str::from_utf8(field).ok();
        let trimmed = |field| text(field).map(|text| text.trim_matches(' '));
        match self {
            Self::Text(builder) => builder.append_option(field.and_then(text)),
            Self::Integer(builder) => builder.append_option(
                field.and_then(|field| digits(field).or_else(|| read::integer(trimmed(field)?))),
            ),
            Self::Number(builder) => builder.append_option(field.and_then(|field| {
                let whole = digits(field).map(|value| value as f64);
                whole.or_else(|| read::number(trimmed(field)?))
            })),
            Self::Other(kind, values) => {
                let text = field.and_then(text);
                values.push(text.map_or(Value::Null, |text| kind.read(text)));
            }
        }
    }

    /// The finished array.
    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Number(mut builder) => Arc::new(builder.finish()),
            Self::Other(kind, values) => array_of(kind, values.into_iter()),
        }
    }
}

/// An integer of at most 15 digits, which most numeric fields are.
#[inline]
fn digits(field: &[u8]) -> Option<i64> {
    if field.is_empty() || field.len() > 15 {
        return None;
    }
    let mut value = 0_i64;
    for byte in field {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::super::super::values::Values;
    use super::*;

    #[test]
    fn columns_hold_what_the_types_read() {
        let fields = [
            "0",
            "7",
            "-7",
            "+7",
            " 7 ",
            "007",
            "123456789012345",
            "1234567890123456",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "1.5",
            ".5",
            "5.",
            "1e3",
            "1e400",
            "-0",
            "--7",
            "7-",
            "0x7",
            "1_000",
            "nan",
            "inf",
            "true",
            "no",
            "2024-02-29",
            "2023-02-29",
            "2024-02-29T12:00:00Z",
            "a",
            " ",
            "\u{661}",
        ];
        for kind in Type::ALL {
            let mut column = Column::new(kind);
            column.append(None);
            column.append(Some(b"\xff"));
            for field in fields {
                column.append(Some(field.as_bytes()));
            }
            let array = column.finish();
            let values = Values::new(&array).unwrap();
            assert_eq!((values.get(0), values.get(1)), (Value::Null, Value::Null));
            for (place, field) in fields.iter().enumerate() {
                assert_eq!(values.get(place + 2), kind.read(field), "{kind:?} {field}");
            }
        }
    }
}
