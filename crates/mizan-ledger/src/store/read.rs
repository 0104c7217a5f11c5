//! Reads rows and checks them against the log.

use crate::log::{Body, Digest, Entry, Frontier, LedgerId, Record, RequestId, Status};
use crate::money::{Account, AccountName, AccountNumber};
use crate::store::rows::{HeadRow, LogRow, Position, RecordRow, Rows};
use crate::store::{MAX_PAGE, StoreError};

fn damaged<T>(what: impl Into<String>) -> Result<T, StoreError> {
    Err(StoreError::damaged(what))
}

/// The state of the log.
pub(super) fn position<R: Rows>(rows: &mut R) -> Result<Position, StoreError> {
    position_of(rows.head()?)
}

/// The state of the log from the row of `head`, if it agrees with the log and with itself.
pub(super) fn position_of(row: HeadRow) -> Result<Position, StoreError> {
    // The rows of the log begin at 0 and have no gaps.
    if row.heads != 1 || row.size.checked_sub(1) != Some(row.last.unwrap_or(-1)) {
        return damaged("the log has not as many entries as it says");
    }
    let (digests, rest) = row.frontier.as_chunks::<32>();
    let digests = digests.iter().copied().map(Digest::from_bytes).collect();
    let frontier = u64::try_from(row.size).ok();
    let frontier = frontier.and_then(|size| Frontier::from_raw(size, digests));
    let ledger = row.ledger.map(<[u8; 16]>::try_from).transpose();
    let time = row.time.map(<[u8; 8]>::try_from).transpose();
    match (frontier, ledger, u32::try_from(row.accounts), time) {
        (Some(frontier), Ok(ledger), Ok(accounts), Ok(time))
            if rest.is_empty() && ledger.is_some() == (row.size > 0) =>
        {
            Ok(Position {
                ledger: ledger.map(LedgerId::from_bytes),
                accounts,
                frontier,
                unix_ms: time.map_or(0, u64::from_be_bytes),
            })
        }
        _ => damaged("the tree over the log has another size than the log"),
    }
}

/// The entries from a position on, a page of them.
pub(super) fn entries<R: Rows>(rows: &mut R, from: u64) -> Result<Vec<Entry>, StoreError> {
    let Ok(first) = i64::try_from(from) else {
        return Ok(Vec::new());
    };
    let last = first.saturating_add(i64::try_from(MAX_PAGE).unwrap_or(i64::MAX) - 1);
    let mut entries = Vec::new();
    for (expected, row) in (first..).zip(rows.log(first, last)?) {
        if row.0 != expected {
            return damaged(format!("there is no entry {expected}"));
        }
        entries.push(decode(&row)?);
    }
    Ok(entries)
}

fn decode((seq, bytes): &LogRow) -> Result<Entry, StoreError> {
    Entry::decode(bytes).map_err(|error| StoreError::entry(*seq, error))
}

/// The record of an id, and the position of its last entry.
fn remembered<R: Rows>(
    rows: &mut R,
    id: RequestId,
) -> Result<Option<(Record, LogRow)>, StoreError> {
    let Some((_, row)) = rows.records(&[id])?.pop() else {
        return Ok(None);
    };
    Ok(Some((record_of(id, &row)?, row.last)))
}

/// The record of an id.
pub(super) fn record<R: Rows>(rows: &mut R, id: RequestId) -> Result<Option<Record>, StoreError> {
    Ok(remembered(rows, id)?.map(|(record, _)| record))
}

/// The record of an id, from its entries. Between the first and the last there can only be a
/// start.
pub(super) fn record_of(id: RequestId, row: &RecordRow) -> Result<Record, StoreError> {
    let wrong = || StoreError::damaged(format!("the entries of the id {id} do not follow"));
    let begun = decode(&row.first)?;
    let mut record = Record::after(None, &begun.body).ok_or_else(wrong)?;
    let mut same_id = begun.id == id;
    if row.last.0 != row.first.0 {
        let latest = decode(&row.last)?;
        same_id &= latest.id == id;
        if matches!(latest.body, Body::Committed { .. }) {
            record = Record::after(Some(&record), &Body::Started).ok_or_else(wrong)?;
        }
        record = Record::after(Some(&record), &latest.body).ok_or_else(wrong)?;
    }
    if same_id { Ok(record) } else { Err(wrong()) }
}

/// The stored answer of an id.
pub(super) fn answer<R: Rows>(rows: &mut R, id: RequestId) -> Result<Option<Vec<u8>>, StoreError> {
    let Some((record, last)) = remembered(rows, id)? else {
        return Ok(None);
    };
    let Status::Released { answer, .. } = record.status else {
        return Ok(None);
    };
    let bytes = rows.answer(last.0)?;
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

/// The account of a name.
pub(super) fn named<R: Rows>(
    rows: &mut R,
    name: &AccountName,
) -> Result<Option<AccountNumber>, StoreError> {
    let Some(number) = rows.named(name)? else {
        return Ok(None);
    };
    match u32::try_from(number) {
        Ok(number) => Ok(Some(AccountNumber::new(number))),
        Err(_) => damaged(format!("an account with the number {number}")),
    }
}

/// An account: its properties from the log, its totals from its row.
pub(super) fn account<R: Rows>(
    rows: &mut R,
    number: AccountNumber,
) -> Result<Option<Account>, StoreError> {
    let Some(row) = rows.account(number)? else {
        return Ok(None);
    };
    let wrong = || StoreError::damaged(format!("account {number} is not what the log says"));
    let Body::Created {
        account,
        name,
        parent,
        orders,
        budget,
    } = decode(&row.created)?.body
    else {
        return Err(wrong());
    };
    if account != number || row.name != name.as_str() {
        return Err(wrong());
    }
    let mut found = Account::new(account, name, parent, orders, budget);
    if let Some(raised) = row.raised {
        match decode(&raised)?.body {
            Body::Raised { account, budget } if account == number => found.raise(budget),
            _ => return Err(wrong()),
        }
    }
    row.sums.put(found).map(Some).ok_or_else(wrong)
}
