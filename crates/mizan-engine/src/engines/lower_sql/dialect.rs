//! The differences between engines: how names and values are written, and how each total
//! function is expressed.

use mizan_sql::{Bounds, Dataset, DatasetColumn, Function, Quantized, Type, Value};

use crate::engine::EngineError;
use crate::sampling_hash::Salt;

/// An SQL expression.
#[derive(Clone, Debug)]
pub(crate) struct Sql {
    /// The text, which can be used as an operand anywhere.
    pub(crate) text: String,
    /// Its type.
    pub(crate) kind: Type,
    /// Bounds that its values are guaranteed to satisfy.
    pub(crate) bounds: Option<Bounds>,
}

impl Sql {
    /// An expression without known bounds.
    pub(crate) fn new(text: impl Into<String>, kind: Type) -> Self {
        Self {
            text: text.into(),
            kind,
            bounds: None,
        }
    }
}

/// A dialect of SQL. Everything that it writes is total, and agrees bit for bit with
/// `Expr::eval`, `Quantized::integer` and [`crate::sampling_hash::hash`].
///
/// Comparisons, logic, `IN`, `CASE`, `COALESCE` and the aggregates `COUNT` and `SUM` are
/// written in the same way for all engines: over integers, text in the order of its bytes, and
/// numbers without NaN and minus zero, engines agree on them.
pub(crate) trait Dialect {
    /// An identifier.
    fn identifier(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// A literal. NULL has a type too.
    fn literal(&self, value: &Value, kind: Type) -> String;

    /// A literal that is only compared with, and never becomes a column.
    fn compared(&self, value: &Value, kind: Type) -> String {
        self.literal(value, kind)
    }

    /// A call of a function that differs between engines, with the type and the bounds of its
    /// result.
    fn call(
        &self,
        function: Function,
        arguments: &[Sql],
        makes: Type,
        bounds: Option<Bounds>,
    ) -> String;

    /// A cast.
    fn cast(&self, value: &Sql, to: Type) -> String;

    /// The quantized integer of a number, a date or a timestamp.
    fn quantize(&self, value: &Sql, how: &Quantized) -> String;

    /// The same value, hidden from the planner: some planners fail on sorted columns that they
    /// know to be constant.
    fn opaque(&self, value: &Sql) -> String {
        value.text.clone()
    }

    /// A `CASE` of many branches, hidden from the planner: some planners rewrite a comparison
    /// with it as one condition for each branch, each of which repeats all earlier ones.
    fn many_branches(&self, case: &Sql) -> String {
        case.text.clone()
    }

    /// The least value of a group, or NULL.
    fn min(&self, value: &Sql) -> String {
        format!("MIN({})", value.text)
    }

    /// The greatest value of a group, or NULL.
    fn max(&self, value: &Sql) -> String {
        format!("MAX({})", value.text)
    }

    /// The number of distinct values in a group of private rows.
    fn count_distinct(&self, value: &Sql) -> String {
        format!("COUNT(DISTINCT {})", value.text)
    }

    /// A query whose columns are computed once each: some planners inline a query into the one
    /// around it, and compute a column as often as it is used. Conditions may be moved into the
    /// query if its columns are simple expressions over those of tables (`_is_shallow`).
    fn fenced(&self, query: String, _is_shallow: bool) -> String {
        query
    }

    /// The hash of values.
    fn hash(&self, salt: &Salt, values: &[Sql]) -> String;

    /// The table of a dataset.
    fn table(&self, dataset: &Dataset) -> Result<String, EngineError>;

    /// A column of that table, read as the declared type and clamped to the declared bounds.
    fn read(&self, dataset: &Dataset, column: &DatasetColumn) -> Result<String, EngineError>;
}
