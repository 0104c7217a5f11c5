//! The statements of the SQLite store.

use std::collections::BTreeMap;

use rusqlite::ffi::SQLITE_CONSTRAINT_PRIMARYKEY;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::schema::failed;
use crate::log::{Digest, RequestId};
use crate::money::{Account, AccountName, AccountNumber};
use crate::store::handle::Reader;
use crate::store::rows::{
    AccountRow, Changes, Database, HeadRow, LogRow, MAX_PAGE_BYTES, Position, RecordRow, Rows,
    Sums, Written, changed, row_number,
};
use crate::store::{StoreError, read};

/// A connection to the file.
#[derive(Debug)]
pub(in crate::store) struct File {
    pub(super) connection: Connection,
    /// `PRAGMA data_version` in the last batch; it changes when another connection writes.
    data_version: Option<i64>,
}

impl File {
    pub(super) const fn new(connection: Connection) -> Self {
        Self {
            connection,
            data_version: None,
        }
    }

    /// One row, or none.
    fn row<T>(
        &self,
        sql: &str,
        values: impl rusqlite::Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row(values, read).optional()
        };
        read().map_err(failed)
    }

    /// Runs a statement without parameters and rows.
    fn say(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(|_| ())
    }

    /// Changes one row.
    fn change(&self, sql: &str, values: impl rusqlite::Params) -> Result<(), StoreError> {
        let change = || self.connection.prepare_cached(sql)?.execute(values);
        let rows = change().map_err(failed)?;
        changed(u64::try_from(rows).unwrap_or(u64::MAX), 1)
    }
}

/// The entry at a row number, which may be missing.
fn log_row(row: &Row<'_>, seq: usize, bytes: usize) -> rusqlite::Result<LogRow> {
    let bytes: Option<Vec<u8>> = row.get(bytes)?;
    Ok((row.get(seq)?, bytes.unwrap_or_default()))
}

/// Whether a row was refused because its key exists.
fn is_known(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    code == Some(SQLITE_CONSTRAINT_PRIMARYKEY)
}

impl Rows for File {
    fn head(&mut self) -> Result<HeadRow, StoreError> {
        let sql = "SELECT ledger, accounts, size, frontier, (SELECT max(seq) FROM log), \
                   (SELECT count(*) FROM head), \
                   (SELECT substr(bytes, 3, 8) FROM log ORDER BY seq DESC LIMIT 1) FROM head";
        let found = self.row(sql, [], |row| {
            Ok(HeadRow {
                ledger: row.get(0)?,
                accounts: row.get(1)?,
                size: row.get(2)?,
                frontier: row.get(3)?,
                last: row.get(4)?,
                heads: row.get(5)?,
                time: row.get(6)?,
            })
        });
        found?.ok_or_else(|| StoreError::damaged("its head is missing"))
    }

    fn log(&mut self, first: i64, last: i64) -> Result<Vec<LogRow>, StoreError> {
        let read = || {
            let sql = "SELECT seq, bytes FROM log WHERE seq BETWEEN ? AND ? ORDER BY seq";
            let mut statement = self.connection.prepare_cached(sql)?;
            let (mut page, mut bytes) = (Vec::new(), 0);
            for row in statement.query_map([first, last], |row| log_row(row, 0, 1))? {
                let row = row?;
                bytes += row.1.len();
                page.push(row);
                if bytes >= MAX_PAGE_BYTES {
                    break;
                }
            }
            Ok(page)
        };
        read().map_err(failed)
    }

    fn records(&mut self, ids: &[RequestId]) -> Result<Vec<(RequestId, RecordRow)>, StoreError> {
        let sql = "SELECT first, last, (SELECT bytes FROM log WHERE seq = first), \
                   CASE WHEN last <> first THEN (SELECT bytes FROM log WHERE seq = last) END \
                   FROM records WHERE id = ?";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut found = Vec::new();
            for &id in ids {
                let mut rows = statement.query([id.as_bytes()])?;
                if let Some(row) = rows.next()? {
                    let (first, last) = (log_row(row, 0, 2)?, log_row(row, 1, 3)?);
                    found.push((id, RecordRow { first, last }));
                }
            }
            Ok(found)
        };
        read().map_err(failed)
    }

    fn answer(&mut self, seq: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT bytes FROM answers WHERE seq = ?";
        self.row(sql, [seq], |row| row.get(0))
    }

    fn named(&mut self, name: &AccountName) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT number FROM accounts WHERE name = ?";
        self.row(sql, [name.as_str()], |row| row.get(0))
    }

    fn account(&mut self, number: AccountNumber) -> Result<Option<AccountRow>, StoreError> {
        let sql = "SELECT name, created, (SELECT bytes FROM log WHERE seq = created), \
                   raised, (SELECT bytes FROM log WHERE seq = raised), \
                   neighbours, spent, pending FROM accounts WHERE number = ?";
        self.row(sql, [number.get()], |row| {
            let raised: Option<i64> = row.get(3)?;
            Ok(AccountRow {
                name: row.get(0)?,
                created: log_row(row, 1, 2)?,
                raised: raised.map(|_| log_row(row, 3, 4)).transpose()?,
                sums: Sums {
                    neighbours: row.get(5)?,
                    spent: row.get(6)?,
                    pending: row.get(7)?,
                },
            })
        })
    }

    fn accounts(&mut self) -> Result<i64, StoreError> {
        let found = self.row("SELECT count(*) FROM accounts", [], |row| row.get(0))?;
        found.ok_or_else(|| StoreError::damaged("its accounts cannot be counted"))
    }

    fn node(&mut self, level: i64, place: i64) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT hash FROM nodes WHERE level = ? AND place = ?";
        self.row(sql, [level, place], |row| row.get(0))
    }

    fn index(&mut self, after: &[u8], most: i64) -> Result<Vec<(Vec<u8>, i64, i64)>, StoreError> {
        let read = || {
            let sql = "SELECT id, first, last FROM records WHERE id > ? ORDER BY id LIMIT ?";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map(params![after, most], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })?;
            rows.collect::<Result<_, _>>()
        };
        read().map_err(failed)
    }

    /// Reads one answer at a time.
    fn answer_hashes(&mut self, first: i64, end: i64) -> Result<Vec<(i64, [u8; 32])>, StoreError> {
        let read = || {
            let sql = "SELECT seq, bytes FROM answers WHERE seq >= ? AND seq < ? ORDER BY seq";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([first, end], |row| {
                let hash = Digest::of(&[row.get_ref(1)?.as_blob()?]);
                Ok((row.get(0)?, *hash.as_bytes()))
            })?;
            rows.collect::<Result<_, _>>()
        };
        read().map_err(failed)
    }
}

impl Reader for File {
    type Rows = Self;

    fn snapshot<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.connection.execute_batch("BEGIN").map_err(failed)?;
        let result = read(self);
        let ended = self.connection.execute_batch("ROLLBACK").map_err(failed);
        let value = result?;
        ended?;
        Ok(value)
    }

    fn keep_once(&mut self, seq: i64, bytes: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO answers VALUES (?, ?) ON CONFLICT (seq) DO NOTHING";
        let kept = self.connection.execute(sql, params![seq, bytes]);
        kept.map(drop).map_err(failed)
    }
}

impl Database for File {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.say("BEGIN IMMEDIATE").map_err(failed)
    }

    fn moved(&mut self, known: Option<&Position>) -> Result<Option<Position>, StoreError> {
        let version = self.row("PRAGMA data_version", [], |row| row.get(0))?;
        let version = version.ok_or_else(|| StoreError::damaged("it has no version"))?;
        let before = self.data_version.replace(version);
        if known.is_some() && before == Some(version) {
            return Ok(None);
        }
        read::position(self).map(Some)
    }

    /// The transaction excludes other writers, and `data_version` shows earlier writes.
    fn hold(&mut self, _: &[&Account]) -> Result<(), StoreError> {
        Ok(())
    }

    const NOTICES: bool = true;

    fn write(&mut self, changes: &Changes<'_>, position: &Position) -> Result<Written, StoreError> {
        // The positions of the first and the last entry of each request in the batch.
        let mut places: BTreeMap<RequestId, (i64, i64, bool)> = BTreeMap::new();
        let prepare = |sql| self.connection.prepare_cached(sql).map_err(failed);
        let mut append = prepare("INSERT INTO log VALUES (?, ?)")?;
        for entry in &changes.entries {
            let seq = entry.seq;
            append.execute(params![seq, entry.bytes]).map_err(failed)?;
            let place = places.entry(entry.id);
            place.or_insert((seq, seq, entry.is_new)).1 = seq;
            if let Some(answer) = entry.answer {
                self.change("INSERT INTO answers VALUES (?, ?)", params![seq, answer])?;
            }
        }
        // A new request gets a row; a later step of a request updates its row.
        let mut remember = prepare("INSERT INTO records VALUES (?, ?, ?)")?;
        let mut move_on = prepare("UPDATE records SET last = ? WHERE id = ?")?;
        for (id, (first, last, is_new)) in places {
            let id = id.as_bytes();
            let rows = if is_new {
                remember.execute(params![id, first, last])
            } else {
                move_on.execute(params![last, id])
            };
            if is_new && rows.as_ref().is_err_and(is_known) {
                return Ok(Written::Known);
            }
            changed(rows.map_err(failed)? as u64, 1)?;
        }
        drop((append, remember, move_on));
        for (level, place, hash) in &changes.nodes {
            let sql = "INSERT INTO nodes VALUES (?, ?, ?)";
            self.change(sql, params![level, place, hash.as_bytes()])?;
        }
        for (account, name, seq) in &changes.created {
            let sql = "INSERT INTO accounts VALUES (?, ?, ?, NULL, 0, x'', x'')";
            self.change(sql, params![account.get(), name.as_str(), seq])?;
        }
        for (account, seq) in &changes.raised {
            let sql = "UPDATE accounts SET raised = ? WHERE number = ?";
            self.change(sql, params![seq, account.get()])?;
        }
        for (account, sums) in &changes.sums {
            let sql = "UPDATE accounts SET neighbours = ?, spent = ?, pending = ? WHERE number = ?";
            let number = account.get();
            let values = params![sums.neighbours, sums.spent, sums.pending, number];
            self.change(sql, values)?;
        }
        let sql = "UPDATE head SET ledger = ?, accounts = ?, size = ?, frontier = ?";
        let size = row_number(position.frontier.size())?;
        let ledger = position.ledger.map(|ledger| *ledger.as_bytes());
        let full = position.full_bytes();
        self.change(sql, params![ledger, position.accounts, size, full])?;
        Ok(Written::All)
    }

    fn commit(&mut self) -> Result<(), String> {
        self.say("COMMIT").map_err(|error| error.to_string())
    }

    fn roll_back(&mut self) -> bool {
        // After a full disk SQLite has rolled back already, and a second rollback is an error: check
        // whether a transaction is still open.
        let _ = self.connection.execute_batch("ROLLBACK");
        self.connection.is_autocommit()
    }
}
