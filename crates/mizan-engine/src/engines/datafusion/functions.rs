//! Functions that DataFusion lacks, or whose errors depend on data: ours are total. Their names
//! begin with `mizan_`.

use std::hash::{Hash, Hasher as StdHasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use mizan_sql::{Bounds, Expr, Function, Quantized, TimePart, TimeUnit, Type, Value};

use super::bloom::may_contain;
use super::kernels;
use super::source;
use super::texts;
use super::values::{Values, array_of, data_type};
use crate::sampling_hash::{Hasher, Salt};

/// What one of our functions does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) enum Does {
    /// A function of expressions with this result type.
    Call(Function, Type),
    /// A cast.
    Cast(Type),
    /// Converts a column of a file to one of our types. Argument: the column.
    Read(Type),
    /// Arguments: the column, the lower and the upper bound.
    Clamp(Type),
    /// Arguments: the value, bounds, centre, exponent, whether it is squared.
    Quantize,
    /// Arguments: the salt, the values.
    Hash,
    /// Returns the first argument; the second hides it from the planner.
    Same(Type),
    /// NULL, but unknown to the planner.
    Unknown,
    /// Arguments: a Bloom filter, the unit. Whether the unit may be in the filter.
    Among,
}

impl Does {
    /// The name of the function.
    pub(in crate::engines) fn name(self) -> String {
        match self {
            Self::Call(function, makes) => {
                format!("mizan_{}_{}", word(function), makes.name())
            }
            Self::Cast(to) => format!("mizan_cast_{}", to.name()),
            Self::Read(kind) => format!("mizan_read_{}", kind.name()),
            Self::Clamp(kind) => format!("mizan_clamp_{}", kind.name()),
            Self::Quantize => "mizan_quantize".to_owned(),
            Self::Hash => "mizan_hash".to_owned(),
            Self::Same(kind) => format!("mizan_same_{}", kind.name()),
            Self::Unknown => "mizan_unknown".to_owned(),
            Self::Among => "mizan_among".to_owned(),
        }
    }

    const fn makes(self) -> Type {
        match self {
            Self::Call(_, makes)
            | Self::Cast(makes)
            | Self::Read(makes)
            | Self::Clamp(makes)
            | Self::Same(makes) => makes,
            Self::Quantize | Self::Hash | Self::Unknown => Type::Integer,
            Self::Among => Type::Boolean,
        }
    }

    fn all() -> Vec<Self> {
        let mut all = vec![Self::Quantize, Self::Hash, Self::Unknown, Self::Among];
        for kind in Type::ALL {
            all.extend([Self::Cast(kind), Self::Read(kind)]);
            all.extend([Self::Clamp(kind), Self::Same(kind)]);
            let functions = FUNCTIONS.into_iter();
            let functions = functions
                .chain(TimeUnit::ALL.map(Function::Truncate))
                .chain(TimePart::ALL.map(Function::Extract));
            all.extend(functions.map(|function| Self::Call(function, kind)));
        }
        all
    }
}

/// All functions, to be registered in a session.
pub(in crate::engines) fn all() -> Vec<ScalarUDF> {
    let all = Does::all().into_iter();
    all.map(|does| ScalarUDF::new_from_impl(MizanFunction::new(does)))
        .collect()
}

const FUNCTIONS: [Function; 21] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::Remainder,
    Function::Negate,
    Function::Like,
    Function::NullIf,
    Function::Floor,
    Function::Ceil,
    Function::Round,
    Function::Abs,
    Function::Sign,
    Function::Sqrt,
    Function::Lower,
    Function::Upper,
    Function::Trim,
    Function::Length,
    Function::Substring,
    Function::Concat,
    Function::Bucket,
];

/// The name of a function.
fn word(function: Function) -> String {
    format!("{function:?}")
        .to_lowercase()
        .replace('(', "_")
        .replace(')', "")
}

/// One of our functions, as a DataFusion UDF.
#[derive(Debug)]
struct MizanFunction {
    does: Does,
    name: String,
    signature: Signature,
}

impl MizanFunction {
    fn new(does: Does) -> Self {
        Self {
            does,
            name: does.name(),
            signature: match does {
                Does::Unknown => Signature::nullary(Volatility::Volatile),
                _ => Signature::variadic_any(Volatility::Immutable),
            },
        }
    }
}

// The name identifies the function.
impl PartialEq for MizanFunction {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for MizanFunction {}

impl Hash for MizanFunction {
    fn hash<H: StdHasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for MizanFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(data_type(self.does.makes()))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = arguments
            .args
            .iter()
            .all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { arguments.number_rows };
        let computed = compute(self.does, &arguments.args, rows)?;
        if constant {
            let value = ScalarValue::try_from_array(&computed, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(computed))
    }
}

fn compute(does: Does, arguments: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    match does {
        Does::Call(Function::Concat, _) => texts::concat(arguments, rows),
        Does::Call(Function::NullIf, Type::Text) => match arguments {
            [ColumnarValue::Array(array), other] if array.data_type() == &DataType::Utf8View => {
                texts::null_if(array.as_string_view(), other, rows)
            }
            _ => by_row(Function::NullIf, arguments, rows, Type::Text),
        },
        Does::Call(function, makes) => match kernels::fast(function, arguments, rows)? {
            Some(computed) => Ok(computed),
            None => by_row(function, arguments, rows, makes),
        },
        Does::Cast(to) => cast(&array(arguments, 0, rows)?, to),
        Does::Read(_) => source::read(&array(arguments, 0, rows)?),
        Does::Clamp(_) => kernels::clamp(
            &array(arguments, 0, rows)?,
            number(arguments, 1)?,
            number(arguments, 2)?,
        ),
        Does::Quantize => {
            let how = quantized(arguments)?;
            kernels::quantize(&array(arguments, 0, rows)?, &how)
        }
        Does::Hash => hash(arguments, rows),
        // A text literal has another array type than a text column.
        Does::Same(Type::Text) => source::read(&array(arguments, 0, rows)?),
        Does::Same(_) => array(arguments, 0, rows),
        Does::Unknown => Ok(array_of(Type::Integer, std::iter::once(Value::Null))),
        Does::Among => {
            let Some(ColumnarValue::Scalar(ScalarValue::Binary(Some(bits)))) = arguments.first()
            else {
                return exec_err!("no bits");
            };
            let units = arguments.iter().skip(1).map(|unit| unit.to_array(rows));
            Ok(Arc::new(may_contain(
                bits,
                &units.collect::<Result<Vec<_>>>()?,
            )?))
        }
    }
}

fn array(arguments: &[ColumnarValue], place: usize, rows: usize) -> Result<ArrayRef> {
    match arguments.get(place) {
        Some(argument) => argument.to_array(rows),
        None => exec_err!("too few arguments"),
    }
}

/// A literal.
fn literal(arguments: &[ColumnarValue], place: usize) -> Result<Value> {
    match arguments.get(place) {
        Some(ColumnarValue::Scalar(value)) => Ok(Values::new(&value.to_array()?)?.get(0)),
        _ => exec_err!("an argument is not a literal"),
    }
}

fn number(arguments: &[ColumnarValue], place: usize) -> Result<f64> {
    match literal(arguments, place)?.as_f64() {
        Some(value) => Ok(value),
        None => exec_err!("an argument is not a number"),
    }
}

fn quantized(arguments: &[ColumnarValue]) -> Result<Quantized> {
    let bounds = Bounds::new(number(arguments, 1)?, number(arguments, 2)?);
    let exponent = match literal(arguments, 4)? {
        Value::Integer(value) => i32::try_from(value).ok(),
        _ => None,
    };
    let (Some(bounds), Some(exponent), Value::Boolean(squared)) =
        (bounds, exponent, literal(arguments, 5)?)
    else {
        return exec_err!("no steps");
    };
    Ok(Quantized {
        bounds,
        centre: number(arguments, 3)?,
        exponent,
        squared,
    })
}

/// The reference implementation, row by row.
fn by_row(
    function: Function,
    arguments: &[ColumnarValue],
    rows: usize,
    makes: Type,
) -> Result<ArrayRef> {
    // Arguments that are the same for all rows are evaluated once.
    let mut arrays = Vec::with_capacity(arguments.len());
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let (array, value) = match argument {
            ColumnarValue::Array(array) => (Some(Arc::clone(array)), Value::Null),
            ColumnarValue::Scalar(value) => (None, Values::new(&value.to_array()?)?.get(0)),
        };
        arrays.push(array);
        values.push(value);
    }
    let columns = arrays
        .iter()
        .map(|array| array.as_ref().map(|array| Values::new(array)).transpose())
        .collect::<Result<Vec<_>>>()?;
    let results = (0..rows).map(|row| {
        for (value, column) in values.iter_mut().zip(&columns) {
            if let Some(column) = column {
                *value = column.get(row);
            }
        }
        function.apply(&values)
    });
    Ok(array_of(makes, results))
}

fn cast(array: &ArrayRef, to: Type) -> Result<ArrayRef> {
    let values = Values::new(array)?;
    if matches!(values, Values::Text(_) | Values::PlainText(_)) {
        let texts = (0..array.len()).map(|row| values.text(row));
        return Ok(array_of(
            to,
            texts.map(|text| text.map_or(Value::Null, |text| to.read(text))),
        ));
    }
    let cast = Expr::Cast(Box::new(Expr::Column(0)), to);
    let results = (0..array.len()).map(|row| cast.eval(&[values.get(row)]));
    Ok(array_of(to, results))
}

fn hash(arguments: &[ColumnarValue], rows: usize) -> Result<ArrayRef> {
    let Value::Text(text) = literal(arguments, 0)? else {
        return exec_err!("no salt");
    };
    let Some(salt) = salt_of(&text) else {
        return exec_err!("no salt");
    };
    let values = arguments.iter().skip(1);
    let arrays = values
        .map(|argument| argument.to_array(rows))
        .collect::<Result<Vec<_>>>()?;
    let columns = arrays
        .iter()
        .map(|array| Values::new(array))
        .collect::<Result<Vec<_>>>()?;
    let mut hasher = Hasher::new(&salt);
    let salted = hasher.len();
    let hashes = (0..rows).map(|row| {
        hasher.truncate(salted);
        for column in &columns {
            column.hash(row, &mut hasher);
        }
        hasher.finish()
    });
    Ok(Arc::new(Int64Array::from_iter_values(hashes)))
}

/// A salt as text.
pub(super) fn salt_text(salt: &Salt) -> String {
    format!("{:032x}", u128::from_be_bytes(*salt))
}

fn salt_of(text: &str) -> Option<Salt> {
    let value = u128::from_str_radix(text, 16).ok()?;
    Some(value.to_be_bytes())
}
