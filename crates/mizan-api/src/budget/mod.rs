//! Budgets: the targets of accounts, and what is spent and remaining.

pub mod burn_down;
mod show;
pub mod view;

pub use burn_down::{BurnDown, BurnDownPoint};
pub use show::{
    AccountDetails, BudgetAnswer, BudgetsAnswer, OwnDeltaJson, RepeatsLeft, UnansweredChargeJson,
    UnansweredJson, is_below,
};
pub use view::{
    AccountJson, GapJson, GuaranteeJson, LogJson, OrderLine, Remaining, SpentSoFar, TargetJson,
};
