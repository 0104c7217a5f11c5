//! The exact (ε, δ) of Gaussian noise, and so of any composition of it.
//!
//! With m the sensitivity over the standard deviation, c = ε/m, A = c - m/2 and
//! B = c + m/2,
//!
//! > δ(ε) = Φ(-A) - e^ε Φ(-B) = φ(A) (M(A) - M(B)),   M = Mills' ratio.
//!
//! A composition of Gaussian mechanisms is a Gaussian mechanism whose m is the
//! root of the sum of squares; nothing is lost.
//!
//! # Reference
//! Balle and Wang 2018, Theorem 8; Dong, Roth and Su 2019, Corollary 2.1.

use mizan_core::{Bracket, Delta, Epsilon, Interval, Sensitivity, Sigma};

use crate::minimize::first_that_holds;

use super::mills::{mills, mills_difference};

/// A Gaussian mechanism, by the ratio of sensitivity and standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianProfile {
    m: Interval,
}

impl GaussianProfile {
    /// The profile of Gaussian noise.
    pub fn new(sigma: Sigma, sensitivity: Sensitivity) -> Self {
        Self {
            m: Interval::from(sensitivity.get()) / sigma.get(),
        }
    }

    /// The profile with m in this interval.
    pub(crate) fn from_ratio(m: Interval) -> Self {
        Self { m }
    }

    /// The profile with m² in this interval.
    pub(crate) fn from_square(m_squared: Interval) -> Self {
        Self {
            m: m_squared.sqrt(),
        }
    }

    /// The δ at a given ε.
    pub fn delta(&self, epsilon: Epsilon) -> Bracket<Delta> {
        let delta = if self.m == Interval::ZERO {
            Interval::ZERO
        } else {
            self.ln_delta(epsilon.get()).exp()
        };
        Bracket {
            lower: Delta::saturating(delta.lower()),
            upper: Delta::saturating(delta.upper()),
        }
    }

    /// The ε at a given δ.
    pub fn epsilon(&self, delta: Delta) -> Bracket<Epsilon> {
        if self.m == Interval::ZERO {
            return Bracket {
                lower: Epsilon::ZERO,
                upper: Epsilon::ZERO,
            };
        }
        let target = Interval::from(delta.get()).ln();
        // From zero-concentrated privacy: m²/2 + m √(2 ln 1/δ) is always enough.
        let enough = (self.m.square() * 0.5 + self.m * (target * -2.0).sqrt()).upper();
        let first = |high: f64, holds: &dyn Fn(f64) -> bool| {
            first_that_holds(0.0, high, holds).unwrap_or(high)
        };
        let upper = first(enough, &|epsilon| {
            self.ln_delta(epsilon).upper() <= target.lower()
        });
        let beyond = first(upper, &|epsilon| {
            self.ln_delta(epsilon).lower() < target.upper()
        });
        Bracket {
            lower: Epsilon::saturating(beyond.next_down()),
            upper: Epsilon::saturating(upper),
        }
    }

    /// ln δ(ε), enclosed.
    pub(crate) fn ln_delta(&self, epsilon: f64) -> Interval {
        let m = self.m;
        let c = Interval::from(epsilon) / m;
        let half = m * 0.5;
        let (a, b) = (c - half, c + half);
        let ln_density = a.square() * -0.5 - ln_sqrt_two_pi();
        if m.upper() <= 1.0 && epsilon >= 0.0 {
            ln_density + mills_difference(c, half).ln()
        } else if a.lower() >= 0.0 {
            ln_density + (mills(a) - mills(b)).non_negative().ln()
        } else {
            // Φ(-A) = 1 - φ(A) M(-A) for A below zero.
            let left = -a;
            let right = if b.lower() >= 0.0 {
                mills(b)
            } else {
                return Interval::new(f64::NEG_INFINITY, 0.0);
            };
            let inside = ln_density.exp() * (mills(left) + right);
            (-inside).ln_1p().min(Interval::ZERO)
        }
    }
}

/// ln √(2π).
fn ln_sqrt_two_pi() -> Interval {
    let two_pi = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
    two_pi.ln() * 0.5
}
