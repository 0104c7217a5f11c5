//! The confidence of an interval.

use mizan_core::Interval;

use crate::NoiseError;
use crate::exact::rational::Rational;

/// A probability strictly between zero and one.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// Checks a confidence.
    ///
    /// # Errors
    ///
    /// It is not above 0 and below 1.
    pub fn new(confidence: f64) -> Result<Self, NoiseError> {
        if confidence > 0.0 && confidence < 1.0 {
            Ok(Self(confidence))
        } else {
            Err(NoiseError::Confidence { confidence })
        }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// One minus the confidence: the probability that the interval misses.
    pub(super) fn missed(self) -> Interval {
        let missed = 1.0 - self.0;
        if self.0 >= 0.5 {
            // Exact: the two are within a factor of two.
            Interval::from(missed)
        } else {
            Interval::new(missed.next_down(), missed.next_up().min(1.0))
        }
    }

    /// The double itself, without rounding.
    pub(super) fn exactly(self) -> Rational {
        Rational::from_f64(self.0)
    }
}
