//! Advanced composition: the loss of many small steps stays near its mean.
//!
//! The loss of an ε-DP step has mean at most the one given here and lies within
//! ±ε, so by Azuma's inequality the sum has Gaussian tails of variance Σ ε².
//! The theorems differ in the mean alone:
//!
//! - Dwork, Rothblum and Vadhan 2010, Theorem III.3: ε (e^ε - 1),
//! - Dwork and Rothblum 2016, Theorem 1.1: half of it,
//! - tight: ε tanh(ε/2), the largest Kullback-Leibler divergence that ε-DP
//!   allows (Bun and Steinke 2016, Proposition 3.3).
//!
//! Stated for equal steps, the argument holds for unequal ones. Steps that may
//! fail do so with probability at most Σ δ in all.

use mizan_core::Interval;

use super::parts::{Part, sum};
use super::subgaussian::SubgaussianLoss;

/// Which bound on the mean of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mean {
    /// Dwork, Rothblum and Vadhan 2010.
    Original,
    /// Dwork and Rothblum 2016.
    Halved,
    /// The best possible.
    Tight,
}

impl Mean {
    fn of(self, epsilon: Interval) -> Interval {
        match self {
            Self::Original => epsilon * epsilon.exp_m1(),
            Self::Halved => epsilon * epsilon.exp_m1() * 0.5,
            Self::Tight => epsilon * (epsilon * 0.5).tanh(),
        }
    }

    fn loss(self, parts: &[Part]) -> SubgaussianLoss {
        SubgaussianLoss {
            mean: sum(parts, |part| self.of(part.epsilon)),
            variance: sum(parts, |part| part.epsilon.square()),
        }
    }

    /// The ε at a total δ; None if the parts' own δ leave nothing.
    pub(crate) fn epsilon(self, parts: &[Part], delta: Interval) -> Option<Interval> {
        let left = delta - sum(parts, |part| part.delta);
        (left.lower() > 0.0).then(|| self.loss(parts).epsilon(left))
    }

    /// The total δ at an ε.
    pub(crate) fn delta(self, parts: &[Part], epsilon: Interval) -> Interval {
        sum(parts, |part| part.delta) + self.loss(parts).delta(epsilon)
    }
}
