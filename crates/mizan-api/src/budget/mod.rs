//! Budgets: the targets of accounts, and what is spent and remaining.

pub mod burn_down;
mod show;
pub mod view;

pub use burn_down::{BurnDown, BurnDownPoint};
pub use show::{
    BudgetAnswer, BudgetsAnswer, More, OwnDeltaJson, Shown, UnansweredChargeJson, UnansweredJson,
    is_below,
};
pub use view::{
    AccountJson, GapJson, GuaranteeJson, LogJson, OrderLine, Remaining, SpentSoFar, TargetJson,
};
