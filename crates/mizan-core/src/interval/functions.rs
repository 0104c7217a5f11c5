//! The elementary functions, correctly rounded and then stepped outward.

use super::Interval;
use crate::directed::{down, up};

impl Interval {
    /// sqrt(x); what lies below zero is cut off. Exact where the root is a
    /// double.
    pub fn sqrt(self) -> Self {
        self.non_negative().rising(|x| {
            let root = x.sqrt();
            // The sign of root² - x tells on which side the rounded root is.
            let lost = root.mul_add(root, -x);
            if x == 0.0 || x == f64::INFINITY {
                (root, root)
            } else if x < 1e-290 || lost.is_nan() {
                around(root)
            } else {
                (
                    if lost > 0.0 { down(root) } else { root },
                    if lost < 0.0 { up(root) } else { root },
                )
            }
        })
    }

    /// e^x; exact at 0 and at -inf.
    #[inline]
    pub fn exp(self) -> Self {
        let Self { lower, upper } = self.rising(|x| match x {
            0.0 => (1.0, 1.0),
            f64::NEG_INFINITY => (0.0, 0.0),
            x => around(core_math::exp(x)),
        });
        Self {
            lower: lower.max(0.0),
            upper,
        }
    }

    /// e^x - 1, without cancellation near zero.
    #[inline]
    pub fn exp_m1(self) -> Self {
        let Self { lower, upper } = self.rising(|x| exact_at_zero(x, core_math::expm1));
        Self {
            lower: lower.max(-1.0),
            upper,
        }
    }

    /// The natural logarithm; minus infinity below zero.
    #[inline]
    pub fn ln(self) -> Self {
        self.rising(|x| match x {
            1.0 => (0.0, 0.0),
            x if x <= 0.0 => (f64::NEG_INFINITY, f64::NEG_INFINITY),
            x => around(core_math::log(x)),
        })
    }

    /// ln(1 + x), without cancellation near zero; minus infinity below -1.
    #[inline]
    pub fn ln_1p(self) -> Self {
        self.rising(|x| match x {
            x if x <= -1.0 => (f64::NEG_INFINITY, f64::NEG_INFINITY),
            x => exact_at_zero(x, core_math::log1p),
        })
    }

    /// The hyperbolic sine.
    #[inline]
    pub fn sinh(self) -> Self {
        self.rising(|x| exact_at_zero(x, core_math::sinh))
    }

    /// The hyperbolic cosine.
    #[inline]
    pub fn cosh(self) -> Self {
        let Self { lower, upper } = self.abs().rising(|x| match x {
            0.0 => (1.0, 1.0),
            x => around(core_math::cosh(x)),
        });
        Self {
            lower: lower.max(1.0),
            upper,
        }
    }

    /// The hyperbolic tangent.
    #[inline]
    pub fn tanh(self) -> Self {
        let Self { lower, upper } = self.rising(|x| exact_at_zero(x, core_math::tanh));
        Self {
            lower: lower.max(-1.0),
            upper: upper.min(1.0),
        }
    }

    /// A rising function, of which `at` gives both bounds at a point.
    #[inline]
    fn rising(self, at: impl Fn(f64) -> (f64, f64)) -> Self {
        let (lower, above) = at(self.lower);
        // A point needs one evaluation only.
        let upper = if self.is_point() {
            above
        } else {
            at(self.upper).1
        };
        Self { lower, upper }
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
        let sine = |x: f64| {
            let (lower, upper) = exact_at_zero(x, core_math::sinpi);
            Self {
                lower: lower.max(0.0),
                upper: upper.clamp(0.0, 1.0),
            }
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

/// The neighbours of a correctly rounded value, which enclose the true one.
#[inline]
fn around(rounded: f64) -> (f64, f64) {
    (down(rounded), up(rounded))
}

/// The bounds of a correctly rounded function that is exactly zero at zero.
#[inline]
fn exact_at_zero(x: f64, function: fn(f64) -> f64) -> (f64, f64) {
    if x == 0.0 {
        (0.0, 0.0)
    } else {
        around(function(x))
    }
}
