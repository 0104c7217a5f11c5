//! The books of the writer: what its requests need, loaded before they are
//! decided. Good as long as nobody else writes.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use super::rows::{self, Position};
use crate::carry_out::Write;
use crate::decide::Books;
use crate::record::Record;
use crate::store::StoreError;
use crate::{Account, AccountName, AccountNumber, LedgerId, MAX_HEIGHT, Request, RequestId};

/// How many accounts are remembered between batches.
const MAX_ACCOUNTS: usize = 10_000;

/// Books that are loaded by and by.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) position: Position,
    accounts: HashMap<AccountNumber, Account>,
    names: HashMap<AccountName, AccountNumber>,
    records: HashMap<RequestId, Record>,
    changed: BTreeSet<AccountNumber>,
}

impl Cache {
    /// Books that know how far the log has come and nothing else.
    pub(super) fn load(connection: &Connection) -> Result<Self, StoreError> {
        Ok(Self {
            position: rows::position(connection)?,
            ..Self::default()
        })
    }

    /// Loads what a request needs to be decided.
    pub(super) fn prepare(
        &mut self,
        connection: &Connection,
        id: RequestId,
        request: &Request,
    ) -> Result<(), StoreError> {
        if !self.records.contains_key(&id)
            && let Some(record) = rows::record(connection, id)?
        {
            self.records.insert(id, record);
        }
        let mut next = match request {
            Request::Open { .. } | Request::Restore { .. } => None,
            Request::Create { name, parent, .. } => {
                if let Some(number) = rows::named(connection, name)? {
                    self.names.insert(name.clone(), number);
                }
                *parent
            }
            Request::Reserve(charge) => Some(charge.account),
            Request::Raise { account, .. } => Some(*account),
            Request::Start | Request::Commit { .. } | Request::Void => {
                let held = self.records.get(&id).and_then(|found| found.status.held());
                held.map(|held| held.account)
            }
        };
        for _ in 0..MAX_HEIGHT {
            let Some(number) = next else { break };
            if !self.accounts.contains_key(&number)
                && let Some(account) = rows::account(connection, number)?
            {
                self.accounts.insert(number, account);
            }
            next = self.accounts.get(&number).and_then(Account::parent);
        }
        Ok(())
    }

    /// Writes the sums that changed and how far the log has come.
    pub(super) fn save(&mut self, connection: &Connection) -> Result<(), StoreError> {
        for number in std::mem::take(&mut self.changed) {
            if let Some(account) = self.accounts.get(&number) {
                rows::save_sums(connection, account)?;
            }
        }
        rows::save_position(connection, &self.position)
    }

    /// Forgets what would otherwise grow for ever.
    pub(super) fn trim(&mut self) {
        self.records.clear();
        self.names.clear();
        if self.accounts.len() > MAX_ACCOUNTS {
            self.accounts.clear();
        }
    }
}

impl Books for Cache {
    fn ledger(&self) -> Option<LedgerId> {
        self.position.ledger
    }

    fn record(&self, id: RequestId) -> Option<&Record> {
        self.records.get(&id)
    }

    fn account(&self, number: AccountNumber) -> Option<&Account> {
        self.accounts.get(&number)
    }

    fn named(&self, name: &AccountName) -> Option<AccountNumber> {
        self.names.get(name).copied()
    }

    fn accounts(&self) -> u32 {
        self.position.accounts
    }
}

impl Write for Cache {
    fn begin(&mut self, ledger: LedgerId) {
        self.position.ledger = Some(ledger);
    }

    fn account_mut(&mut self, number: AccountNumber) -> Option<&mut Account> {
        self.changed.insert(number);
        self.accounts.get_mut(&number)
    }

    fn create(&mut self, account: Account) {
        let number = account.number();
        self.position.accounts += 1;
        self.names.insert(account.name().clone(), number);
        self.accounts.insert(number, account);
        self.changed.insert(number);
    }

    fn remember(&mut self, id: RequestId, record: Record) {
        self.records.insert(id, record);
    }
}
