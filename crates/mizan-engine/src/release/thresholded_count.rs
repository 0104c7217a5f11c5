//! The number of units of a group that is shown because its noisy unit count is above the
//! threshold.
//!
//! The noise of the unit count decides whether a private group is shown. Near the threshold
//! only groups with positive noise are shown, so an interval that is correct for all groups is
//! too high for these. Its lower end is therefore computed from the noise conditional on the
//! group being shown: the least `u` with `P(u + X >= y) >= (missed / 2) P(u + X > threshold)`.
//!
//! # Guarantee
//!
//! For every `u` the probability that a shown group has its lower end above `u` is at most
//! `missed / 2`. That is the definition, since the left side grows faster in `u` than the right
//! side for noise whose logarithm is concave. The upper end is too low with a smaller
//! probability among shown groups than among all. Other statistics have independent noise, so
//! the threshold does not affect them.

use mizan_noise::Noise;

use super::ReleaseError;
use super::noise_plan::{StatisticMechanism, Threshold};

/// The noise of unit counts, and their threshold.
#[derive(Clone, Debug)]
pub(super) struct ThresholdedCount {
    noise: Noise,
    /// The bound of the noise, if it is truncated.
    bound: Option<u64>,
    threshold: i64,
    missed: f64,
}

impl ThresholdedCount {
    /// For lower ends that are too high with probability at most `missed / 2`.
    pub(super) fn new(
        units: &StatisticMechanism,
        threshold: Threshold,
        missed: f64,
    ) -> Result<Option<Self>, ReleaseError> {
        let bound = units.truncated()?.map(|keys| keys.bound());
        let shown = |noise| Self {
            noise,
            bound,
            threshold: i64::try_from(threshold.above).unwrap_or(i64::MAX),
            missed,
        };
        Ok(units.noise()?.map(shown))
    }

    /// The lower end for a noisy number of units.
    pub(super) fn least(&self, noisy: i64) -> i64 {
        let likely = |units: i64| {
            let any = self.at_least(self.threshold.saturating_add(1).saturating_sub(units));
            any > 0.0 && self.at_least(noisy.saturating_sub(units)) >= self.missed / 2.0 * any
        };
        let (mut from, mut to) = (0, noisy.max(0));
        while from < to {
            let middle = i64::midpoint(from, to);
            if likely(middle) {
                to = middle;
            } else {
                from = middle + 1;
            }
        }
        to
    }

    /// The probability that the noise is at least this. For truncated noise, the probability
    /// that untruncated noise also stays within the bound: only ratios matter.
    fn at_least(&self, noise: i64) -> f64 {
        // P(X >= t) is half of P(|X| > t - 1) for t >= 1, and X is symmetric.
        let magnitude = noise.unsigned_abs();
        let beyond = |magnitude: u64| 0.5 * self.noise.tail(u128::from(magnitude));
        let cut = self.bound.map_or(0.0, beyond);
        if noise > 0 {
            (beyond(magnitude - 1) - cut).max(0.0)
        } else {
            1.0 - beyond(magnitude).max(cut) - cut
        }
    }
}
