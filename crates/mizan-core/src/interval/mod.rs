//! Interval arithmetic: certified enclosures of real numbers.
//!
//! An [`Interval`] is a pair of doubles with the true real number between
//! them. Every operation rounds outward, so a formula written with intervals
//! yields a certified lower and upper bound of its exact value, rounding of
//! every step included. The bounds are always sound; they are tight if the formula is free of
//! cancellation.
//!
//! The elementary functions come from CORE-MATH, which rounds correctly: the
//! true value is within half a unit in the last place, so one step outward
//! encloses it. All of them are monotone on the ranges used here, so the ends
//! of the argument give the ends of the result.
//!
//! `arithmetic.rs` has the operators, `functions.rs` the elementary functions.

mod arithmetic;
mod functions;

use crate::directed::{mul_down, mul_up};

/// A closed interval of the extended real line that contains a true value.
///
/// ```
/// use mizan_core::Interval;
/// let third = Interval::from(1.0) / 3.0;
/// assert!(third.lower() < third.upper());
/// let one = third * 3.0;
/// assert!(one.lower() <= 1.0 && 1.0 <= one.upper());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    lower: f64,
    upper: f64,
}

impl Interval {
    /// Exactly zero.
    pub const ZERO: Self = Self {
        lower: 0.0,
        upper: 0.0,
    };
    /// Exactly one.
    pub const ONE: Self = Self {
        lower: 1.0,
        upper: 1.0,
    };
    /// Nothing is known.
    pub const ENTIRE: Self = Self {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
    };
    /// Exactly plus infinity.
    pub const INFINITE: Self = Self {
        lower: f64::INFINITY,
        upper: f64::INFINITY,
    };

    /// The interval with these ends; the whole line if they are not an interval.
    #[inline]
    pub fn new(lower: f64, upper: f64) -> Self {
        if lower <= upper {
            Self { lower, upper }
        } else {
            Self::ENTIRE
        }
    }

    /// At most the true value.
    #[inline]
    pub fn lower(self) -> f64 {
        self.lower
    }

    /// At least the true value.
    #[inline]
    pub fn upper(self) -> f64 {
        self.upper
    }

    /// A number inside, for choosing where to look next; never a bound.
    #[inline]
    pub fn middle(self) -> f64 {
        if self.upper == f64::INFINITY {
            self.upper
        } else {
            self.lower + 0.5 * (self.upper - self.lower)
        }
    }

    /// The smaller of two true values.
    pub fn min(self, other: Self) -> Self {
        Self {
            lower: self.lower.min(other.lower),
            upper: self.upper.min(other.upper),
        }
    }

    /// The larger of two true values.
    pub fn max(self, other: Self) -> Self {
        Self {
            lower: self.lower.max(other.lower),
            upper: self.upper.max(other.upper),
        }
    }

    /// The same interval cut at zero, for a true value that is known not to be negative.
    #[inline]
    pub fn non_negative(self) -> Self {
        Self {
            lower: self.lower.max(0.0),
            upper: self.upper.max(0.0),
        }
    }

    #[inline]
    pub(crate) fn is_point(self) -> bool {
        self.lower == self.upper
    }

    /// Whether `x` may be the true value.
    pub fn contains(self, x: f64) -> bool {
        self.lower <= x && x <= self.upper
    }

    /// x * x, which is never negative.
    #[inline]
    pub fn square(self) -> Self {
        let magnitude = self.abs();
        if self.is_point() {
            return magnitude * magnitude;
        }
        Self {
            lower: mul_down(magnitude.lower, magnitude.lower).max(0.0),
            upper: mul_up(magnitude.upper, magnitude.upper),
        }
    }

    /// |x|.
    #[inline]
    pub fn abs(self) -> Self {
        if self.lower >= 0.0 {
            self
        } else if self.upper <= 0.0 {
            -self
        } else {
            Self {
                lower: 0.0,
                upper: self.upper.max(-self.lower),
            }
        }
    }
}

impl From<f64> for Interval {
    /// Exactly `x`; the whole line for NaN.
    #[inline]
    fn from(x: f64) -> Self {
        if x.is_nan() {
            Self::ENTIRE
        } else {
            Self { lower: x, upper: x }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn exact_points_stay_exact() {
        assert_eq!(Interval::ZERO.exp(), Interval::ONE);
        assert_eq!(Interval::ONE.ln(), Interval::ZERO);
        assert_eq!(Interval::ZERO.sinh(), Interval::ZERO);
        assert_eq!(Interval::ZERO.cosh(), Interval::ONE);
        assert_eq!(Interval::ZERO.ln_1p() * Interval::from(3.0), Interval::ZERO);
        assert_eq!(Interval::ZERO.exp_beyond_tangent(), Interval::ZERO);
        assert_eq!(Interval::ZERO.sqrt(), Interval::ZERO);
    }

    #[test]
    fn overflow_and_underflow_stay_sound() {
        let huge = Interval::from(1000.0).exp();
        assert_eq!((huge.lower(), huge.upper()), (f64::MAX, f64::INFINITY));
        let tiny = Interval::from(-1000.0).exp();
        assert_eq!(tiny.lower(), 0.0);
        assert!(tiny.upper() > 0.0);
        assert_eq!((Interval::ONE / Interval::ZERO), Interval::ENTIRE);
        assert_eq!(
            (Interval::ONE / Interval::new(0.0, 1.0)).upper(),
            f64::INFINITY
        );
        assert_eq!(Interval::from(f64::NAN), Interval::ENTIRE);
    }

    #[test]
    fn division_by_what_touches_zero_from_above() {
        // The difference has the lower end -0.0, and so has the negation.
        let touching = Interval::new(1.0, 2.0) - Interval::new(0.0, 1.0);
        for divisor in [touching, -Interval::new(-2.0, 0.0)] {
            let quotient = Interval::ONE / divisor;
            assert!(quotient.lower() <= 0.5 && quotient.upper() == f64::INFINITY);
        }
        let below = -Interval::ONE / touching;
        assert!(
            below.lower() == f64::NEG_INFINITY && below.upper() >= -0.5 && below.upper() < -0.49
        );
    }

    #[test]
    fn roots_are_enclosed() {
        for x in [
            1.0 + f64::EPSILON,
            1.0 - f64::EPSILON / 2.0,
            2.0,
            1e-300,
            5e-324,
            1e300,
        ] {
            let root = Interval::from(x).sqrt();
            assert!(root.lower() < root.upper(), "{x:e}: {root:?}");
            assert!(root.square().contains(x), "{x:e}: {root:?}");
        }
        assert_eq!(Interval::from(6.25).sqrt(), Interval::from(2.5));
    }

    #[test]
    fn division_by_intervals_of_each_sign() {
        let x = Interval::new(-1.0, 2.0) / Interval::new(2.0, 4.0);
        assert!(x.contains(-0.5) && x.contains(1.0) && !x.contains(1.1));
        let y = Interval::new(1.0, 2.0) / Interval::new(-4.0, -2.0);
        assert!(y.contains(-1.0) && y.contains(-0.25) && !y.contains(0.0));
    }

    proptest! {
        /// Exact integer arithmetic is always enclosed.
        #[test]
        fn encloses_integers(a in -1_000_000i64..1_000_000, b in -1_000_000i64..1_000_000) {
            let (x, y) = (Interval::from(a as f64), Interval::from(b as f64));
            prop_assert!((x + y).contains((a + b) as f64));
            prop_assert!((x - y).contains((a - b) as f64));
            prop_assert!((x * y).contains((a * b) as f64));
            prop_assert!(x.square().contains((a * a) as f64));
            if b != 0 {
                prop_assert!((x / y * y).contains(a as f64));
            }
        }

        /// Functions and their inverses meet again.
        #[test]
        fn inverse_functions_enclose(x in -30.0f64..30.0) {
            let point = Interval::from(x);
            prop_assert!(point.exp().ln().contains(x));
            prop_assert!(point.exp_m1().ln_1p().contains(x));
            prop_assert!((point.exp() - point.exp_m1()).contains(1.0));
            prop_assert!((point.cosh().square() - point.sinh().square()).contains(1.0));
            prop_assert!((point.sinh() / point.cosh() - point.tanh()).contains(0.0));
        }

        /// The series and the plain difference agree where both apply.
        #[test]
        fn beyond_tangent_agrees_with_its_definition(x in -0.3f64..0.3) {
            let point = Interval::from(x);
            let series = point.exp_beyond_tangent();
            let plain = point.exp_m1() - x;
            prop_assert!(series.lower() <= plain.upper() && plain.lower() <= series.upper());
            prop_assert!(series.upper() - series.lower() <= 1e-14 * series.upper());
        }
    }
}
