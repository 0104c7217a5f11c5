//! Total expressions: whatever a row holds, they have a value and never fail.
//!
//! This is the whole language that engines run and that answers are finished
//! with. What SQL makes an error, overflow, division by zero, a text that is no
//! number, the root of a negative number, is `NULL` here, on every engine, so no
//! error can tell anything about anybody.
//!
//! - `NULL` in gives `NULL` out, but for `AND`, `OR`, `IN`, `IS NULL`, `CASE`,
//!   `COALESCE`, `NULLIF`, `LEAST` and `GREATEST`, which are as in PostgreSQL.
//! - NaN is `NULL`; minus zero is zero. Infinities are numbers. Every operation on
//!   numbers is the one of IEEE 754 in double precision, to nearest.
//! - Integers and integers make integers; a result beyond 64 bits is `NULL`.
//!   `/` always makes a number (double precision), as does whatever has a number
//!   in it: the integer becomes the nearest double first, also where it is
//!   compared with a number.
//! - Text compares by its bytes. Its characters are code points.
//! - Texts are bounded. A stored text above 1 MiB ([`LONGEST_STORED_TEXT`]) is
//!   `NULL`. What `Concat`, `Lower`, `Upper`, `Trim` or `Substring` makes is `NULL`
//!   above 64 KiB ([`LONGEST_COMPUTED_TEXT`]). `Case`, `Coalesce`, `NullIf`, `Least`
//!   and `Greatest` choose among texts and make none. Part of a
//!   concatenation is never longer than the whole, so nested concatenations and
//!   one concatenation of all their parts have the same value.
//! - Days and times have a calendar (Gregorian, without an end, in UTC) in the
//!   years 1 to 9999. Beyond them `Truncate`, `Extract` and casts are `NULL`:
//!   PostgreSQL has no year 0 and counts years before it differently.
//!
//! # Casts
//!
//! | from | to | |
//! | --- | --- | --- |
//! | boolean | integer, number, text | 1 or 0; `true` or `false` |
//! | integer | boolean | whether it is not 0 |
//! | integer | number | the nearest double |
//! | integer | text | decimal, with `-` |
//! | integer | date, timestamp | days or microseconds since 1970-01-01 |
//! | number | integer | the nearest, halves to the even one; `NULL` beyond 64 bits |
//! | text | any other | [`Type::read`] |
//! | date | timestamp | midnight, UTC |
//! | date | integer, text | days since 1970-01-01; `YYYY-MM-DD` |
//! | timestamp | date | the day, UTC |
//! | timestamp | integer | microseconds since 1970-01-01 |
//!
//! There are no others. A number or a timestamp as text differs between engines.
//! Halves are rounded as PostgreSQL and DuckDB round double precision: 2.5 is 2 and
//! 3.5 is 4. (Their decimals round halves away from zero; there are none here.)
//! [`Expr::type_of`] refuses what has no place here, and [`Expr::eval`] is what an
//! expression means.
//!
//! [`LONGEST_STORED_TEXT`]: crate::value::LONGEST_STORED_TEXT
//! [`LONGEST_COMPUTED_TEXT`]: crate::value::LONGEST_COMPUTED_TEXT

use serde::{Deserialize, Serialize};

use crate::value::{Type, Value};

/// An expression over the columns of a relation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Function {
    /// Sum of two.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, a number; `NULL` by zero.
    Divide,
    /// Remainder with the sign of the first, of integers; `NULL` by zero, 0 by
    /// minus one.
    Remainder,
    /// With the other sign; `NULL` for the least integer.
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
    /// All of two or more, of three-valued logic.
    And,
    /// One of two or more, of three-valued logic.
    Or,
    /// Not.
    Not,
    /// Whether the argument is nothing.
    IsNull,
    /// Whether the first is among the others, which are literals; `NULL` if it
    /// is not and one of them is `NULL`.
    In,
    /// Whether all of a text is like a pattern: a literal in which `%` stands
    /// for any characters and `_` for one. A backslash before `%`, `_` or a
    /// backslash makes it stand for itself, and has no other place.
    Like,
    /// The first that is something.
    Coalesce,
    /// Nothing if both are equal, else the first (also if the second is nothing).
    NullIf,
    /// The least of those that are something.
    Least,
    /// The greatest of those that are something.
    Greatest,
    /// The largest integer at or below: a number of a number, an integer of an
    /// integer, which is its own. So are the next two.
    Floor,
    /// The smallest integer at or above.
    Ceil,
    /// The nearest integer, halves away from zero.
    Round,
    /// Without a sign; `NULL` for the least integer.
    Abs,
    /// -1, 0 or 1, of the same type.
    Sign,
    /// Root, a number; `NULL` below zero.
    Sqrt,
    /// Lower case, of ASCII letters only: engines differ on others.
    Lower,
    /// Upper case, of ASCII letters only.
    Upper,
    /// Without spaces (no other blanks) at both ends.
    Trim,
    /// How many characters.
    Length,
    /// From a position (1 is the first) so many characters, as far as there are
    /// some. Both are literals, at least 1 and at least 0.
    Substring,
    /// One text after the other; `NULL` if that is longer than 64 KiB.
    Concat,
    /// The beginning of a unit of time, of the same type. A date has no hours.
    Truncate(TimeUnit),
    /// A part of a date or timestamp, an integer. A date has no hours.
    Extract(TimePart),
    /// `bucket(x, width)`: the multiple of the width (a positive literal) at or
    /// below x. An integer if both are; else `floor(x / width) * width`, each
    /// step rounded to a double.
    Bucket,
}

impl Function {
    /// As people write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract | Self::Negate => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "AND",
            Self::Or => "OR",
            Self::Not => "NOT",
            Self::IsNull => "IS NULL",
            Self::In => "IN",
            Self::Like => "LIKE",
            Self::Coalesce => "COALESCE",
            Self::NullIf => "NULLIF",
            Self::Least => "LEAST",
            Self::Greatest => "GREATEST",
            Self::Floor => "FLOOR",
            Self::Ceil => "CEIL",
            Self::Round => "ROUND",
            Self::Abs => "ABS",
            Self::Sign => "SIGN",
            Self::Sqrt => "SQRT",
            Self::Lower => "LOWER",
            Self::Upper => "UPPER",
            Self::Trim => "TRIM",
            Self::Length => "LENGTH",
            Self::Substring => "SUBSTRING",
            Self::Concat => "||",
            Self::Truncate(_) => "DATE_TRUNC",
            Self::Extract(_) => "EXTRACT",
            Self::Bucket => "BUCKET",
        }
    }
}

impl TimeUnit {
    /// Whether it is shorter than a day.
    #[must_use]
    pub const fn is_within_day(self) -> bool {
        matches!(self, Self::Hour | Self::Minute | Self::Second)
    }
}

impl TimePart {
    /// Whether it is a part of the time of day.
    #[must_use]
    pub const fn is_within_day(self) -> bool {
        matches!(self, Self::Hour | Self::Minute | Self::Second)
    }
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
