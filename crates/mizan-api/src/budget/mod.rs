//! Budgets: accounts, what they promise, have spent and have left.

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
