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
enum Gives {
    /// The type of the first argument.
    First,
    Number,
    Integer,
    Text,
    /// The type of the second argument.
    Second,
}

/// Scalar functions.
const SCALAR: &[(&str, Gives)] = &[
    ("abs", Gives::First),
    ("bucket", Gives::First),
    ("btrim", Gives::Text),
    ("ceil", Gives::First),
    ("ceiling", Gives::First),
    ("char_length", Gives::Integer),
    ("character_length", Gives::Integer),
    ("coalesce", Gives::First),
    ("concat", Gives::Text),
    ("date_part", Gives::Integer),
    ("date_trunc", Gives::Second),
    ("floor", Gives::First),
    ("greatest", Gives::First),
    ("ifnull", Gives::First),
    ("least", Gives::First),
    ("left", Gives::Text),
    ("length", Gives::Integer),
    ("lower", Gives::Text),
    ("mod", Gives::Integer),
    ("nullif", Gives::First),
    ("nvl", Gives::First),
    ("round", Gives::First),
    ("sign", Gives::First),
    ("signum", Gives::First),
    ("sqrt", Gives::Number),
    ("substr", Gives::Text),
    ("substring", Gives::Text),
    ("trim", Gives::Text),
    ("upper", Gives::Text),
];

/// Aggregate functions.
const AGGREGATE: &[(&str, Gives)] = &[
    ("approx_median", Gives::First),
    ("approx_percentile_cont", Gives::First),
    ("avg", Gives::Number),
    ("count", Gives::Integer),
    ("max", Gives::First),
    ("mean", Gives::Number),
    ("median", Gives::First),
    ("min", Gives::First),
    ("percentile_cont", Gives::First),
    ("quantile", Gives::First),
    ("quantile_cont", Gives::First),
    ("stddev", Gives::Number),
    ("stddev_pop", Gives::Number),
    ("stddev_samp", Gives::Number),
    ("sum", Gives::First),
    ("var", Gives::Number),
    ("var_pop", Gives::Number),
    ("var_samp", Gives::Number),
    ("variance", Gives::Number),
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

fn stub(list: &[(&'static str, Gives)], name: &str) -> Option<Stub> {
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
    gives: Gives,
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
            Gives::First => argument(0),
            Gives::Second => match argument(1) {
                DataType::Null => DataType::Timestamp(TimeUnit::Microsecond, None),
                other => other,
            },
            Gives::Number => DataType::Float64,
            Gives::Integer => DataType::Int64,
            Gives::Text => DataType::Utf8,
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
        matches!(
            self.name,
            "percentile_cont" | "approx_percentile_cont" | "quantile_cont"
        )
    }
}
