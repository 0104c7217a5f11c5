//! Type errors of expressions. They are about the query, never about rows.

use mizan_core::Code;
use thiserror::Error;

use crate::value::Type;

/// Why an expression does not type-check.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TypeProblem {
    /// The column does not exist.
    #[error("there is no column {place} among {columns}")]
    NoColumn {
        /// The requested place.
        place: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The wrong number of arguments.
    #[error("{function} takes {expected}, not {found} arguments")]
    Arguments {
        /// The function.
        function: &'static str,
        /// The expected number, in words.
        expected: &'static str,
        /// The number of arguments.
        found: usize,
    },
    /// An argument of the wrong type.
    #[error("{function} takes {expected}, not a {found}")]
    Argument {
        /// The function.
        function: &'static str,
        /// The expected type.
        expected: &'static str,
        /// The type of the argument.
        found: Type,
    },
    /// Arguments that should have one type.
    #[error("{function} needs values of one type, not a {first} and a {other}")]
    Mixed {
        /// The function.
        function: &'static str,
        /// The type of the first.
        first: Type,
        /// Another type among them.
        other: Type,
    },
    /// An argument that must be a literal.
    #[error("the {what} of {function} must be a constant, not computed from rows")]
    NotConstant {
        /// The function.
        function: &'static str,
        /// Which argument.
        what: &'static str,
    },
    /// A literal that the function cannot use.
    #[error("the {what} of {function} must be {expected}")]
    BadConstant {
        /// The function.
        function: &'static str,
        /// Which argument.
        what: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A literal that does not belong to its type.
    #[error("a constant is not a {kind} that every engine knows")]
    BadLiteral {
        /// The required type.
        kind: Type,
    },
    /// A cast that does not exist.
    #[error("a {from} cannot be cast to a {to}")]
    NoCast {
        /// The source type.
        from: Type,
        /// The target type.
        to: Type,
    },
}

impl TypeProblem {
    /// The stable code of this problem.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NoColumn { .. } => Code::MZ1880,
            Self::Arguments { .. } => Code::MZ1881,
            Self::Argument { .. } => Code::MZ1882,
            Self::Mixed { .. } => Code::MZ1883,
            Self::NotConstant { .. } => Code::MZ1884,
            Self::BadConstant { .. } => Code::MZ1885,
            Self::BadLiteral { .. } => Code::MZ1886,
            Self::NoCast { .. } => Code::MZ1887,
        }
    }

    /// The remedy.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoColumn { .. } => "use one of the columns of the dataset".into(),
            Self::Arguments {
                function, expected, ..
            } => format!("give {function} {expected}"),
            Self::Argument { expected, .. } => {
                format!("write CAST(... AS ...) to make it {expected}, where it is one")
            }
            Self::Mixed { first, .. } => {
                format!("write CAST(... AS ...) to make all of them {first}")
            }
            Self::NotConstant { what, .. } => format!("write the {what} out"),
            Self::BadConstant { expected, .. } => format!("write {expected}"),
            Self::BadLiteral { kind: Type::Number } => "write a finite number".into(),
            Self::BadLiteral { .. } => "write a date in the years 1 to 9999".into(),
            Self::NoCast {
                from: Type::Number,
                to: Type::Text,
            } => "cast it to an integer first: engines write numbers differently".into(),
            Self::NoCast {
                from: Type::Timestamp,
                to: Type::Text,
            } => "cast it to a date first: engines write times differently".into(),
            Self::NoCast { .. } => "leave the cast out, or compare instead".into(),
        }
    }
}
