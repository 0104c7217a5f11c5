//! An order in the form that the formulas need.
//!
//! Rényi's formulas divide by α - 1, so the two ends of [1, ∞] are limits with separate expressions.
//! `Position` makes every curve define all three.

use mizan_core::{Interval, Order};

/// An order, by the formula that applies.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Position {
    /// α = 1, the Kullback-Leibler divergence.
    One,
    /// 1 < α < ∞.
    Between(Between),
    /// α = ∞, pure differential privacy.
    Infinite,
}

/// A finite order above one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Between {
    /// The order α, exactly.
    pub(crate) a: f64,
    /// α - 1.
    pub(crate) b: Interval,
}

impl Position {
    #[inline]
    pub(crate) fn of(order: Order) -> Self {
        let a = order.get();
        if a == f64::INFINITY {
            Self::Infinite
        } else if a <= 1.0 {
            Self::One
        } else {
            Self::Between(Between::new(a))
        }
    }
}

impl Between {
    #[inline]
    pub(crate) fn new(a: f64) -> Self {
        // Doubles below 2^53 are multiples of a unit that 1 is a multiple of
        // too, so the difference is exact.
        let b = if a < 9_007_199_254_740_992.0 {
            Interval::from(a - 1.0)
        } else {
            Interval::from(a) - 1.0
        };
        Self { a, b }
    }

    /// 2α - 1.
    #[inline]
    pub(crate) fn twice_minus_one(self) -> Interval {
        self.b + self.a
    }
}
