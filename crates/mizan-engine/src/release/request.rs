//! What the asker wants to spend, or to get.

use mizan_core::{Delta, Epsilon};

/// What the asker wants to spend, or to get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// The whole release costs this at most.
    Epsilon(Epsilon),
    /// The first aggregate is within this, in its own units, of the exact
    /// bounded answer, with a probability of 95 %. Counts and sums only.
    Accuracy(f64),
}

/// A target, and the deltas at which it is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// What to spend or to get.
    pub target: Target,
    /// The delta at which the epsilon of the release is meant, all included.
    pub delta: Delta,
    /// The part of it with which the threshold of private groups may fail. The
    /// ledger adds these up over all questions, so an account that answers many
    /// gives each a small part.
    pub threshold_delta: Delta,
}

impl Request {
    /// With half of delta for the threshold: best if nothing else is asked.
    #[must_use]
    pub fn new(target: Target, delta: Delta) -> Self {
        Self {
            target,
            delta,
            threshold_delta: Delta::saturating(delta.get() / 2.0),
        }
    }
}
