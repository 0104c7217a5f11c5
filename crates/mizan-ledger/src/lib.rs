//! Privacy budgets that cannot be overspent.

mod account;
mod amount;
mod budget;
mod budget_error;
mod cost;
mod filter;
mod orders;
mod scale;
mod weights;

pub use account::{Account, AccountName, AccountNumber, MAX_HEIGHT, MAX_NAME_BYTES, NameError};
pub use amount::{Amount, AmountError, OwnDelta};
pub use budget::{Budget, Rule, Target};
pub use budget_error::BudgetError;
pub use cost::{Cost, CostError};
pub use filter::{Refusal, RefusalLine, Totals, admit};
pub use orders::{MAX_ORDERS, Orders, OrdersError};
pub use scale::Scale;
pub use weights::Weight;
