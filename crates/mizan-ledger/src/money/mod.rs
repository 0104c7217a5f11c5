//! Money: amounts of privacy loss, what an event costs, budgets, the filter that admits costs,
//! and the accounts that pay them.
//!
//! Everything here is pure: no files, clocks or randomness. Amounts are whole numbers, so that
//! sums are exact.

mod account;
mod alternatives;
mod amount;
mod budget;
mod budget_error;
mod clock;
mod conditional;
mod cost;
mod filter;
mod neighbours;
mod orders;
mod scale;
mod target;
mod weights;

pub use account::{Account, AccountName, AccountNumber, MAX_HEIGHT, MAX_NAME_BYTES, NameError};
pub use alternatives::{Alternative, alternatives};
pub use amount::{Amount, AmountError, DeltaAmount};
pub use budget::{Budget, Rule};
pub use budget_error::BudgetError;
pub(crate) use clock::Step;
pub use clock::{Clock, ClockPrice, Variance};
pub(crate) use conditional::conditional_prices;
pub use conditional::{ConditionalPrice, Taken};
pub(crate) use cost::without_failures;
pub use cost::{Cost, CostError};
pub use filter::{Refusal, RefusalClock, RefusalLine, Totals, admit, how_many};
pub(crate) use filter::{admit_in_state, has_clock, outdated};
pub use neighbours::Neighbours;
pub use orders::{MAX_ORDERS, Orders, OrdersError};
pub use scale::Scale;
pub use target::Target;
pub use weights::Weight;
