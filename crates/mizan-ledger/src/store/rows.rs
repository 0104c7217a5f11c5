//! What a store asks of a database: rows in, rows out. What they mean, and
//! whether they are believed, is decided once for all databases (`read.rs`).

use std::borrow::Cow;

use crate::log::{Digest, Frontier, LedgerId, RequestId};
use crate::money::{Account, AccountName, AccountNumber, Neighbours, Totals};
use crate::store::{Head, StoreError};

/// The last position that a row number can hold.
const LARGEST: u64 = i64::MAX.unsigned_abs();

/// Events may be long: reading a page stops after so many bytes of them.
pub(super) const MAX_PAGE_BYTES: usize = 4 << 20;

/// The row number of a position.
pub(super) fn row_number(position: u64) -> Result<i64, StoreError> {
    i64::try_from(position).map_err(|_| StoreError::damaged(format!("a log of {LARGEST} entries")))
}

/// How far the log has come, with what it takes to go on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Position {
    pub(super) ledger: Option<LedgerId>,
    pub(super) accounts: u32,
    pub(super) frontier: Frontier,
    /// The time of the last entry, which none after it is before.
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

    /// The roots of the full subtrees, one after the other.
    pub(super) fn full_bytes(&self) -> Vec<u8> {
        let full = self.frontier.full().iter();
        full.flat_map(|hash| *hash.as_bytes()).collect()
    }
}

/// The row of `head`, and what has to agree with it.
#[derive(Debug)]
pub(super) struct HeadRow {
    pub(super) ledger: Option<Vec<u8>>,
    pub(super) accounts: i64,
    pub(super) size: i64,
    pub(super) frontier: Vec<u8>,
    /// The row number of the last entry.
    pub(super) last: Option<i64>,
    /// How many rows `head` has.
    pub(super) heads: i64,
    /// The 8 bytes of the last entry that are its time.
    pub(super) time: Option<Vec<u8>>,
}

/// An entry as it is stored: its row number and its bytes.
pub(super) type LogRow = (i64, Vec<u8>);

/// A row of `records` with the entries that it points at. Where an entry is
/// missing there are no bytes.
#[derive(Debug)]
pub(super) struct RecordRow {
    pub(super) first: LogRow,
    /// The same as the first if there is no other.
    pub(super) last: LogRow,
}

/// A row of `accounts` with the entries that it points at.
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
    /// As in the bytes of a charge.
    pub(super) neighbours: i16,
    /// 16 bytes for each order, then 16 for reserved deltas.
    pub(super) spent: Vec<u8>,
    /// The same.
    pub(super) pending: Vec<u8>,
}

impl Sums {
    pub(super) fn of(account: &Account) -> Self {
        let bytes = |totals: &Totals| {
            let (amounts, reserved_delta) = totals.raw();
            let all = amounts.iter().chain(std::iter::once(&reserved_delta));
            all.flat_map(|sum| sum.to_be_bytes()).collect()
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

    /// The account with these sums; None if they are not those of an account
    /// with its orders.
    pub(super) fn put(&self, account: Account) -> Option<Account> {
        let orders = account.orders().len();
        let totals = |bytes: &[u8]| {
            let (sums, rest) = bytes.as_chunks::<16>();
            let (reserved_delta, amounts) = sums.split_last()?;
            if !rest.is_empty() || amounts.len() != orders {
                return None;
            }
            let amounts = amounts.iter().copied().map(u128::from_be_bytes);
            Some(Totals::from_raw(
                amounts,
                u128::from_be_bytes(*reserved_delta),
            ))
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

/// All that a batch writes.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    /// In the order of the log.
    pub(super) entries: Vec<NewEntry<'a>>,
    /// New accounts, and where they were created.
    pub(super) created: Vec<(AccountNumber, AccountName, i64)>,
    /// Accounts with a new budget, and where it was raised.
    pub(super) raised: Vec<(AccountNumber, i64)>,
    /// The sums that changed, in the order of the accounts.
    pub(super) sums: Vec<(AccountNumber, Sums)>,
    /// Full nodes of the tree: level, place on the level, hash.
    pub(super) nodes: Vec<(i64, i64, Digest)>,
}

/// How writing went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    All,
    /// An id that was taken for new is known: the transaction has to be undone.
    Known,
}

/// A connection to a database, inside a transaction.
pub(super) trait Rows {
    /// The row of `head`.
    fn head(&mut self) -> Result<HeadRow, StoreError>;

    /// The rows of the log from `first` to `last`, in order, up to
    /// [`MAX_PAGE_BYTES`] and the row that goes beyond.
    fn log(&mut self, first: i64, last: i64) -> Result<Vec<LogRow>, StoreError>;

    /// Those of the ids that are known.
    fn records(&mut self, ids: &[RequestId]) -> Result<Vec<(RequestId, RecordRow)>, StoreError>;

    /// The answer of the commit at this row.
    fn answer(&mut self, seq: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// The number of the account of this name.
    fn named(&mut self, name: &AccountName) -> Result<Option<i64>, StoreError>;

    /// An account.
    fn account(&mut self, number: AccountNumber) -> Result<Option<AccountRow>, StoreError>;

    /// How many rows of accounts there are.
    fn accounts(&mut self) -> Result<i64, StoreError>;

    /// The hash of a full node of the tree.
    fn node(&mut self, level: i64, place: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Rows of `records` after an id: the id, its first and its last entry.
    fn index(&mut self, after: &[u8], most: i64) -> Result<Vec<(Vec<u8>, i64, i64)>, StoreError>;

    /// The SHA-256 of the answers from a row to before another.
    fn answer_hashes(&mut self, first: i64, end: i64) -> Result<Vec<(i64, [u8; 32])>, StoreError>;
}

/// A connection that can write.
pub(super) trait Database: Rows {
    /// Begins a transaction in which nobody else can write. After an error
    /// none is under way.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// How far the log has come, if somebody else has written since `known`.
    fn moved(&mut self, known: Option<&Position>) -> Result<Option<Position>, StoreError>;

    /// Makes sure that these accounts, in the order of their numbers, are still
    /// what they were when they were loaded, and stay so until the end.
    fn hold(&mut self, accounts: &[&Account]) -> Result<(), StoreError>;

    /// Whether `write` notices that an id it takes for new is known, which saves
    /// looking for it first.
    const NOTICES: bool;

    /// Writes all changes, and how far the log has come with them.
    fn write(&mut self, changes: &Changes<'_>, position: &Position) -> Result<Written, StoreError>;

    /// Ends the transaction and makes it durable. An error says why it is not
    /// known whether that happened.
    fn commit(&mut self) -> Result<(), String>;

    /// Ends the transaction without a trace; false if it may still be under way.
    fn roll_back(&mut self) -> bool;
}

/// That a statement changed as many rows as it should.
pub(super) fn changed(rows: u64, expected: usize) -> Result<(), StoreError> {
    if u64::try_from(expected) == Ok(rows) {
        Ok(())
    } else {
        let reason = format!("{rows} rows where there should be {expected}");
        Err(StoreError::damaged(reason))
    }
}
