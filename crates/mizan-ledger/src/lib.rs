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

mod evidence;
mod guards;
mod ledger;
mod log;
mod money;
mod state;
pub mod store;

pub use evidence::{
    Checkpoint, CheckpointKey, ConsistencyProof, InclusionProof, Left, Odometer, ReceiptText,
    TextError, TreeHead, UnansweredCharge, VerifyError, VerifyReport, Witnesses, verify,
};
pub use guards::{IdKey, PublicKey, default_state_dir};
pub use ledger::{AccountView, Done, Gap, Ledger, LedgerError, Location, NewAccount, Note, Shown};
pub use log::{
    Body, DecodeError, Denial, Digest, Entry, Frontier, Held, LedgerId, Outcome, Record, RequestId,
    Status, Tree, VERSION, leaf_hash,
};
pub use money::{
    Account, AccountName, AccountNumber, Amount, AmountError, Budget, BudgetError, Cost, CostError,
    MAX_HEIGHT, MAX_NAME_BYTES, MAX_ORDERS, NameError, Neighbours, Orders, OrdersError, OwnDelta,
    Refusal, RefusalLine, Rule, Scale, Similar, Target, Totals, Weight, admit, how_many, similar,
};
pub use state::{
    Books, Charge, Decision, Executed, MAX_EVENT_BYTES, ReplayError, Request, RequestError, State,
    chain, decide,
};
