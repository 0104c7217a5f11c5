//! The confidence of an audit.

use mizan_core::directed::add_down;

use crate::AuditError;

/// The probability with which a bound found from samples holds.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// A probability strictly between 0 and 1.
    ///
    /// # Errors
    ///
    /// The number is not strictly between 0 and 1.
    pub fn new(confidence: f64) -> Result<Self, AuditError> {
        if confidence > 0.0 && confidence < 1.0 {
            Ok(Self(confidence))
        } else {
            Err(AuditError::Confidence { confidence })
        }
    }

    /// The value as a plain number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// At most the probability of being wrong.
    pub(crate) fn failure(self) -> f64 {
        add_down(1.0, -self.0).max(0.0)
    }
}
