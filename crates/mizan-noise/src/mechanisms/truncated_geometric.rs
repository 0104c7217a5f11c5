//! Truncated geometric noise, for partition selection: which groups may be shown.
//!
//! A group without units must never be shown, and a group with one unit only with probability δ.
//! Noise on `-k..=k`, with probabilities proportional to `e^(-ε|x|)`, does that: `count + noise > k`
//! is impossible for a count of zero, and for a count of one it means that the noise is `k`.
//!
//! # Reference
//!
//! Desfontaines, Voss, Gipson, Mandayam, *Differentially private partition
//! selection*, arXiv 2006.03684.

use std::sync::OnceLock;

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use num_bigint::BigUint;

use crate::exact::exponential::exp_neg;
use crate::exact::rational::Rational;
use crate::mechanisms::score_weights::ScoreWeights;
use crate::samplers::decay::Decay;
use crate::samplers::envelope::Envelope;
use crate::samplers::uniform::Below;
use crate::{Entropy, NoiseError};

/// The largest bound of the noise.
const LARGEST: u64 = 1 << 62;

/// Noise for the number of units in each group, and the threshold above which a group is shown.
///
/// # Guarantee
///
/// The noisy counts and the selection of groups are (ε, δ)-differentially private for a unit in one
/// group. A unit in `C` groups costs `C` such events.
///
/// ```
/// use mizan_core::{Delta, Epsilon};
/// use mizan_noise::{Entropy, TruncatedGeometric};
/// let keys = TruncatedGeometric::new(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
/// assert_eq!(keys.bound(), 14);
/// let kept = keys.select(&mut Entropy::system()?, &[0, 1_000])?;
/// assert!(kept[0].is_none() && kept[1].is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TruncatedGeometric {
    epsilon: Epsilon,
    delta: Delta,
    rate: Rational,
    bound: u64,
    table: OnceLock<Box<Sampler>>,
}

/// Rejection sampling: draws until the noise is within the bound, from the distribution that is
/// mostly within it.
#[derive(Clone, Debug)]
enum Sampler {
    /// `k ε > 1`: from untruncated geometric noise.
    Unbounded(Envelope),
    /// `k ε ≤ 1`: uniform on `-k..=k`, accepted with probability `e^(-ε|x|)`.
    Uniform(Below, ScoreWeights),
}

impl TruncatedGeometric {
    /// The narrowest noise that is (ε, δ)-DP.
    ///
    /// # Errors
    ///
    /// Epsilon is not between 2⁻⁶⁴ and 2⁶⁴, or delta is zero or so small that no `k` below 2⁶²
    /// suffices.
    pub fn new(epsilon: Epsilon, delta: Delta) -> Result<Self, NoiseError> {
        let value = epsilon.get();
        if !(value.is_finite() && value > 2.0_f64.powi(-64) && value < 2.0_f64.powi(64)) {
            return Err(NoiseError::Epsilon { epsilon: value });
        }
        let refused = NoiseError::Threshold {
            epsilon: value,
            delta: delta.get(),
        };
        if delta.get() <= 0.0 {
            return Err(refused);
        }
        let rate = Rational::from_f64(value);
        let allowed = Rational::from_f64(delta.get());
        if !keeps(&rate, &allowed, LARGEST) {
            return Err(refused);
        }
        // Fails at zero, holds at the largest.
        let (mut fails, mut holds) = (0, LARGEST);
        while holds - fails > 1 {
            let middle = u64::midpoint(fails, holds);
            if keeps(&rate, &allowed, middle) {
                holds = middle;
            } else {
                fails = middle;
            }
        }
        Ok(Self {
            epsilon,
            delta,
            rate,
            bound: holds,
            table: OnceLock::new(),
        })
    }

    /// `k`: noise is between `-k` and `k`, and groups with a noisy count above `k` are shown.
    #[must_use]
    pub const fn bound(&self) -> u64 {
        self.bound
    }

    /// The privacy event for a unit in one group.
    #[must_use]
    pub fn event(&self) -> PrivacyEvent {
        PrivacyEvent::Approximate {
            epsilon: self.epsilon,
            delta: self.delta,
        }
    }

    /// The noisy count of each group that may be shown; None for the others.
    ///
    /// # Errors
    ///
    /// There is no randomness.
    pub fn select(
        &self,
        entropy: &mut Entropy,
        counts: &[u64],
    ) -> Result<Vec<Option<u64>>, NoiseError> {
        let mut noise = vec![0; counts.len()];
        self.fill(entropy, &mut noise)?;
        let noisy = |(&count, &noise): (&u64, &i64)| {
            let noisy = i128::from(count) + i128::from(noise);
            u64::try_from(noisy.min(u64::MAX.into()))
                .ok()
                .filter(|&noisy| noisy > self.bound)
        };
        Ok(counts.iter().zip(&noise).map(noisy).collect())
    }

    /// Fills a slice with the noise alone.
    ///
    /// # Errors
    ///
    /// There is no randomness; the slice is zero then.
    pub fn fill(&self, entropy: &mut Entropy, places: &mut [i64]) -> Result<(), NoiseError> {
        let sampler = self.table.get_or_init(|| Box::new(self.sampler()));
        if let Sampler::Unbounded(table) = &**sampler {
            table.warm();
        }
        let bound = i128::from(self.bound);
        crate::samplers::batch::fill_with(entropy, places, |entropy| {
            loop {
                // The number of attempts is independent of the accepted value.
                let drawn = match &**sampler {
                    Sampler::Unbounded(table) => {
                        let drawn = table.draw(entropy)?;
                        (drawn.abs() <= bound).then_some(drawn)
                    }
                    Sampler::Uniform(below, weights) => {
                        let drawn = i128::from(below.draw(entropy)?) - bound;
                        let gap = u64::try_from(drawn.abs()).unwrap_or(u64::MAX);
                        weights.flip(gap, entropy)?.then_some(drawn)
                    }
                };
                if let Some(drawn) = drawn {
                    return crate::samplers::batch::narrow(drawn);
                }
            }
        })
    }

    fn sampler(&self) -> Sampler {
        if self.rate.times_integer(self.bound).floor() > BigUint::ZERO {
            Sampler::Unbounded(Envelope::new(Decay {
                rate: self.rate.clone(),
                squared: false,
            }))
        } else {
            let below = Below::new(2 * self.bound + 1);
            Sampler::Uniform(below, ScoreWeights::new(self.rate.clone()))
        }
    }
}

/// Whether noise on `-k..=k` is `k` with probability at most `delta`: with
/// `r = e^-ε`, `r^k (1 - r + 2 δ r) ≤ δ (1 + r)`. Certified if true.
fn keeps(rate: &Rational, delta: &Rational, k: u64) -> bool {
    // Enough bits that a tiny δ or ε is still seen.
    let places = |value: &Rational| u64::try_from(-value.log2_floor()).unwrap_or(0);
    let bits = 192 + places(delta) + places(rate);
    let one = BigUint::from(1u8) << bits;
    let (r_low, r_high) = exp_neg(rate, bits);
    let power = exp_neg(&rate.times_integer(k), bits).1;
    let (n, d) = (&delta.numerator, &delta.denominator);
    // Both sides times the denominator of δ and 4^bits.
    let left = power * ((&one - &r_low) * d + r_high * n * 2u8);
    let right = ((one + r_low) * n) << bits;
    left <= right
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(epsilon: f64, delta: f64) -> TruncatedGeometric {
        TruncatedGeometric::new(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap()).unwrap()
    }

    /// Against the closed form, where doubles decide it.
    #[test]
    fn the_bound_is_the_smallest() {
        for epsilon in [0.01_f64, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0] {
            for delta in [0.3, 1e-2, 1e-5, 1e-10, 1e-15, 1e-100, 1e-300] {
                let r = (-epsilon).exp();
                let exact = ((1.0 - r + 2.0 * delta * r) / (delta * (1.0 + r))).ln() / epsilon;
                let bound = of(epsilon, delta).bound() as f64;
                assert!(
                    bound >= exact * (1.0 - 1e-12) && bound < exact * (1.0 + 1e-12) + 1.0,
                    "{epsilon} {delta}: {bound} for {exact}"
                );
            }
        }
    }

    /// The guarantee by its definition: all outputs of neighbouring counts.
    #[test]
    fn the_mechanism_keeps_epsilon_and_delta() {
        for (epsilon, delta) in [(1.0, 1e-3), (0.3, 0.05), (3.0, 1e-8)] {
            let k = i64::try_from(of(epsilon, delta).bound()).unwrap();
            let total: f64 = (-k..=k).map(|x| (-epsilon * x.abs() as f64).exp()).sum();
            let mass = |x: i64| {
                if x.abs() <= k {
                    (-epsilon * x.abs() as f64).exp() / total
                } else {
                    0.0
                }
            };
            // Also where the lower end of the noise is seen.
            for count in (0..3).chain([k, k + 1, 2 * k, 2 * k + 1, 2 * k + 5]) {
                for (one, other) in [(count, count + 1), (count + 1, count)] {
                    // Noisy counts of at most k are not shown: one outcome.
                    let hidden = |n: i64| (-k..=k - n).map(mass).sum::<f64>();
                    let excess = |p: f64, q: f64| (p - epsilon.exp() * q).max(0.0);
                    let shown: f64 = (k + 1..=3 * k + 10)
                        .map(|out| excess(mass(out - one), mass(out - other)))
                        .sum();
                    let found = shown + excess(hidden(one), hidden(other));
                    assert!(found <= delta * (1.0 + 1e-9), "{found} above {delta}");
                }
            }
        }
    }

    #[test]
    fn noise_stays_within_the_bound() {
        let keys = of(0.5, 0.2);
        let mut places = vec![0; 10_000];
        keys.fill(&mut Entropy::seeded(5), &mut places).unwrap();
        let k = i64::try_from(keys.bound()).unwrap();
        assert!(places.iter().all(|x| x.abs() <= k));
        assert!(places.contains(&k) && places.contains(&-k));
        let kept = keys
            .select(&mut Entropy::seeded(6), &vec![0; 10_000])
            .unwrap();
        assert!(
            kept.iter().all(Option::is_none),
            "a group without units is never shown"
        );
    }

    /// Far more keys than noise: the noise is nearly uniform, and quick.
    #[test]
    fn tiny_epsilons_do_not_hang() {
        for (epsilon, delta) in [(1e-18, 0.1), (1e-9, 1e-3), (1e-4, 0.5)] {
            let keys = of(epsilon, delta);
            let k = i64::try_from(keys.bound()).unwrap();
            let mut places = vec![0; 1000];
            keys.fill(&mut Entropy::seeded(7), &mut places).unwrap();
            assert!(places.iter().all(|x| x.abs() <= k), "{epsilon} {delta}");
            assert!(places.iter().any(|&x| x < 0) && places.iter().any(|&x| x > 0));
        }
    }

    #[test]
    fn what_is_refused() {
        for (epsilon, delta) in [(0.0, 0.1), (1.0, 0.0), (1e-18, 1e-300)] {
            let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
            assert!(TruncatedGeometric::new(epsilon, delta).is_err());
        }
    }
}
