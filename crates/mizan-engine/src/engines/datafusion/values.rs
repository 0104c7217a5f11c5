//! Conversions between arrays and values.

use std::cmp::Ordering;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder, Date32Array, Date32Builder,
    Float64Array, Float64Builder, Int64Array, Int64Builder, StringArray, StringViewArray,
    StringViewBuilder, TimestampMicrosecondArray, TimestampMicrosecondBuilder,
};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{Result, exec_err};
use mizan_sql::{Type, Value};

/// The array type of a type within the engine.
pub(crate) const fn data_type(kind: Type) -> DataType {
    match kind {
        Type::Boolean => DataType::Boolean,
        Type::Integer => DataType::Int64,
        Type::Number => DataType::Float64,
        Type::Text => DataType::Utf8View,
        Type::Date => DataType::Date32,
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// A typed view of an array.
pub(super) enum Values<'a> {
    /// True or false.
    Boolean(&'a BooleanArray),
    /// Integers.
    Integer(&'a Int64Array),
    /// Numbers.
    Number(&'a Float64Array),
    /// Text of columns.
    Text(&'a StringViewArray),
    /// Text of literals.
    PlainText(&'a StringArray),
    /// Days since 1970.
    Date(&'a Date32Array),
    /// Microseconds since 1970.
    Timestamp(&'a TimestampMicrosecondArray),
}

impl<'a> Values<'a> {
    /// A view of an array.
    pub(super) fn new(array: &'a dyn Array) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Boolean(array.as_boolean()),
            DataType::Int64 => Self::Integer(array.as_primitive::<Int64Type>()),
            DataType::Float64 => Self::Number(array.as_primitive::<Float64Type>()),
            DataType::Utf8View => Self::Text(array.as_string_view()),
            DataType::Utf8 => Self::PlainText(array.as_string::<i32>()),
            DataType::Date32 => Self::Date(array.as_primitive::<Date32Type>()),
            DataType::Timestamp(TimeUnit::Microsecond, None) => {
                Self::Timestamp(array.as_primitive::<TimestampMicrosecondType>())
            }
            other => return exec_err!("unexpected type {other}"),
        })
    }

    /// Whether the value of a row is NULL. The row must exist.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Boolean(array) => array.is_null(row),
            Self::Integer(array) => array.is_null(row),
            Self::Number(array) => array.is_null(row),
            Self::Text(array) => array.is_null(row),
            Self::PlainText(array) => array.is_null(row),
            Self::Date(array) => array.is_null(row),
            Self::Timestamp(array) => array.is_null(row),
        }
    }

    /// The text of a row, without copying.
    pub(super) fn text(&self, row: usize) -> Option<&'a str> {
        match self {
            Self::Text(array) if !array.is_null(row) => Some(array.value(row)),
            Self::PlainText(array) if !array.is_null(row) => Some(array.value(row)),
            _ => None,
        }
    }

    /// The value of a row. The row must exist.
    pub(super) fn get(&self, row: usize) -> Value {
        if self.is_null(row) {
            return Value::Null;
        }
        match self {
            Self::Boolean(array) => Value::Boolean(array.value(row)),
            Self::Integer(array) => Value::Integer(array.value(row)),
            Self::Number(array) => Value::number(array.value(row)),
            Self::Text(array) => Value::Text(array.value(row).to_owned()),
            Self::PlainText(array) => Value::Text(array.value(row).to_owned()),
            Self::Date(array) => Value::Date(array.value(row)),
            Self::Timestamp(array) => Value::Timestamp(array.value(row)),
        }
    }

    /// Compares a row with a row of another array of the same type; NULL comes first.
    pub(super) fn compare(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let both = (self.is_null(row), other.is_null(other_row));
        if let (true, _) | (_, true) = both {
            return both.1.cmp(&both.0);
        }
        match (self.text(row), other.text(other_row)) {
            (Some(text), Some(other)) => text.cmp(other),
            _ => self.get(row).cmp(&other.get(other_row)),
        }
    }

    /// Adds the bytes of a row, or NULL, to a hash: as [`crate::sampling_hash::hash`].
    pub(super) fn hash(&self, row: usize, hasher: &mut crate::sampling_hash::Hasher) {
        if self.is_null(row) {
            return hasher.null();
        }
        match self {
            Self::Boolean(array) => hasher.bytes(&[u8::from(array.value(row))]),
            Self::Integer(array) => hasher.bytes(&array.value(row).to_be_bytes()),
            Self::Number(array) => hasher.bytes(&array.value(row).to_bits().to_be_bytes()),
            Self::Text(array) => hasher.bytes(array.value(row).as_bytes()),
            Self::PlainText(array) => hasher.bytes(array.value(row).as_bytes()),
            Self::Date(array) => hasher.bytes(&array.value(row).to_be_bytes()),
            Self::Timestamp(array) => hasher.bytes(&array.value(row).to_be_bytes()),
        }
    }
}

/// An array of values. A value of another type becomes NULL.
pub(crate) fn array_of(kind: Type, values: impl Iterator<Item = Value>) -> ArrayRef {
    macro_rules! built {
        ($builder:expr, $variant:ident) => {{
            let mut builder = $builder;
            for value in values {
                match value {
                    Value::$variant(value) => builder.append_value(value),
                    _ => builder.append_null(),
                }
            }
            Arc::new(builder.finish()) as ArrayRef
        }};
    }
    match kind {
        Type::Boolean => built!(BooleanBuilder::new(), Boolean),
        Type::Integer => built!(Int64Builder::new(), Integer),
        Type::Number => built!(Float64Builder::new(), Number),
        Type::Text => built!(StringViewBuilder::new(), Text),
        Type::Date => built!(Date32Builder::new(), Date),
        Type::Timestamp => built!(TimestampMicrosecondBuilder::new(), Timestamp),
    }
}

/// Compares rows by several columns, each given with the row.
pub(super) fn compare_rows(
    (a, row): (&[Values<'_>], usize),
    (b, other): (&[Values<'_>], usize),
) -> Ordering {
    let mut orders = a.iter().zip(b).map(|(a, b)| a.compare(row, b, other));
    orders
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}
