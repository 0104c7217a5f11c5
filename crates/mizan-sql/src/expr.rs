//! Total expressions: they have a value for every row and never fail.
//!
//! Engines run this language, and post-processing of answers uses it. Where SQL raises an error
//! (overflow, division by zero, a text that is not a number, the root of a negative number), the
//! value is `NULL` on every engine. No error can therefore depend on the data of any unit.
//!
//! - A `NULL` argument gives `NULL`, except for `AND`, `OR`, `IN`, `IS NULL`, `CASE`, `COALESCE`,
//!   `NULLIF`, `LEAST` and `GREATEST`, which behave as in PostgreSQL.
//! - NaN is `NULL`; minus zero is zero. Infinities are numbers. Every operation on numbers is the
//!   one of IEEE 754 in double precision, rounded to nearest.
//! - Operations on integers give integers; a result beyond 64 bits is `NULL`. `/` always gives a
//!   number (double precision), and so does every operation on a number and an integer: the integer
//!   first becomes the nearest double, also in comparisons.
//! - Texts compare by their bytes. Their characters are code points.
//! - Texts are bounded. A stored text above 1 MiB ([`LONGEST_STORED_TEXT`]) is `NULL`. A text that
//!   `Concat`, `Lower`, `Upper`, `Trim` or `Substring` computes is `NULL` above 64 KiB
//!   ([`LONGEST_COMPUTED_TEXT`]). `Case`, `Coalesce`, `NullIf`, `Least` and `Greatest` choose a text
//!   and do not compute one. A part of a concatenation is never longer than the whole, so nested
//!   concatenations and one concatenation of all their parts have the same value.
//! - The calendar is the proleptic Gregorian one in UTC, from the year 1 to the year 9999. Outside
//!   of these years `Truncate`, `Extract` and casts are `NULL`: PostgreSQL has no year 0 and numbers
//!   the years before it differently.
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
//! Other casts do not exist: engines differ in the text of numbers and timestamps. Halves are rounded
//! as PostgreSQL and DuckDB round double precision: 2.5 is 2 and 3.5 is 4. (Their decimals round
//! halves away from zero, but decimals do not exist here.) [`Expr::type_of`] refuses other
//! expressions, and [`Expr::eval`] defines the meaning of the rest.
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
    /// A value with its type; a `NULL` has a type too.
    Literal(Value, Type),
    /// A function of its arguments.
    Call(Function, Vec<Self>),
    /// The result of the first branch whose condition is true, otherwise the last result.
    Case {
        /// Conditions and results.
        branches: Vec<(Self, Self)>,
        /// The result if no condition is true.
        otherwise: Box<Self>,
    },
    /// The value converted to another type; `NULL` if it does not convert.
    Cast(Box<Self>, Type),
}

/// Units of time for truncation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Begins on 1 January.
    Year,
    /// Begins in January, April, July or October.
    Quarter,
    /// Begins on the first day.
    Month,
    /// Begins on Monday.
    Week,
    /// Begins at midnight, UTC.
    Day,
    /// Begins at the full hour.
    Hour,
    /// Begins at the full minute.
    Minute,
    /// Begins at the full second.
    Second,
}

/// Parts of a date or a time, as integers.
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

/// Operators and functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Function {
    /// Sum of two numbers.
    Add,
    /// Difference.
    Subtract,
    /// Product.
    Multiply,
    /// Quotient, a number; `NULL` if the divisor is zero.
    Divide,
    /// Remainder of integers, with the sign of the first; `NULL` for the divisor zero, 0 for minus
    /// one.
    Remainder,
    /// Changes the sign; `NULL` for the least integer.
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
    /// Conjunction of two or more, in three-valued logic.
    And,
    /// Disjunction of two or more, in three-valued logic.
    Or,
    /// Negation, in three-valued logic.
    Not,
    /// Whether the argument is `NULL`.
    IsNull,
    /// Whether the first argument is among the others, which are literals; `NULL` if it is not and
    /// one of them is `NULL`.
    In,
    /// Whether the whole text matches a pattern, which is a literal: `%` matches any characters and
    /// `_` matches one. A backslash before `%`, `_` or a backslash makes that character literal. It
    /// may not stand elsewhere.
    Like,
    /// The first argument that is not `NULL`.
    Coalesce,
    /// `NULL` if both arguments are equal, otherwise the first (also if the second is `NULL`).
    NullIf,
    /// The least of the arguments that are not `NULL`.
    Least,
    /// The greatest of the arguments that are not `NULL`.
    Greatest,
    /// The largest integral value at most the argument, of the argument's type. So are the next
    /// two.
    Floor,
    /// The smallest integral value at least the argument.
    Ceil,
    /// The nearest integral value, halves away from zero.
    Round,
    /// Absolute value; `NULL` for the least integer.
    Abs,
    /// -1, 0 or 1, of the same type.
    Sign,
    /// Square root, a number; `NULL` below zero.
    Sqrt,
    /// Lower case, of ASCII letters only: engines differ on others.
    Lower,
    /// Upper case, of ASCII letters only.
    Upper,
    /// Removes spaces (no other white space) at both ends.
    Trim,
    /// The number of characters.
    Length,
    /// The characters from a position (1 is the first), up to a length. Both are literals: the
    /// position at least 1, the length at least 0.
    Substring,
    /// Concatenation; `NULL` if the result is longer than 64 KiB.
    Concat,
    /// The beginning of the unit of time, of the same type. A date has no hours.
    Truncate(TimeUnit),
    /// A part of a date or timestamp, as an integer. A date has no hours.
    Extract(TimePart),
    /// `bucket(x, width)`: the greatest multiple of the width (a positive literal) that is at most
    /// x. An integer if both are integers; otherwise `floor(x / width) * width`, each step rounded
    /// to a double.
    Bucket,
}

impl Function {
    /// Its name or operator in SQL.
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
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Year,
        Self::Quarter,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::Hour,
        Self::Minute,
        Self::Second,
    ];

    /// Its name in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::Hour => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
        }
    }

    /// Whether it is shorter than a day.
    #[must_use]
    pub const fn is_within_day(self) -> bool {
        matches!(self, Self::Hour | Self::Minute | Self::Second)
    }
}

impl TimePart {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Year,
        Self::Quarter,
        Self::Month,
        Self::Week,
        Self::Day,
        Self::DayOfWeek,
        Self::DayOfYear,
        Self::Hour,
        Self::Minute,
        Self::Second,
    ];

    /// Its name in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::DayOfWeek => "dow",
            Self::DayOfYear => "doy",
            Self::Hour => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
        }
    }

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

    /// The expression with every column replaced.
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

    /// The distinct columns that it reads, in order.
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
