//! The ledger: privacy budgets that cannot be overspent, enforced under adaptively chosen queries
//! and recorded in a tamper-evident log.
//!
//! - [`Ledger`]: what a program opens, at a [`Location`].
//! - [`money`]: amounts, costs, budgets, accounts, and the privacy filter
//!   ([`admit`](money::admit)).
//! - [`log`]: entries, their canonical bytes and the Merkle tree over them.
//! - [`state`]: the rules. [`decide`](state::decide) says which entry a request leads to, and
//!   [`State`](state::State) is a ledger in memory that replays a log.
//! - [`evidence`]: proofs, checkpoints, receipts, verification, the odometer.
//! - [`guards`]: the high-water mark and the keys, outside of the database.
//! - [`store`]: SQLite, PostgreSQL, or memory for tests.
//!
//! The path of a charge: an event becomes a [`Cost`] at the [`Orders`] of an [`Account`];
//! the filter checks the account and all accounts above it; the [`Body`] that it leads to becomes
//! an [`Entry`] of the log and a leaf of the Merkle tree. A store makes the entry durable before
//! the client receives an outcome. Stores, the in-memory reference and the verifier decide by the
//! same functions.
//!
//! Only [`store`], [`ledger`] and [`guards`] touch files, and only [`Ledger`] reads a clock or
//! draws randomness.
//!
//! ```
//! use mizan_core::{Delta, Epsilon, PrivacyEvent};
//! use mizan_ledger::money::admit;
//! use mizan_ledger::{Account, AccountName, AccountNumber, Budget, Cost, Orders};
//!
//! let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
//! let (reserved_delta, clock) = (Budget::usual_reserved_delta(delta), Budget::usual_clock());
//! let budget = Budget::approximate(Epsilon::new(1.0)?, delta, reserved_delta, clock, &orders)?;
//! let name = AccountName::new("census")?;
//! let account = Account::new(AccountNumber::new(0), name, None, orders.clone(), budget);
//!
//! let event: PrivacyEvent = "gaussian(5)".parse()?;
//! let cost = Cost::of(&event, &orders)?;
//! assert!(admit(std::iter::once(&account), &cost).is_ok());
//!
//! let twice: PrivacyEvent = "2 * gaussian(5)".parse()?;
//! let refusal = admit(std::iter::once(&account), &Cost::of(&twice, &orders)?).unwrap_err();
//! assert!(refusal.largest.to_string().starts_with("0.6"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod evidence;
pub mod guards;
pub mod ledger;
pub mod log;
pub mod money;
pub mod state;
pub mod store;

pub use evidence::{Checkpoint, ReceiptText, Witnesses};
pub use guards::{PublicKey, default_state_dir};
pub use ledger::{AccountView, Done, Ledger, LedgerError, Location, NewAccount};
pub use log::{Body, Digest, Entry, Outcome, RequestId};
pub use money::{
    Account, AccountName, AccountNumber, Budget, BudgetError, Cost, DeltaAmount, Orders, Refusal,
    Target,
};
pub use state::{Charge, RequestError};
