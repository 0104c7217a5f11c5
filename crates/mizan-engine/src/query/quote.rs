//! What a query would cost, and the predicted width of its noise.

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::ledger::FittingCount;
use mizan_ledger::{AccountView, Charge, Cost, DeltaAmount};
use mizan_sql::{BoundedPlan, Effect, Note, Tree};

use super::reserved::{self, ReservedDelta};
use super::{Prepared, QueryError};
use crate::release::{self, ChoiceReason, Predicted};
use crate::unit_aggregation::UnitAggregation;

/// The cost of a query and its predicted accuracy. No private data was read.
#[derive(Debug)]
pub struct Quote {
    /// What would be released.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is certified, with the delta of the threshold.
    pub delta: Delta,
    /// The predicted error of each column.
    pub predicted: Vec<Predicted>,
    /// The account as it is now.
    pub account: AccountView,
    /// The account as it would be after the charge; None if the charge does not fit.
    pub after: Option<AccountView>,
    /// The threshold of partition selection, if groups are discovered in the data.
    pub threshold: Option<u64>,
    /// Whether the charge fits now.
    pub fits: bool,
    /// About how many such queries fit now, this one included.
    pub about: u64,
    /// Whether more than that may fit.
    pub at_least: bool,
    /// The reserved delta, if the query would take a share of it.
    pub reserved: Option<ReservedDelta>,
    /// How many groups the answer would have; None if that depends on the data.
    pub groups: Option<usize>,
    /// How the noise was chosen.
    pub why: Vec<ChoiceReason>,
    /// The contribution bounds that may change the answer; empty if none can.
    pub clamping: Vec<Effect>,
    /// What else an analyst should know.
    pub notes: Vec<Note>,
    /// What the engine would compute.
    pub(super) plan: BoundedPlan,
}

impl Quote {
    pub(super) fn of(prepared: &Prepared) -> Result<Self, QueryError> {
        let Prepared {
            plan,
            view,
            noise_plan,
            charge,
            ..
        } = prepared;
        let after = view.after(charge);
        let count = match &after {
            None => FittingCount::default(),
            // The default share of the reserved delta decreases from query to query.
            Some(after) if prepared.takes_usual_share() => with_usual_share(after, charge),
            Some(_) => view.how_many(charge),
        };
        Ok(Self {
            event: noise_plan.event(),
            epsilon: noise_plan.epsilon(),
            delta: prepared.delta(),
            predicted: release::predicted(plan, noise_plan)?,
            fits: after.is_some(),
            after,
            threshold: noise_plan.threshold(),
            about: count.count,
            at_least: count.at_least,
            reserved: ReservedDelta::of(view, charge),
            groups: match &plan.groups {
                mizan_sql::Groups::Public(groups) => Some(groups.len()),
                mizan_sql::Groups::Private => None,
            },
            account: view.clone(),
            why: noise_plan.why(),
            clamping: plan.limits(),
            notes: plan.notes.clone(),
            plan: plan.clone(),
        })
    }

    /// What the engine would compute, as a tree.
    #[must_use]
    pub fn explain(&self) -> Option<Tree> {
        UnitAggregation::explained(&self.plan)
    }
}

/// How many queries fit, given the account after the first one, if each takes the default share of
/// the reserved delta.
fn with_usual_share(after: &AccountView, charge: &Charge) -> FittingCount {
    let amounts = charge.cost.amounts().iter().copied();
    let cost = Cost::new(amounts, DeltaAmount::ZERO);
    let next = Charge {
        cost: cost.with_price(charge.cost.price().cloned()),
        ..charge.clone()
    };
    let next = after.how_many(&next);
    let by_shares = reserved::how_many(after);
    FittingCount {
        count: next.count.min(by_shares).saturating_add(1),
        at_least: next.at_least && next.count < by_shares,
    }
}
