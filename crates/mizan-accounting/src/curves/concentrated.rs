//! Concentrated differential privacy as Dwork and Rothblum define it: the loss
//! has mean at most μ and is τ-subgaussian around it.
//!
//! # Reference
//! Dwork and Rothblum 2016, Definition 3.3. Subgaussian tails bound the moment,
//! ε(α) <= μ + (α-1) τ²/2 (Bun and Steinke 2016, Lemma 4.2), and since
//! E[e^-loss] = 1 the true mean is never above τ²/2, whatever was declared.

use mizan_core::{Interval, Mu, Tau};

use super::position::Position;

/// The curve of (μ, τ)-concentrated differential privacy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    mean: Interval,
    half_tau_squared: Interval,
}

impl Curve {
    pub(crate) fn new(mu: Mu, tau: Tau) -> Self {
        Self::enclosed(Interval::from(mu.get()), Interval::from(tau.get()).square())
    }

    /// A loss with mean and variance in these intervals.
    pub(crate) fn enclosed(mean: Interval, variance: Interval) -> Self {
        let half_tau_squared = variance * 0.5;
        Self {
            mean: mean.min(half_tau_squared),
            half_tau_squared,
        }
    }

    #[inline]
    pub(crate) fn at(&self, position: Position) -> Interval {
        match position {
            Position::One => self.mean,
            Position::Between(order) => self.mean + order.b * self.half_tau_squared,
            Position::Infinite if self.half_tau_squared == Interval::ZERO => Interval::ZERO,
            Position::Infinite => Interval::INFINITE,
        }
    }
}
