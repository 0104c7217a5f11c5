//! Complex arithmetic for the contour.

use std::ops::{Add, Mul, Sub};

/// A complex double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

impl Complex {
    pub(super) const ZERO: Self = Self { re: 0.0, im: 0.0 };

    pub(super) fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    pub(super) fn size(self) -> f64 {
        core_math::hypot(self.re, self.im)
    }

    pub(super) fn scaled(self, by: f64) -> Self {
        Self::new(self.re * by, self.im * by)
    }

    /// 1/x.
    pub(super) fn reciprocal(self) -> Self {
        let square = self.re * self.re + self.im * self.im;
        Self::new(self.re / square, -self.im / square)
    }

    /// e^x.
    pub(super) fn exp(self) -> Self {
        let size = core_math::exp(self.re);
        let (sin, cos) = core_math::sincos(self.im);
        Self::new(size * cos, size * sin)
    }

    /// ln(1 + x), without cancellation near zero: the real part is off by at
    /// most 4 units of |x|/|1+x|, or of itself.
    pub(super) fn ln_1p(self) -> Self {
        let Self { re, im } = self;
        let square = 2.0 * re + re * re + im * im;
        let ln_size = if square.abs() < 0.5 {
            0.5 * core_math::log1p(square)
        } else {
            core_math::log(core_math::hypot(1.0 + re, im))
        };
        Self::new(ln_size, core_math::atan2(im, 1.0 + re))
    }

    /// e^x - 1 - x, off by at most 60 units of |x|² max(1, e^Re x).
    ///
    /// Below 1/2 the series: 16 terms leave 2^-60 of the value, Horner's rule
    /// adds a few units. Above, three roundings of numbers that are at most
    /// 4 |x|² max(1, e^Re x) each.
    pub(super) fn exp_beyond_tangent(self) -> Self {
        if self.size() > 0.5 {
            return self.exp() - Self::new(1.0 + self.re, self.im);
        }
        let mut sum = Self::ZERO;
        for k in (3..=17).rev() {
            // 1 + x/3 (1 + x/4 (1 + ...)).
            sum = (sum + Self::new(1.0, 0.0)) * self.scaled(1.0 / f64::from(k));
        }
        (sum + Self::new(1.0, 0.0)) * self * self.scaled(0.5)
    }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}
