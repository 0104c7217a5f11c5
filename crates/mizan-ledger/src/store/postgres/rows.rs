//! The statements of the PostgreSQL store. Each is a round trip to the server, so a batch of any
//! size uses a few of them.

use std::collections::BTreeMap;

use ::postgres::Row;
use ::postgres::types::FromSql;
use mizan_postgres::sentence;

use super::connection::Connection;
use crate::log::RequestId;
use crate::money::{Account, AccountName, AccountNumber};
use crate::store::handle::Reader;
use crate::store::rows::{
    AccountRow, Changes, Database, HeadRow, LogRow, MAX_PAGE_BYTES, Position, RecordRow, Rows,
    Sums, Written, changed, row_number,
};
use crate::store::{StoreError, read};

/// A statement ends after the value that exceeds this many bytes. The server would accept a thousand
/// times as many; the bound is for memory.
const MAX_STATEMENT_BYTES: usize = 1 << 20;

/// A column of a row. The types were checked when the connection was opened.
fn get<'a, T: FromSql<'a>>(row: &'a Row, column: usize) -> Result<T, StoreError> {
    row.try_get(column)
        .map_err(|error| StoreError::damaged(sentence(&error)))
}

/// The entry at a row number, which may be missing.
fn log_row(row: &Row, seq: usize, bytes: usize) -> Result<LogRow, StoreError> {
    let bytes: Option<Vec<u8>> = get(row, bytes)?;
    Ok((get(row, seq)?, bytes.unwrap_or_default()))
}

/// The totals that begin at a column.
fn sums(row: &Row, column: usize) -> Result<Sums, StoreError> {
    Ok(Sums {
        neighbours: get(row, column)?,
        spent: get(row, column + 1)?,
        pending: get(row, column + 2)?,
    })
}

impl Rows for Connection {
    fn head(&mut self) -> Result<HeadRow, StoreError> {
        let sql = "SELECT ledger, accounts, size, frontier, (SELECT max(seq) FROM mizan.log), \
                   (SELECT count(*) FROM mizan.head), (SELECT substr(bytes, 3, 8) \
                   FROM mizan.log ORDER BY seq DESC LIMIT 1) FROM mizan.head";
        let found = self.query(sql, &[])?;
        let missing = || StoreError::damaged("its head is missing");
        let row = found.first().ok_or_else(missing)?;
        Ok(HeadRow {
            ledger: get(row, 0)?,
            accounts: get(row, 1)?,
            size: get(row, 2)?,
            frontier: get(row, 3)?,
            last: get(row, 4)?,
            heads: get(row, 5)?,
            time: get(row, 6)?,
        })
    }

    fn log(&mut self, first: i64, last: i64) -> Result<Vec<LogRow>, StoreError> {
        let sql = "SELECT seq, bytes FROM (SELECT seq, bytes, \
                   sum(octet_length(bytes)) OVER (ORDER BY seq) - octet_length(bytes) AS before \
                   FROM mizan.log WHERE seq BETWEEN $1 AND $2) AS page \
                   WHERE before < $3 ORDER BY seq";
        let most = i64::try_from(MAX_PAGE_BYTES).unwrap_or(i64::MAX);
        let found = self.query(sql, &[&first, &last, &most])?;
        found.iter().map(|row| log_row(row, 0, 1)).collect()
    }

    fn records(&mut self, ids: &[RequestId]) -> Result<Vec<(RequestId, RecordRow)>, StoreError> {
        let sql = "SELECT r.id, r.first, f.bytes, r.last, l.bytes FROM mizan.records r \
                   LEFT JOIN mizan.log f ON f.seq = r.first \
                   LEFT JOIN mizan.log l ON l.seq = r.last AND r.last <> r.first \
                   WHERE r.id = ANY($1)";
        let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes().as_slice()).collect();
        let found = self.query(sql, &[&ids])?;
        let record = |row| {
            let id: &[u8] = get(row, 0)?;
            let id = id
                .try_into()
                .map_err(|_| StoreError::damaged("a short id"))?;
            let (first, last) = (log_row(row, 1, 2)?, log_row(row, 3, 4)?);
            Ok((RequestId::from_bytes(id), RecordRow { first, last }))
        };
        found.iter().map(record).collect()
    }

    fn answer(&mut self, seq: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = self.query("SELECT bytes FROM mizan.answers WHERE seq = $1", &[&seq])?;
        found.first().map(|row| get(row, 0)).transpose()
    }

    fn named(&mut self, name: &AccountName) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT number FROM mizan.accounts WHERE name = $1";
        let found = self.query(sql, &[&name.as_str()])?;
        found.first().map(|row| get(row, 0)).transpose()
    }

    fn account(&mut self, number: AccountNumber) -> Result<Option<AccountRow>, StoreError> {
        let sql = "SELECT a.name, a.created, c.bytes, a.raised, r.bytes, \
                   a.neighbours, a.spent, a.pending FROM mizan.accounts a \
                   LEFT JOIN mizan.log c ON c.seq = a.created \
                   LEFT JOIN mizan.log r ON r.seq = a.raised WHERE a.number = $1";
        let found = self.query(sql, &[&i64::from(number.get())])?;
        let Some(row) = found.first() else {
            return Ok(None);
        };
        let raised: Option<i64> = get(row, 3)?;
        Ok(Some(AccountRow {
            name: get(row, 0)?,
            created: log_row(row, 1, 2)?,
            raised: raised.map(|_| log_row(row, 3, 4)).transpose()?,
            sums: sums(row, 5)?,
        }))
    }

    fn accounts(&mut self) -> Result<i64, StoreError> {
        let found = self.query("SELECT count(*) FROM mizan.accounts", &[])?;
        let count: Option<i64> = found.first().map(|row| get(row, 0)).transpose()?;
        count.ok_or_else(|| StoreError::damaged("its accounts cannot be counted"))
    }

    fn node(&mut self, level: i64, place: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT hash FROM mizan.nodes WHERE level = $1 AND place = $2";
        let found = self.query(sql, &[&level, &place])?;
        found.first().map(|row| get(row, 0)).transpose()
    }

    fn index(&mut self, after: &[u8], most: i64) -> Result<Vec<(Vec<u8>, i64, i64)>, StoreError> {
        let sql = "SELECT id, first, last FROM mizan.records WHERE id > $1 ORDER BY id LIMIT $2";
        let found = self.query(sql, &[&after, &most])?;
        let read = |row| Ok((get(row, 0)?, get(row, 1)?, get(row, 2)?));
        found.iter().map(read).collect()
    }

    /// The server computes the hashes, so that answers are not transferred.
    fn answer_hashes(&mut self, first: i64, end: i64) -> Result<Vec<(i64, [u8; 32])>, StoreError> {
        let sql = "SELECT seq, sha256(bytes) FROM mizan.answers \
                   WHERE seq >= $1 AND seq < $2 ORDER BY seq";
        let found = self.query(sql, &[&first, &end])?;
        let read = |row| {
            let hash: &[u8] = get(row, 1)?;
            let hash = hash.try_into();
            let hash = hash.map_err(|_| StoreError::damaged("a short hash"))?;
            Ok((get(row, 0)?, hash))
        };
        found.iter().map(read).collect()
    }
}

impl Reader for Connection {
    type Rows = Self;

    fn snapshot<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.again_if_lost(|connection| {
            connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            let result = read(connection);
            connection.abandon();
            result
        })
    }

    fn keep_once(&mut self, seq: i64, bytes: &[u8]) -> Result<(), StoreError> {
        self.begin_writing("")?;
        let sql = "INSERT INTO mizan.answers VALUES ($1, $2) ON CONFLICT (seq) DO NOTHING";
        if let Err(error) = self.change(sql, &[&seq, &bytes]) {
            self.abandon();
            return Err(error);
        }
        let unknown = |reason| StoreError::Unknown { reason };
        Self::commit(self).map_err(unknown)
    }
}

/// The lock on the row of `head` orders the log: its holder is the only writer until the end of its
/// transaction. READ COMMITTED suffices: each statement sees what was committed before it began,
/// all statements except the locking one begin with the lock held, and the previous holder had
/// committed when it released the lock. The locking statement reads nothing else, because its
/// snapshot was taken before it waited.
impl Database for Connection {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.begin_writing("SELECT one FROM mizan.head FOR UPDATE")
    }

    fn moved(&mut self, known: Option<&Position>) -> Result<Option<Position>, StoreError> {
        let found = read::position(self)?;
        Ok((known != Some(&found)).then_some(found))
    }

    /// According to the head, no other writer of Mizan has changed them. This detects changes by
    /// other programs, and locks the rows.
    fn hold(&mut self, accounts: &[&Account]) -> Result<(), StoreError> {
        if accounts.is_empty() {
            return Ok(());
        }
        let sql = "SELECT number, neighbours, spent, pending FROM mizan.accounts \
                   WHERE number = ANY($1) ORDER BY number FOR UPDATE";
        let numbers = accounts.iter().map(|account| account.number().get());
        let numbers: Vec<i64> = numbers.map(i64::from).collect();
        let found = self.query(sql, &[&numbers])?;
        let found = found.iter().map(|row| Ok((get(row, 0)?, sums(row, 1)?)));
        let found: Vec<(i64, Sums)> = found.collect::<Result<_, StoreError>>()?;
        let expected = accounts.iter().map(|account| Sums::of(account));
        if !found.into_iter().eq(numbers.into_iter().zip(expected)) {
            return Err(StoreError::damaged("sums were changed by other hands"));
        }
        Ok(())
    }

    /// One statement looks up all ids of a batch, so skipping lookups would save nothing.
    const NOTICES: bool = false;

    fn write(&mut self, changes: &Changes<'_>, position: &Position) -> Result<Written, StoreError> {
        let entries = changes.entries.iter();
        let log = entries
            .clone()
            .map(|entry| (entry.seq, entry.bytes.as_ref()));
        self.insert(
            "INSERT INTO mizan.log SELECT * FROM unnest($1::int8[], $2::bytea[])",
            log,
        )?;
        let answers = entries.filter_map(|entry| Some((entry.seq, entry.answer?)));
        self.insert(
            "INSERT INTO mizan.answers SELECT * FROM unnest($1::int8[], $2::bytea[])",
            answers,
        )?;
        self.write_records(changes)?;
        for (level, place, hash) in &changes.nodes {
            let sql = "INSERT INTO mizan.nodes VALUES ($1, $2, $3)";
            let hash = hash.as_bytes().as_slice();
            changed(self.change(sql, &[level, place, &hash])?, 1)?;
        }
        for (account, name, seq) in &changes.created {
            let sql = "INSERT INTO mizan.accounts VALUES ($1, $2, $3, NULL, 0, '', '')";
            let number = i64::from(account.get());
            changed(self.change(sql, &[&number, &name.as_str(), seq])?, 1)?;
        }
        for (account, seq) in &changes.raised {
            let sql = "UPDATE mizan.accounts SET raised = $1 WHERE number = $2";
            changed(self.change(sql, &[seq, &i64::from(account.get())])?, 1)?;
        }
        self.write_sums(changes)?;
        let sql = "UPDATE mizan.head SET ledger = $1, accounts = $2, size = $3, frontier = $4";
        let ledger = position.ledger.map(|ledger| ledger.as_bytes().to_vec());
        let accounts = i64::from(position.accounts);
        let size = row_number(position.frontier.size())?;
        let full = position.full_bytes();
        changed(self.change(sql, &[&ledger, &accounts, &size, &full])?, 1)?;
        Ok(Written::All)
    }

    fn commit(&mut self) -> Result<(), String> {
        Self::commit(self)
    }

    fn roll_back(&mut self) -> bool {
        self.abandon();
        true
    }
}

impl Connection {
    /// Inserts bytes by their row numbers, in several statements if there are many.
    fn insert<'a>(
        &mut self,
        sql: &'static str,
        rows: impl Iterator<Item = (i64, &'a [u8])>,
    ) -> Result<(), StoreError> {
        let mut rows = rows.peekable();
        while rows.peek().is_some() {
            let (mut numbers, mut values, mut bytes) = (Vec::new(), Vec::new(), 0);
            while bytes < MAX_STATEMENT_BYTES
                && let Some((number, value)) = rows.next()
            {
                numbers.push(number);
                values.push(value);
                bytes += value.len();
            }
            changed(self.change(sql, &[&numbers, &values])?, numbers.len())?;
        }
        Ok(())
    }

    /// Writes the positions of the entries of each request. A statement may change a row only once,
    /// and a batch may have several entries of a request.
    fn write_records(&mut self, changes: &Changes<'_>) -> Result<(), StoreError> {
        let mut ends: BTreeMap<&[u8], (i64, i64)> = BTreeMap::new();
        for entry in &changes.entries {
            let id = entry.id.as_bytes().as_slice();
            ends.entry(id).or_insert((entry.seq, entry.seq)).1 = entry.seq;
        }
        let ids: Vec<&[u8]> = ends.keys().copied().collect();
        let (first, last): (Vec<i64>, Vec<i64>) = ends.values().copied().unzip();
        let sql = "INSERT INTO mizan.records \
                   SELECT * FROM unnest($1::bytea[], $2::int8[], $3::int8[]) \
                   ON CONFLICT (id) DO UPDATE SET last = excluded.last";
        changed(self.change(sql, &[&ids, &first, &last])?, ids.len())
    }

    fn write_sums(&mut self, changes: &Changes<'_>) -> Result<(), StoreError> {
        if changes.sums.is_empty() {
            return Ok(());
        }
        let sql = "UPDATE mizan.accounts AS a SET neighbours = n.neighbours, spent = n.spent, \
                   pending = n.pending FROM \
                   unnest($1::int8[], $2::int2[], $3::bytea[], $4::bytea[]) \
                   AS n (number, neighbours, spent, pending) WHERE a.number = n.number";
        let sums = changes.sums.iter();
        let numbers = sums.clone().map(|(account, _)| i64::from(account.get()));
        let numbers: Vec<i64> = numbers.collect();
        let neighbours: Vec<i16> = sums.clone().map(|(_, sums)| sums.neighbours).collect();
        let spent: Vec<&[u8]> = sums.clone().map(|(_, sums)| &*sums.spent).collect();
        let pending: Vec<&[u8]> = sums.map(|(_, sums)| &*sums.pending).collect();
        let rows = self.change(sql, &[&numbers, &neighbours, &spent, &pending])?;
        changed(rows, numbers.len())
    }
}
