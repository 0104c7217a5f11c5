//! What a question would cost, and how good its answer would be.

use mizan_core::{Delta, Epsilon, PrivacyEvent};
use mizan_ledger::AccountView;

use super::Prepared;
use crate::release;

/// A price and what it buys. Nothing was read from data.
#[derive(Debug)]
pub struct Quote {
    /// What would be released.
    pub event: PrivacyEvent,
    /// Its certified epsilon, at `delta`.
    pub epsilon: Epsilon,
    /// The delta at which epsilon is meant.
    pub delta: Delta,
    /// How good each column of the answer would be.
    pub predicted: Vec<Predicted>,
    /// The account as it is now.
    pub account: AccountView,
    /// Whether it fits now.
    pub fits: bool,
    /// About how many questions like this fit now, this one included.
    pub about: u64,
    /// How many groups would be answered; None if that depends on the data.
    pub groups: Option<usize>,
    /// How the noise was chosen.
    pub why: Vec<String>,
    /// What people should know.
    pub notes: Vec<String>,
}

/// How good a column would be.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// The column.
    pub name: String,
    /// Half of its 95 % noise interval; None if that depends on the data.
    pub half_width: Option<f64>,
}

impl Quote {
    pub(super) fn of(prepared: &Prepared) -> Self {
        let Prepared {
            plan,
            view,
            recipe,
            charge,
        } = prepared;
        let about = view.how_many(&charge.cost);
        Self {
            event: recipe.event(),
            epsilon: recipe.epsilon(),
            delta: recipe.delta(),
            predicted: release::predicted(plan, recipe),
            fits: about > 0,
            about,
            groups: match &plan.groups {
                mizan_sql::Groups::Public(groups) => Some(groups.len()),
                mizan_sql::Groups::Private => None,
            },
            account: view.clone(),
            why: recipe.why(),
            notes: plan.notes.clone(),
        }
    }
}
