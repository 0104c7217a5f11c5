//! How many units a group has that is shown only because they seemed many.
//!
//! The noise of the units decides whether a group of private keys is shown. Of the
//! groups near the threshold those are shown whose noise was high, so an interval
//! that is right for all groups lies too high for these. Its lower end is
//! therefore taken from how likely the noisy number is among those above the
//! threshold: the least `u` with
//! `P(u + X >= y) >= (missed / 2) P(u + X > threshold)`.
//!
//! # Guarantee
//!
//! For every `u` the probability that a shown group has its lower end above `u` is
//! at most `missed / 2`: that is the definition, since the left side grows faster
//! with `u` than the right one for noise whose logarithm is concave. That the
//! upper end is too low is less likely among shown groups than among all. Other
//! statistics have noise of their own, to which the threshold does nothing.

use mizan_noise::Noise;

use super::ReleaseError;
use super::recipe::{Threshold, Treatment};

/// The noise of units and the threshold for them.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    noise: Noise,
    /// The noise goes no further, if it is truncated.
    bound: Option<u64>,
    threshold: i64,
    missed: f64,
}

impl Shown {
    /// For lower ends that are too high with probability `missed / 2` at most.
    pub(super) fn new(
        units: &Treatment,
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

    /// The least number of units that is likely enough for this noisy one.
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

    /// The probability that the noise is at least this. For truncated noise, that
    /// it also stays within its bound, of the noise without one: only ratios matter.
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
