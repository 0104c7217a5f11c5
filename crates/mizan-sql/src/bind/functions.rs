//! The functions that a query may call. For the planner they are names with result types only:
//! nothing here computes. A function that is not listed does not exist (C7).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion_common::arrow::datatypes::{DataType, TimeUnit};
use datafusion_common::{Result, not_impl_err};
use datafusion_expr::function::AccumulatorArgs;
use datafusion_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, TypeSignature, Volatility,
};

/// The result type of a function, as far as the planner needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ReturnType {
    /// The type of the first argument.
    First,
    Number,
    Integer,
    Text,
    /// The type of the second argument.
    Second,
}

/// Scalar functions.
const SCALAR: &[(&str, ReturnType)] = &[
    ("abs", ReturnType::First),
    ("bucket", ReturnType::First),
    ("btrim", ReturnType::Text),
    ("ceil", ReturnType::First),
    ("ceiling", ReturnType::First),
    ("char_length", ReturnType::Integer),
    ("character_length", ReturnType::Integer),
    ("coalesce", ReturnType::First),
    ("concat", ReturnType::Text),
    ("date_part", ReturnType::Integer),
    ("date_trunc", ReturnType::Second),
    ("floor", ReturnType::First),
    ("greatest", ReturnType::First),
    ("ifnull", ReturnType::First),
    ("least", ReturnType::First),
    ("left", ReturnType::Text),
    ("length", ReturnType::Integer),
    ("lower", ReturnType::Text),
    ("mod", ReturnType::Integer),
    ("nullif", ReturnType::First),
    ("nvl", ReturnType::First),
    ("round", ReturnType::First),
    ("sign", ReturnType::First),
    ("signum", ReturnType::First),
    ("sqrt", ReturnType::Number),
    ("substr", ReturnType::Text),
    ("substring", ReturnType::Text),
    ("trim", ReturnType::Text),
    ("upper", ReturnType::Text),
];

/// Aggregate functions.
const AGGREGATE: &[(&str, ReturnType)] = &[
    ("approx_median", ReturnType::First),
    ("approx_percentile_cont", ReturnType::First),
    ("avg", ReturnType::Number),
    ("count", ReturnType::Integer),
    ("max", ReturnType::First),
    ("mean", ReturnType::Number),
    ("median", ReturnType::First),
    ("min", ReturnType::First),
    ("percentile_cont", ReturnType::First),
    ("quantile", ReturnType::First),
    ("quantile_cont", ReturnType::First),
    ("stddev", ReturnType::Number),
    ("stddev_pop", ReturnType::Number),
    ("stddev_samp", ReturnType::Number),
    ("sum", ReturnType::First),
    ("var", ReturnType::Number),
    ("var_pop", ReturnType::Number),
    ("var_samp", ReturnType::Number),
    ("variance", ReturnType::Number),
];

/// Functions whose result differs between calls or sessions (C7).
pub(super) const VOLATILE: &[&str] = &[
    "clock_timestamp",
    "current_catalog",
    "current_database",
    "current_date",
    "current_role",
    "current_schema",
    "current_setting",
    "current_time",
    "current_timestamp",
    "current_user",
    "gen_random_uuid",
    "getdate",
    "localtime",
    "localtimestamp",
    "now",
    "rand",
    "random",
    "session_user",
    "sysdate",
    "today",
    "user",
    "uuid",
    "version",
];

/// All names, scalar functions first.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SCALAR.iter().chain(AGGREGATE).map(|(name, _)| *name)
}

/// Whether an aggregate function has this name.
pub(super) fn is_aggregate(name: &str) -> bool {
    AGGREGATE.iter().any(|(known, _)| *known == name)
}

/// The scalar function of this name.
pub(super) fn scalar(name: &str) -> Option<Arc<ScalarUDF>> {
    let stub = stub(SCALAR, name)?;
    Some(Arc::new(ScalarUDF::new_from_impl(stub)))
}

/// The aggregate function of this name.
pub(super) fn aggregate(name: &str) -> Option<Arc<AggregateUDF>> {
    let stub = stub(AGGREGATE, name)?;
    Some(Arc::new(AggregateUDF::new_from_impl(stub)))
}

fn stub(list: &[(&'static str, ReturnType)], name: &str) -> Option<Stub> {
    let (name, gives) = list.iter().find(|(known, _)| *known == name)?;
    Some(Stub {
        name,
        gives: *gives,
        signature: Signature::one_of(
            vec![TypeSignature::VariadicAny, TypeSignature::Nullary],
            Volatility::Immutable,
        ),
    })
}

#[derive(Debug)]
struct Stub {
    name: &'static str,
    gives: ReturnType,
    signature: Signature,
}

// A stub is determined by its name.
impl PartialEq for Stub {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Stub {}

impl Hash for Stub {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Stub {
    fn gives(&self, arguments: &[DataType]) -> DataType {
        let argument = |place: usize| arguments.get(place).cloned().unwrap_or(DataType::Null);
        match self.gives {
            ReturnType::First => argument(0),
            ReturnType::Second => match argument(1) {
                DataType::Null => DataType::Timestamp(TimeUnit::Microsecond, None),
                other => other,
            },
            ReturnType::Number => DataType::Float64,
            ReturnType::Integer => DataType::Int64,
            ReturnType::Text => DataType::Utf8,
        }
    }
}

impl ScalarUDFImpl for Stub {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(self.gives(arguments))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        not_impl_err!("{} is a name only", self.name)
    }
}

impl AggregateUDFImpl for Stub {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(self.gives(arguments))
    }

    fn accumulator(&self, _: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        not_impl_err!("{} is a name only", self.name)
    }

    fn supports_within_group_clause(&self) -> bool {
        takes_within_group(self.name)
    }
}

/// Whether an aggregate is written with `WITHIN GROUP`.
pub(super) fn takes_within_group(name: &str) -> bool {
    matches!(
        name,
        "percentile_cont" | "approx_percentile_cont" | "quantile_cont"
    )
}
