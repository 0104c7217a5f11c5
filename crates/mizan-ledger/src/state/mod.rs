//! The rules of a ledger, and a ledger in memory: the reference that stores are compared with,
//! and what replays a log to verify it.
//!
//! [`State::execute`] decides a request and applies the entry. [`State::apply`] decides the
//! request of an existing entry again and requires the same entry. A log that was written by
//! other rules, or without the filter, is refused at the first entry that differs.

pub(crate) mod carry_out;
mod decide;
pub(crate) mod request;
mod request_error;

pub(crate) use decide::commit;
pub use decide::{Decision, LedgerView, chain, decide};
pub use request::{Charge, MAX_EVENT_BYTES, Request};
pub use request_error::RequestError;

use std::collections::HashMap;

use mizan_core::Code;

use self::carry_out::{LedgerViewMut, carry_out};
use crate::log::{Body, Entry, LedgerId, Outcome, Record, RequestId};
use crate::money::{Account, AccountName, AccountNumber, Refusal};

/// A ledger in memory.
///
/// ```
/// use mizan_core::Epsilon;
/// use mizan_ledger::log::LedgerId;
/// use mizan_ledger::state::{Executed, LedgerView as _, Request, State};
/// use mizan_ledger::*;
///
/// let id = |byte| RequestId::from_bytes([byte; 16]);
/// let mut state = State::new();
/// state.execute(0, id(0), &Request::Open { ledger: LedgerId::from_bytes([1; 16]) })?;
/// let orders = Orders::standard();
/// let create = Request::Create {
///     name: AccountName::new("census")?,
///     parent: None,
///     budget: Budget::pure(Epsilon::new(1.0)?, &orders)?,
///     orders: orders.clone(),
/// };
/// state.execute(0, id(1), &create)?;
/// let census = state.account(AccountNumber::new(0)).unwrap();
/// let charge = Request::Reserve(Charge::of(&"laplace(2)".parse()?, census)?);
/// // Twice 1/2 fits into 1, a third time does not, and a retry is free.
/// let outcome = |done: Executed| done.outcome();
/// assert_eq!(outcome(state.execute(1, id(2), &charge)?), Outcome::Reserved);
/// assert_eq!(outcome(state.execute(2, id(3), &charge)?), Outcome::Reserved);
/// assert!(matches!(outcome(state.execute(3, id(4), &charge)?), Outcome::Denied(_)));
/// assert_eq!(outcome(state.execute(4, id(2), &charge)?), Outcome::Reserved);
/// assert_eq!(state.size(), 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    ledger: Option<LedgerId>,
    accounts: Vec<Account>,
    names: HashMap<AccountName, AccountNumber>,
    records: HashMap<RequestId, Record>,
    size: u64,
    unix_ms: u64,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Executed {
    /// A new entry was appended.
    Appended {
        /// The entry for the log.
        entry: Entry,
        /// The outcome for the client, once the entry is durable.
        outcome: Outcome,
        /// The numbers of each order, if it is a denial.
        refusal: Option<Box<Refusal>>,
    },
    /// The request was decided before; the same outcome again.
    Known(Outcome),
}

impl Executed {
    /// The outcome for the client.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        match self {
            Self::Appended { outcome, .. } | Self::Known(outcome) => *outcome,
        }
    }
}

impl LedgerView for State {
    fn ledger(&self) -> Option<LedgerId> {
        self.ledger
    }

    fn record(&self, id: RequestId) -> Option<&Record> {
        self.records.get(&id)
    }

    fn account(&self, number: AccountNumber) -> Option<&Account> {
        let index = usize::try_from(number.get()).ok()?;
        self.accounts.get(index)
    }

    fn named(&self, name: &AccountName) -> Option<AccountNumber> {
        self.names.get(name).copied()
    }

    fn accounts(&self) -> u32 {
        u32::try_from(self.accounts.len()).unwrap_or(u32::MAX)
    }
}

impl LedgerViewMut for State {
    fn begin(&mut self, ledger: LedgerId) {
        self.ledger = Some(ledger);
    }

    fn account_mut(&mut self, number: AccountNumber) -> Option<&mut Account> {
        let index = usize::try_from(number.get()).ok()?;
        self.accounts.get_mut(index)
    }

    fn create(&mut self, account: Account) {
        self.names.insert(account.name().clone(), account.number());
        self.accounts.push(account);
    }

    fn remember(&mut self, id: RequestId, record: Record) {
        self.records.insert(id, record);
    }
}

impl State {
    /// A ledger that is not created yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many entries the log has.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Decides a request and applies the entry. The entry has the given time, or the time of the
    /// entry before if the clock has gone back.
    ///
    /// # Errors
    ///
    /// The request is invalid in this state; nothing has changed.
    pub fn execute(
        &mut self,
        unix_ms: u64,
        id: RequestId,
        request: &Request,
    ) -> Result<Executed, RequestError> {
        let (body, refusal) = match decide(self, id, request)? {
            Decision::Known(outcome) => return Ok(Executed::Known(outcome)),
            Decision::Append { body, refusal } => (body, refusal),
        };
        let outcome = self.carry_out(id, &body)?;
        self.unix_ms = self.unix_ms.max(unix_ms);
        let entry = Entry {
            unix_ms: self.unix_ms,
            id,
            body,
        };
        Ok(Executed::Appended {
            entry,
            outcome,
            refusal,
        })
    }

    /// Applies the next entry of a log, if its request leads to the same entry.
    ///
    /// # Errors
    ///
    /// The request leads to another entry or none; nothing has changed.
    pub fn apply(&mut self, entry: &Entry) -> Result<Outcome, ReplayError> {
        let position = self.size;
        let wrong = |error| ReplayError::Refused { position, error };
        let decision = decide(self, entry.id, &entry.body.request()).map_err(wrong)?;
        match decision {
            Decision::Append { body, .. } if body == entry.body => {
                let outcome = self.carry_out(entry.id, &entry.body).map_err(wrong)?;
                self.unix_ms = self.unix_ms.max(entry.unix_ms);
                Ok(outcome)
            }
            Decision::Append { .. } => Err(ReplayError::Differs { position }),
            Decision::Known(_) => Err(ReplayError::Repeated { position }),
        }
    }

    fn carry_out(&mut self, id: RequestId, body: &Body) -> Result<Outcome, RequestError> {
        let outcome = carry_out(self, id, body, || body.request_digest())?;
        self.size += 1;
        Ok(outcome)
    }
}

/// The first entry of a log that breaks the rules.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// Its request is invalid.
    #[error("entry {position} could not have been accepted: {error}")]
    Refused {
        /// Its position.
        position: u64,
        /// Why.
        error: RequestError,
    },
    /// Its request leads to another entry, such as a denial.
    #[error("entry {position} is not what the filter decides")]
    Differs {
        /// How many entries stand before it.
        position: u64,
    },
    /// Its request was decided before.
    #[error("entry {position} repeats a request that was decided before")]
    Repeated {
        /// How many entries stand before it.
        position: u64,
    },
}

impl ReplayError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Refused { .. } => Code::MZ1750,
            Self::Differs { .. } => Code::MZ1751,
            Self::Repeated { .. } => Code::MZ1752,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        "do not release from this ledger; compare it with receipts, checkpoints and backups"
    }
}
