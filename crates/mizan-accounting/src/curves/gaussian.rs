//! Gaussian noise, and everything whose curve is a straight line through the
//! origin: zero-concentrated and Gaussian differential privacy.
//!
//! # Reference
//! Mironov 2017, Proposition 7; Bun and Steinke 2016, Definition 1.1; Dong,
//! Roth and Su 2019.

use mizan_core::{Interval, Mu, Rho, Sensitivity, Sigma};

use super::position::Position;

/// The curve ε(α) = α slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    /// α m²/2 for m = sensitivity over standard deviation.
    HalfSquare(Interval),
    /// α ρ.
    Rho(f64),
}

impl Curve {
    /// The Gaussian mechanism.
    pub(crate) fn noise(sigma: Sigma, sensitivity: Sensitivity) -> Self {
        Self::HalfSquare(Interval::from(sensitivity.get()) / sigma.get())
    }

    /// μ-Gaussian differential privacy.
    pub(crate) fn gaussian_dp(mu: Mu) -> Self {
        Self::HalfSquare(Interval::from(mu.get()))
    }

    /// ρ-zero-concentrated differential privacy.
    pub(crate) fn zero_concentrated(rho: Rho) -> Self {
        Self::Rho(rho.get())
    }

    #[inline]
    pub(crate) fn at(&self, position: Position) -> Interval {
        let a = match position {
            Position::One => 1.0,
            Position::Between(order) => order.a,
            Position::Infinite if self.is_zero() => return Interval::ZERO,
            Position::Infinite => return Interval::INFINITE,
        };
        match *self {
            // In this order nothing underflows that matters later.
            Self::HalfSquare(m) => m * a * m * 0.5,
            Self::Rho(rho) => Interval::from(rho) * a,
        }
    }

    fn is_zero(&self) -> bool {
        matches!(*self, Self::HalfSquare(m) if m == Interval::ZERO) || *self == Self::Rho(0.0)
    }
}
