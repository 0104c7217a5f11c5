//! Noise that was drawn before there was an answer.

use mizan_core::PrivacyEvent;

use super::{Mechanism, add_to};
use crate::{Entropy, NoiseError};

/// More is released in place, a piece at a time.
const LARGEST: usize = 1 << 24;

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
    values: Vec<i64>,
    event: PrivacyEvent,
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
        let mut values = vec![0; dimension];
        mechanism.noise().fill(entropy, &mut values)?;
        Ok(Self {
            values,
            event: mechanism.event().clone(),
        })
    }

    /// What adding it costs.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        &self.event
    }

    /// Adds the noise to the answer in its place, and says what that costs.
    /// Sums beyond 64 bits are clamped.
    ///
    /// # Errors
    ///
    /// The answer has another dimension: it is unchanged, and the noise gone.
    pub fn add_to(self, answer: &mut [i64]) -> Result<PrivacyEvent, NoiseError> {
        if answer.len() != self.values.len() {
            return Err(NoiseError::Dimension {
                given: answer.len(),
                expected: self.values.len(),
            });
        }
        add_to(answer, &self.values);
        Ok(self.event)
    }
}

impl std::fmt::Debug for PreparedNoise {
    /// Noise that is known is no noise: it is not shown.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PreparedNoise({})", self.event)
    }
}
