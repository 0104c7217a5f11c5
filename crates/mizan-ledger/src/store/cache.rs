//! The cache of the writer: the accounts and records that its requests need, loaded before they are
//! decided. It is valid until another process writes.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::log::{LedgerId, Record, RequestId};
use crate::money::{Account, AccountName, AccountNumber, MAX_HEIGHT};
use crate::state::carry_out::LedgerViewMut;
use crate::state::{LedgerView, Request};
use crate::store::rows::{Position, Rows, Sums};
use crate::store::{StoreError, Submission, read};

/// The number of accounts that are kept between batches.
const MAX_ACCOUNTS: usize = 10_000;

/// A [`LedgerView`] that is loaded on demand.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) position: Position,
    accounts: HashMap<AccountNumber, Account>,
    names: HashMap<AccountName, AccountNumber>,
    records: HashMap<RequestId, Record>,
    changed: BTreeSet<AccountNumber>,
}

impl Cache {
    /// A cache with the head of the log and nothing else.
    pub(super) fn at(position: Position) -> Self {
        Self {
            position,
            ..Self::default()
        }
    }

    /// Loads what the decisions about requests need, except for ids that are assumed to be new.
    /// Returns the accounts that they may change, ordered by number. What one request needs of
    /// another is in the cache when it is decided.
    pub(super) fn prepare<'a, R: Rows>(
        &mut self,
        rows: &mut R,
        submissions: impl Iterator<Item = &'a Submission> + Clone,
        taken_for_new: &HashSet<RequestId>,
    ) -> Result<Vec<&Account>, StoreError> {
        let ids = submissions.clone().map(|submission| submission.id);
        let ids: BTreeSet<_> = ids.filter(|id| !taken_for_new.contains(id)).collect();
        let ids: Vec<RequestId> = ids.into_iter().collect();
        for (id, row) in rows.records(&ids)? {
            self.records.insert(id, read::record_of(id, &row)?);
        }
        let mut used = BTreeSet::new();
        for submission in submissions {
            self.prepare_accounts(rows, submission, &mut used)?;
        }
        let used = used.iter().filter_map(|number| self.accounts.get(number));
        Ok(used.collect())
    }

    fn prepare_accounts<R: Rows>(
        &mut self,
        rows: &mut R,
        submission: &Submission,
        used: &mut BTreeSet<AccountNumber>,
    ) -> Result<(), StoreError> {
        let mut next = match &submission.request {
            Request::Open { .. } | Request::Restore { .. } => None,
            Request::Create { name, parent, .. } => {
                if let Some(number) = read::named(rows, name)? {
                    self.names.insert(name.clone(), number);
                }
                *parent
            }
            Request::Reserve(charge) => Some(charge.account),
            Request::Raise { account, .. } => Some(*account),
            // If the reservation is in this batch, so is its account.
            Request::Start | Request::Commit { .. } | Request::Void => {
                let known = self.records.get(&submission.id);
                let held = known.and_then(|found| found.status.reservation());
                held.map(|held| held.account)
            }
        };
        for _ in 0..MAX_HEIGHT {
            let Some(number) = next else { break };
            if !self.accounts.contains_key(&number)
                && let Some(account) = read::account(rows, number)?
            {
                self.accounts.insert(number, account);
            }
            used.insert(number);
            next = self.accounts.get(&number).and_then(Account::parent);
        }
        Ok(())
    }

    /// The totals that changed since the last call.
    pub(super) fn take_sums(&mut self) -> Vec<(AccountNumber, Sums)> {
        let changed = std::mem::take(&mut self.changed);
        let accounts = changed.iter().filter_map(|number| {
            let account = self.accounts.get(number)?;
            Some((*number, Sums::of(account)))
        });
        accounts.collect()
    }

    /// Drops what would otherwise grow without bound.
    pub(super) fn trim(&mut self) {
        self.records.clear();
        self.names.clear();
        if self.accounts.len() > MAX_ACCOUNTS {
            self.accounts.clear();
        }
    }
}

impl LedgerView for Cache {
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

impl LedgerViewMut for Cache {
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
