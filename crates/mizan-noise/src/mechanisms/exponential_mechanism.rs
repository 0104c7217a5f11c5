//! The exponential mechanism: selects a candidate with probability proportional to
//! `e^(ε · score / 2Δ)`.

use mizan_core::{Epsilon, PrivacyEvent};
use num_bigint::BigUint;

use crate::mechanisms::score_weights::ScoreWeights;
use crate::mechanisms::selection;
use crate::samplers::uniform;
use crate::{Entropy, NoiseError};

/// The exponential mechanism on integer scores, sampled exactly.
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
    /// For scores of this L∞ sensitivity.
    ///
    /// # Errors
    ///
    /// The sensitivity is zero, or epsilon is zero or infinite.
    pub fn new(epsilon: Epsilon, sensitivity: u64) -> Result<Self, NoiseError> {
        Self::with_rate(epsilon, sensitivity, 2)
    }

    /// For monotonic scores, which a privacy unit changes all in the same direction, as with counts:
    /// probabilities proportional to `e^(ε · score / Δ)` at the same cost.
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

    /// The privacy event of a selection.
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

    /// The same for candidates in runs of equal score: returns a run and an index in it. The
    /// distribution is that of the candidates one by one, in time proportional to the number of
    /// runs.
    ///
    /// ```
    /// use mizan_core::Epsilon;
    /// use mizan_noise::{Entropy, ExponentialMechanism};
    /// let mechanism = ExponentialMechanism::new(Epsilon::new(1.0)?, 1)?;
    /// let runs = [(10, 65_000), (200, 3), (12, 533)];
    /// let (run, place) = mechanism.select_run(&mut Entropy::system()?, &runs)?;
    /// assert!(run == 1 && place < 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There are no candidates, or 2⁶⁴ and more, or there is no randomness.
    pub fn select_run(
        &self,
        entropy: &mut Entropy,
        runs: &[(i64, u64)],
    ) -> Result<(usize, u64), NoiseError> {
        self.select_below(entropy, runs, |run, _| {
            runs.get(run).map_or(i64::MIN, |(score, _)| *score)
        })
    }

    /// The same for runs of different scores, by rejection: each run has an upper bound of its
    /// scores, and `score` returns the score of a candidate from its run and index. A candidate is
    /// drawn as if all had the bound of their run, and accepted with probability
    /// `e^(ε (score - bound) / 2Δ)`; otherwise another is drawn. The distribution is that of the
    /// candidates one by one. Tight bounds make it fast; nothing else depends on them.
    ///
    /// # Errors
    ///
    /// As for [`select_run`](Self::select_run).
    pub fn select_below(
        &self,
        entropy: &mut Entropy,
        runs: &[(i64, u64)],
        score: impl Fn(usize, u64) -> i64,
    ) -> Result<(usize, u64), NoiseError> {
        let best = runs
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(score, _)| *score)
            .max()
            .ok_or(NoiseError::Empty { what: "the scores" })?;
        runs.iter()
            .try_fold(0u64, |sum, (_, count)| sum.checked_add(*count))
            .ok_or(NoiseError::Overflow { bits: 64 })?;
        entropy.operation(|entropy| self.select_below_by(entropy, runs, best, score))
    }

    fn select_below_by(
        &self,
        entropy: &mut Entropy,
        runs: &[(i64, u64)],
        best: i64,
        score: impl Fn(usize, u64) -> i64,
    ) -> Result<(usize, u64), NoiseError> {
        // Less than 2^62 times 2^64.
        let weights: Vec<(u64, u128)> = runs
            .iter()
            .map(|&(score, count)| {
                let weight = self.weights.weight(best.abs_diff(score));
                (weight, u128::from(weight) * u128::from(count))
            })
            .collect();
        let total = BigUint::from(weights.iter().map(|(_, all)| all).sum::<u128>());
        loop {
            let drawn = uniform::below(entropy, &total)?;
            let mut left = u128::try_from(&drawn).unwrap_or(0);
            for (run, (&(weight, all), &(bound, _))) in weights.iter().zip(runs).enumerate() {
                if left >= all {
                    left -= all;
                    continue;
                }
                let place = u64::try_from(left / u128::from(weight)).unwrap_or(0);
                let below = bound.abs_diff(score(run, place).min(bound));
                if self
                    .weights
                    .corrects(best.abs_diff(bound), weight, entropy)?
                    && (below == 0 || self.weights.flip(below, entropy)?)
                {
                    return Ok((run, place));
                }
                break;
            }
        }
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
    #![allow(
        clippy::unwrap_used,
        clippy::cast_precision_loss,
        clippy::indexing_slicing
    )]
    use super::*;
    use crate::exact::exponential::exp_neg;
    use crate::exact::rational::Rational;

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

    /// Runs are candidates: the same words select the same one, where no
    /// correction comes between.
    #[test]
    fn runs_are_candidates() {
        let mechanism = ExponentialMechanism::new(Epsilon::new(0.7).unwrap(), 2).unwrap();
        let runs = [(3i64, 4u64), (5, 0), (-2, 7), (4, 1), (3, 2)];
        let scores: Vec<i64> = runs
            .iter()
            .flat_map(|&(score, count)| (0..count).map(move |_| score))
            .collect();
        let mut seen = vec![0u32; scores.len()];
        for seed in 0..20_000 {
            let alone = mechanism
                .select(&mut Entropy::seeded(seed), &scores)
                .unwrap();
            let (run, place) = mechanism
                .select_run(&mut Entropy::seeded(seed), &runs)
                .unwrap();
            let before: u64 = runs.iter().take(run).map(|(_, count)| count).sum();
            assert_eq!(usize::try_from(before + place).unwrap(), alone, "{seed}");
            seen[alone] += 1;
        }
        assert!(seen.iter().all(|&count| count > 0));
    }

    /// Bounds decide nothing: candidates of one run, with bounds above them, are
    /// selected as often as the definition says. Of 200,000 draws each share is
    /// off by seven standard errors once in 10¹¹ times; were candidates kept
    /// whatever their score, that of the first would be off by a hundred and seventy.
    #[test]
    fn bounds_decide_nothing() {
        let mechanism = ExponentialMechanism::new(Epsilon::new(1.0).unwrap(), 1).unwrap();
        let scores = [[0i64, -1, -2], [-1, -3, 0]];
        let runs = [(0i64, 3u64), (2, 3)];
        let weight = |score: i64| (score as f64 / 2.0).exp();
        let total: f64 = scores.iter().flatten().map(|&score| weight(score)).sum();
        let mut seen = [[0u32; 3]; 2];
        let mut entropy = Entropy::seeded(7);
        let draws = 200_000u32;
        for _ in 0..draws {
            let (run, place) = mechanism
                .select_below(&mut entropy, &runs, |run, place| {
                    scores[run][usize::try_from(place).unwrap()]
                })
                .unwrap();
            seen[run][usize::try_from(place).unwrap()] += 1;
        }
        for (seen, score) in seen.iter().flatten().zip(scores.iter().flatten()) {
            let share = weight(*score) / total;
            let error = (share * (1.0 - share) / f64::from(draws)).sqrt();
            let found = f64::from(*seen) / f64::from(draws);
            assert!((found - share).abs() < 7.0 * error, "{found} {share}");
        }
    }

    #[test]
    fn runs_without_candidates_are_refused() {
        let mechanism = ExponentialMechanism::new(Epsilon::new(0.7).unwrap(), 2).unwrap();
        let mut entropy = Entropy::seeded(1);
        assert!(mechanism.select_run(&mut entropy, &[]).is_err());
        assert!(mechanism.select_run(&mut entropy, &[(3, 0)]).is_err());
        let many = [(1, u64::MAX), (1, 1)];
        assert!(mechanism.select_run(&mut entropy, &many).is_err());
        let most = [(i64::MIN, 1), (i64::MAX, u64::MAX - 1)];
        assert_eq!(mechanism.select_run(&mut entropy, &most).unwrap().0, 1);
    }
}
