//! The spending target of a query.

use mizan_core::{Delta, Epsilon};

use super::AccountClock;

/// What the analyst wants to spend, or the accuracy that they want.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoiseTarget {
    /// The whole release costs at most this.
    Epsilon(Epsilon),
    /// The first aggregate is within this distance, in its own units, of the exact bounded
    /// answer with 95 % probability. For counts and sums only.
    Accuracy(f64),
}

/// A target, and the deltas that go with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Request {
    /// The target.
    pub target: NoiseTarget,
    /// The delta at which the epsilon of the noise is certified.
    pub delta: Delta,
    /// The largest failure probability of the threshold of private groups, beside `delta`. The
    /// ledger adds these up over all queries, apart from its Rényi curve. If it is zero, no
    /// threshold satisfies it, and private groups are refused.
    pub threshold_delta: Delta,
    /// The account that is charged, if it has a Gaussian clock.
    pub clock: Option<AccountClock>,
    /// Whether the account, or one above it, has a Gaussian clock. Accounts of earlier versions have
    /// none: their releases are priced by the Rényi curve, as they were, so that stored answers are
    /// found again.
    pub on_clock: bool,
}
