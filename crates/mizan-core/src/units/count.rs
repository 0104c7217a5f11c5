//! Counts: repetitions, people, categories.

use super::UnitError;
use std::fmt;

/// A whole number from 1 to 2^53, so that it is exact as a double too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Count(u64);

impl Count {
    /// One.
    pub const ONE: Self = Self(1);

    /// Two.
    pub const TWO: Self = Self(2);

    /// The largest count: 2^53.
    pub const MAX: Self = Self(1 << 53);

    pub(crate) const RANGE: &'static str = "a whole number from 1 to 2^53";

    /// Checks that `value` is between 1 and 2^53.
    ///
    /// # Errors
    ///
    /// The value is 0 or above 2^53.
    pub fn new(value: u64) -> Result<Self, UnitError> {
        match value {
            0 => Err(UnitError::OutOfRange {
                quantity: "count",
                value: value.to_string(),
                allowed: Self::RANGE,
            }),
            _ if value > Self::MAX.0 => Err(UnitError::TooLarge {
                quantity: "count",
                value: value.to_string(),
                allowed: Self::RANGE,
            }),
            _ => Ok(Self(value)),
        }
    }

    /// The count equal to this double, if there is one.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        let whole = value.fract() == 0.0 && (1.0..=Self::MAX.as_f64()).contains(&value);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number between 1 and 2^53"
        )]
        whole.then_some(Self(value as u64))
    }

    /// The value as an integer.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The value as a double, exactly.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_positive_and_exact_as_doubles() {
        assert_eq!(Count::new(0).unwrap_err().code(), "MZ1002");
        assert_eq!(Count::new(1), Ok(Count::ONE));
        assert_eq!(Count::new(1 << 53), Ok(Count::MAX));
        assert_eq!(Count::new(u64::MAX).unwrap_err().code(), "MZ1003");
        assert_eq!(Count::MAX.as_f64(), 2.0_f64.powi(53));
        assert_eq!(Count::from_f64(2.0_f64.powi(53)), Some(Count::MAX));
        for bad in [0.0, 0.5, 1.5, -1.0, 2.0_f64.powi(54), f64::NAN] {
            assert_eq!(Count::from_f64(bad), None);
        }
    }
}
