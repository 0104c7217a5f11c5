//! What the asker wants to spend, or to get.

use mizan_core::{Delta, Epsilon};

/// What the asker wants to spend, or to get.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// The whole release costs this at most.
    Epsilon(Epsilon),
    /// The first aggregate is within this, in its own units, of the exact
    /// bounded answer, with a probability of 95 %. Counts and sums only.
    Accuracy(f64),
}

/// A target, and the deltas at which it is meant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    /// What to spend or to get.
    pub target: Target,
    /// The delta at which the epsilon of the noise is meant.
    pub delta: Delta,
    /// The most that the threshold of private groups may fail with, beside
    /// `delta`. The ledger adds these up over all questions, apart from its
    /// Rényi curve; with zero there is no threshold that keeps it, and private
    /// groups are refused.
    pub threshold_delta: Delta,
}
