//! Privacy budgets that cannot be overspent: accounts, the filter that admits
//! charges, the log of what happened and the proofs about it.
//!
//! Most of it is pure. Only [`store`] and [`Ledger`] touch files, and only the
//! latter a clock and randomness: it is what programs open. A store makes entries durable before anyone is told; it, the
//! reference model and an auditor decide by the same functions.
//!
//! The way of a charge: an event becomes a [`Cost`] at the [`Orders`] of an
//! [`Account`]; [`decide`] asks [`admit`] for the account and all above it; the
//! [`Body`] it returns becomes an [`Entry`] of the log and a leaf of the Merkle
//! [`Tree`]. [`State`] is all of that in memory, and replays a log to verify it.
//!
//! ```
//! use mizan_core::{Delta, Epsilon, PrivacyEvent};
//! use mizan_ledger::{Account, AccountName, AccountNumber, Budget, Cost, Orders, admit};
//!
//! let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
//! let own_delta = Budget::usual_own_delta(delta);
//! let budget = Budget::approximate(Epsilon::new(1.0)?, delta, own_delta, &orders)?;
//! let name = AccountName::new("census")?;
//! let account = Account::new(AccountNumber::new(0), name, None, orders.clone(), budget);
//!
//! let event: PrivacyEvent = "gaussian(5)".parse()?;
//! let cost = Cost::of(&event, &orders)?;
//! assert!(admit(std::iter::once(&account), &cost).is_ok());
//!
//! let twice: PrivacyEvent = "2 * gaussian(5)".parse()?;
//! let refusal = admit(std::iter::once(&account), &Cost::of(&twice, &orders)?).unwrap_err();
//! assert!(refusal.largest.to_string().starts_with("0.5"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
mod amount;
mod budget;
mod budget_error;
mod bytes;
mod carry_out;
mod checkpoint;
mod cost;
mod decide;
mod decode;
mod entry;
mod filter;
mod history;
mod id_key;
mod ids;
mod key;
mod ledger;
mod mark;
mod merkle;
mod neighbours;
mod odometer;
mod orders;
mod proof;
mod receipt_text;
mod record;
mod request;
mod request_error;
mod scale;
mod sealed;
mod similar;
mod state;
mod state_dir;
pub mod store;
mod target;
mod unanswered;
mod verify;
mod weights;

pub use account::{Account, AccountName, AccountNumber, MAX_HEIGHT, MAX_NAME_BYTES, NameError};
pub use amount::{Amount, AmountError, OwnDelta};
pub use budget::{Budget, Rule};
pub use budget_error::BudgetError;
pub use bytes::DecodeError;
pub use checkpoint::{Checkpoint, CheckpointKey, TreeHead};
pub use cost::{Cost, CostError};
pub use decide::{Books, Decision, chain, decide};
pub use entry::{Body, Denial, Entry, VERSION};
pub use filter::{Refusal, RefusalLine, Totals, admit, how_many};
pub use id_key::IdKey;
pub use ids::{Digest, LedgerId, RequestId};
pub use key::PublicKey;
pub use ledger::{
    AccountView, Done, Gap, Ledger, LedgerError, Location, NewAccount, Note, Running, Shown,
};
pub use merkle::{Frontier, Tree, leaf_hash};
pub use neighbours::Neighbours;
pub use odometer::{Left, Odometer};
pub use orders::{MAX_ORDERS, Orders, OrdersError};
pub use proof::{ConsistencyProof, InclusionProof};
pub use receipt_text::ReceiptText;
pub use record::{Held, Outcome, Record, Status};
pub use request::{Charge, MAX_EVENT_BYTES, Request};
pub use request_error::RequestError;
pub use scale::Scale;
pub use sealed::TextError;
pub use similar::{Similar, similar};
pub use state::{Executed, ReplayError, State};
pub use state_dir::default_state_dir;
pub use target::Target;
pub use unanswered::{MAX_UNANSWERED, SETTLED, UnansweredCharge};
pub use verify::{VerifyError, VerifyReport, Witnesses, verify};
pub use weights::Weight;
