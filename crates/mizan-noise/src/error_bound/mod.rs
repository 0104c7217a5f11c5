//! How far a noisy answer may be off: certified half-widths of two-sided
//! intervals, for one noise and for sums of independent noises.
//!
//! - One noise (`laplace.rs`, `gaussian.rs`, `single.rs`): the smallest integer.
//!   Doubles with a proven error decide it; where they are too close, as many
//!   digits as it takes (`gaussian_digits.rs`).
//! - A sum (`sum/`): a bracket, mostly of a single integer, from the
//!   characteristic function.
//!
//! Counts of randomized responses are not here: their error is not symmetric,
//! and depends on the answers.

mod circle;
mod confidence;
mod enclosure;
mod gaussian;
mod gaussian_digits;
mod laplace;
mod search;
mod single;
mod sum;
#[cfg(test)]
mod tests;

use mizan_core::Bracket;

pub use confidence::Confidence;

use crate::decay::Decay;
use crate::{ExactScale, NoiseError};
use single::Single;

/// A noise whose error is to be bounded.
///
/// ```
/// use mizan_noise::error_bound::{Confidence, Noise};
/// let noise = Noise::discrete_laplace("10".parse()?);
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
pub struct Noise {
    decay: Decay,
}

impl Noise {
    /// `x` with probability proportional to `e^(-|x|/scale)`.
    #[must_use]
    pub fn discrete_laplace(scale: ExactScale) -> Self {
        Self {
            decay: Decay::laplace(scale),
        }
    }

    /// `x` with probability proportional to `e^(-x²/2σ²)`.
    #[must_use]
    pub fn discrete_gaussian(sigma: ExactScale) -> Self {
        Self {
            decay: Decay::gaussian(sigma),
        }
    }

    /// The smallest `a` with `P(|X| ≤ a) ≥ confidence`.
    ///
    /// # Guarantee
    ///
    /// Exactly that integer, for every scale and confidence: where the two
    /// probabilities are too close for doubles they are computed to more digits.
    ///
    /// # Errors
    ///
    /// It does not fit 128 bits.
    pub fn half_width(&self, confidence: Confidence) -> Result<u128, NoiseError> {
        single::half_width(&self.decay, confidence)
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
        Single::new(&self.decay).tail(a).upper()
    }

    /// The smallest `a` with `P(|X| ≤ a) ≥ confidence`, where `X` is a sum of
    /// independent noises, each as often as it says.
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
        let mut present = parts.iter().filter(|(_, count)| *count > 0);
        let first = present.next().ok_or(NoiseError::Empty {
            what: "the sum of noises",
        })?;
        if let ((noise, 1), None) = (first, present.next()) {
            let exact = noise.half_width(confidence)?;
            return Ok(Bracket {
                lower: exact,
                upper: exact,
            });
        }
        let parts: Vec<_> = parts
            .iter()
            .map(|(noise, count)| (&noise.decay, *count))
            .collect();
        sum::half_width(&parts, confidence)
    }
}
