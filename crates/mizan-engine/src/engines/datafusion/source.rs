//! Columns of files as one of our types: every value of a usable type becomes a value or NULL,
//! and none fails.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Date32Array, Decimal128Array, Float64Array, TimestampMicrosecondArray,
};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal128Type, Float64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use datafusion::common::{Result, exec_err};
use mizan_sql::Type;

use super::kernels::canonical;
use super::values::data_type;

/// The type as which a column of a file is read; None if it cannot be used.
pub(super) fn source_type(found: &DataType) -> Option<Type> {
    Some(match found {
        DataType::Boolean => Type::Boolean,
        DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64 => Type::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Type::Number,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => {
            if *scale <= 0 {
                Type::Integer
            } else {
                Type::Number
            }
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => Type::Text,
        DataType::Date32 | DataType::Date64 => Type::Date,
        DataType::Timestamp(..) => Type::Timestamp,
        DataType::Dictionary(_, values) => return source_type(values),
        _ => return None,
    })
}

/// Whether an array of a file has the array type and the values of the engine already.
pub(super) fn is_ready(found: &DataType) -> bool {
    // Numbers may be NaN or minus zero.
    source_type(found).is_some_and(|kind| kind != Type::Number && data_type(kind) == *found)
}

/// The array of a file, converted to the array type of the engine.
pub(super) fn read(array: &ArrayRef) -> Result<ArrayRef> {
    const DAY_MS: i64 = 86_400_000;
    let found = array.data_type();
    let Some(kind) = source_type(found) else {
        return exec_err!("unexpected type {found}");
    };
    Ok(match found {
        DataType::Dictionary(_, values) => read(&cast(array, values)?)?,
        DataType::Date64 => {
            let days: Date32Array = array
                .as_primitive::<Date64Type>()
                .unary_opt::<_, Date32Type>(|time| i32::try_from(time.div_euclid(DAY_MS)).ok());
            Arc::new(days)
        }
        DataType::Timestamp(unit, _) => Arc::new(microseconds(array, *unit)),
        DataType::Decimal128(_, scale) if kind == Type::Number => {
            Arc::new(fractions(array.as_primitive::<Decimal128Type>(), *scale))
        }
        _ if kind == Type::Number => {
            let numbers = cast(array, &DataType::Float64)?;
            let numbers: Float64Array = canonical(numbers.as_primitive::<Float64Type>());
            Arc::new(numbers)
        }
        _ => cast(array, &data_type(kind))?,
    })
}

/// Values that do not fit become NULL.
fn cast(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions {
        safe: true,
        ..CastOptions::default()
    };
    Ok(cast_with_options(array, to, &options)?)
}

/// The same result as a cast, but the power of ten is computed once, and few numbers need all
/// 128 bits. There is no minus zero.
fn fractions(decimals: &Decimal128Array, scale: i8) -> Float64Array {
    let ten_to_scale = 10_f64.powi(scale.into());
    decimals.unary(|value| {
        let whole = i64::try_from(value).map_or(value as f64, |value| value as f64);
        whole / ten_to_scale
    })
}

/// The time zone of a column affects display only; its values are UTC.
fn microseconds(array: &ArrayRef, unit: TimeUnit) -> TimestampMicrosecondArray {
    type To = TimestampMicrosecondType;
    match unit {
        TimeUnit::Second => array
            .as_primitive::<TimestampSecondType>()
            .unary_opt::<_, To>(|time| time.checked_mul(1_000_000)),
        TimeUnit::Millisecond => array
            .as_primitive::<TimestampMillisecondType>()
            .unary_opt::<_, To>(|time| time.checked_mul(1000)),
        TimeUnit::Microsecond => array.as_primitive::<To>().unary::<_, To>(|time| time),
        TimeUnit::Nanosecond => array
            .as_primitive::<TimestampNanosecondType>()
            .unary::<_, To>(|time| time.div_euclid(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_what_casting_gives() {
        let ends = [
            i128::from(i64::MIN),
            i128::from(i64::MAX),
            1 << 53,
            -(1 << 53),
            0,
        ];
        let near = ends.iter().flat_map(|end| (-3..=3).map(move |by| end + by));
        let long = [10_i128.pow(37) + 12_345, -(10_i128.pow(30)) - 7, 1 << 100];
        let values: Vec<Option<i128>> = near.chain(long).map(Some).chain([None]).collect();
        for scale in [1, 2, 7, 18, 22, 23, 30, 37] {
            let array = Decimal128Array::from(values.clone());
            let array: ArrayRef = Arc::new(array.with_precision_and_scale(38, scale).unwrap());
            let found = read(&array).unwrap();
            let wanted = cast(&array, &DataType::Float64).unwrap();
            let (found, wanted) = (
                found.as_primitive::<Float64Type>(),
                wanted.as_primitive::<Float64Type>(),
            );
            let bits = |array: &Float64Array| -> Vec<Option<u64>> {
                array.iter().map(|value| value.map(f64::to_bits)).collect()
            };
            assert_eq!(bits(found), bits(wanted), "{scale}");
        }
    }
}
