//! The exponential mechanism: a candidate with probability proportional to
//! `e^(ε · score / 2Δ)`.

use mizan_core::{Epsilon, PrivacyEvent};
use num_bigint::BigUint;

use crate::score_weights::ScoreWeights;
use crate::{Entropy, NoiseError, selection, uniform};

/// Selects from integer scores, exactly.
///
/// # Reference
///
/// McSherry, Talwar, *Mechanism design via differential privacy*, 2007. Its
/// range is bounded by ε: Dong, Durfee, Rogers, arXiv 1909.13830.
///
/// ```
/// use mizan_core::Epsilon;
/// use mizan_noise::{Entropy, ExponentialMechanism};
/// let mechanism = ExponentialMechanism::new(Epsilon::new(1.0)?, 1)?;
/// let best = mechanism.select(&mut Entropy::system()?, &[10, 200, 12])?;
/// assert_eq!(best, 1, "the others are e^94 times less likely");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ExponentialMechanism {
    epsilon: Epsilon,
    weights: ScoreWeights,
}

impl ExponentialMechanism {
    /// For scores that one person moves by at most `sensitivity`.
    ///
    /// # Errors
    ///
    /// The sensitivity is zero, or epsilon is zero or infinite.
    pub fn new(epsilon: Epsilon, sensitivity: u64) -> Result<Self, NoiseError> {
        Self::with_rate(epsilon, sensitivity, 2)
    }

    /// For scores that one person moves all in the same direction, as counts
    /// are: twice as sharp at the same price.
    ///
    /// # Errors
    ///
    /// The sensitivity is zero, or epsilon is zero or infinite.
    pub fn monotonic(epsilon: Epsilon, sensitivity: u64) -> Result<Self, NoiseError> {
        Self::with_rate(epsilon, sensitivity, 1)
    }

    fn with_rate(epsilon: Epsilon, sensitivity: u64, divisor: u8) -> Result<Self, NoiseError> {
        let rate = selection::rate(epsilon, sensitivity, divisor)?;
        Ok(Self {
            epsilon,
            weights: ScoreWeights::new(rate),
        })
    }

    /// What a selection costs.
    #[must_use]
    pub fn event(&self) -> PrivacyEvent {
        PrivacyEvent::Exponential {
            epsilon: self.epsilon,
        }
    }

    /// The position of the selected score. All scores are visited the same
    /// number of times, whichever is selected.
    ///
    /// # Errors
    ///
    /// There are no scores, or there is no randomness.
    pub fn select(&self, entropy: &mut Entropy, scores: &[i64]) -> Result<usize, NoiseError> {
        let best = selection::best(scores)?;
        entropy.operation(|entropy| self.select_by(entropy, scores, best))
    }

    fn select_by(
        &self,
        entropy: &mut Entropy,
        scores: &[i64],
        best: i64,
    ) -> Result<usize, NoiseError> {
        let weight = |score: i64| self.weights.weight(best.abs_diff(score));
        let total: u128 = scores.iter().map(|&score| u128::from(weight(score))).sum();
        loop {
            let drawn = uniform::below(entropy, &BigUint::from(total))?;
            let drawn = u128::try_from(&drawn).unwrap_or(0);
            // The first whose share of the total is not all below.
            let (mut reached, mut selected) = (0u128, 0usize);
            for &score in scores {
                reached += u128::from(weight(score));
                selected += usize::from(reached <= drawn);
            }
            let gap = scores
                .get(selected)
                .map_or(0, |&score| best.abs_diff(score));
            if self
                .weights
                .corrects(gap, self.weights.weight(gap), entropy)?
            {
                return Ok(selected);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::cast_precision_loss)]
    use super::*;
    use crate::exponential::exp_neg;
    use crate::rational::Rational;

    /// The shares of the total, corrected, are the probabilities of the
    /// definition to 2^-100: weights from the algorithm, correction by
    /// bisection on its own coin.
    #[test]
    fn the_probabilities_are_the_definition() {
        let mechanism = ExponentialMechanism::new(Epsilon::new(0.3).unwrap(), 3).unwrap();
        let rate = Rational::from_f64(0.3).over_integer(6u8);
        for gap in [0u64, 1, 2, 10, 100, 700, 800, 1200] {
            let weight = mechanism.weights.weight(gap);
            let corrected = selection::tests::threshold(|entropy| {
                mechanism.weights.corrects(gap, weight, entropy)
            });
            // weight · corrected / 2^128 = 2^62 e^-g, to 2^-100 of the whole.
            let found = BigUint::from(weight) * corrected;
            let (low, high) = exp_neg(&rate.times_integer(gap), 190);
            let slack = BigUint::from(1u8) << (190u32 - 100);
            assert!(found <= &high + &slack && found + slack >= low, "gap {gap}");
        }
    }
}
