//! Why an event has no price on the clock.

use mizan_core::PrivacyEvent;

use crate::{Reason, Unsupported};

/// A part of an event that has no price on the clock. The event can only be paid by other orders of
/// an account, after which the clock is exhausted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{event}` ({path}) {reason}")]
pub struct Unpriced {
    event: String,
    path: String,
    reason: UnpricedReason,
}

/// Why a part has no price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpricedReason {
    /// A bound on moments does not bound the profile by that of a Gaussian mechanism.
    #[error(
        "is known by a bound on its Rényi divergences, which no Gaussian mechanism need dominate"
    )]
    Moments,
    /// The loss is unbounded, and no certificate was computed.
    #[error("has unbounded loss, and no Gaussian mechanism is known to dominate it")]
    Unbounded,
    /// The accountant refuses the part.
    #[error("{0}")]
    Refused(#[from] Reason),
}

impl Unpriced {
    pub(super) fn new(
        event: &PrivacyEvent,
        path: &dyn Fn() -> String,
        reason: UnpricedReason,
    ) -> Self {
        // Cut and written like that of any other refusal.
        let refusal = Unsupported::new(event, path, Reason::NotYet);
        Self {
            event: refusal.event().to_owned(),
            path: refusal.path().to_owned(),
            reason,
        }
    }

    /// The part as one that a method does not take.
    pub(crate) fn into_unsupported(self) -> Unsupported {
        let reason = match self.reason {
            UnpricedReason::Refused(reason) => reason,
            UnpricedReason::Moments | UnpricedReason::Unbounded => Reason::NotDominated,
        };
        Unsupported::of_part(self.event, self.path, reason)
    }

    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> UnpricedReason {
        self.reason
    }
}

impl From<Unsupported> for Unpriced {
    fn from(refusal: Unsupported) -> Self {
        Self {
            event: refusal.event().to_owned(),
            path: refusal.path().to_owned(),
            reason: refusal.reason().into(),
        }
    }
}
