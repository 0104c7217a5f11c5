//! The operators, each rounding outward.

use std::ops::{Add, Div, Mul, Neg, Sub};

use super::Interval;
use crate::directed::{add_down, add_up, div_both, div_down, div_up, mul_both, mul_down, mul_up};

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
        // The divisor is positive, perhaps arbitrarily close to zero; a zero
        // that carries a minus sign must not turn the quotient around.
        let b = Self {
            lower: b.lower + 0.0,
            upper: b.upper,
        };
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
