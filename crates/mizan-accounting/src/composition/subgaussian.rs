//! A loss with a mean and Gaussian tails.
//!
//! The advanced composition theorems and concentrated differential privacy all
//! end the same way: the loss is at most mean + t √variance except with
//! probability e^(-t²/2).

use mizan_core::Interval;

/// What is known of the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SubgaussianLoss {
    pub(crate) mean: Interval,
    pub(crate) variance: Interval,
}

impl SubgaussianLoss {
    /// mean + √(2 variance ln 1/δ).
    pub(crate) fn epsilon(&self, delta: Interval) -> Interval {
        self.mean + (self.variance * delta.ln() * -2.0).sqrt()
    }

    /// e^(-(ε - mean)²/2 variance), or one below the mean.
    pub(crate) fn delta(&self, epsilon: Interval) -> Interval {
        let above = epsilon - self.mean;
        if above.lower() <= 0.0 {
            return Interval::new(0.0, 1.0);
        }
        if self.variance == Interval::ZERO {
            return Interval::ZERO;
        }
        (above.square() / self.variance * -0.5).exp()
    }
}
