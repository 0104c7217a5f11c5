//! A store in memory that fails on demand. Its log is kept as bytes and replayed when it is opened
//! again, so that it is also the reference for what survives a crash.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::guards::IdKey;
use crate::log::{Entry, Frontier, Record, RequestId, leaf_hash};
use crate::money::{Account, AccountName, AccountNumber};
use crate::state::{Executed, LedgerView, State};
use crate::store::{Head, MAX_PAGE, Receipt, Store, StoreError, Submission};

/// How the next write fails. The client cannot distinguish the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The entry is lost.
    BeforeCommit,
    /// The entry is durable; only the response is lost.
    AfterCommit,
}

/// A ledger in memory.
#[derive(Debug, Default)]
pub struct Sim(Mutex<Inner>);

/// The data that survive a fault.
#[derive(Debug, Default)]
struct Disk {
    log: Vec<Vec<u8>>,
    answers: HashMap<RequestId, Vec<u8>>,
    id_key: Option<IdKey>,
}

#[derive(Debug, Default)]
struct Inner {
    disk: Disk,
    state: State,
    frontier: Frontier,
    next_fault: Option<Fault>,
    poisoned: bool,
}

impl Sim {
    /// A ledger that is not created yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the next write fail.
    pub fn fail_next(&self, fault: Fault) {
        self.lock().next_fault = Some(fault);
    }

    /// The store after a crash and a restart.
    ///
    /// # Errors
    ///
    /// The log does not replay.
    pub fn reopen(self) -> Result<Self, StoreError> {
        let disk = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut inner = Inner {
            disk: disk.disk,
            ..Inner::default()
        };
        for (position, bytes) in (0..).zip(&inner.disk.log) {
            let entry = Entry::decode(bytes);
            let entry = entry.map_err(|error| StoreError::entry(position, error))?;
            let applied = inner.state.apply(&entry);
            applied.map_err(|error| StoreError::damaged(error.to_string()))?;
            inner.frontier.push(leaf_hash(bytes));
        }
        Ok(Self(Mutex::new(inner)))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, read: impl FnOnce(&Inner) -> T) -> Result<T, StoreError> {
        let inner = self.lock();
        if inner.poisoned {
            return Err(StoreError::poisoned());
        }
        Ok(read(&inner))
    }
}

impl Inner {
    fn head(&self) -> Head {
        Head {
            ledger: self.state.ledger(),
            accounts: self.state.accounts(),
            size: self.frontier.size(),
            root: self.frontier.root(),
        }
    }

    fn execute(&mut self, submission: Submission) -> Result<Receipt, StoreError> {
        let executed =
            self.state
                .execute(submission.unix_ms, submission.id, &submission.request)?;
        let (entry, outcome, refusal) = match executed {
            Executed::Known(outcome) => {
                return Ok(Receipt {
                    outcome,
                    refusal: None,
                    position: None,
                    head: self.head(),
                });
            }
            Executed::Appended {
                entry,
                outcome,
                refusal,
            } => (entry, outcome, refusal),
        };
        let fault = self.next_fault.take();
        if fault != Some(Fault::BeforeCommit) {
            let bytes = entry.encode();
            self.frontier.push(leaf_hash(&bytes));
            self.disk.log.push(bytes);
            if let Some(answer) = submission.answer {
                self.disk.answers.insert(submission.id, answer);
            }
        }
        if fault.is_some() {
            self.poisoned = true;
            return Err(StoreError::Unknown {
                reason: "a fault was asked for".to_owned(),
            });
        }
        let head = self.head();
        Ok(Receipt {
            outcome,
            refusal,
            position: head.size.checked_sub(1),
            head,
        })
    }
}

impl Store for Sim {
    fn execute(&self, submission: Submission) -> Result<Receipt, StoreError> {
        let mut inner = self.lock();
        if inner.poisoned {
            return Err(StoreError::poisoned());
        }
        inner.execute(submission)
    }

    fn record(&self, id: RequestId) -> Result<Option<Record>, StoreError> {
        self.read(|inner| inner.state.record(id).cloned())
    }

    fn answer(&self, id: RequestId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(|inner| inner.disk.answers.get(&id).cloned())
    }

    fn account(&self, number: AccountNumber) -> Result<Option<Account>, StoreError> {
        self.read(|inner| inner.state.account(number).cloned())
    }

    fn named(&self, name: &AccountName) -> Result<Option<AccountNumber>, StoreError> {
        self.read(|inner| inner.state.named(name))
    }

    fn entries(&self, from: u64) -> Result<Vec<Entry>, StoreError> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        self.read(|inner| {
            let log = (0..).zip(&inner.disk.log);
            let page = log.skip(from).take(MAX_PAGE);
            let decode = |(position, bytes): (i64, &Vec<u8>)| {
                Entry::decode(bytes).map_err(|error| StoreError::entry(position, error))
            };
            page.map(decode).collect()
        })?
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.read(Inner::head)
    }

    fn id_key(&self) -> Result<Option<IdKey>, StoreError> {
        let mut inner = self.lock();
        if inner.disk.id_key.is_none() {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|error| StoreError::Unusable {
                reason: error.to_string(),
            })?;
            inner.disk.id_key = Some(IdKey::from_bytes(bytes));
        }
        Ok(inner.disk.id_key.clone())
    }
}
