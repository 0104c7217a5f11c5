//! Why an expression makes no sense. About the question, never about rows.

use mizan_core::Code;
use thiserror::Error;

use crate::value::Type;

/// Why an expression makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TypeProblem {
    /// There is no such column.
    #[error("there is no column {place} among {columns}")]
    NoColumn {
        /// The place asked for.
        place: usize,
        /// How many there are.
        columns: usize,
    },
    /// The wrong number of arguments.
    #[error("{function} takes {expected}, not {found} arguments")]
    Arguments {
        /// The function.
        function: &'static str,
        /// How many it takes, in words.
        expected: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An argument of the wrong type.
    #[error("{function} takes {expected}, not a {found}")]
    Argument {
        /// The function.
        function: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        found: Type,
    },
    /// Arguments that should be of one type.
    #[error("{function} needs values of one type, not a {first} and a {other}")]
    Mixed {
        /// The function.
        function: &'static str,
        /// The type of the first.
        first: Type,
        /// The other type.
        other: Type,
    },
    /// An argument that must be written out.
    #[error("the {what} of {function} must be a constant, not computed from rows")]
    NotConstant {
        /// The function.
        function: &'static str,
        /// Which argument.
        what: &'static str,
    },
    /// A constant that the function cannot use.
    #[error("the {what} of {function} must be {expected}")]
    BadConstant {
        /// The function.
        function: &'static str,
        /// Which argument.
        what: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A literal that is not of its type.
    #[error("a constant is not a {kind} that every engine knows")]
    BadLiteral {
        /// The type it should be of.
        kind: Type,
    },
    /// A cast that there is none of.
    #[error("a {from} cannot be cast to a {to}")]
    NoCast {
        /// From.
        from: Type,
        /// To.
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

    /// What to do about it.
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
