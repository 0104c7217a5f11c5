//! What a query would cost, and the predicted width of its noise.

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::money::admit;
use mizan_ledger::{AccountView, Body, Charge, Cost, DeltaAmount};
use mizan_sql::{Effect, Note};

use super::Prepared;
use super::reserved::{self, ReservedDelta};
use crate::release::{self, ChoiceReason, Predicted};

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
}

impl Quote {
    pub(super) fn of(prepared: &Prepared) -> Self {
        let Prepared {
            plan,
            view,
            noise_plan,
            charge,
            ..
        } = prepared;
        let fits = view.how_many(&charge.cost);
        // The default share of the reserved delta decreases from query to query.
        let about = match prepared.takes_usual_share() && fits > 0 {
            true => {
                let amounts = charge.cost.amounts().iter().copied();
                let without = Cost::new(amounts, DeltaAmount::ZERO);
                let without = without.with_price(charge.cost.price().cloned());
                let without = view.how_many(&without);
                without.min(reserved::how_many(view)).max(1)
            }
            false => fits,
        };
        Self {
            event: noise_plan.event(),
            epsilon: noise_plan.epsilon(),
            delta: prepared.delta(),
            predicted: release::predicted(plan, noise_plan),
            after: (about > 0).then(|| after(view, charge)).flatten(),
            threshold: noise_plan.threshold(),
            fits: about > 0,
            about,
            reserved: ReservedDelta::of(view, charge),
            groups: match &plan.groups {
                mizan_sql::Groups::Public(groups) => Some(groups.len()),
                mizan_sql::Groups::Private => None,
            },
            account: view.clone(),
            why: noise_plan.why(),
            clamping: plan.limits(),
            notes: plan.notes.clone(),
        }
    }
}

/// The account and its parents after a charge.
fn after(view: &AccountView, charge: &Charge) -> Option<AccountView> {
    let mut after = view.clone();
    let chain = view.chain();
    let body = Body::Reserved {
        clock: admit(chain, &charge.cost).ok()?,
        charge: charge.clone(),
    };
    let chain = std::iter::once(&mut after.account).chain(&mut after.above);
    for (level, account) in chain.enumerate() {
        account.take(&body, None, level)?;
    }
    Some(after)
}
