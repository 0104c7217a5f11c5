//! Ledgers with a state directory, in directories that are deleted afterwards.

use std::path::{Path, PathBuf};

use mizan_ledger::log::LedgerId;
use mizan_ledger::*;

use super::lab::Directory;
use super::{CLOCK, delta, epsilon};

/// A ledger file and a state directory apart from it.
pub(crate) struct GuardedLedger {
    directory: Directory,
}

impl GuardedLedger {
    pub(crate) fn new() -> Self {
        let directory = Directory::new();
        std::fs::create_dir(directory.path().join("data")).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("data/ledger")
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    pub(crate) fn location(&self) -> Location {
        Location::from(self.path())
    }

    /// A new ledger with one account of (ε, δ) = (10, 1e-6).
    pub(crate) fn init(&self) -> Ledger {
        let ledger = Ledger::init(&self.location(), &self.state_dir()).unwrap();
        create(&ledger, "one", None);
        ledger
    }

    pub(crate) fn open(&self) -> Result<Ledger, LedgerError> {
        Ledger::open(&self.location(), &self.state_dir())
    }

    /// The code with which opening is refused.
    pub(crate) fn refused(&self) -> &'static str {
        let error = self.open().unwrap_err();
        assert!(!error.help().is_empty());
        error.code().as_str()
    }

    pub(crate) fn within_state(&self, ledger: LedgerId, name: &str) -> PathBuf {
        self.state_dir().join(ledger.to_string()).join(name)
    }
}

pub(crate) fn create(ledger: &Ledger, name: &str, parent: Option<AccountNumber>) -> AccountNumber {
    let orders = Orders::standard();
    let reserved_delta = Budget::usual_reserved_delta(delta(1e-6));
    let account = NewAccount {
        name: AccountName::new(name).unwrap(),
        parent,
        budget: Budget::approximate(epsilon(10.0), delta(1e-6), reserved_delta, CLOCK, &orders)
            .unwrap(),
        orders,
    };
    match ledger.create_account(None, account).unwrap().outcome {
        Outcome::Created(number) => number,
        other => panic!("{other:?}"),
    }
}

/// Spends on the first account.
pub(crate) fn spend(ledger: &Ledger, event: &str) -> Result<Done, LedgerError> {
    ledger.spend(None, AccountNumber::new(0), &event.parse().unwrap())
}

/// All entries.
pub(crate) fn log(ledger: &Ledger) -> Vec<Entry> {
    let mut log = Vec::new();
    loop {
        let page = ledger.entries(u64::try_from(log.len()).unwrap()).unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

/// Changes a file as someone with a SQLite shell would.
pub(crate) fn shell(path: &Path, sql: &str) {
    let shell = rusqlite::Connection::open(path).unwrap();
    shell.execute_batch(sql).unwrap();
}
