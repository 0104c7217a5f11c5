//! Verification: recomputes everything from the log (the Merkle tree, the decisions of the filter,
//! the totals, the costs of events) and compares.
//!
//! Data that a store keeps beside the log must follow from the log. The first fault is reported,
//! with its position. Other processes may write at the same time; entries that they append during
//! the verification are not checked.

mod error;
mod prices;

pub use error::VerifyError;

use std::collections::{HashMap, HashSet};

use self::prices::Prices;
use crate::evidence::{Checkpoint, ReceiptText, TreeHead};
use crate::guards::PublicKey;
use crate::ledger::{LedgerError, gap_id};
use crate::log::{Body, Entry, Frontier, RequestId, leaf_hash};
use crate::money::AccountNumber;
use crate::state::{LedgerView, RequestError, State};
use crate::store::{Head, NODE_LEVEL, Places, Store, StoreError, as_u64};

/// Receipts and checkpoints that the log must extend.
#[derive(Clone, Debug, Default)]
pub struct Witnesses {
    /// Receipts.
    pub receipts: Vec<ReceiptText>,
    /// Checkpoints.
    pub checkpoints: Vec<Checkpoint>,
    /// The key that must have signed the checkpoints. Without it signatures are not checked, and
    /// a forged checkpoint is refused only if the log contradicts it.
    pub public_key: Option<PublicKey>,
}

/// What was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// The log that was verified.
    pub head: TreeHead,
    /// The number of accounts.
    pub accounts: u32,
    /// The number of reserved charges.
    pub charges: u64,
    /// The number of committed charges.
    pub committed: u64,
    /// The number of denied charges.
    pub denied: u64,
    /// The number of voided charges.
    pub voided: u64,
    /// The number of charges with an event, whose cost was computed again.
    pub priced: u64,
    /// The number of charges with a cost but without an event.
    pub unpriced: u64,
    /// The number of stored answers, each with the committed hash.
    pub answers: u64,
    /// The number of gaps.
    pub gaps: u64,
    /// The number of receipts and checkpoints that the log extends.
    pub witnesses: u64,
}

/// Verifies the log of a store. `progress` receives the number of verified entries and the total.
///
/// # Errors
///
/// The first fault, with its position.
pub fn verify(
    store: &dyn Store,
    witnesses: &Witnesses,
    mut progress: impl FnMut(u64, u64),
) -> Result<VerifyReport, VerifyError> {
    let head = store.head()?;
    let tree_head = head.tree_head().ok_or(RequestError::NotOpen)?;
    let expected = witnessed(witnesses, tree_head)?;
    let mut replay = Replay::new(store, tree_head, &expected);
    progress(0, head.size);
    while replay.frontier.size() < head.size {
        replay.page(head.size)?;
        progress(replay.frontier.size(), head.size);
    }
    if replay.frontier.root() != head.root {
        return Err(VerifyError::wrong("the root is not that of the entries"));
    }
    replay.report.witnesses = as_u64(expected.len());
    replay.check_index()?;
    replay.check_nodes()?;
    replay.check_gaps()?;
    replay.check_accounts(head)?;
    Ok(replay.report)
}

/// The sizes and roots of the witnesses, smallest first.
fn witnessed(witnesses: &Witnesses, head: TreeHead) -> Result<Vec<TreeHead>, LedgerError> {
    if let Some(key) = witnesses.public_key {
        let mut checkpoints = witnesses.checkpoints.iter();
        if !checkpoints.all(|checkpoint| checkpoint.is_signed_by(key.as_bytes())) {
            return Err(LedgerError::BadSignature);
        }
    }
    let receipts = witnesses.receipts.iter().map(|receipt| receipt.head);
    let checkpoints = witnesses.checkpoints.iter().map(|signed| signed.head);
    let mut heads: Vec<TreeHead> = receipts.chain(checkpoints).collect();
    heads.sort_by_key(|head| head.size);
    for found in &heads {
        if found.ledger != head.ledger {
            return Err(LedgerError::OtherLedger {
                ledger: head.ledger,
                found: found.ledger,
            });
        }
        if found.size > head.size {
            return Err(LedgerError::NotExtended { size: found.size });
        }
    }
    Ok(heads)
}

/// The log up to some entry.
struct Replay<'a> {
    store: &'a dyn Store,
    state: State,
    frontier: Frontier,
    places: HashMap<RequestId, Places>,
    restored: HashSet<RequestId>,
    prices: Prices,
    witnesses: std::slice::Iter<'a, TreeHead>,
    report: VerifyReport,
}

impl<'a> Replay<'a> {
    fn new(store: &'a dyn Store, head: TreeHead, witnesses: &'a [TreeHead]) -> Self {
        Self {
            store,
            state: State::new(),
            frontier: Frontier::default(),
            places: HashMap::new(),
            restored: HashSet::new(),
            prices: Prices::default(),
            witnesses: witnesses.iter(),
            report: VerifyReport {
                head,
                accounts: 0,
                charges: 0,
                committed: 0,
                denied: 0,
                voided: 0,
                priced: 0,
                unpriced: 0,
                answers: 0,
                gaps: 0,
                witnesses: 0,
            },
        }
    }

    /// Verifies the next entries, up to a size.
    fn page(&mut self, size: u64) -> Result<(), VerifyError> {
        let begin = self.frontier.size();
        let entries = self.store.entries(begin)?;
        if entries.is_empty() {
            return Err(VerifyError::at(begin, "the log ends before its end"));
        }
        let mut answers = HashMap::new();
        for (position, entry) in (begin..size).zip(&entries) {
            if let Body::Committed { answer, .. } = &entry.body {
                answers.insert(position, *answer);
            }
            self.entry(position, entry)?;
        }
        for (position, hash) in self.store.answer_hashes(begin..self.frontier.size())? {
            if answers.get(&position) != Some(&hash) {
                return Err(VerifyError::at(
                    position,
                    "its answer is not the one committed",
                ));
            }
            self.report.answers += 1;
        }
        Ok(())
    }

    fn entry(&mut self, position: u64, entry: &Entry) -> Result<(), VerifyError> {
        self.check_witnesses()?;
        match &entry.body {
            Body::Reserved { charge, .. } => {
                self.report.charges += 1;
                if charge.event.is_empty() {
                    self.report.unpriced += 1;
                } else {
                    self.prices.check(&self.state, position, charge)?;
                    self.report.priced += 1;
                }
            }
            Body::Denied { .. } => self.report.denied += 1,
            Body::Committed { .. } => self.report.committed += 1,
            Body::Voided => self.report.voided += 1,
            Body::Restored { .. } => {
                self.restored.insert(entry.id);
                self.report.gaps += 1;
            }
            Body::Created { .. } => self.report.accounts += 1,
            Body::Opened { .. } | Body::Started | Body::Raised { .. } => {}
        }
        self.state.apply(entry)?;
        let first = Places {
            first: position,
            last: position,
        };
        let places = self.places.entry(entry.id).or_insert(first);
        places.last = position;
        let leaf = leaf_hash(&entry.encode());
        for (level, index, hash) in self.frontier.push_from(leaf, NODE_LEVEL) {
            let kept = self.store.node(level, index)?;
            if kept.is_some_and(|kept| kept != hash) {
                return Err(VerifyError::at(
                    position,
                    "a node of the tree is not its hash",
                ));
            }
        }
        self.check_witnesses()
    }

    /// Compares with the witnesses of this size.
    fn check_witnesses(&mut self) -> Result<(), VerifyError> {
        let size = self.frontier.size();
        while let Some(next) = self.witnesses.as_slice().first()
            && next.size == size
        {
            if next.root != self.frontier.root() {
                return Err(LedgerError::NotExtended { size }.into());
            }
            self.witnesses.next();
        }
        Ok(())
    }

    /// Compares the index of ids with the log.
    fn check_index(&mut self) -> Result<(), VerifyError> {
        let size = self.frontier.size();
        let mut after = None;
        let mut missing = self.places.len();
        let mut furthest = 0;
        loop {
            let Some(page) = self.store.index_after(after)? else {
                return self.check_records();
            };
            let Some(&(last, _)) = page.last() else {
                break;
            };
            after = Some(last);
            for (id, found) in page {
                furthest = furthest.max(found.last);
                let same = match self.places.get(&id) {
                    Some(places) => {
                        missing -= 1;
                        // Another process may have appended entries of this id since.
                        found.first == places.first
                            && (found.last == places.last || found.last >= size)
                    }
                    None => found.first >= size,
                };
                if !same {
                    return Err(VerifyError::at(
                        found.last,
                        format!("the index has other entries for the id {id}"),
                    ));
                }
            }
        }
        if missing > 0 {
            return Err(VerifyError::wrong(format!("the index lacks {missing} ids")));
        }
        // Entries that other processes have appended since are in the log by now.
        if furthest >= self.store.head()?.size {
            return Err(VerifyError::at(
                furthest,
                "the index has an entry that is not in the log",
            ));
        }
        Ok(())
    }

    /// The tree must not have nodes beyond the log: they would be wrong when the log grows.
    fn check_nodes(&self) -> Result<(), VerifyError> {
        const AHEAD: u64 = 64;
        for level in NODE_LEVEL..u64::BITS - 1 {
            let next = self.frontier.size() >> level;
            let ahead = if level == NODE_LEVEL { AHEAD } else { 1 };
            for index in next..next + ahead {
                // A store reports a missing node as an error, which is expected here.
                let is_there = matches!(self.store.node(level, index), Ok(Some(_)));
                if is_there && (index + 1) << level > self.store.head()?.size {
                    return Err(VerifyError::wrong(
                        "there is a node of the tree that is not in the log",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Compares the record of every id with the log.
    fn check_records(&self) -> Result<(), VerifyError> {
        for (&id, places) in &self.places {
            if self.store.record(id)?.as_ref() != self.state.record(id)
                && self.store.head()?.size == self.frontier.size()
            {
                return Err(VerifyError::at(
                    places.last,
                    format!("another outcome is remembered for the id {id}"),
                ));
            }
        }
        Ok(())
    }

    /// Gaps are found by their ids, so every gap must have such an id.
    fn check_gaps(&self) -> Result<(), VerifyError> {
        let ids = (0..).map(gap_id);
        let taken = ids.take_while(|id| self.places.contains_key(id));
        let found = taken.filter(|id| self.restored.contains(id)).count();
        if found != self.restored.len() {
            return Err(VerifyError::wrong("a gap would not be shown"));
        }
        Ok(())
    }

    /// Compares the accounts at a moment without a write between the two reads.
    fn check_accounts(&mut self, mut head: Head) -> Result<(), VerifyError> {
        const TRIES: u32 = 1000;
        for _ in 0..TRIES {
            let differs = self.other_account(head.accounts)?;
            let rows = self.store.account_rows()?;
            let now = self.store.head()?;
            if now == head {
                if rows.is_some_and(|rows| rows != u64::from(head.accounts)) {
                    let what = "there are accounts that are not in the log";
                    return Err(VerifyError::wrong(what));
                }
                return match differs {
                    None => Ok(()),
                    Some(number) => Err(VerifyError::wrong(format!(
                        "account {number} is not what the log says"
                    ))),
                };
            }
            head = now;
            // Entries that other processes append meanwhile are not part of the report.
            let report = self.report;
            while self.frontier.size() < head.size {
                self.page(head.size)?;
            }
            self.report = report;
        }
        Err(StoreError::Busy.into())
    }

    /// The first account that does not follow from the log.
    fn other_account(&self, accounts: u32) -> Result<Option<AccountNumber>, VerifyError> {
        let most = accounts.max(self.state.accounts());
        for number in (0..most).map(AccountNumber::new) {
            let stored = self.store.account(number)?;
            let name = self.state.account(number).map(|account| account.name());
            let named = match name {
                Some(name) => self.store.named(name)?,
                None => None,
            };
            if stored.as_ref() != self.state.account(number) || named != Some(number) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}
