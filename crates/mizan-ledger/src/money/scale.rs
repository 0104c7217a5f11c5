//! A fraction of a cost, in whole billionths.

use std::fmt;

/// A fraction between 0 and 1 in billionths.
///
/// ```
/// use mizan_ledger::money::Scale;
/// let half = Scale::from_nano(500_000_000);
/// assert_eq!((half.to_string().as_str(), half.of(3)), ("0.5", 2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scale(u64);

/// Billionths in one.
const ONE: u64 = 1_000_000_000;

impl Scale {
    /// Nothing fits.
    pub const ZERO: Self = Self(0);
    /// All of it fits.
    pub const ONE: Self = Self(ONE);

    /// A fraction of `nano` billionths, at most one.
    #[must_use]
    pub fn from_nano(nano: u64) -> Self {
        Self(nano.min(ONE))
    }

    /// The number of billionths.
    #[must_use]
    pub const fn nano(self) -> u64 {
        self.0
    }

    /// This fraction of an amount, rounded up.
    #[must_use]
    pub fn of(self, amount: u64) -> u64 {
        let product = u128::from(amount) * u128::from(self.0);
        u64::try_from(product.div_ceil(u128::from(ONE))).unwrap_or(u64::MAX)
    }

    /// The largest fraction of `asked` that fits into `room`.
    #[must_use]
    pub fn fitting(asked: u64, room: u64) -> Self {
        if asked <= room {
            return Self::ONE;
        }
        // `asked` is above `room` here, so the divisor is not zero.
        let nano = (u128::from(room) * u128::from(ONE)).checked_div(u128::from(asked));
        Self(nano.and_then(|nano| u64::try_from(nano).ok()).unwrap_or(0))
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{}.{:09}", self.0 / ONE, self.0 % ONE);
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The result fits, and a billionth more does not.
        #[test]
        fn the_largest_that_fits(asked in 1_u64.., room in 0_u64..) {
            let scale = Scale::fitting(asked, room);
            prop_assert!(scale.of(asked) <= room);
            if scale < Scale::ONE {
                prop_assert!(Scale::from_nano(scale.nano() + 1).of(asked) > room);
            }
        }
    }
}
