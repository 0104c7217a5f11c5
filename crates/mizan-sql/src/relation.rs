//! Relations: each row belongs to one privacy unit, or the relation is public.
//!
//! Every operator is **unit-local**: the output rows of a unit depend only on the input rows of
//! that unit and on public tables. Removing a unit therefore removes its own rows from the result
//! and changes no others (condition C1). No operator can break this, so the binder cannot either.

use serde::{Deserialize, Serialize};

use crate::expr::Expr;
pub use crate::quantized::Quantized;
use crate::value::Type;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name for people.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Bounds that hold for all values: declared bounds are enforced where a column is used, and
    /// bounds of expressions follow from them.
    pub bounds: Option<Bounds>,
}

/// A closed public interval. Dates and timestamps count in days and microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The lower end; finite.
    pub low: f64,
    /// The upper end; finite and not below the lower end.
    pub high: f64,
}

impl Eq for Bounds {}

impl Bounds {
    /// An interval; None if it is empty or not finite.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        let ordered = low.is_finite() && high.is_finite() && low <= high;
        ordered.then_some(Self {
            low: low + 0.0,
            high: high + 0.0,
        })
    }

    /// The range of integers within the bounds, to which integers, dates and timestamps are
    /// clamped. None if it is empty; then every value is read as NULL.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "saturates, as it should")]
    pub fn whole(&self) -> Option<(i64, i64)> {
        let (low, high) = (self.low.ceil() as i64, self.high.floor() as i64);
        (low <= high).then_some((low, high))
    }
}

/// A relation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// The operator that makes its rows.
    pub operator: Operator,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The places of the columns that identify the unit of a row; empty for public relations. Rows
    /// in which one of them is `NULL` have no unit and are dropped before anything is counted.
    pub unit: Vec<usize>,
    /// Whether a unit has at most one row, for any data.
    pub one_row_per_unit: bool,
}

/// The parts of a relation that is a join.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// The left input. Its columns come first in expressions.
    pub left: &'a Relation,
    /// The right input.
    pub right: &'a Relation,
    /// Whether left rows without a match are kept.
    pub keeps_left: bool,
    /// Equal pairs: an expression over the left input, and one over the right input.
    pub on: &'a [(Expr, Expr)],
    /// A further condition over both inputs.
    pub condition: Option<&'a Expr>,
}

impl Relation {
    /// The relations that its operator reads.
    #[must_use]
    pub fn inputs(&self) -> Vec<&Self> {
        match &self.operator {
            Operator::Scan { .. } => Vec::new(),
            Operator::Filter { input, .. }
            | Operator::Project { input, .. }
            | Operator::LimitRowsPerUnit { input, .. }
            | Operator::Group { input, .. } => vec![input],
            Operator::Join { left, right, .. } => vec![left, right],
            Operator::Union { inputs } => inputs.iter().collect(),
        }
    }

    /// The same, to change them.
    pub fn inputs_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.operator {
            Operator::Scan { .. } => Vec::new(),
            Operator::Filter { input, .. }
            | Operator::Project { input, .. }
            | Operator::LimitRowsPerUnit { input, .. }
            | Operator::Group { input, .. } => vec![input],
            Operator::Join { left, right, .. } => vec![left, right],
            Operator::Union { inputs } => inputs.iter_mut().collect(),
        }
    }

    /// The relation and all relations below it, each before its inputs.
    #[must_use]
    pub fn nodes(&self) -> Vec<&Self> {
        let (mut nodes, mut open) = (Vec::new(), vec![self]);
        while let Some(node) = open.pop() {
            nodes.push(node);
            open.extend(node.inputs().into_iter().rev());
        }
        nodes
    }

    /// The dataset, if the relation is a scan.
    #[must_use]
    pub fn scanned(&self) -> Option<&str> {
        match &self.operator {
            Operator::Scan { dataset } => Some(dataset),
            _ => None,
        }
    }

    /// The parts of the join, if it is one.
    #[must_use]
    pub fn as_join(&self) -> Option<Join<'_>> {
        match &self.operator {
            Operator::Join {
                left,
                right,
                keeps_left,
                on,
                condition,
            } => Some(Join {
                left,
                right,
                keeps_left: *keeps_left,
                on,
                condition: condition.as_ref(),
            }),
            _ => None,
        }
    }
}

/// The operators. Expressions are over the columns of the input; for joins, over those of the left
/// input followed by those of the right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operator {
    /// The rows of a dataset. Its columns are found in the catalogue by name, parsed as their
    /// declared type (`NULL` if that fails) and clamped to their declared bounds.
    Scan {
        /// The name in the catalogue.
        dataset: String,
    },
    /// Rows for which the predicate is true.
    Filter {
        /// The input.
        input: Box<Relation>,
        /// A boolean expression.
        predicate: Expr,
    },
    /// Computed columns for each row.
    Project {
        /// The input.
        input: Box<Relation>,
        /// The expression of each column.
        expressions: Vec<Expr>,
    },
    /// Pairs of rows. Two private inputs are equal in their units (`on` has these pairs). Of a
    /// private and a public input only the private one may be kept.
    Join {
        /// The left input.
        left: Box<Relation>,
        /// The right input.
        right: Box<Relation>,
        /// Whether left rows without a match are kept, with `NULL`s.
        keeps_left: bool,
        /// Equal pairs: an expression over the left input, and one over the right input.
        on: Vec<(Expr, Expr)>,
        /// A further condition over both inputs.
        condition: Option<Expr>,
    },
    /// The rows of all inputs.
    Union {
        /// Relations with the same number of columns of the same types.
        inputs: Vec<Relation>,
    },
    /// At most `rows` rows of each unit: the first ones in the order of the salted hash of the unit
    /// and the other columns that are read. Columns that are not read are `NULL`, so that tied rows
    /// are equal. Rows without a unit are dropped.
    LimitRowsPerUnit {
        /// The input, which is private.
        input: Box<Relation>,
        /// The most rows of a unit.
        rows: u64,
        /// The places of the columns that are read, in ascending order, with those of the unit.
        read: Vec<usize>,
    },
    /// One row for each combination of the keys, which contain all unit columns. The columns are
    /// the keys, followed by the aggregates.
    Group {
        /// The input.
        input: Box<Relation>,
        /// The grouping keys.
        keys: Vec<Expr>,
        /// The aggregates of each group.
        aggregates: Vec<UnitAggregate>,
    },
}

/// An exact aggregate over the rows of one unit. The result is an integer or does not depend on the
/// order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitAggregate {
    /// The number of rows.
    Rows,
    /// The number of rows where the expression is not `NULL`.
    Count(Expr),
    /// The number of distinct values.
    CountDistinct(Expr),
    /// The sum on a grid, of bounded rows only. `NULL` if there are no values.
    Sum(Expr, Quantized),
    /// The least value; `NULL` if there are no values.
    Min(Expr),
    /// The greatest value; `NULL` if there are no values.
    Max(Expr),
}

impl UnitAggregate {
    /// The expression it is computed from.
    #[must_use]
    pub const fn argument(&self) -> Option<&Expr> {
        match self {
            Self::Rows => None,
            Self::Count(expr)
            | Self::CountDistinct(expr)
            | Self::Sum(expr, _)
            | Self::Min(expr)
            | Self::Max(expr) => Some(expr),
        }
    }
}
