//! What a question would cost, and how good its answer would be.

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::money::admit;
use mizan_ledger::{AccountView, Body, Charge, Cost, DeltaAmount};
use mizan_sql::{Effect, Note};

use super::Prepared;
use super::reserved::{self, ReservedDelta};
use crate::release::{self, ChoiceReason, Predicted};

/// A price and what it buys. Nothing was read from data.
#[derive(Debug)]
pub struct Quote {
    /// What would be released.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is meant, its own failures included.
    pub delta: Delta,
    /// How good each column of the answer would be.
    pub predicted: Vec<Predicted>,
    /// The account as it is now.
    pub account: AccountView,
    /// The account as it would be after it; None if it does not fit.
    pub after: Option<AccountView>,
    /// The threshold of partition selection, if groups are discovered in the data.
    pub threshold: Option<u64>,
    /// Whether it fits now.
    pub fits: bool,
    /// About how many questions like this fit now, this one included.
    pub about: u64,
    /// The reserved delta, if it would take some.
    pub reserved: Option<ReservedDelta>,
    /// How many groups would be answered; None if that depends on the data.
    pub groups: Option<usize>,
    /// How the noise was chosen.
    pub why: Vec<ChoiceReason>,
    /// The limits that may change the answer before its noise; none if none can.
    pub clamping: Vec<Effect>,
    /// What else an analyst should know.
    pub notes: Vec<Note>,
}

impl Quote {
    pub(super) fn of(prepared: &Prepared) -> Self {
        let Prepared {
            plan,
            view,
            recipe,
            charge,
            ..
        } = prepared;
        let fits = view.how_many(&charge.cost);
        // The usual share of the reserved delta becomes less from query to query.
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
            event: recipe.event(),
            epsilon: recipe.epsilon(),
            delta: prepared.delta(),
            predicted: release::predicted(plan, recipe),
            after: (about > 0).then(|| after(view, charge)).flatten(),
            threshold: recipe.threshold(),
            fits: about > 0,
            about,
            reserved: ReservedDelta::of(view, charge),
            groups: match &plan.groups {
                mizan_sql::Groups::Public(groups) => Some(groups.len()),
                mizan_sql::Groups::Private => None,
            },
            account: view.clone(),
            why: recipe.why(),
            clamping: plan.limits(),
            notes: plan.notes.clone(),
        }
    }
}

/// The account and all above it after a charge.
fn after(view: &AccountView, charge: &Charge) -> Option<AccountView> {
    let mut after = view.clone();
    let chain = std::iter::once(&view.account).chain(&view.above);
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
