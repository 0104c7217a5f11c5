//! Interval arithmetic: numbers that carry their own proof.
//!
//! An [`Interval`] is a pair of doubles with the true real number between
//! them. Every operation rounds outward, so a formula written with intervals
//! yields a certified lower and upper bound of its exact value, rounding of
//! every step included. Formulas must be free of cancellation for the bounds
//! to be tight; that is the business of the formula, never of its soundness.
//!
//! The elementary functions come from CORE-MATH, which rounds correctly: the
//! true value is within half a unit in the last place, so one step outward
//! encloses it. All of them are monotone on the ranges used here, so the ends
//! of the argument give the ends of the result.

use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::directed::{
    add_down, add_up, div_both, div_down, div_up, down, mul_both, mul_down, mul_up, up,
};

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

    /// The interval with these ends; the whole line if they are no interval.
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

    /// Uses the knowledge that the true value is not negative.
    #[inline]
    pub fn non_negative(self) -> Self {
        Self {
            lower: self.lower.max(0.0),
            upper: self.upper.max(0.0),
        }
    }

    #[inline]
    fn is_point(self) -> bool {
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

    /// sqrt(x); what lies below zero is cut off.
    pub fn sqrt(self) -> Self {
        let x = self.non_negative();
        // IEEE square roots are correctly rounded, and exact at 0, 1 and inf.
        let outward =
            |r: f64, step: fn(f64) -> f64| if r * r == 0.0 || r == 1.0 { r } else { step(r) };
        Self {
            lower: outward(x.lower.sqrt(), down),
            upper: outward(x.upper.sqrt(), up),
        }
    }

    /// e^x; exact at 0 and at -inf.
    #[inline]
    pub fn exp(self) -> Self {
        let end = |x: f64, outward: fn(f64) -> f64| match x {
            0.0 => 1.0,
            f64::NEG_INFINITY => 0.0,
            x => outward(core_math::exp(x)),
        };
        Self {
            lower: end(self.lower, down).max(0.0),
            upper: end(self.upper, up),
        }
    }

    /// e^x - 1, without cancellation near zero.
    #[inline]
    pub fn exp_m1(self) -> Self {
        Self {
            lower: odd_down(self.lower, core_math::expm1).max(-1.0),
            upper: odd_up(self.upper, core_math::expm1),
        }
    }

    /// The natural logarithm; minus infinity below zero.
    #[inline]
    pub fn ln(self) -> Self {
        Self {
            lower: if self.lower <= 0.0 {
                f64::NEG_INFINITY
            } else {
                ln_end(self.lower, down)
            },
            upper: if self.upper <= 0.0 {
                f64::NEG_INFINITY
            } else {
                ln_end(self.upper, up)
            },
        }
    }

    /// ln(1 + x), without cancellation near zero; minus infinity below -1.
    #[inline]
    pub fn ln_1p(self) -> Self {
        Self {
            lower: if self.lower <= -1.0 {
                f64::NEG_INFINITY
            } else {
                odd_down(self.lower, core_math::log1p)
            },
            upper: if self.upper <= -1.0 {
                f64::NEG_INFINITY
            } else {
                odd_up(self.upper, core_math::log1p)
            },
        }
    }

    /// The hyperbolic sine.
    #[inline]
    pub fn sinh(self) -> Self {
        Self {
            lower: odd_down(self.lower, core_math::sinh),
            upper: odd_up(self.upper, core_math::sinh),
        }
    }

    /// The hyperbolic cosine.
    #[inline]
    pub fn cosh(self) -> Self {
        let x = self.abs();
        Self {
            lower: down(core_math::cosh(x.lower)).max(1.0),
            upper: if x.upper == 0.0 {
                1.0
            } else {
                up(core_math::cosh(x.upper))
            },
        }
    }

    /// The hyperbolic tangent.
    #[inline]
    pub fn tanh(self) -> Self {
        Self {
            lower: odd_down(self.lower, core_math::tanh).max(-1.0),
            upper: odd_up(self.upper, core_math::tanh).min(1.0),
        }
    }

    /// The complementary error function, which falls from 2 to 0.
    pub fn erfc(self) -> Self {
        Self {
            lower: down(core_math::erfc(self.upper)).max(0.0),
            upper: up(core_math::erfc(self.lower)).min(2.0),
        }
    }

    /// sin(pi x)^2 for |x| <= 1, where it rises up to 1/2 and falls after.
    pub fn sin_pi_squared(self) -> Self {
        let x = self.abs();
        if x.upper > 1.0 {
            return Self {
                lower: 0.0,
                upper: 1.0,
            };
        }
        let sine = |x: f64| Self {
            lower: odd_down(x, core_math::sinpi).max(0.0),
            upper: odd_up(x, core_math::sinpi).clamp(0.0, 1.0),
        };
        let (left, right) = (sine(x.lower), sine(x.upper));
        let peak = x.lower <= 0.5 && 0.5 <= x.upper;
        let upper = if peak {
            1.0
        } else {
            left.upper.max(right.upper)
        };
        Self {
            lower: left.lower.min(right.lower),
            upper,
        }
        .square()
    }

    /// e^x - 1 - x, which is never negative: what is left of the exponential
    /// beyond its tangent at zero.
    #[inline]
    pub fn exp_beyond_tangent(self) -> Self {
        if self.lower.abs() <= 0.25 && self.upper.abs() <= 0.25 {
            exp_beyond_tangent_near_zero(self)
        } else {
            // The function falls left of zero and rises right of it.
            let at = |x: f64| (Self::from(x).exp_m1() - x).non_negative();
            let (left, right) = (at(self.lower), at(self.upper));
            if self.lower >= 0.0 {
                Self {
                    lower: left.lower,
                    upper: right.upper,
                }
            } else if self.upper <= 0.0 {
                Self {
                    lower: right.lower,
                    upper: left.upper,
                }
            } else {
                Self {
                    lower: 0.0,
                    upper: left.upper.max(right.upper),
                }
            }
        }
    }
}

/// e^x - 1 - x = x^2/2 (1 + x/3 + x^2/12 + ... + 2 x^11/13! + ...), |x| <= 1/4.
///
/// Error: the tail beyond 13! is below 2^-59 of the value. Horner's rule in x²
/// puts at most 2k+3 roundings on the term x^k, together less than 2 u of the
/// sum (u = 2^-53), the coefficients add 0.1 u, the two multiplications by x²/2
/// add 2 u, and the sum is at least 0.92: below 5 u in all. 8 u = 2^-50 is
/// claimed. The width of the argument enters through the derivative, whose
/// size |e^x - 1| is below 1.2 |x| here.
#[inline]
fn exp_beyond_tangent_near_zero(x: Interval) -> Interval {
    // 2/k! for k = 13, 11, ... 3 and for k = 12, 10, ... 2.
    const ODD: [f64; 6] = [
        2.0 / 6_227_020_800.0,
        2.0 / 39_916_800.0,
        2.0 / 362_880.0,
        2.0 / 5_040.0,
        2.0 / 120.0,
        2.0 / 6.0,
    ];
    const EVEN: [f64; 6] = [
        2.0 / 479_001_600.0,
        2.0 / 3_628_800.0,
        2.0 / 40_320.0,
        2.0 / 720.0,
        2.0 / 24.0,
        1.0,
    ];
    let middle = 0.5 * (x.lower + x.upper);
    let square = middle * middle;
    let horner = |coefficients: &[f64; 6]| coefficients.iter().fold(0.0, |sum, c| sum * square + c);
    // Odd and even powers apart: two short chains instead of a long one.
    let sum = horner(&EVEN) + middle * horner(&ODD);
    let value = 0.5 * middle * middle * sum;
    let half_width = (x.upper - middle).max(middle - x.lower);
    // The last summand covers what underflows in the products: each loses at
    // most half of the smallest subnormal.
    let error = value * 2f64.powi(-50)
        + 1.3 * half_width * (middle.abs() + half_width)
        + if value < 1e-290 && x != Interval::ZERO {
            8.0 * f64::from_bits(1)
        } else {
            0.0
        };
    Interval {
        lower: (value - error * 1.001).max(0.0),
        upper: value + error * 1.001,
    }
}

/// A lower bound of a correctly rounded function that is exact at zero.
#[inline]
fn odd_down(x: f64, function: fn(f64) -> f64) -> f64 {
    if x == 0.0 { 0.0 } else { down(function(x)) }
}

/// An upper bound of a correctly rounded function that is exact at zero.
#[inline]
fn odd_up(x: f64, function: fn(f64) -> f64) -> f64 {
    if x == 0.0 { 0.0 } else { up(function(x)) }
}

#[inline]
fn ln_end(x: f64, outward: fn(f64) -> f64) -> f64 {
    if x == 1.0 {
        0.0
    } else {
        outward(core_math::log(x))
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

impl Neg for Interval {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        Self {
            lower: -self.upper,
            upper: -self.lower,
        }
    }
}

impl Add for Interval {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            lower: add_down(self.lower, other.lower),
            upper: add_up(self.upper, other.upper),
        }
    }
}

impl Sub for Interval {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self, other);
        if a.is_point() && b.is_point() {
            let (lower, upper) = mul_both(a.lower, b.lower);
            Self { lower, upper }
        } else if a.lower >= 0.0 && b.lower >= 0.0 {
            // The common case. A product of non-negative numbers is not negative.
            Self {
                lower: mul_down(a.lower, b.lower).max(0.0),
                upper: mul_up(a.upper, b.upper),
            }
        } else {
            let ends = [
                (a.lower, b.lower),
                (a.lower, b.upper),
                (a.upper, b.lower),
                (a.upper, b.upper),
            ];
            Self {
                lower: ends
                    .iter()
                    .map(|&(x, y)| mul_down(x, y))
                    .fold(f64::INFINITY, f64::min),
                upper: ends
                    .iter()
                    .map(|&(x, y)| mul_up(x, y))
                    .fold(f64::NEG_INFINITY, f64::max),
            }
        }
    }
}

impl Div for Interval {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let (a, b) = (self, other);
        if a.is_point() && b.is_point() && b.lower != 0.0 {
            let (lower, upper) = div_both(a.lower, b.lower);
            return Self { lower, upper };
        }
        if b.upper < 0.0 {
            return -a / -b;
        }
        if b.lower < 0.0 || b.upper == 0.0 {
            return Self::ENTIRE;
        }
        // The divisor is positive, perhaps arbitrarily close to zero.
        let smallest = if a.lower >= 0.0 { b.upper } else { b.lower };
        let largest = if a.upper >= 0.0 { b.lower } else { b.upper };
        let lower = div_down(a.lower, smallest);
        Self {
            lower: if a.lower >= 0.0 {
                lower.max(0.0)
            } else {
                lower
            },
            upper: div_up(a.upper, largest),
        }
    }
}

/// Mixed arithmetic: a bare double is exactly itself.
macro_rules! with_exact_double {
    ($($operation:ident $method:ident),*) => {$(
        impl $operation<f64> for Interval {
            type Output = Self;
            #[inline]
            fn $method(self, other: f64) -> Self {
                self.$method(Self::from(other))
            }
        }
    )*};
}
with_exact_double!(Add add, Sub sub, Mul mul, Div div);

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
