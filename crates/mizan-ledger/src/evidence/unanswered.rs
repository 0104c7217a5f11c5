//! Charges without an answer: started and never committed.
//!
//! Such a charge stands, and no answer was released for it. It is a query that runs just
//! now, or one that failed or was killed after its charge. The log alone tells, so
//! crashes count too. That a query failed before it was answered is not in the log; the
//! state directory has it.
//!
//! # How much of the log is read
//!
//! An open charge is in the pending sums of its account and of all above it. So a process
//! reads the log backwards from its end once for each root account, and stops when the
//! open charges that it found add up to what is pending there. Open charges are usually
//! near the end. From then on it reads what is new.

use std::collections::{BTreeMap, BTreeSet};

use crate::log::{Body, Entry, RequestId};
use crate::money::{Account, AccountNumber, Totals};
use crate::store::{MAX_PAGE, Store, StoreError, as_u64};

/// With so many queries that failed after their charge, of an account and of those below it, no
/// query is charged, so that an analyst sees few failures until the data owner has looked. Queries
/// that run do not count; at most [`MAX_RUNNING`](crate::guards::MAX_RUNNING) run at once, and
/// all of them can fail.
pub const MAX_UNANSWERED: usize = 8;

/// What is kept in place of the answer of a charge that the owner settled. No answer of a
/// query begins like this.
pub const SETTLED: &[u8] = b"mizan: settled without an answer";

/// How often the state of the log and of an account are read until they belong together.
const TRIES: u32 = 64;

/// A charge whose query failed after it, or runs now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnansweredCharge {
    /// Its id.
    pub id: RequestId,
    /// The account that was charged.
    pub account: AccountNumber,
    /// When it was started; if it was answered, when it was reserved.
    pub started_unix_ms: u64,
    /// Whether it was committed: a repetition of the query was answered, or will never be.
    pub answered: bool,
}

/// A charge that is reserved and not settled.
#[derive(Clone, Copy, Debug)]
struct Open {
    account: AccountNumber,
    started_unix_ms: Option<u64>,
}

/// The open charges of a log.
#[derive(Debug, Default)]
pub(crate) struct OpenCharges {
    /// How many entries were read.
    size: u64,
    /// The accounts without one above them whose open charges are all known.
    roots: BTreeSet<AccountNumber>,
    open: BTreeMap<RequestId, Open>,
    /// The account above each account, which never changes.
    parents: BTreeMap<AccountNumber, Option<AccountNumber>>,
}

impl OpenCharges {
    /// The charges of an account, and of those below it, that were started.
    pub(crate) fn under(
        &mut self,
        store: &dyn Store,
        account: &Account,
    ) -> Result<Vec<UnansweredCharge>, StoreError> {
        if self.roots.is_empty() {
            if account.pending().is_zero() {
                return Ok(Vec::new());
            }
            self.size = store.head()?.size;
        }
        self.read_on(store)?;
        let root = self.chain(store, account.number())?.pop();
        if let Some(root) = root.filter(|root| !self.roots.contains(root)) {
            self.look_back(store, root)?;
        }
        let mut found = Vec::new();
        for (id, open) in self.open.clone() {
            let Some(started_unix_ms) = open.started_unix_ms else {
                continue;
            };
            let chain = self.chain(store, open.account)?;
            if chain.contains(&account.number()) {
                found.push(UnansweredCharge {
                    id,
                    account: open.account,
                    started_unix_ms,
                    answered: false,
                });
            }
        }
        Ok(found)
    }

    /// Reads what is new in the log.
    fn read_on(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        loop {
            let page = store.entries(self.size)?;
            if page.is_empty() {
                return Ok(());
            }
            page.iter().for_each(|entry| self.read(entry));
        }
    }

    /// Reads the next entry.
    fn read(&mut self, entry: &Entry) {
        self.size += 1;
        match &entry.body {
            Body::Reserved { charge, .. } => {
                let open = Open {
                    account: charge.account,
                    started_unix_ms: None,
                };
                self.open.insert(entry.id, open);
            }
            Body::Started => {
                if let Some(open) = self.open.get_mut(&entry.id) {
                    open.started_unix_ms = Some(entry.unix_ms);
                }
            }
            Body::Committed { .. } | Body::Voided => {
                self.open.remove(&entry.id);
            }
            _ => {}
        }
    }

    /// Finds the open charges of a root account among the entries that were not read.
    fn look_back(&mut self, store: &dyn Store, root: AccountNumber) -> Result<(), StoreError> {
        let mut missing = None;
        for _ in 0..TRIES {
            self.read_on(store)?;
            let account = store.account(root)?.ok_or_else(|| no_account(root))?;
            // Nothing was written since the log was read, so the sums are those of its end.
            if store.head()?.size == self.size {
                missing = Some(account.pending().clone());
                break;
            }
        }
        let (mut settled, mut started) = (BTreeSet::new(), BTreeMap::new());
        let mut end = self.size;
        // If the sums are not known, everything is read.
        while end > 0 && !missing.as_ref().is_some_and(Totals::is_zero) {
            let begin = end.saturating_sub(as_u64(MAX_PAGE));
            for entry in page(store, begin, end)?.iter().rev() {
                match &entry.body {
                    Body::Committed { .. } | Body::Voided => {
                        settled.insert(entry.id);
                    }
                    Body::Started => {
                        started.insert(entry.id, entry.unix_ms);
                    }
                    Body::Reserved { charge, clock } => {
                        let started_unix_ms = started.remove(&entry.id);
                        let is_settled = settled.remove(&entry.id);
                        let chain = self.chain(store, charge.account)?;
                        if is_settled || chain.last() != Some(&root) {
                            continue;
                        }
                        // The root is the last account of the chain.
                        let level = clock.len().saturating_sub(1);
                        let taken = charge.taken(clock, level).flatten().unwrap_or_default();
                        missing = missing.and_then(|mut sums: Totals| {
                            sums.subtract(&charge.cost, taken)?;
                            Some(sums)
                        });
                        let open = Open {
                            account: charge.account,
                            started_unix_ms,
                        };
                        self.open.insert(entry.id, open);
                    }
                    _ => {}
                }
            }
            end = begin;
        }
        self.roots.insert(root);
        Ok(())
    }

    /// An account and all above it.
    fn chain(
        &mut self,
        store: &dyn Store,
        number: AccountNumber,
    ) -> Result<Vec<AccountNumber>, StoreError> {
        let (mut chain, mut next) = (Vec::new(), Some(number));
        while let Some(number) = next {
            chain.push(number);
            next = match self.parents.get(&number) {
                Some(parent) => *parent,
                None => {
                    let account = store.account(number)?.ok_or_else(|| no_account(number))?;
                    self.parents.insert(number, account.parent());
                    account.parent()
                }
            };
        }
        Ok(chain)
    }
}

/// The entries from one position up to another.
fn page(store: &dyn Store, begin: u64, end: u64) -> Result<Vec<Entry>, StoreError> {
    let (mut entries, mut next) = (Vec::new(), begin);
    while next < end {
        let more = store.entries(next)?;
        if more.is_empty() {
            return Err(StoreError::damaged(format!("there is no entry {next}")));
        }
        next += as_u64(more.len());
        entries.extend(more);
    }
    // The last page may go on beyond the end.
    entries.truncate(usize::try_from(end - begin).unwrap_or(usize::MAX));
    Ok(entries)
}

fn no_account(number: AccountNumber) -> StoreError {
    StoreError::damaged(format!("there is no account {number}"))
}
