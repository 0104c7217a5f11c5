//! Reads a ledger: accounts, entries, answers, proofs, checkpoints, verification.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{MutexGuard, PoisonError};

use super::Ledger;
use crate::evidence::history::History;
use crate::evidence::unanswered::{MAX_UNANSWERED, OpenCharges, SETTLED};
use crate::evidence::{
    Checkpoint, ConsistencyProof, InclusionProof, ReceiptText, TreeHead, UnansweredCharge,
    VerifyError, VerifyReport, Witnesses, verify,
};
use crate::guards::PublicKey;
use crate::guards::running_queries::{RunningQueries, RunningQuery};
use crate::ledger::{AccountView, LedgerError};
use crate::log::{Body, Digest, Entry, Record, RequestId, Status, leaf_hash};
use crate::money::{Account, AccountName, AccountNumber, Variance};
use crate::state::{Charge, RequestError, State};
use crate::store::StoreError;

/// Where the data owner continued a log although a longer one was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The position of the entry that records it.
    pub position: u64,
    /// The time of that entry.
    pub unix_ms: u64,
    /// The size of the longer log.
    pub known_size: u64,
    /// Its root.
    pub known_root: Digest,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "since the gap at entry {}: an earlier copy was restored although {} entries were known, and what was spent in the others is not counted here",
            self.position, self.known_size
        )
    }
}

/// The entry of a receipt, with proofs that it is in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct ReceiptProof {
    /// The entry.
    pub entry: Entry,
    /// The present log.
    pub head: TreeHead,
    /// Proves that the entry is in it.
    pub proof: InclusionProof,
    /// Proves that it extends the log of the receipt.
    pub extends: ConsistencyProof,
}

/// A query that this process runs, until the value is dropped.
#[derive(Debug)]
pub struct Running {
    /// None without a state directory.
    file: Option<RunningQuery>,
}

impl Running {
    /// The query failed after its charge. It counts for the limit of failed queries until the data
    /// owner settles the charge, also if a repetition is answered.
    pub const fn fail(&mut self) {
        if let Some(file) = &mut self.file {
            file.fail();
        }
    }
}

/// The id of a gap, so that gaps are found without reading the whole log.
pub(crate) fn gap_id(number: u64) -> RequestId {
    RequestId::of(&[b"mizan restore\n", &number.to_be_bytes()])
}

impl Ledger {
    /// The size and root of the log.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read; this holds for every method below.
    pub fn head(&self) -> Result<TreeHead, LedgerError> {
        let head = self.store.head()?;
        Ok(head.tree_head().ok_or(RequestError::NotOpen)?)
    }

    /// An account.
    ///
    /// # Errors
    ///
    /// No account has this number.
    pub fn account(&self, number: AccountNumber) -> Result<AccountView, LedgerError> {
        self.view(number, &self.gaps()?)
    }

    /// The account of this name; None if there is none.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn account_named(&self, name: &AccountName) -> Result<Option<AccountView>, LedgerError> {
        let number = self.store.named(name)?;
        number.map(|number| self.account(number)).transpose()
    }

    /// All accounts, in the order they were created in.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn accounts(&self) -> Result<Vec<AccountView>, LedgerError> {
        let gaps = self.gaps()?;
        let numbers = 0..self.store.head()?.accounts;
        numbers
            .map(|number| self.view(AccountNumber::new(number), &gaps))
            .collect()
    }

    pub(super) fn view(
        &self,
        number: AccountNumber,
        gaps: &[Gap],
    ) -> Result<AccountView, LedgerError> {
        let find = |account| -> Result<Account, LedgerError> {
            let found = self.store.account(account)?;
            Ok(found.ok_or(RequestError::UnknownAccount { account })?)
        };
        let account = find(number)?;
        let mut above = Vec::new();
        let mut next = account.parent();
        while let Some(parent) = next {
            let parent = find(parent)?;
            next = parent.parent();
            above.push(parent);
        }
        Ok(AccountView {
            account,
            above,
            gaps: gaps.to_vec(),
        })
    }

    /// The gaps in the log, oldest first.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn gaps(&self) -> Result<Vec<Gap>, LedgerError> {
        let mut gaps = Vec::new();
        for number in 0.. {
            let Some(places) = self.store.places(gap_id(number))? else {
                break;
            };
            let position = places.first;
            let entry = self.entry(position)?;
            // A client may have used the id for another request.
            if let Body::Restored { size, root } = entry.body {
                gaps.push(Gap {
                    position,
                    unix_ms: entry.unix_ms,
                    known_size: size,
                    known_root: root,
                });
            }
        }
        Ok(gaps)
    }

    pub(super) fn next_gap_id(&self) -> Result<RequestId, LedgerError> {
        let mut number = 0;
        while self.store.places(gap_id(number))?.is_some() {
            number += 1;
        }
        Ok(gap_id(number))
    }

    /// The entries from a position on, at most
    /// [`MAX_PAGE`](crate::store::MAX_PAGE) of them; none at the end.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn entries(&self, from: u64) -> Result<Vec<Entry>, LedgerError> {
        Ok(self.store.entries(from)?)
    }

    fn entry(&self, position: u64) -> Result<Entry, LedgerError> {
        let entry = self.store.entries(position)?.into_iter().next();
        let gone = || StoreError::damaged(format!("there is no entry {position}"));
        Ok(entry.ok_or_else(gone)?)
    }

    /// The charges of an account and its descendants whose queries failed after their charge, were
    /// killed, or run now; the oldest first. The log tells those that were started and never
    /// committed. The state directory tells those that were answered later.
    ///
    /// # Errors
    ///
    /// The ledger or the state directory cannot be read.
    pub fn unanswered(&self, account: &Account) -> Result<Vec<UnansweredCharge>, LedgerError> {
        let mut charges = self.open_charges().under(self.store.as_ref(), account)?;
        for id in self.failed()? {
            if charges.iter().all(|charge| charge.id != id)
                && let Some(charge) = self.answered_later(id, account)?
            {
                charges.push(charge);
            }
        }
        charges.sort_by_key(|charge| (charge.started_unix_ms, charge.id));
        Ok(charges)
    }

    fn failed(&self) -> Result<BTreeSet<RequestId>, LedgerError> {
        let failed = self.running.as_ref().map(RunningQueries::failed);
        Ok(failed.transpose()?.unwrap_or_default())
    }

    /// The charge of a query that failed, if it was committed with an answer later.
    fn answered_later(
        &self,
        id: RequestId,
        above: &Account,
    ) -> Result<Option<UnansweredCharge>, LedgerError> {
        let record = self.store.record(id)?;
        let account = match record.map(|record| record.status) {
            Some(Status::Released {
                account, answer, ..
            }) if answer != Digest::of(&[SETTLED]) => account,
            _ => return Ok(None),
        };
        let view = self.view(account, &[])?;
        let mut chain = view.chain();
        if chain.all(|account| account.number() != above.number()) {
            return Ok(None);
        }
        let Some(places) = self.store.places(id)? else {
            return Ok(None);
        };
        Ok(Some(UnansweredCharge {
            id,
            account,
            started_unix_ms: self.entry(places.first)?.unix_ms,
            answered: true,
        }))
    }

    /// Refuses a query under this id, before its charge, if [`MAX_UNANSWERED`] queries failed after
    /// their charge to its account or one above it. Queries that run for the first time
    /// ([`Ledger::running`]) do not count, nor does the query's own charge.
    ///
    /// # Errors
    ///
    /// It has; or the ledger cannot be read.
    pub fn check_unanswered(
        &self,
        view: &AccountView,
        id: Option<RequestId>,
    ) -> Result<(), LedgerError> {
        for account in view.chain() {
            let mut charges = self.unanswered(account)?;
            charges.retain(|charge| Some(charge.id) != id);
            // The log was read before: a query that ended since counts if it failed.
            if charges.len() >= MAX_UNANSWERED
                && let Some(running) = &self.running
            {
                let (running, failed) = (running.ids()?, running.failed()?);
                charges
                    .retain(|charge| failed.contains(&charge.id) || !running.contains(&charge.id));
            }
            let count = charges.len();
            if count >= MAX_UNANSWERED {
                return Err(LedgerError::TooManyUnanswered { count });
            }
        }
        Ok(())
    }

    /// Whether a reservation pays for a query that runs now. It does for the query that was
    /// reserved: the one with this hash, or with none if the id already follows from the query.
    /// Another one may have been chosen in view of all answers so far
    /// ([`Ledger::pays_for_a_later_choice`]).
    ///
    /// # Errors
    ///
    /// There is no such reservation; or the ledger cannot be read.
    pub fn still_pays(&self, id: RequestId, query: Option<Digest>) -> Result<bool, LedgerError> {
        let (charge, clock) = self.reservation(id)?;
        Ok(charge.query == query || self.price_holds(&charge, &clock)?)
    }

    /// Whether a reservation pays for a mechanism that is chosen now, in view of all answers so far.
    ///
    /// A price on the clock holds at the remainder of the reservation and at larger ones. Less may
    /// remain now.
    ///
    /// # Errors
    ///
    /// There is no such reservation; or the ledger cannot be read.
    pub fn pays_for_a_later_choice(&self, id: RequestId) -> Result<bool, LedgerError> {
        let (charge, clock) = self.reservation(id)?;
        self.price_holds(&charge, &clock)
    }

    fn reservation(&self, id: RequestId) -> Result<(Charge, Box<[Variance]>), LedgerError> {
        let places = self.store.places(id)?;
        let first = places.ok_or(RequestError::UnknownId { id })?.first;
        match self.entry(first)?.body {
            Body::Reserved { charge, clock } => Ok((charge, clock)),
            _ => Err(RequestError::NotACharge.into()),
        }
    }

    fn price_holds(&self, charge: &Charge, clock: &[Variance]) -> Result<bool, LedgerError> {
        if clock.is_empty() {
            return Ok(true);
        }
        let view = self.account(charge.account)?;
        let states = charge.conditional.iter().copied();
        let states = states.chain(std::iter::repeat(None));
        let mut chain = view.chain().zip(clock.iter()).zip(states);
        Ok(chain.all(|((account, &taken), state)| account.still_pays(&charge.cost, taken, state)))
    }

    /// Registers that this process runs a query under an id, until the value is dropped. All
    /// processes with this state directory see it. A query is registered before
    /// [`Ledger::check_unanswered`], so that queries that begin at once are limited together.
    ///
    /// # Errors
    ///
    /// [`MAX_RUNNING`](crate::guards::MAX_RUNNING) queries run; or the state directory cannot
    /// be written.
    pub fn running(&self, id: RequestId) -> Result<Running, LedgerError> {
        let file = self.running.as_ref().map(|running| running.register(id));
        let file = file.transpose()?;
        Ok(Running { file })
    }

    fn open_charges(&self) -> MutexGuard<'_, OpenCharges> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record of an id.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn record(&self, id: RequestId) -> Result<Option<Record>, LedgerError> {
        Ok(self.store.record(id)?)
    }

    /// The stored answer of an id, if there is one.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or this is not the answer that was committed.
    pub fn answer(&self, id: RequestId) -> Result<Option<Vec<u8>>, LedgerError> {
        let answer = self.store.answer(id)?;
        // The process that committed it may have died before it moved the high-water mark.
        if let (Some(_), Some(guard)) = (&answer, &self.guard) {
            guard.mark.advance(self.head()?, self.store.as_ref())?;
        }
        Ok(answer)
    }

    /// A receipt for the last entry of an id, with the present log.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn find(&self, id: RequestId) -> Result<Option<ReceiptText>, LedgerError> {
        let Some(places) = self.store.places(id)? else {
            return Ok(None);
        };
        let (position, head) = (places.last, self.head()?);
        Ok(Some(ReceiptText { position, head }))
    }

    /// The entry of a receipt, with proofs that the log extends the receipt.
    ///
    /// # Errors
    ///
    /// The receipt is of another ledger, or the log does not extend it.
    pub fn show(&self, receipt: &ReceiptText) -> Result<ReceiptProof, LedgerError> {
        let head = self.extends(receipt.head)?;
        let history = History::of(self.store.as_ref());
        let entry = self.entry(receipt.position)?;
        let shown = ReceiptProof {
            proof: history.inclusion(receipt.position, head.size)?,
            extends: history.consistency(receipt.head.size, head.size)?,
            entry,
            head,
        };
        let leaf = leaf_hash(&shown.entry.encode());
        if !shown.proof.holds(leaf, head.root) || !shown.extends.holds(receipt.head.root, head.root)
        {
            let size = receipt.head.size;
            return Err(LedgerError::NotExtended { size });
        }
        Ok(shown)
    }

    /// A proof that an entry is in the log of a size, or in the present log; None if there is no
    /// such entry or size.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn prove_inclusion(
        &self,
        position: u64,
        size: Option<u64>,
    ) -> Result<Option<(Entry, InclusionProof, TreeHead)>, LedgerError> {
        let Some(head) = self.head_at(size)? else {
            return Ok(None);
        };
        if position >= head.size {
            return Ok(None);
        }
        let proof = History::of(self.store.as_ref()).inclusion(position, head.size)?;
        Ok(Some((self.entry(position)?, proof, head)))
    }

    /// A proof that the log of a size, or the present log, extends the log of an earlier size;
    /// None if there are no such sizes.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn prove_consistency(
        &self,
        before: u64,
        size: Option<u64>,
    ) -> Result<Option<(TreeHead, ConsistencyProof, TreeHead)>, LedgerError> {
        let (Some(earlier), Some(head)) = (self.head_at(Some(before))?, self.head_at(size)?) else {
            return Ok(None);
        };
        if earlier.size > head.size {
            return Ok(None);
        }
        let proof = History::of(self.store.as_ref()).consistency(before, head.size)?;
        Ok(Some((earlier, proof, head)))
    }

    /// The log of an earlier size, or the present log.
    fn head_at(&self, size: Option<u64>) -> Result<Option<TreeHead>, LedgerError> {
        let head = self.head()?;
        let size = size.unwrap_or(head.size);
        if size == 0 || size > head.size {
            return Ok(None);
        }
        let root = History::of(self.store.as_ref()).root(size)?;
        Ok(Some(TreeHead { size, root, ..head }))
    }

    /// Checks that the log extends the one of a receipt or checkpoint; the present log.
    pub(crate) fn extends(&self, earlier: TreeHead) -> Result<TreeHead, LedgerError> {
        if earlier.ledger != self.id {
            return Err(LedgerError::OtherLedger {
                ledger: self.id,
                found: earlier.ledger,
            });
        }
        let head = self.head()?;
        let size = earlier.size;
        let same = || History::of(self.store.as_ref()).root(size);
        if size > head.size || same()? != earlier.root {
            return Err(LedgerError::NotExtended { size });
        }
        Ok(head)
    }

    /// The number of entries up to a time, including those of that millisecond.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read.
    pub fn size_at(&self, unix_ms: u64) -> Result<u64, LedgerError> {
        // Times never decrease in a log, so binary search applies.
        let (mut begin, mut end) = (0, self.head()?.size);
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.entry(middle)?.unix_ms <= unix_ms {
                begin = middle + 1;
            } else {
                end = middle;
            }
        }
        Ok(begin)
    }

    /// The state at a time, by a replay of the entries up to then.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or its log does not replay.
    pub fn at(&self, unix_ms: u64) -> Result<State, LedgerError> {
        let size = self.size_at(unix_ms)?;
        let mut state = State::new();
        while state.size() < size {
            for entry in self.store.entries(state.size())? {
                if state.size() < size {
                    let applied = state.apply(&entry);
                    applied.map_err(|error| StoreError::damaged(error.to_string()))?;
                }
            }
        }
        Ok(state)
    }

    /// Signs the size and root of the log.
    ///
    /// # Errors
    ///
    /// There is no signing key, or other users can read it.
    pub fn checkpoint(&self) -> Result<Checkpoint, LedgerError> {
        let guard = self.guard()?;
        let key = guard.keys.secret()?;
        let head = self.head()?;
        guard.mark.advance(head, self.store.as_ref())?;
        guard.mark.sync()?;
        Ok(key.sign(head))
    }

    /// Whether a checkpoint is signed by this key, and the log extends it.
    ///
    /// # Errors
    ///
    /// The signature is not valid, or the log does not extend the checkpoint.
    pub fn check_checkpoint(
        &self,
        checkpoint: &Checkpoint,
        key: &PublicKey,
    ) -> Result<(), LedgerError> {
        if !checkpoint.is_signed_by(key.as_bytes()) {
            return Err(LedgerError::BadSignature);
        }
        self.extends(checkpoint.head).map(|_| ())
    }

    /// Verifies the whole ledger from its log. `progress` receives the number of verified entries
    /// and the total.
    ///
    /// # Errors
    ///
    /// The first fault, with its position.
    pub fn verify(
        &self,
        witnesses: &Witnesses,
        progress: impl FnMut(u64, u64),
    ) -> Result<VerifyReport, VerifyError> {
        verify(self.store.as_ref(), witnesses, progress)
    }
}
