//! Why a draw or a release fails.

use mizan_core::Code;
use thiserror::Error;

/// Why a draw or a release fails. Nothing was released: an answer that was passed in is filled with
/// zeros.
///
/// `NotFinite` and `Category` reveal something about the data. Rule them out before a release, with
/// expressions that cannot fail.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// The operating system gave no randomness.
    #[error("the operating system gives no randomness: {reason}")]
    Entropy {
        /// Its error message.
        reason: String,
    },
    /// The scale is zero, negative, not a number or out of range.
    #[error("the scale {scale} is not a fraction of two 64-bit integers")]
    Scale {
        /// As it was given.
        scale: String,
    },
    /// Epsilon is zero, negative, infinite or not a number.
    #[error("epsilon {epsilon} is not a positive number")]
    Epsilon {
        /// As it was given.
        epsilon: f64,
    },
    /// An answer is not one of the categories.
    #[error("the answer at position {position} is not below {categories} categories")]
    Category {
        /// Its index, from zero.
        position: usize,
        /// The number of categories.
        categories: u64,
    },
    /// The sensitivity is zero, or does not fit 64-bit integers.
    #[error("the sensitivity {sensitivity} is not between 1 and 2^63")]
    Sensitivity {
        /// As it was given.
        sensitivity: f64,
    },
    /// A list is empty.
    #[error("{what} must not be empty")]
    Empty {
        /// Which list.
        what: &'static str,
    },
    /// The answer has another number of values than the mechanism.
    #[error("{given} values for a mechanism of {expected}")]
    Dimension {
        /// The number of values of the answer.
        given: usize,
        /// The number of values of the mechanism.
        expected: usize,
    },
    /// Noise, or a bound on it, does not fit the integers of the caller.
    #[error("the noise is wider than {bits}-bit integers")]
    Overflow {
        /// The width of these integers.
        bits: u32,
    },
    /// The noise was prepared before a `fork`, so another process has it too.
    #[error("this noise was prepared in another process")]
    Copied,
    /// A value of the exact answer is not a number.
    #[error("the value at position {position} is not a finite number")]
    NotFinite {
        /// Its index, from zero.
        position: usize,
    },
    /// The grid is too fine or too coarse.
    #[error("the grid 2^{exponent} is not between 2^-1000 and 2^1000")]
    Grid {
        /// As it was given.
        exponent: i32,
    },
    /// The confidence is not strictly between zero and one.
    #[error("the confidence {confidence} is not above 0 and below 1")]
    Confidence {
        /// As it was given.
        confidence: f64,
    },
    /// With these parameters no threshold exists, so no group could ever be shown.
    #[error("no threshold below 2^62 keeps (epsilon {epsilon}, delta {delta})")]
    Threshold {
        /// As it was given.
        epsilon: f64,
        /// As it was given.
        delta: f64,
    },
}

impl NoiseError {
    /// The code that the command line, the server and SQL share.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Entropy { .. } => Code::MZ1601,
            Self::Scale { .. } => Code::MZ1602,
            Self::Epsilon { .. } => Code::MZ1603,
            Self::Sensitivity { .. } => Code::MZ1604,
            Self::Empty { .. } => Code::MZ1605,
            Self::Dimension { .. } => Code::MZ1606,
            Self::Overflow { .. } => Code::MZ1607,
            Self::NotFinite { .. } => Code::MZ1608,
            Self::Grid { .. } => Code::MZ1609,
            Self::Threshold { .. } => Code::MZ1610,
            Self::Category { .. } => Code::MZ1611,
            Self::Confidence { .. } => Code::MZ1612,
            Self::Copied => Code::MZ1613,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Entropy { .. } => "nothing was released; try again when getrandom works",
            Self::Scale { .. } => "give a positive decimal from 0.0005 to 18446744073709551615",
            Self::Epsilon { .. } => "give an epsilon such as 0.5 or 1",
            Self::Sensitivity { .. } => "use a coarser grid, or clamp each person to less",
            Self::Empty { .. } => "give at least one value",
            Self::Dimension { .. } => "make the mechanism for as many values as the answer has",
            Self::Overflow { .. } => "use a smaller scale, or a coarser grid",
            Self::NotFinite { .. } => "replace NaN and infinities by a public default first",
            Self::Grid { .. } => "choose a grid near the size of the noise, such as 2^-10",
            Self::Category { .. } => "number the answers from 0 to categories - 1",
            Self::Confidence { .. } => "give a confidence such as 0.95",
            Self::Copied => "prepare noise after forking",
            Self::Threshold { .. } => "use a larger epsilon or delta",
        }
    }
}
