//! What differs from engine to engine: how names and values are written, and how
//! each total function is had.

use mizan_sql::{Bounds, Dataset, DatasetColumn, Function, Quantized, Type, Value};

use crate::engine::EngineError;
use crate::order::Salt;

/// A piece of SQL that has a value.
#[derive(Clone, Debug)]
pub(crate) struct Sql {
    /// The text; safe to put anywhere an operand goes.
    pub(crate) text: String,
    /// What it holds.
    pub(crate) kind: Type,
    /// Where its values lie, for sure.
    pub(crate) bounds: Option<Bounds>,
}

impl Sql {
    /// A piece.
    pub(crate) fn new(text: impl Into<String>, kind: Type) -> Self {
        Self {
            text: text.into(),
            kind,
            bounds: None,
        }
    }
}

/// A dialect of SQL. Whatever it writes is total, and agrees bit for bit with
/// `Expr::eval`, `Quantized::integer` and [`crate::order::hash`].
///
/// Comparisons, logic, `IN`, `CASE`, `COALESCE` and the aggregates `COUNT` and
/// `SUM` are taken as they are: over integers, text in the order
/// of its bytes, and numbers without NaN and minus zero, engines agree on them.
pub(crate) trait Dialect {
    /// A name.
    fn identifier(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// A value. Nothing has a type too.
    fn literal(&self, value: &Value, kind: Type) -> String;

    /// A value that others are compared with: it never becomes a column.
    fn compared(&self, value: &Value, kind: Type) -> String {
        self.literal(value, kind)
    }

    /// A function that is not one of those taken as they are, and makes this, within
    /// these bounds.
    fn call(
        &self,
        function: Function,
        arguments: &[Sql],
        makes: Type,
        bounds: Option<Bounds>,
    ) -> String;

    /// A value as another type.
    fn cast(&self, value: &Sql, to: Type) -> String;

    /// The integer of a number, a date or a timestamp.
    fn quantize(&self, value: &Sql, how: &Quantized) -> String;

    /// The same value, of which the engine's planner knows nothing: some planners
    /// trip over sorted columns that they know to be constant.
    fn opaque(&self, value: &Sql) -> String {
        value.text.clone()
    }

    /// A `CASE` of many branches, which planners should leave as it is: some write a
    /// comparison of it as a condition for each branch that names all before.
    fn many_branches(&self, case: &Sql) -> String {
        case.text.clone()
    }

    /// The least value of a group, or nothing.
    fn min(&self, value: &Sql) -> String {
        format!("MIN({})", value.text)
    }

    /// The greatest value of a group, or nothing.
    fn max(&self, value: &Sql) -> String {
        format!("MAX({})", value.text)
    }

    /// How many different values a group of private rows has.
    fn count_distinct(&self, value: &Sql) -> String {
        format!("COUNT(DISTINCT {})", value.text)
    }

    /// A query whose columns are computed once each: some planners put a query into
    /// the one around it, and compute a column as often as it is named. Conditions may
    /// be moved into it if its columns are few steps away from those of tables.
    fn fenced(&self, query: String, _is_shallow: bool) -> String {
        query
    }

    /// The hash of values.
    fn hash(&self, salt: &Salt, values: &[Sql]) -> String;

    /// The table of a dataset.
    fn table(&self, dataset: &Dataset) -> Result<String, EngineError>;

    /// A column of that table, read as the declared type and clamped to the
    /// declared bounds.
    fn read(&self, dataset: &Dataset, column: &DatasetColumn) -> Result<String, EngineError>;
}
