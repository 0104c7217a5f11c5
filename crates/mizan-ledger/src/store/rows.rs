//! The queries that a store needs of a database. `read.rs` interprets and checks the rows, the same
//! way for all databases.

use std::borrow::Cow;

use crate::log::{Digest, Frontier, LedgerId, RequestId};
use crate::money::{Account, AccountName, AccountNumber, Neighbours, Totals};
use crate::store::{Head, StoreError};

/// The largest position that fits a row number.
const LARGEST: u64 = i64::MAX.unsigned_abs();

/// Events may be long: reading a page stops after this many bytes.
pub(super) const MAX_PAGE_BYTES: usize = 4 << 20;

/// The row number of a position.
pub(super) fn row_number(position: u64) -> Result<i64, StoreError> {
    i64::try_from(position).map_err(|_| StoreError::damaged(format!("a log of {LARGEST} entries")))
}

/// The state of the log, with what appending needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Position {
    pub(super) ledger: Option<LedgerId>,
    pub(super) accounts: u32,
    pub(super) frontier: Frontier,
    /// The time of the last entry; later entries have the same or a later time.
    pub(super) unix_ms: u64,
}

impl Position {
    pub(super) fn head(&self) -> Head {
        Head {
            ledger: self.ledger,
            accounts: self.accounts,
            size: self.frontier.size(),
            root: self.frontier.root(),
        }
    }

    /// The roots of the full subtrees, concatenated.
    pub(super) fn full_bytes(&self) -> Vec<u8> {
        let full = self.frontier.full().iter();
        full.flat_map(|hash| *hash.as_bytes()).collect()
    }
}

/// The row of `head`, and values that must agree with it.
#[derive(Debug)]
pub(super) struct HeadRow {
    pub(super) ledger: Option<Vec<u8>>,
    pub(super) accounts: i64,
    pub(super) size: i64,
    pub(super) frontier: Vec<u8>,
    /// The row number of the last entry.
    pub(super) last: Option<i64>,
    /// The number of rows of `head`.
    pub(super) heads: i64,
    /// The 8 bytes of the last entry that are its time.
    pub(super) time: Option<Vec<u8>>,
}

/// A stored entry: its row number and its bytes.
pub(super) type LogRow = (i64, Vec<u8>);

/// A row of `records` with the entries that it refers to. A missing entry has no bytes.
#[derive(Debug)]
pub(super) struct RecordRow {
    pub(super) first: LogRow,
    /// The same as the first if there is no other.
    pub(super) last: LogRow,
}

/// A row of `accounts` with the entries that it refers to.
#[derive(Debug)]
pub(super) struct AccountRow {
    pub(super) name: String,
    pub(super) created: LogRow,
    pub(super) raised: Option<LogRow>,
    pub(super) sums: Sums,
}

/// The columns of an account that change.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sums {
    /// Encoded as in a charge.
    pub(super) neighbours: i16,
    /// 16 bytes for each order, then 16 for reserved deltas; if there is a clock, then 16 each for
    /// its variance, surplus, losses and tails.
    pub(super) spent: Vec<u8>,
    /// Encoded like `spent`.
    pub(super) pending: Vec<u8>,
}

impl Sums {
    pub(super) fn of(account: &Account) -> Self {
        let has_clock = account.budget().clock().is_some();
        let bytes = |totals: &Totals| {
            let (amounts, reserved_delta, clock) = totals.raw();
            let all = amounts.iter().copied().chain([reserved_delta]);
            let all = all.chain(clock.into_iter().filter(|_| has_clock));
            all.flat_map(u128::to_be_bytes).collect()
        };
        Self {
            neighbours: match account.neighbours() {
                None => 0,
                Some(Neighbours::AddOrRemove) => 1,
                Some(Neighbours::Replace) => 2,
            },
            spent: bytes(account.spent()),
            pending: bytes(account.pending()),
        }
    }

    /// The account with these totals; None if they do not fit its orders.
    pub(super) fn put(&self, account: Account) -> Option<Account> {
        let orders = account.orders().len();
        let has_clock = account.budget().clock().is_some();
        let totals = |bytes: &[u8]| {
            let (sums, rest) = bytes.as_chunks::<16>();
            let mut sums = sums.iter().copied().map(u128::from_be_bytes);
            let amounts: Vec<u128> = sums.by_ref().take(orders).collect();
            let reserved_delta = sums.next()?;
            let clock = match has_clock {
                true => [sums.next()?, sums.next()?, sums.next()?, sums.next()?],
                false => [0; 4],
            };
            let whole = rest.is_empty() && sums.next().is_none();
            whole.then(|| Totals::from_raw(amounts, reserved_delta, clock))
        };
        let neighbours = match self.neighbours {
            0 => None,
            1 => Some(Neighbours::AddOrRemove),
            2 => Some(Neighbours::Replace),
            _ => return None,
        };
        Some(account.with_totals(totals(&self.spent)?, totals(&self.pending)?, neighbours))
    }
}

/// A new entry.
#[derive(Debug)]
pub(super) struct NewEntry<'a> {
    pub(super) seq: i64,
    pub(super) id: RequestId,
    /// Whether it is the first of its id.
    pub(super) is_new: bool,
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) answer: Option<&'a [u8]>,
}

/// All changes of a batch.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    /// In the order of the log.
    pub(super) entries: Vec<NewEntry<'a>>,
    /// New accounts, and the positions of their entries.
    pub(super) created: Vec<(AccountNumber, AccountName, i64)>,
    /// Raised accounts, and the positions of the entries.
    pub(super) raised: Vec<(AccountNumber, i64)>,
    /// The totals that changed, ordered by account.
    pub(super) sums: Vec<(AccountNumber, Sums)>,
    /// Full nodes of the tree: level, index on the level, hash.
    pub(super) nodes: Vec<(i64, i64, Digest)>,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    All,
    /// An id that was assumed to be new exists: the transaction must be rolled back.
    Known,
}

/// A connection to a database, inside a transaction.
pub(super) trait Rows {
    /// The row of `head`.
    fn head(&mut self) -> Result<HeadRow, StoreError>;

    /// The rows of the log from `first` to `last`, in order, up to
    /// [`MAX_PAGE_BYTES`] and the row that goes beyond.
    fn log(&mut self, first: i64, last: i64) -> Result<Vec<LogRow>, StoreError>;

    /// The records of the ids that exist.
    fn records(&mut self, ids: &[RequestId]) -> Result<Vec<(RequestId, RecordRow)>, StoreError>;

    /// The answer of the commit at this row.
    fn answer(&mut self, seq: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The number of the account of this name.
    fn named(&mut self, name: &AccountName) -> Result<Option<i64>, StoreError>;

    /// An account.
    fn account(&mut self, number: AccountNumber) -> Result<Option<AccountRow>, StoreError>;

    /// The number of rows of `accounts`.
    fn accounts(&mut self) -> Result<i64, StoreError>;

    /// The hash of a full node of the tree.
    fn node(&mut self, level: i64, place: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Rows of `records` after an id: the id, its first and its last entry.
    fn index(&mut self, after: &[u8], most: i64) -> Result<Vec<(Vec<u8>, i64, i64)>, StoreError>;

    /// The SHA-256 of the answers from row `first` to before row `end`.
    fn answer_hashes(&mut self, first: i64, end: i64) -> Result<Vec<(i64, [u8; 32])>, StoreError>;
}

/// A connection that can write.
pub(super) trait Database: Rows {
    /// Begins a transaction that excludes other writers. After an error no transaction is open.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// The state of the log, if another writer has written since `known`.
    fn moved(&mut self, known: Option<&Position>) -> Result<Option<Position>, StoreError>;

    /// Checks that these accounts, ordered by number, are unchanged since they were loaded, and
    /// locks them until the end of the transaction.
    fn hold(&mut self, accounts: &[&Account]) -> Result<(), StoreError>;

    /// Whether `write` detects that an id that was assumed to be new exists. Then no lookup is
    /// needed first.
    const NOTICES: bool;

    /// Writes all changes and the new state of the log.
    fn write(&mut self, changes: &Changes<'_>, position: &Position) -> Result<Written, StoreError>;

    /// Commits the transaction. After an error it is not known whether it is durable.
    fn commit(&mut self) -> Result<(), String>;

    /// Rolls the transaction back; false if it may still be open.
    fn roll_back(&mut self) -> bool;
}

/// Checks the number of rows that a statement changed.
pub(super) fn changed(rows: u64, expected: usize) -> Result<(), StoreError> {
    if u64::try_from(expected) == Ok(rows) {
        Ok(())
    } else {
        let reason = format!("{rows} rows where there should be {expected}");
        Err(StoreError::damaged(reason))
    }
}
