//! Why a number is not a valid quantity.

use thiserror::Error;

use crate::{Code, DecimalError};

/// A number is outside of the range of its quantity.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnitError {
    /// NaN, or text that is not a number.
    #[error("{quantity} is not a number; it must be {allowed}")]
    NotANumber {
        /// What the number was meant for.
        quantity: &'static str,
        /// The range, in words.
        allowed: &'static str,
    },

    /// A number outside the range of the quantity.
    #[error("{quantity} must be {allowed}, got {value}")]
    OutOfRange {
        /// What the number was meant for.
        quantity: &'static str,
        /// The number, as text.
        value: String,
        /// The range, in words.
        allowed: &'static str,
    },

    /// Infinite, or too large to be held exactly.
    #[error("{quantity} must be {allowed}, got {value}")]
    TooLarge {
        /// What the number was meant for.
        quantity: &'static str,
        /// The number, as text.
        value: String,
        /// The range, in words.
        allowed: &'static str,
    },

    /// Text that is not a decimal.
    #[error("{quantity}: {error}")]
    Decimal {
        /// What the number was meant for.
        quantity: &'static str,
        /// Why it is not one.
        error: DecimalError,
    },
}

impl UnitError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotANumber { .. } => Code::MZ1001,
            Self::OutOfRange { .. } => Code::MZ1002,
            Self::TooLarge { .. } => Code::MZ1003,
            Self::Decimal { error, .. } => error.code(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotANumber { quantity, .. } => {
                format!("write {quantity} as a decimal such as 0.5 or 1e-6")
            }
            Self::OutOfRange {
                quantity, allowed, ..
            } => {
                format!("give {quantity} a value that is {allowed}")
            }
            Self::TooLarge { quantity, .. } => {
                format!("give {quantity} a finite, smaller value")
            }
            Self::Decimal { error, .. } => error.help(),
        }
    }

    /// The name of the quantity.
    #[must_use]
    pub const fn quantity(&self) -> &'static str {
        match self {
            Self::NotANumber { quantity, .. }
            | Self::OutOfRange { quantity, .. }
            | Self::TooLarge { quantity, .. }
            | Self::Decimal { quantity, .. } => quantity,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Count, Delta, Epsilon, Sigma};

    #[test]
    fn text_that_is_not_a_decimal_names_the_quantity() {
        let error = Delta::at_most("tiny").unwrap_err();
        assert_eq!(error.to_string(), "delta: not a decimal number");
        assert_eq!(
            (error.code().as_str(), error.quantity()),
            ("MZ1011", "delta")
        );
        assert_eq!(Epsilon::at_most("-1").unwrap_err().code(), "MZ1002");
    }

    #[test]
    fn decimals_are_enclosed() {
        let (below, above) = (
            Epsilon::at_most("0.3").unwrap(),
            Epsilon::at_least("0.3").unwrap(),
        );
        assert_eq!(below.get().next_up(), above.get());
        assert_eq!(Epsilon::at_most("0.5"), Epsilon::at_least("0.5"));
        // Beyond the largest double there is no double above.
        assert_eq!(Epsilon::at_least("1e309").unwrap_err().code(), "MZ1012");
    }

    #[test]
    fn an_error_names_the_quantity_the_value_and_the_range() {
        let error = Sigma::new(-1.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "sigma must be above 0, and finite, got -1"
        );
        assert_eq!(
            (error.code().as_str(), error.quantity()),
            ("MZ1002", "sigma")
        );
        assert_eq!(
            error.help(),
            "give sigma a value that is above 0, and finite"
        );
    }

    #[test]
    fn a_count_that_a_double_cannot_hold_is_printed_exactly() {
        let error = Count::new((1 << 53) + 1).unwrap_err();
        assert!(
            error.to_string().ends_with("got 9007199254740993"),
            "{error}"
        );
        assert_eq!(error.code(), "MZ1003");
    }
}
