//! Noise that is drawn before the answer is known.

use mizan_core::PrivacyEvent;
use zeroize::Zeroizing;

use super::{Mechanism, sum};
use crate::{Entropy, NoiseError};

/// The largest dimension; longer answers are released in place, in chunks.
const LARGEST: usize = 1 << 22;

/// Noise for one answer; it can be added once.
///
/// ```
/// use mizan_core::{DiscreteGaussian, Sensitivity, Sigma};
/// use mizan_noise::{Entropy, Mechanism};
/// let event = DiscreteGaussian::new(Sigma::new(20.0)?, Sensitivity::ONE)?;
/// let noise = Mechanism::gaussian(event)?.prepare(&mut Entropy::system()?, 2)?;
/// // ... charge the ledger, run the query ...
/// let mut answer = [1_000, 2_000];
/// let event = noise.add_to(&mut answer)?;
/// assert_eq!(event.to_string(), "discrete-gaussian(20)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PreparedNoise {
    values: Zeroizing<Vec<i128>>,
    event: PrivacyEvent,
    /// The process that drew it: after a `fork` the child has the same noise and must not use it.
    process: u32,
}

impl PreparedNoise {
    pub(super) fn new(
        mechanism: &Mechanism,
        entropy: &mut Entropy,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        if dimension == 0 {
            return Err(NoiseError::Empty { what: "the answer" });
        }
        if dimension > LARGEST {
            return Err(NoiseError::Dimension {
                given: dimension,
                expected: LARGEST,
            });
        }
        let mut values = Zeroizing::new(vec![0; dimension]);
        mechanism.noise().fill_wide(entropy, &mut values)?;
        Ok(Self {
            values,
            event: mechanism.event().clone(),
            process: std::process::id(),
        })
    }

    /// The privacy event of adding it.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        &self.event
    }

    /// Adds the noise to the answer in place, and returns the privacy event. Sums beyond 64 bits are
    /// clamped.
    ///
    /// # Errors
    ///
    /// The answer has another dimension, or the noise was drawn before this process was forked; the
    /// answer is zero then, and the noise is dropped.
    pub fn add_to(self, answer: &mut [i64]) -> Result<PrivacyEvent, NoiseError> {
        let fits = if answer.len() != self.values.len() {
            Err(NoiseError::Dimension {
                given: answer.len(),
                expected: self.values.len(),
            })
        } else if self.process != std::process::id() {
            Err(NoiseError::Copied)
        } else {
            Ok(())
        };
        if let Err(error) = fits {
            answer.fill(0);
            return Err(error);
        }
        for (value, noise) in answer.iter_mut().zip(self.values.iter()) {
            *value = sum(*value, *noise);
        }
        Ok(self.event)
    }
}

impl std::fmt::Debug for PreparedNoise {
    /// The noise is secret and is not printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PreparedNoise({})", self.event)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn noise_of_another_process_is_refused() {
        let noise = PreparedNoise {
            values: Zeroizing::new(vec![1, 2]),
            event: "discrete-laplace(2)".parse().unwrap(),
            process: std::process::id() ^ 1,
        };
        let mut answer = [41, 42];
        assert_eq!(noise.add_to(&mut answer), Err(NoiseError::Copied));
        assert_eq!(answer, [0, 0]);
    }
}
