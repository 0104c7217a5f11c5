//! Discrete Laplace or Gaussian noise, and its error bounds.

use mizan_core::{Bracket, PrivacyEvent};

use crate::samplers::decay::Decay;
use crate::samplers::integer_noise::IntegerNoise;
use crate::{
    Confidence, DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, NoiseError, error_bound,
};

/// The noise of an event, and how large it can be.
///
/// ```
/// use mizan_noise::{Confidence, DiscreteLaplace, Noise};
/// let noise = Noise::Laplace(DiscreteLaplace::new("10".parse()?));
/// let confidence = Confidence::new(0.95)?;
/// assert_eq!(noise.half_width(confidence)?, 30);
/// assert!(noise.tail(30) <= 0.05 && noise.tail(29) > 0.05);
///
/// // The error of a total over 31 days.
/// let month = Noise::half_width_of_sum(&[(noise, 31)], confidence)?;
/// assert_eq!((month.lower, month.upper), (155, 155));
/// # Ok::<(), mizan_noise::NoiseError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Noise {
    /// Discrete Laplace: probabilities fall with |x|.
    Laplace(DiscreteLaplace),
    /// Discrete Gaussian: probabilities fall with x².
    Gaussian(DiscreteGaussian),
}

impl Noise {
    /// The noise of `discrete-laplace` and `discrete-gaussian`; None for other events.
    ///
    /// # Errors
    ///
    /// The scale is not a fraction of 64-bit integers.
    pub fn of(event: &PrivacyEvent) -> Result<Option<Self>, NoiseError> {
        Ok(match event {
            PrivacyEvent::DiscreteLaplace(event) => Some(Self::Laplace(DiscreteLaplace::new(
                event.scale().try_into()?,
            ))),
            PrivacyEvent::DiscreteGaussian(event) => Some(Self::Gaussian(DiscreteGaussian::new(
                event.sigma().try_into()?,
            ))),
            _ => None,
        })
    }

    /// Its scale, or sigma.
    #[must_use]
    pub const fn scale(&self) -> ExactScale {
        self.integer_noise().scale()
    }

    /// One draw by the reference sampler; its time depends on the value.
    ///
    /// # Errors
    ///
    /// There is no randomness.
    pub fn draw(&self, entropy: &mut Entropy) -> Result<i128, NoiseError> {
        self.integer_noise().draw(entropy)
    }

    /// The same as [`fill`](Self::fill) in 128 bits, without truncation.
    pub(crate) fn fill_wide(
        &self,
        entropy: &mut Entropy,
        places: &mut [i128],
    ) -> Result<(), NoiseError> {
        self.integer_noise().fill_wide(entropy, places)
    }

    /// Fills a slice with draws, with the same work for every value.
    ///
    /// # Errors
    ///
    /// There is no randomness, or a value does not fit 64 bits; the slice is zero then. Noise that
    /// may not fit must not be added to answers: [`Mechanism`](crate::Mechanism) draws 128 bits.
    pub fn fill(&self, entropy: &mut Entropy, places: &mut [i64]) -> Result<(), NoiseError> {
        self.integer_noise().fill(entropy, places)
    }

    /// The smallest `a` with `P(|X| ≤ a) ≥ confidence`.
    ///
    /// # Guarantee
    ///
    /// Exactly that integer, for every scale and confidence: if the two probabilities are too close
    /// for doubles, they are computed with more digits.
    ///
    /// # Errors
    ///
    /// It does not fit 128 bits.
    pub fn half_width(&self, confidence: Confidence) -> Result<u128, NoiseError> {
        error_bound::half_width(&self.decay(), confidence)
    }

    /// At least `P(|X| > a)`.
    ///
    /// # Guarantee
    ///
    /// An upper bound. Laplace noise, and Gaussian noise of `σ < 64`: larger than
    /// the truth by at most 10⁻¹¹ of it. Gaussian noise of larger `σ`: by
    /// `max(0.3, (y² + 2)/24)/σ²` of it, where `y = a/σ`; for a tail of 10⁻²⁰
    /// that is 0.1 % at `σ = 64` and 10⁻⁹ at `σ = 10⁵`.
    #[must_use]
    pub fn tail(&self, a: u128) -> f64 {
        error_bound::tail(&self.decay(), a)
    }

    /// The smallest `a` with `P(|X| ≤ a) ≥ confidence`, where `X` is a sum of independent noises,
    /// each with a count.
    ///
    /// # Guarantee
    ///
    /// `lower ≤ a ≤ upper`, and `upper` never exceeds `a` by more than 0.1 % up
    /// to confidence 0.999. Both are the same integer unless the noise is so
    /// wide that one integer has less than 10⁻¹⁴ of probability, or the
    /// confidence so close to one of `P(|X| ≤ x)`. From confidence 1 - 10⁻¹³ on
    /// `upper` may be some percent above `a`, and `lower` further below.
    ///
    /// # Errors
    ///
    /// There is no noise in the sum, or the bound does not fit 128 bits.
    pub fn half_width_of_sum(
        parts: &[(Self, u64)],
        confidence: Confidence,
    ) -> Result<Bracket<u128>, NoiseError> {
        let decays = parts.iter().map(|(noise, count)| (noise.decay(), *count));
        error_bound::half_width_of_sum(&decays.collect::<Vec<_>>(), confidence)
    }

    fn decay(&self) -> Decay {
        self.integer_noise().decay()
    }

    const fn integer_noise(&self) -> &IntegerNoise {
        match self {
            Self::Laplace(noise) => &noise.0,
            Self::Gaussian(noise) => &noise.0,
        }
    }
}
