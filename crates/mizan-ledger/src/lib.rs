//! Privacy budgets that cannot be overspent.

mod account;
mod amount;
mod budget;
mod budget_error;
mod bytes;
mod cost;
mod decide;
mod entry;
mod filter;
mod ids;
mod orders;
mod record;
mod request;
mod request_error;
mod scale;
mod state;
mod weights;

pub use account::{Account, AccountName, AccountNumber, MAX_HEIGHT, MAX_NAME_BYTES, NameError};
pub use amount::{Amount, AmountError, OwnDelta};
pub use budget::{Budget, Rule, Target};
pub use budget_error::BudgetError;
pub use bytes::DecodeError;
pub use cost::{Cost, CostError};
pub use decide::{Books, Decision, chain, decide};
pub use entry::{Body, Denial, Entry, VERSION};
pub use filter::{Refusal, RefusalLine, Totals, admit};
pub use ids::{Digest, LedgerId, RequestId};
pub use orders::{MAX_ORDERS, Orders, OrdersError};
pub use record::{Held, Outcome, Record, Status};
pub use request::{Charge, MAX_EVENT_BYTES, Request};
pub use request_error::RequestError;
pub use scale::Scale;
pub use state::{Executed, ReplayError, State};
pub use weights::Weight;
