//! Discrete Laplace noise: integers x with probability proportional to
//! e^(-|x|/scale), on a function of whole L1 sensitivity.
//!
//! Summing the two tails and the geometric middle gives the same shape as for
//! Laplace noise, with
//!
//! > h = (1 - κ)/2,  κ = tanh(τ/2) / tanh((2α-1) τ/2),  τ = 1/scale.
//!
//! # Reference
//! The definition; Ghosh, Roughgarden and Sundararajan 2009 for the mechanism.
//! As for Laplace noise the whole shift in one coordinate is the worst.

use mizan_core::{DiscreteLaplace, Interval};

use super::hyperbolic::{coth_excess, coth_excess_slope};
use super::position::{Between, Position};
use super::two_sided::{self, Weights};

/// The curve of the discrete Laplace mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    /// 1/scale, the loss of one step.
    tau: Interval,
    /// Sensitivity times τ: the pure ε.
    t: Interval,
}

impl Curve {
    pub(crate) fn new(mechanism: &DiscreteLaplace) -> Self {
        let scale = mechanism.scale().get();
        Self {
            tau: Interval::ONE / scale,
            t: Interval::from(mechanism.sensitivity().get()) / scale,
        }
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        match position {
            Position::One => {
                let at_one = Between {
                    a: 1.0,
                    b: Interval::ZERO,
                };
                two_sided::at_one(self.t, &self.weights(at_one))
            }
            Position::Between(order) => two_sided::between(order, self.t, &self.weights(order)),
            Position::Infinite => self.t,
        }
    }

    fn weights(&self, order: Between) -> Weights {
        let Between { a, b } = order;
        let tau = self.tau;
        let s = order.twice_minus_one();
        // h/(α-1) = e^-τ (1 - e^(-2(α-1)τ))/(α-1) / ((1 - e^(-sτ)) (1 + e^-τ))
        let rate = if b == Interval::ZERO {
            tau * 2.0
        } else {
            -(b * tau * -2.0).exp_m1() / b
        };
        let step = (-tau).exp();
        let share = step * rate / (-(-(s * tau)).exp_m1() * (step + 1.0));
        let half = tau * 0.5;
        let reach = s * half;
        let drift = if reach.upper() <= 0.5 {
            // Both hyperbolic arguments are small: their difference as a series.
            half.square() * a * 2.0 * coth_excess_slope(reach, half) / (coth_excess(half) + 1.0)
        } else if half.lower() >= 0.25 || s.upper() < 2.0 {
            (Interval::ONE - s * share).non_negative()
        } else {
            // A small τ and a large order: κ s - 1 over 2(α-1).
            let excess = (coth_excess(reach) - coth_excess(half)) / (coth_excess(half) + 1.0);
            (excess / (b * 2.0)).non_negative()
        };
        Weights {
            share,
            drift: self.t * drift,
        }
    }
}
