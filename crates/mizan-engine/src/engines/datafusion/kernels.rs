//! Vectorized implementations of common functions. Others are computed row by row with
//! `Function::apply`; a test compares both.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array};
use datafusion::arrow::compute::{binary, cast};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Float64Type, Int64Type, TimestampMicrosecondType,
};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::ColumnarValue;
use mizan_sql::{Bounds, Function, Quantized};

/// An argument: one value for all rows, or an array.
enum Operand<A, T> {
    Rows(A),
    One(Option<T>),
}

type Integers = Operand<Int64Array, i64>;
type Numbers = Operand<Float64Array, f64>;

/// Computes a function, if it is implemented here.
pub(super) fn fast(
    function: Function,
    arguments: &[ColumnarValue],
    rows: usize,
) -> Result<Option<ArrayRef>> {
    let kinds: Vec<DataType> = arguments.iter().map(ColumnarValue::data_type).collect();
    let computed = match (arguments, kinds.as_slice()) {
        ([a, b], [DataType::Int64, DataType::Int64]) if function != Function::Divide => {
            let Some((total, checked)) = of_integers(function) else {
                return Ok(None);
            };
            let (a, b) = (integers(a)?, integers(b)?);
            Arc::new(apply_integers(&a, &b, rows, total, checked)?) as ArrayRef
        }
        ([a, b], [first, second]) if is_numeric(first) && is_numeric(second) => {
            let (a, b) = (numbers(a)?, numbers(b)?);
            Arc::new(match function {
                Function::Add => apply_numbers(&a, &b, rows, |a, b| a + b)?,
                Function::Subtract => apply_numbers(&a, &b, rows, |a, b| a - b)?,
                Function::Multiply => apply_numbers(&a, &b, rows, |a, b| a * b)?,
                Function::Divide => {
                    apply_numbers(&a, &b, rows, |a, b| if b == 0.0 { f64::NAN } else { a / b })?
                }
                _ => return Ok(None),
            })
        }
        ([ColumnarValue::Array(array)], [DataType::Float64]) => {
            let array = array.as_primitive::<Float64Type>();
            Arc::new(without_nan(match function {
                Function::Negate => array.unary(|value| 0.0 - value),
                Function::Floor => array.unary(|value| value.floor() + 0.0),
                Function::Ceil => array.unary(|value| value.ceil() + 0.0),
                Function::Round => array.unary(|value| value.round() + 0.0),
                Function::Abs => array.unary(f64::abs),
                Function::Sqrt => array.unary(f64::sqrt),
                _ => return Ok(None),
            }))
        }
        _ => return Ok(None),
    };
    Ok(Some(computed))
}

const fn is_numeric(kind: &DataType) -> bool {
    matches!(kind, DataType::Int64 | DataType::Float64)
}

fn integers(argument: &ColumnarValue) -> Result<Integers> {
    match argument {
        ColumnarValue::Array(array) => Ok(Operand::Rows(array.as_primitive::<Int64Type>().clone())),
        ColumnarValue::Scalar(ScalarValue::Int64(value)) => Ok(Operand::One(*value)),
        ColumnarValue::Scalar(other) => exec_err!("unexpected type {}", other.data_type()),
    }
}

#[allow(clippy::cast_precision_loss, reason = "to the nearest, as documented")]
fn numbers(argument: &ColumnarValue) -> Result<Numbers> {
    match argument {
        ColumnarValue::Array(array) => Ok(Operand::Rows(
            as_numbers(array)?.as_primitive::<Float64Type>().clone(),
        )),
        ColumnarValue::Scalar(ScalarValue::Float64(value)) => Ok(Operand::One(*value)),
        ColumnarValue::Scalar(ScalarValue::Int64(value)) => {
            Ok(Operand::One(value.map(|value| value as f64)))
        }
        ColumnarValue::Scalar(other) => exec_err!("unexpected type {}", other.data_type()),
    }
}

type Total = fn(i64, i64) -> (i64, bool);
type Checked = fn(i64, i64) -> Option<i64>;

/// The function with an overflow flag in one pass, and the checked function.
fn of_integers(function: Function) -> Option<(Total, Checked)> {
    match function {
        Function::Add => Some((i64::overflowing_add, i64::checked_add)),
        Function::Subtract => Some((i64::overflowing_sub, i64::checked_sub)),
        Function::Multiply => Some((i64::overflowing_mul, i64::checked_mul)),
        _ => None,
    }
}

fn apply_integers(
    a: &Integers,
    b: &Integers,
    rows: usize,
    total: Total,
    checked: Checked,
) -> Result<Int64Array> {
    Ok(match (a, b) {
        (Operand::Rows(a), Operand::Rows(b)) => {
            let pairs = || a.values().iter().zip(b.values());
            if pairs().any(|(a, b)| total(*a, *b).1) {
                // Overflow is rare. If it occurs, every row is checked.
                let pairs = a.iter().zip(b.iter());
                pairs.map(|(a, b)| checked(a?, b?)).collect()
            } else {
                binary(a, b, |a, b| total(a, b).0)?
            }
        }
        (Operand::Rows(a), Operand::One(Some(b))) => a.unary_opt(|a| checked(a, *b)),
        (Operand::One(Some(a)), Operand::Rows(b)) => b.unary_opt(|b| checked(*a, b)),
        (Operand::One(Some(a)), Operand::One(Some(b))) => {
            std::iter::repeat_n(checked(*a, *b), rows).collect()
        }
        _ => Int64Array::new_null(rows),
    })
}

fn apply_numbers(
    a: &Numbers,
    b: &Numbers,
    rows: usize,
    function: impl Fn(f64, f64) -> f64,
) -> Result<Float64Array> {
    // Adding zero turns minus zero into zero and changes nothing else.
    let function = |a, b| function(a, b) + 0.0;
    Ok(without_nan(match (a, b) {
        (Operand::Rows(a), Operand::Rows(b)) => binary(a, b, function)?,
        (Operand::Rows(a), Operand::One(Some(b))) => a.unary(|a| function(a, *b)),
        (Operand::One(Some(a)), Operand::Rows(b)) => b.unary(|b| function(*a, b)),
        (Operand::One(Some(a)), Operand::One(Some(b))) => {
            Float64Array::from_value(function(*a, *b), rows)
        }
        _ => Float64Array::new_null(rows),
    }))
}

/// NaN becomes NULL.
fn without_nan(array: Float64Array) -> Float64Array {
    if array.values().iter().any(|value| value.is_nan()) {
        array.unary_opt(|value| (!value.is_nan()).then_some(value))
    } else {
        array
    }
}

/// NaN becomes NULL, minus zero becomes zero.
pub(super) fn canonical(array: &Float64Array) -> Float64Array {
    without_nan(array.unary(|value| value + 0.0))
}

/// Integers, days and microseconds as numbers.
fn as_numbers(array: &ArrayRef) -> Result<ArrayRef> {
    let numbers = match array.data_type() {
        DataType::Float64 => return Ok(Arc::clone(array)),
        DataType::Date32 => array
            .as_primitive::<Date32Type>()
            .unary::<_, Float64Type>(f64::from),
        DataType::Timestamp(..) => {
            #[allow(clippy::cast_precision_loss, reason = "to the nearest, as documented")]
            let numbers = array
                .as_primitive::<TimestampMicrosecondType>()
                .unary::<_, Float64Type>(|value| value as f64);
            numbers
        }
        _ => return Ok(cast(array, &DataType::Float64)?),
    };
    Ok(Arc::new(numbers))
}

/// The quantized integers of numbers, dates or timestamps.
pub(super) fn quantize(array: &ArrayRef, how: &Quantized) -> Result<ArrayRef> {
    let numbers = as_numbers(array)?;
    let numbers = numbers.as_primitive::<Float64Type>();
    let integers: Int64Array = numbers.unary(how.to_integer());
    Ok(Arc::new(integers))
}

/// Values clamped to public bounds.
pub(super) fn clamp(array: &ArrayRef, low: f64, high: f64) -> Result<ArrayRef> {
    if let DataType::Float64 = array.data_type() {
        let numbers = array.as_primitive::<Float64Type>();
        let clamped: Float64Array = numbers.unary(|value| value.max(low).min(high));
        return Ok(Arc::new(clamped));
    }
    let Some((low, high)) = (Bounds { low, high }).whole() else {
        return Ok(datafusion::arrow::array::new_null_array(
            array.data_type(),
            array.len(),
        ));
    };
    Ok(match array.data_type() {
        DataType::Int64 => Arc::new(
            array
                .as_primitive::<Int64Type>()
                .unary::<_, Int64Type>(|value| value.clamp(low, high)),
        ),
        DataType::Date32 => {
            let day = |value: i64| {
                i32::try_from(value).unwrap_or(if value < 0 { i32::MIN } else { i32::MAX })
            };
            let (low, high) = (day(low), day(high));
            Arc::new(
                array
                    .as_primitive::<Date32Type>()
                    .unary::<_, Date32Type>(|value| value.clamp(low, high)),
            )
        }
        DataType::Timestamp(..) => Arc::new(
            array
                .as_primitive::<TimestampMicrosecondType>()
                .unary::<_, TimestampMicrosecondType>(|value| value.clamp(low, high)),
        ),
        other => return exec_err!("unexpected type {other}"),
    })
}
