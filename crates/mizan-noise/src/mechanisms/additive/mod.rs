//! Additive-noise mechanisms on integer vectors: discrete Laplace and discrete Gaussian.
//!
//! A mechanism is built from the event that the accountant prices, so the cost always matches the
//! noise.
//!
//! Noise can be drawn before the answer is known ([`PreparedNoise`]), so that the time of the draw
//! is independent of the answer. In either case the work is the same for every value drawn.

mod on_grid;
mod prepared;

pub use on_grid::GridMechanism;
pub use prepared::PreparedNoise;

use mizan_core::PrivacyEvent;
use zeroize::Zeroizing;

use crate::{Entropy, Noise, NoiseError};

/// Draws at a time, so that a vector of any length needs little memory.
const CHUNK: usize = 1 << 12;

/// Adds noise to every coordinate of an integer vector: Laplace noise for a
/// known L1 sensitivity of the whole vector, Gaussian noise for L2.
///
/// ```
/// use mizan_core::{DiscreteLaplace, Scale, Sensitivity};
/// use mizan_noise::{Entropy, Mechanism};
/// let event = DiscreteLaplace::new(Scale::new(2.0)?, Sensitivity::ONE)?;
/// let mechanism = Mechanism::laplace(event)?;
/// let mut histogram = [120, 7, 0];
/// mechanism.release(&mut Entropy::system()?, &mut histogram)?;
/// assert_eq!(mechanism.event().to_string(), "discrete-laplace(2)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mechanism {
    event: PrivacyEvent,
    noise: Noise,
}

impl Mechanism {
    /// The mechanism of `discrete-laplace` and `discrete-gaussian`; None for other events.
    ///
    /// # Errors
    ///
    /// The scale is not a fraction of 64-bit integers, or the sensitivity does not fit 64 bits.
    ///
    /// ```
    /// use mizan_noise::Mechanism;
    /// assert!(Mechanism::of(&"discrete-gaussian(20)".parse()?)?.is_some());
    /// assert!(Mechanism::of(&"gaussian(20)".parse()?)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(event: &PrivacyEvent) -> Result<Option<Self>, NoiseError> {
        match event {
            PrivacyEvent::DiscreteLaplace(event) => Self::laplace(*event).map(Some),
            PrivacyEvent::DiscreteGaussian(event) => Self::gaussian(*event).map(Some),
            _ => Ok(None),
        }
    }

    /// Discrete Laplace noise.
    ///
    /// # Errors
    ///
    /// The scale is not a fraction of 64-bit integers, or the sensitivity does not fit 64 bits.
    pub fn laplace(event: mizan_core::DiscreteLaplace) -> Result<Self, NoiseError> {
        fits(event.sensitivity().get())?;
        let noise = crate::DiscreteLaplace::new(event.scale().try_into()?);
        Ok(Self {
            event: PrivacyEvent::DiscreteLaplace(event),
            noise: Noise::Laplace(noise),
        })
    }

    /// Discrete Gaussian noise.
    ///
    /// # Errors
    ///
    /// Sigma is not a fraction of 64-bit integers, or the sensitivity does not fit 64 bits.
    pub fn gaussian(event: mizan_core::DiscreteGaussian) -> Result<Self, NoiseError> {
        fits(event.sensitivity().get())?;
        let noise = crate::DiscreteGaussian::new(event.sigma().try_into()?);
        Ok(Self {
            event: PrivacyEvent::DiscreteGaussian(event),
            noise: Noise::Gaussian(noise),
        })
    }

    /// The privacy event of a release, for any number of coordinates.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        &self.event
    }

    /// The noise that is added.
    #[must_use]
    pub const fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Draws the noise for an answer that is not known yet.
    ///
    /// # Errors
    ///
    /// There is no randomness, or the dimension is zero or above 2²².
    pub fn prepare(
        &self,
        entropy: &mut Entropy,
        dimension: usize,
    ) -> Result<PreparedNoise, NoiseError> {
        PreparedNoise::new(self, entropy, dimension)
    }

    /// Adds noise to the answer in place, with little memory. Sums beyond 64 bits are clamped:
    /// clamping is post-processing, and an error would reveal something. The noise itself has 128
    /// bits: noise truncated to 64 bits would have a different range of sums for each answer.
    ///
    /// # Errors
    ///
    /// The answer is empty, or there is no randomness; the answer is zero then.
    pub fn release(&self, entropy: &mut Entropy, answer: &mut [i64]) -> Result<(), NoiseError> {
        if answer.is_empty() {
            return Err(NoiseError::Empty { what: "the answer" });
        }
        let released = self.by_chunks(entropy, answer, |value, noise| sum(*value, noise));
        if released.is_err() {
            // Values without noise must not be released by mistake.
            answer.fill(0);
        }
        released
    }

    /// Replaces each value by `noisy(value, noise)`.
    fn by_chunks<Value>(
        &self,
        entropy: &mut Entropy,
        answer: &mut [Value],
        noisy: impl Fn(&Value, i128) -> Value,
    ) -> Result<(), NoiseError> {
        let mut noise = Zeroizing::new([0; CHUNK]);
        for chunk in answer.chunks_mut(CHUNK) {
            // Values without noise would be left as they are.
            let Some(noise) = noise.get_mut(..chunk.len()) else {
                return Err(NoiseError::Dimension {
                    given: chunk.len(),
                    expected: CHUNK,
                });
            };
            self.noise.fill_wide(entropy, noise)?;
            for (value, noise) in chunk.iter_mut().zip(noise) {
                *value = noisy(value, *noise);
            }
        }
        Ok(())
    }
}

/// An answer and its noise, clamped to 64 bits.
fn sum(answer: i64, noise: i128) -> i64 {
    let sum = noise.saturating_add(answer.into());
    let clamped = sum.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(clamped).unwrap_or_default()
}

/// Checks that an integer function can have this sensitivity.
fn fits(sensitivity: f64) -> Result<(), NoiseError> {
    if sensitivity < 2.0_f64.powi(63) {
        Ok(())
    } else {
        Err(NoiseError::Sensitivity { sensitivity })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(event: &str) -> Result<Mechanism, NoiseError> {
        match event.parse().unwrap() {
            PrivacyEvent::DiscreteLaplace(event) => Mechanism::laplace(event),
            PrivacyEvent::DiscreteGaussian(event) => Mechanism::gaussian(event),
            _ => unreachable!(),
        }
    }

    /// A release is the answer and the noise of the same words.
    #[test]
    fn noise_is_added_to_every_place() {
        for event in ["discrete-laplace(3.5, 2)", "discrete-gaussian(1000000, 3)"] {
            let mechanism = of(event).unwrap();
            let mut noise = vec![0; CHUNK + 5];
            mechanism
                .noise()
                .fill(&mut Entropy::seeded(1), &mut noise)
                .unwrap();
            let answer: Vec<i64> = (0..).take(noise.len()).collect();
            let mut released = answer.clone();
            mechanism
                .release(&mut Entropy::seeded(1), &mut released)
                .unwrap();
            for ((released, answer), noise) in released.iter().zip(&answer).zip(&noise) {
                assert_eq!(released - answer, *noise);
            }
            let mut prepared = answer;
            let noise = mechanism
                .prepare(&mut Entropy::seeded(1), prepared.len())
                .unwrap();
            assert_eq!(noise.add_to(&mut prepared).unwrap().to_string(), event);
            assert_eq!(prepared, released);
        }
    }

    #[test]
    fn without_randomness_nothing_leaves() {
        let mut answer = [41, 42];
        let released = of("discrete-laplace(2)")
            .unwrap()
            .release(&mut Entropy::failing(), &mut answer);
        assert!(matches!(released, Err(NoiseError::Entropy { .. })));
        assert_eq!(answer, [0, 0]);
    }

    #[test]
    fn sums_are_clamped() {
        let mut answer = [i64::MAX, i64::MIN].repeat(100);
        of("discrete-gaussian(1e9)")
            .unwrap()
            .release(&mut Entropy::seeded(1), &mut answer)
            .unwrap();
        assert!(answer.contains(&i64::MAX) && answer.contains(&i64::MIN));
        assert!(answer.iter().all(|value| value.unsigned_abs() > 1 << 62));
    }

    #[test]
    fn what_is_refused() {
        let mut entropy = Entropy::seeded(1);
        for (event, code) in [
            ("discrete-laplace(1e-9)", "MZ1602"),
            ("discrete-laplace(1e20)", "MZ1602"),
            ("discrete-gaussian(5, 1e19)", "MZ1604"),
            ("discrete-laplace(5, 1e19)", "MZ1604"),
        ] {
            assert_eq!(of(event).unwrap_err().code(), code, "{event}");
        }
        let mechanism = of("discrete-laplace(2)").unwrap();
        assert!(mechanism.release(&mut entropy, &mut []).is_err());
        assert!(mechanism.prepare(&mut entropy, 0).is_err());
        assert!(mechanism.prepare(&mut entropy, usize::MAX).is_err());
        let noise = mechanism.prepare(&mut entropy, 2).unwrap();
        assert_eq!(format!("{noise:?}"), "PreparedNoise(discrete-laplace(2))");
        assert!(noise.add_to(&mut [1, 2, 3]).is_err());
    }

    /// Noise as wide as the integers: neighbouring answers reach the same sums,
    /// to the very ends, and as often as the noise says.
    ///
    /// False alarm: 9 standard deviations of 20,000 draws. Power: noise cut to
    /// 64 bits reaches none of these sums from the second answer.
    #[test]
    fn wide_noise_is_not_cut() {
        let mechanism = of("discrete-laplace(4e18, 4e18)").unwrap();
        let lowest = |answer: i64, seed: u64| {
            let mut answers = vec![answer; 20_000];
            let mut entropy = Entropy::seeded(seed);
            mechanism.release(&mut entropy, &mut answers).unwrap();
            answers.iter().filter(|&&sum| sum == i64::MIN).count()
        };
        let shift = 4_000_000_000_000_000_000;
        // P(noise ≤ -2^63) and P(noise ≤ -2^63 - 4e18).
        let tail = |beyond: f64| 20_000.0 * 0.5 * (-beyond / 4e18).exp();
        for (answer, seed, beyond) in [
            (0, 21, 2.0_f64.powi(63)),
            (shift, 22, 2.0_f64.powi(63) + 4e18),
        ] {
            let (found, expected) = (lowest(answer, seed) as f64, tail(beyond));
            assert!(
                (found - expected).abs() < 9.0 * expected.sqrt(),
                "{found} for {expected}"
            );
        }
    }
}
