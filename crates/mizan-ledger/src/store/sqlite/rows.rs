//! Reading rows, and believing them only as far as the log bears them out.

use rusqlite::{Connection, OptionalExtension, params};

use super::schema::failed;
use crate::record::{Record, Status};
use crate::store::{Head, MAX_PAGE, StoreError};
use crate::{
    Account, AccountName, AccountNumber, Body, Digest, Entry, Frontier, LedgerId, Neighbours,
    RequestId, Totals,
};

/// The last position that a row number can hold.
const LARGEST: u64 = i64::MAX.unsigned_abs();

/// Events may be long: reading stops after so many bytes of them.
const MAX_PAGE_BYTES: usize = 4 << 20;

/// The row number of a position.
pub(super) fn row_number(position: u64) -> Result<i64, StoreError> {
    i64::try_from(position).map_err(|_| StoreError::damaged(format!("a log of {LARGEST} entries")))
}

fn damaged<T>(what: impl Into<String>) -> Result<T, StoreError> {
    Err(StoreError::damaged(what))
}

/// How far the log has come, with what it takes to go on.
#[derive(Clone, Debug, Default)]
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
}

pub(super) fn position(connection: &Connection) -> Result<Position, StoreError> {
    let sql = "SELECT ledger, accounts, size, frontier, (SELECT max(seq) FROM log), \
               (SELECT count(*) FROM head), \
               (SELECT substr(bytes, 3, 8) FROM log ORDER BY seq DESC LIMIT 1) FROM head";
    type Row = (
        Option<[u8; 16]>,
        u32,
        i64,
        Vec<u8>,
        Option<i64>,
        i64,
        Option<[u8; 8]>,
    );
    let read = || -> rusqlite::Result<Row> {
        connection.prepare_cached(sql)?.query_row([], |row| {
            let (a, b, c) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((a, b, c, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
        })
    };
    let (ledger, accounts, size, full, last, heads, time) = read().map_err(failed)?;
    // The rows of the log begin at 0 and have no gaps.
    if heads != 1 || size.checked_sub(1) != Some(last.unwrap_or(-1)) {
        return damaged("the log has not as many entries as it says");
    }
    let (digests, rest) = full.as_chunks::<32>();
    let digests = digests.iter().copied().map(Digest::from_bytes).collect();
    let frontier = u64::try_from(size).ok();
    let frontier = frontier.and_then(|size| Frontier::from_raw(size, digests));
    match frontier {
        Some(frontier) if rest.is_empty() && ledger.is_some() == (size > 0) => Ok(Position {
            ledger: ledger.map(LedgerId::from_bytes),
            accounts,
            frontier,
            unix_ms: time.map_or(0, u64::from_be_bytes),
        }),
        _ => damaged("the tree over the log has another size than the log"),
    }
}

pub(super) fn entries(connection: &Connection, from: u64) -> Result<Vec<Entry>, StoreError> {
    let Ok(first) = i64::try_from(from) else {
        return Ok(Vec::new());
    };
    let last = first.saturating_add(i64::try_from(MAX_PAGE).unwrap_or(i64::MAX) - 1);
    let sql = "SELECT seq, bytes FROM log WHERE seq BETWEEN ? AND ? ORDER BY seq";
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let rows = statement
        .query_map([first, last], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))
        })
        .map_err(failed)?;
    let (mut entries, mut read) = (Vec::new(), 0);
    for (expected, row) in (first..).zip(rows) {
        let (seq, bytes) = row.map_err(failed)?;
        if seq != expected {
            return damaged(format!("there is no entry {expected}"));
        }
        entries.push(decode(seq, &bytes)?);
        read += bytes.len();
        if read >= MAX_PAGE_BYTES {
            break;
        }
    }
    Ok(entries)
}

fn decode(seq: i64, bytes: &[u8]) -> Result<Entry, StoreError> {
    Entry::decode(bytes).map_err(|error| StoreError::damaged(format!("entry {seq}: {error}")))
}

fn entry(connection: &Connection, seq: i64) -> Result<Entry, StoreError> {
    let read = || -> rusqlite::Result<Vec<u8>> {
        let mut statement = connection.prepare_cached("SELECT bytes FROM log WHERE seq = ?")?;
        statement.query_row([seq], |row| row.get(0))
    };
    decode(seq, &read().map_err(failed)?)
}

/// The first and the last entry of a request.
pub(super) fn ends(
    connection: &Connection,
    id: RequestId,
) -> Result<Option<(i64, i64)>, StoreError> {
    let read = || {
        let sql = "SELECT first, last FROM records WHERE id = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        statement.query_row([id.as_bytes()], row).optional()
    };
    read().map_err(failed)
}

/// What is remembered under an id, from its entries. Between the first and the
/// last of them there can only be a start.
pub(super) fn record(connection: &Connection, id: RequestId) -> Result<Option<Record>, StoreError> {
    let Some((first, last)) = ends(connection, id)? else {
        return Ok(None);
    };
    let wrong = || StoreError::damaged(format!("the entries of the id {id} do not follow"));
    let begun = entry(connection, first)?;
    let mut record = Record::after(None, &begun.body).ok_or_else(wrong)?;
    let mut same_id = begun.id == id;
    if last != first {
        let latest = entry(connection, last)?;
        same_id &= latest.id == id;
        if matches!(latest.body, Body::Committed { .. }) {
            record = Record::after(Some(&record), &Body::Started).ok_or_else(wrong)?;
        }
        record = Record::after(Some(&record), &latest.body).ok_or_else(wrong)?;
    }
    if same_id {
        Ok(Some(record))
    } else {
        Err(wrong())
    }
}

pub(super) fn answer(
    connection: &Connection,
    id: RequestId,
) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((_, last)) = ends(connection, id)? else {
        return Ok(None);
    };
    let Some(Status::Released { answer, .. }) = record(connection, id)?.map(|found| found.status)
    else {
        return Ok(None);
    };
    let read = || -> rusqlite::Result<Option<Vec<u8>>> {
        let mut statement = connection.prepare_cached("SELECT bytes FROM answers WHERE seq = ?")?;
        statement.query_row([last], |row| row.get(0)).optional()
    };
    let bytes = read().map_err(failed)?;
    if bytes
        .as_ref()
        .is_some_and(|bytes| Digest::of(&[bytes]) != answer)
    {
        return damaged(format!(
            "the answer of the id {id} is not the one committed"
        ));
    }
    Ok(bytes)
}

pub(super) fn named(
    connection: &Connection,
    name: &AccountName,
) -> Result<Option<AccountNumber>, StoreError> {
    let read = || {
        let sql = "SELECT number FROM accounts WHERE name = ?";
        let mut statement = connection.prepare_cached(sql)?;
        let number = statement.query_row([name.as_str()], |row| row.get(0));
        number.optional()
    };
    Ok(read().map_err(failed)?.map(AccountNumber::new))
}

/// An account: what it is from the log, the sums from its row.
pub(super) fn account(
    connection: &Connection,
    number: AccountNumber,
) -> Result<Option<Account>, StoreError> {
    let sql = "SELECT name, created, raised, neighbours, spent, pending FROM accounts \
               WHERE number = ?";
    type Row = (String, i64, Option<i64>, u8, Vec<u8>, Vec<u8>);
    let read = || -> rusqlite::Result<Option<Row>> {
        let mut statement = connection.prepare_cached(sql)?;
        let row = statement.query_row([number.get()], |row| {
            let (a, b, c) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok((a, b, c, row.get(3)?, row.get(4)?, row.get(5)?))
        });
        row.optional()
    };
    let Some((indexed, created, raised, neighbours, spent, pending)) = read().map_err(failed)?
    else {
        return Ok(None);
    };
    let wrong = || StoreError::damaged(format!("account {number} is not what the log says"));
    let Body::Created {
        account,
        name,
        parent,
        orders,
        budget,
    } = entry(connection, created)?.body
    else {
        return Err(wrong());
    };
    let count = orders.len();
    let mut found = Account::new(account, name, parent, orders, budget);
    if let Some(raised) = raised {
        match entry(connection, raised)?.body {
            Body::Raised { account, budget } if account == number => found.raise(budget),
            _ => return Err(wrong()),
        }
    }
    let neighbours = match neighbours {
        0 => None,
        1 => Some(Neighbours::AddOrRemove),
        2 => Some(Neighbours::Replace),
        _ => return Err(wrong()),
    };
    match (sums(&spent, count), sums(&pending, count)) {
        (Some(spent), Some(pending)) if account == number && indexed == found.name().as_str() => {
            Ok(Some(found.with_totals(spent, pending, neighbours)))
        }
        _ => Err(wrong()),
    }
}

/// Sums from their bytes: 16 for each order, then 16 for own deltas.
fn sums(bytes: &[u8], orders: usize) -> Option<Totals> {
    let (sums, rest) = bytes.as_chunks::<16>();
    let (own_delta, amounts) = sums.split_last()?;
    if !rest.is_empty() || amounts.len() != orders {
        return None;
    }
    let amounts = amounts.iter().copied().map(u128::from_be_bytes);
    Some(Totals::from_raw(amounts, u128::from_be_bytes(*own_delta)))
}

fn sums_to_bytes(totals: &Totals) -> Vec<u8> {
    let (amounts, own_delta) = totals.raw();
    let all = amounts.iter().chain(std::iter::once(&own_delta));
    all.flat_map(|sum| sum.to_be_bytes()).collect()
}

/// Writes an entry, and that it is the latest of its request.
pub(super) fn append(
    connection: &Connection,
    position: u64,
    id: RequestId,
    bytes: &[u8],
    answer: Option<&[u8]>,
) -> Result<(), StoreError> {
    let seq = row_number(position)?;
    let write = || -> rusqlite::Result<()> {
        connection
            .prepare_cached("INSERT INTO log VALUES (?, ?)")?
            .execute(params![seq, bytes])?;
        connection
            .prepare_cached(
                "INSERT INTO records VALUES (?1, ?2, ?2) \
                 ON CONFLICT (id) DO UPDATE SET last = ?2",
            )?
            .execute(params![id.as_bytes(), seq])?;
        if let Some(answer) = answer {
            connection
                .prepare_cached("INSERT INTO answers VALUES (?, ?)")?
                .execute(params![seq, answer])?;
        }
        Ok(())
    };
    write().map_err(failed)
}

/// Writes where an account is defined in the log: created, or raised.
pub(super) fn define(
    connection: &Connection,
    position: u64,
    body: &Body,
) -> Result<(), StoreError> {
    let seq = row_number(position)?;
    let write = || -> rusqlite::Result<usize> {
        match body {
            Body::Created { account, name, .. } => connection
                .prepare_cached("INSERT INTO accounts VALUES (?, ?, ?, NULL, 0, x'', x'')")?
                .execute(params![account.get(), name.as_str(), seq]),
            Body::Raised { account, .. } => connection
                .prepare_cached("UPDATE accounts SET raised = ? WHERE number = ?")?
                .execute(params![seq, account.get()]),
            _ => Ok(1),
        }
    };
    changed_one(write().map_err(failed)?)
}

/// Writes the sums of an account.
pub(super) fn save_sums(connection: &Connection, account: &Account) -> Result<(), StoreError> {
    let neighbours = match account.neighbours() {
        None => 0,
        Some(Neighbours::AddOrRemove) => 1,
        Some(Neighbours::Replace) => 2,
    };
    let (spent, pending) = (account.spent(), account.pending());
    let (spent, pending) = (sums_to_bytes(spent), sums_to_bytes(pending));
    let write = || -> rusqlite::Result<usize> {
        let sql = "UPDATE accounts SET neighbours = ?, spent = ?, pending = ? WHERE number = ?";
        let number = account.number().get();
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![neighbours, spent, pending, number])
    };
    changed_one(write().map_err(failed)?)
}

/// Writes how far the log has come.
pub(super) fn save_position(
    connection: &Connection,
    position: &Position,
) -> Result<(), StoreError> {
    let size = row_number(position.frontier.size())?;
    let full = position.frontier.full();
    let full: Vec<u8> = full.iter().flat_map(|hash| *hash.as_bytes()).collect();
    let ledger = position.ledger.map(|ledger| *ledger.as_bytes());
    let write = || -> rusqlite::Result<usize> {
        let sql = "UPDATE head SET ledger = ?, accounts = ?, size = ?, frontier = ?";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![ledger, position.accounts, size, full])
    };
    changed_one(write().map_err(failed)?)
}

fn changed_one(rows: usize) -> Result<(), StoreError> {
    if rows == 1 {
        Ok(())
    } else {
        damaged(format!("{rows} rows where there is one"))
    }
}
