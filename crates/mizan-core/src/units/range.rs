//! The ranges of quantities, as a check and in words.

use super::{UnitError, plain};

/// A set of doubles that a quantity may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// `0 <= v < inf`
    NonNegative,
    /// `0 < v < inf`
    Positive,
    /// `0 <= v <= 1`
    UnitInterval,
    /// `1 <= v <= inf`
    FromOne,
}

impl Range {
    fn contains(self, value: f64) -> bool {
        match self {
            Self::NonNegative => value >= 0.0 && value.is_finite(),
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::UnitInterval => (0.0..=1.0).contains(&value),
            Self::FromOne => value >= 1.0,
        }
    }

    /// The range as a message says it, after "must be".
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NonNegative => "0 or more, and finite",
            Self::Positive => "above 0, and finite",
            Self::UnitInterval => "between 0 and 1",
            Self::FromOne => "1 or more (`inf` is allowed)",
        }
    }

    /// Returns `value` when it is in the range, with negative zero made plain
    /// zero; otherwise says what is wrong with `quantity`.
    pub(crate) fn check(self, quantity: &'static str, value: f64) -> Result<f64, UnitError> {
        let allowed = self.words();
        if value.is_nan() {
            Err(UnitError::NotANumber { quantity, allowed })
        } else if self.contains(value) {
            // The sum of the two zeros is the positive one.
            Ok(value + 0.0)
        } else if value.is_infinite() {
            Err(UnitError::TooLarge {
                quantity,
                value: plain(value),
                allowed,
            })
        } else {
            Err(UnitError::OutOfRange {
                quantity,
                value: plain(value),
                allowed,
            })
        }
    }
}
