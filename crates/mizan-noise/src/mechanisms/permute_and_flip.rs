//! Permute-and-flip: visits the candidates in random order and selects the first whose coin of
//! probability `e^(-ε (best - score) / 2Δ)` falls heads.

use mizan_core::{Epsilon, PrivacyEvent};

use crate::mechanisms::score_weights::ScoreWeights;
use crate::mechanisms::selection;
use crate::samplers::uniform::Below;
use crate::{Entropy, NoiseError};

/// Permute-and-flip on integer scores, sampled exactly. Its expected error is at most that of the
/// exponential mechanism, and it is pure ε-DP.
///
/// # Reference
///
/// McKenna, Sheldon, *Permute-and-flip*, arXiv 2010.12603.
///
/// ```
/// use mizan_core::Epsilon;
/// use mizan_noise::{Entropy, PermuteAndFlip};
/// let mechanism = PermuteAndFlip::new(Epsilon::new(1.0)?, 1)?;
/// assert_eq!(mechanism.select(&mut Entropy::system()?, &[10, 200, 12])?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermuteAndFlip {
    epsilon: Epsilon,
    weights: ScoreWeights,
}

impl PermuteAndFlip {
    /// For scores of this L∞ sensitivity.
    ///
    /// # Errors
    ///
    /// The sensitivity is zero, or epsilon is zero or infinite.
    pub fn new(epsilon: Epsilon, sensitivity: u64) -> Result<Self, NoiseError> {
        let rate = selection::rate(epsilon, sensitivity, 2)?;
        Ok(Self {
            epsilon,
            weights: ScoreWeights::new(rate),
        })
    }

    /// The privacy event of a selection: pure ε. Unlike the exponential mechanism it has no bounded
    /// range.
    #[must_use]
    pub fn event(&self) -> PrivacyEvent {
        PrivacyEvent::Pure {
            epsilon: self.epsilon,
        }
    }

    /// The position of the selected score. The number of coin flips depends on the scores.
    ///
    /// # Errors
    ///
    /// There are no scores, or there is no randomness.
    pub fn select(&self, entropy: &mut Entropy, scores: &[i64]) -> Result<usize, NoiseError> {
        let best = selection::best(scores)?;
        entropy.operation(|entropy| {
            let mut order: Vec<usize> = (0..scores.len()).collect();
            loop {
                // The next of a random order: the best one's coin falls heads.
                let left = u64::try_from(order.len()).unwrap_or(u64::MAX);
                let at = Below::new(left).draw(entropy)?;
                let candidate = order.swap_remove(usize::try_from(at).unwrap_or(0));
                let gap = scores
                    .get(candidate)
                    .map_or(0, |&score| best.abs_diff(score));
                if self.weights.flip(gap, entropy)? {
                    return Ok(candidate);
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use num_bigint::BigUint;

    use super::*;
    use crate::exact::exponential::exp_neg;
    use crate::exact::rational::Rational;

    /// The coin's probability, from its own decisions, to 2^-100.
    #[test]
    fn the_coin_is_the_definition() {
        let mechanism = PermuteAndFlip::new(Epsilon::new(2.0).unwrap(), 5).unwrap();
        for gap in [0u64, 1, 3, 50, 210] {
            let weight = mechanism.weights.weight(gap);
            let corrected = selection::tests::threshold(|entropy| {
                mechanism.weights.corrects(gap, weight, entropy)
            });
            let found = BigUint::from(weight) * corrected;
            let (low, high) = exp_neg(&Rational::new(2u8, 10u8).times_integer(gap), 190);
            let slack = BigUint::from(1u8) << (190u32 - 100);
            assert!(found <= &high + &slack && found + slack >= low, "gap {gap}");
            // The first 62 bits land in the weight's share.
            for (bits, lands) in [(weight - 1, true), (weight, false)] {
                let mut entropy = Entropy::scripted([bits << 2, 0, 0, 0]);
                if bits < 1 << 62 {
                    assert_eq!(mechanism.weights.flip(gap, &mut entropy).unwrap(), lands);
                }
            }
        }
    }

    #[test]
    fn one_candidate_is_selected_and_none_is_an_error() {
        let mechanism = PermuteAndFlip::new(Epsilon::new(1.0).unwrap(), 1).unwrap();
        let mut entropy = Entropy::seeded(3);
        assert_eq!(mechanism.select(&mut entropy, &[i64::MIN]).unwrap(), 0);
        let extremes = [i64::MIN, i64::MAX, i64::MIN];
        assert_eq!(mechanism.select(&mut entropy, &extremes).unwrap(), 1);
        assert!(mechanism.select(&mut entropy, &[]).is_err());
        assert!(PermuteAndFlip::new(Epsilon::new(1.0).unwrap(), 0).is_err());
        assert!(PermuteAndFlip::new(Epsilon::new(0.0).unwrap(), 1).is_err());
    }
}
