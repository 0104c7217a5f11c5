//! Gaussian noise, and everything whose curve is a straight line through the
//! origin: zero-concentrated and Gaussian differential privacy.
//!
//! # Reference
//! Mironov 2017, Proposition 7; Bun and Steinke 2016, Definition 1.1; Dong,
//! Roth and Su 2019.

use mizan_core::{Interval, Mu, Sensitivity, Sigma};

use super::position::Position;

/// The curve ε(α) = α slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    /// α Δ²/2σ² for sensitivity Δ and standard deviation σ.
    Noise { sensitivity: f64, sigma: f64 },
    /// α ρ.
    Rho(Interval),
}

impl Curve {
    /// The Gaussian mechanism.
    pub(crate) fn noise(sigma: Sigma, sensitivity: Sensitivity) -> Self {
        Self::Noise {
            sensitivity: sensitivity.get(),
            sigma: sigma.get(),
        }
    }

    /// μ-Gaussian differential privacy.
    pub(crate) fn gaussian_dp(mu: Mu) -> Self {
        Self::Noise {
            sensitivity: mu.get(),
            sigma: 1.0,
        }
    }

    /// ρ-zero-concentrated differential privacy.
    pub(crate) fn zero_concentrated(rho: Interval) -> Self {
        Self::Rho(rho)
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
            // In this order round parameters give exact prices and nothing
            // underflows that matters later; what overflows is tried again.
            Self::Noise { sensitivity, sigma } => {
                let m = Interval::from(sensitivity) / sigma;
                let price = m * a * sensitivity / sigma * 0.5;
                if price.upper() < f64::INFINITY {
                    price
                } else {
                    m * a * m * 0.5
                }
            }
            Self::Rho(rho) => rho * a,
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Self::Noise { sensitivity, .. } => *sensitivity == 0.0,
            Self::Rho(rho) => *rho == Interval::ZERO,
        }
    }
}
