//! The answer of a query, with its receipt and its cost.

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::{AccountView, Done};
use mizan_sql::{BoundedPlan, Tree};

use crate::release::{Answer, ChoiceReason, Released};
use crate::unit_aggregation::UnitAggregation;

/// An answer with its receipt.
#[derive(Debug)]
pub struct Answered {
    /// Rows, and the intervals of their noise.
    pub answer: Answer,
    /// The ledger entry.
    pub done: Done,
    /// Whether the answer was stored before and cost nothing now.
    pub repeated: bool,
    /// What was released.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is certified, with the delta of the threshold.
    pub delta: Delta,
    /// The account after the charge.
    pub account: AccountView,
    /// How the noise was chosen.
    pub why: Vec<ChoiceReason>,
    /// The release that the answer is computed from.
    pub(crate) released: Released,
    pub(super) plan: BoundedPlan,
}

impl Answered {
    /// The threshold of partition selection, if groups were discovered in the data: groups
    /// with at most this many units after noise are hidden.
    #[must_use]
    pub fn threshold(&self) -> Option<u64> {
        let threshold = self.released.noise.threshold;
        threshold.map(|threshold| threshold.above)
    }

    /// What the engine computed, as a tree.
    #[must_use]
    pub fn explain(&self) -> Option<Tree> {
        UnitAggregation::explained(&self.plan)
    }
}
