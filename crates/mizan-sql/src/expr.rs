//! Total expressions: whatever a row holds, they have a value and never fail.
//!
//! This is the whole language that engines run and that answers are finished
//! with. What SQL makes an error, overflow, division by zero, a text that is no
//! number, the root of a negative number, is `NULL` here, on every engine, so no
//! error can tell anything about anybody.
//!
//! - `NULL` in gives `NULL` out, but for `AND`, `OR`, `IS NULL`, `CASE` and
//!   `COALESCE`, which are as in SQL.
//! - NaN is `NULL`; minus zero is zero. Infinities are numbers.
//! - Integers and integers make integers; a result beyond 64 bits is `NULL`.
//!   `/` always makes a number (double precision), as does whatever has a number
//!   in it.
//! - Text compares by its bytes.

use crate::value::{Type, Value};

/// An expression over the columns of a relation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expr {
    /// The value of a column, by its place.
    Column(usize),
    /// A value of a type; nothing has a type too.
    Literal(Value, Type),
    /// A function of its arguments.
    Call(Function, Vec<Self>),
    /// The result of the first condition that is true, or the last.
    Case {
        /// Conditions and results.
        branches: Vec<(Self, Self)>,
        /// The result if no condition is true.
        otherwise: Box<Self>,
    },
    /// The same value as another type; `NULL` if it is none of that type.
    Cast(Box<Self>, Type),
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// From 1 January.
    Year,
    /// From January, April, July, October.
    Quarter,
    /// From the first day.
    Month,
    /// From Monday.
    Week,
    /// From midnight, UTC.
    Day,
    /// From the full hour.
    Hour,
    /// From the full minute.
    Minute,
    /// From the full second.
    Second,
}

/// Parts of a date or a time, integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimePart {
    /// The year.
    Year,
    /// 1 to 4.
    Quarter,
    /// 1 to 12.
    Month,
    /// ISO week, 1 to 53.
    Week,
    /// 1 to 31.
    Day,
    /// 0 is Sunday.
    DayOfWeek,
    /// 1 to 366.
    DayOfYear,
    /// 0 to 23.
    Hour,
    /// 0 to 59.
    Minute,
    /// 0 to 59.
    Second,
}

/// What expressions are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    /// Sum of two.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, a number; `NULL` by zero.
    Divide,
    /// Remainder with the sign of the first, of integers; `NULL` by zero.
    Remainder,
    /// Minus one.
    Negate,
    /// Equal. Both sides have one type, or are numeric.
    Equal,
    /// Not equal.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    LessOrEqual,
    /// Greater.
    Greater,
    /// Greater or equal.
    GreaterOrEqual,
    /// Both, of three-valued logic.
    And,
    /// Either, of three-valued logic.
    Or,
    /// Not.
    Not,
    /// Whether the argument is nothing.
    IsNull,
    /// Whether the first is among the others, which are literals.
    In,
    /// Whether text is like a pattern (a literal with `%` and `_`, escaped by
    /// a backslash).
    Like,
    /// The first that is something.
    Coalesce,
    /// Nothing if both are equal, else the first.
    NullIf,
    /// The least of those that are something.
    Least,
    /// The greatest of those that are something.
    Greatest,
    /// The largest integer below, as a number for a number.
    Floor,
    /// The smallest integer above.
    Ceil,
    /// The nearest integer, halves away from zero.
    Round,
    /// Without a sign; `NULL` for the least integer.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// Root; `NULL` below zero.
    Sqrt,
    /// Lower case, of ASCII letters only: engines differ on others.
    Lower,
    /// Upper case, of ASCII letters only.
    Upper,
    /// Without spaces at both ends.
    Trim,
    /// How many characters.
    Length,
    /// From a position (1 is the first), so many characters: both literals.
    Substring,
    /// One text after the other.
    Concat,
    /// The beginning of a unit of time, of the same type.
    Truncate(TimeUnit),
    /// A part of a date or timestamp.
    Extract(TimePart),
    /// `bucket(x, width)`: the multiple of the width (a positive literal) at or
    /// below x.
    Bucket,
}

impl Expr {
    /// A column.
    #[must_use]
    pub const fn column(place: usize) -> Self {
        Self::Column(place)
    }

    /// An integer.
    #[must_use]
    pub const fn integer(value: i64) -> Self {
        Self::Literal(Value::Integer(value), Type::Integer)
    }

    /// A call.
    #[must_use]
    pub fn call(function: Function, arguments: impl Into<Vec<Self>>) -> Self {
        Self::Call(function, arguments.into())
    }

    /// Its parts, in order.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match self {
            Self::Column(_) | Self::Literal(..) => Vec::new(),
            Self::Call(_, arguments) => arguments.iter().collect(),
            Self::Case {
                branches,
                otherwise,
            } => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                branches
                    .chain(std::iter::once(otherwise.as_ref()))
                    .collect()
            }
            Self::Cast(inner, _) => vec![inner],
        }
    }

    /// The same with every column replaced.
    #[must_use]
    pub fn map_columns(&self, with: &mut impl FnMut(usize) -> Self) -> Self {
        match self {
            Self::Column(place) => with(*place),
            Self::Literal(value, kind) => Self::Literal(value.clone(), *kind),
            Self::Call(function, arguments) => {
                let arguments = arguments.iter().map(|part| part.map_columns(with));
                Self::Call(*function, arguments.collect())
            }
            Self::Case {
                branches,
                otherwise,
            } => {
                let mut mapped = Vec::with_capacity(branches.len());
                for (when, then) in branches {
                    mapped.push((when.map_columns(with), then.map_columns(with)));
                }
                Self::Case {
                    branches: mapped,
                    otherwise: Box::new(otherwise.map_columns(with)),
                }
            }
            Self::Cast(inner, to) => Self::Cast(Box::new(inner.map_columns(with)), *to),
        }
    }

    /// The columns it reads, each once, in order.
    #[must_use]
    pub fn columns(&self) -> Vec<usize> {
        fn visit(expr: &Expr, found: &mut Vec<usize>) {
            if let Expr::Column(place) = expr {
                found.push(*place);
            }
            for child in expr.children() {
                visit(child, found);
            }
        }
        let mut found = Vec::new();
        visit(self, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }
}
