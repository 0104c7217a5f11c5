//! A read-only transaction on one snapshot: everything that one release reads from a database.
//!
//! Tables are locked (against being altered or truncated, not against writers) before the
//! snapshot is taken. Settings apply to the transaction only, so transaction poolers work.
//!
//! # Versions
//!
//! A snapshot is determined by the transactions that it regards as finished. The version of a
//! table consists of that, the database, the time of the last start or recovery of the server,
//! and the files of the table: where all are equal, so are the rows. It changes with every
//! transaction that writes anything in any database of the server, so a repeated query is free
//! only if nothing was written in between. On a standby a snapshot does not show which
//! transactions it contains, so there every version is new.

use std::time::{Duration, Instant};

use mizan_postgres::is_lost;
use mizan_sql::{Type, Value};
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator;
use postgres::{Client, Error, Row};
use sha2::{Digest, Sha256};

use super::source::Source;
use super::table::{Table, of_books};
use crate::engine::EngineError;
use crate::engines::fan_out::COUNTING;
use crate::version::Version;

/// The oldest version of PostgreSQL that has everything used here.
const OLDEST: i32 = 140_000;

/// Function names refer to PostgreSQL's own functions; times are in UTC; a policy that would
/// hide rows is an error; waiting for a lock and idling have time limits. The planner assumes
/// that guarded conditions select very few rows, so plans that are good only for few rows are
/// disabled. A disabled plan without an alternative looks expensive, which must not trigger JIT
/// compilation.
const SETTINGS: &str = "SET LOCAL search_path = ''; SET LOCAL timezone = 'UTC'; \
    SET LOCAL row_security = off; SET LOCAL standard_conforming_strings = on; \
    SET LOCAL transform_null_equals = off; SET LOCAL lock_timeout = '10s'; \
    SET LOCAL idle_in_transaction_session_timeout = '10min'; \
    SET LOCAL enable_nestloop = off; SET LOCAL enable_sort = off; SET LOCAL jit = off; \
    SET LOCAL work_mem = '64MB'";

/// The SQLSTATE class of limits of the server (class 54, `program_limit_exceeded`).
const PROGRAM_LIMIT_EXCEEDED: [SqlState; 4] = [
    SqlState::PROGRAM_LIMIT_EXCEEDED,
    SqlState::STATEMENT_TOO_COMPLEX,
    SqlState::TOO_MANY_COLUMNS,
    SqlState::TOO_MANY_ARGUMENTS,
];

/// A transaction on one snapshot.
pub(super) struct Session {
    client: Client,
    /// Identifies the database.
    pub(super) database: String,
    /// The tables, by schema and name.
    tables: Vec<(Source, Table)>,
    /// Identifies the server since its start, and the database.
    server: String,
    /// Identifies the snapshot.
    snapshot: Vec<u8>,
    /// The time limit of all statements together.
    timeout: Duration,
    /// The deadline, once the first statement has begun.
    end: Option<Instant>,
}

impl Session {
    /// Begins a transaction, with at least one table of one database.
    pub(super) fn begin(sources: &[Source]) -> Result<Self, EngineError> {
        let Some(first) = sources.first() else {
            return Err(EngineError::Failed { doing: "starting" });
        };
        let connected = first.address.connect(|_| ());
        let mut client = connected.map_err(|error| EngineError::Unreachable {
            place: first.address.place().to_owned(),
            reason: error.reason,
        })?;
        let failed = |error: Error| of_books(first, &error);
        check_server(&mut client).map_err(failed)??;
        // Errors of a table are more specific before it is locked.
        for source in sources {
            Table::find(&mut client, source)?;
        }
        let begin = format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {SETTINGS}");
        client.batch_execute(&begin).map_err(failed)?;
        for source in sources {
            let lock = format!("LOCK TABLE {} IN ACCESS SHARE MODE", source.sql());
            let locked = client.batch_execute(&lock);
            locked.map_err(|error| of_books(source, &error))?;
        }
        let (server, snapshot) = snapshot(&mut client).map_err(failed)??;
        let mut tables = Vec::with_capacity(sources.len());
        for source in sources {
            tables.push((source.clone(), Table::find(&mut client, source)?));
        }
        let timeouts = sources.iter().map(|source| source.timeout);
        Ok(Self {
            client,
            database: first.database.clone(),
            tables,
            server,
            snapshot,
            timeout: timeouts.fold(first.timeout, Duration::min),
            end: None,
        })
    }

    /// A table of this session.
    pub(super) fn table(&self, source: &Source) -> Option<&Table> {
        let named = |(other, _): &&(Source, Table)| {
            (&other.schema, &other.table) == (&source.schema, &source.table)
        };
        let same_database = self.database == source.database;
        let mut found = self.tables.iter().filter(|_| same_database);
        found.find(named).map(|(_, table)| table)
    }

    /// The time limit of all statements together.
    pub(super) const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The version of one of its tables.
    pub(super) fn version(&self, table: &Table) -> Version {
        let mut digest = Sha256::new();
        digest.update(b"mizan postgres version 1");
        for part in [self.server.as_bytes(), &self.snapshot] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.update(table.oid.to_be_bytes());
        for (part, file) in &table.parts {
            digest.update(part.to_be_bytes());
            digest.update(file.to_be_bytes());
        }
        Version::of(digest.finalize().into())
    }

    /// Plans a statement, without running it.
    pub(super) fn plan(&mut self, text: &str) -> Result<(), EngineError> {
        let planned = self.client.simple_query(&format!("EXPLAIN {text}"));
        planned.map(|_| ()).map_err(|error| {
            // Limits of the server: the depth of a statement, the number of columns. Its parser
            // reports the first as a syntax error.
            let limits = |code: &SqlState| {
                PROGRAM_LIMIT_EXCEEDED.contains(code) || *code == SqlState::SYNTAX_ERROR
            };
            match error.code().is_some_and(limits) {
                true => EngineError::NotHere {
                    what: "a query with so many nested parts",
                },
                false => of_rows(&error, "planning"),
            }
        })
    }

    /// Whether statements can be planned; if not, the transaction is as before.
    pub(super) fn can_plan(&mut self, texts: &[String]) -> Result<bool, EngineError> {
        let failed = |error: Error| of_rows(&error, "planning");
        let begun = self.client.batch_execute("SAVEPOINT planning");
        begun.map_err(failed)?;
        let planned = texts.iter().try_for_each(|text| self.plan(text));
        let ended = match &planned {
            Ok(()) => "RELEASE SAVEPOINT planning",
            Err(_) => "ROLLBACK TO SAVEPOINT planning",
        };
        self.client.batch_execute(ended).map_err(failed)?;
        Ok(planned.is_ok())
    }

    /// Passes each row of a query to `add`. `kinds` are the types of the first columns; the
    /// others are integers.
    pub(super) fn query(
        &mut self,
        text: &str,
        kinds: &[Type],
        mut add: impl FnMut(Vec<Value>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let failed = |error: Error| match of_rows(&error, "running") {
            EngineError::TimedOut { .. } => EngineError::TimedOut {
                seconds: self.timeout.as_secs(),
            },
            other => other,
        };
        // The time counts from the first query on.
        let now = Instant::now();
        let end = *self.end.get_or_insert(now + self.timeout);
        let left = end.saturating_duration_since(now).as_millis().max(1);
        let set = format!("SET LOCAL statement_timeout = {left}");
        self.client.batch_execute(&set).map_err(failed)?;
        let none: [i64; 0] = [];
        let mut rows = self.client.query_raw(text, none).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            add(values(&row, kinds).map_err(failed)?)?;
        }
        Ok(())
    }

    /// The number that a query returns, or zero. Its time does not count towards the time limit
    /// of other statements.
    pub(super) fn count(&mut self, text: &str, end: Instant) -> Result<u64, EngineError> {
        let before = (self.timeout, self.end.replace(end));
        self.timeout = COUNTING;
        let mut found = 0;
        let counted = self.query(text, &[], |row| {
            if let [Value::Integer(rows)] = row.as_slice() {
                found = rows.unsigned_abs();
            }
            Ok(())
        });
        (self.timeout, self.end) = before;
        counted.map(|()| found)
    }

    /// Ends the transaction, after checking that everything was read from one snapshot.
    pub(super) fn end(mut self) -> Result<(), EngineError> {
        for (_, table) in &self.tables {
            if table.parts_now(&mut self.client)? != table.parts {
                return Err(EngineError::Changed {
                    dataset: table.shown.clone(),
                });
            }
        }
        // The transaction is read-only, so a failed COMMIT has no effect.
        drop(self.client.batch_execute("COMMIT"));
        Ok(())
    }
}

/// Refuses a server on which texts or functions behave differently.
fn check_server(client: &mut Client) -> Result<Result<(), EngineError>, Error> {
    let sql = "SELECT current_setting('server_version_num')::int4, \
               current_setting('server_version'), current_setting('server_encoding')";
    let row = client.query_one(sql, &[])?;
    let (number, version): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    let encoding: String = row.try_get(2)?;
    let refused = |reason| Ok(Err(EngineError::BadServer { reason }));
    if number < OLDEST {
        return refused(format!(
            "it is PostgreSQL {version}, and 14 or newer is needed"
        ));
    }
    if encoding != "UTF8" {
        return refused(format!("its texts are in {encoding}, and UTF8 is needed"));
    }
    Ok(Ok(()))
}

/// The identity of the server since its start and of the database, and the identity of the
/// snapshot of a transaction.
///
/// A server whose process was killed recovers without a new start time. Commits with
/// `synchronous_commit` off may be lost then, and the transaction numbers are reused: the same
/// snapshot with other rows. Recovery resets statistics, so the reset time of the archiver's
/// statistics, which every role may read, shows it. Neither checkpoints nor a reset of a
/// database's statistics change that time.
fn snapshot(client: &mut Client) -> Result<Result<(String, Vec<u8>), EngineError>, Error> {
    let sql = "SELECT concat_ws('|', extract(epoch FROM pg_postmaster_start_time()), \
               (SELECT extract(epoch FROM stats_reset) FROM pg_stat_archiver), \
               (SELECT oid FROM pg_database WHERE datname = current_database())), \
               pg_current_snapshot()::text, pg_is_in_recovery()";
    let row = client.query_one(sql, &[])?;
    let mut snapshot = row.try_get::<_, String>(1)?.into_bytes();
    if row.try_get(2)? {
        let mut nonce = [0; 16];
        if getrandom::fill(&mut nonce).is_err() {
            return Ok(Err(EngineError::Failed { doing: "starting" }));
        }
        snapshot.extend(nonce);
    }
    Ok(Ok((row.try_get(0)?, snapshot)))
}

/// The values of a row.
fn values(row: &Row, kinds: &[Type]) -> Result<Vec<Value>, Error> {
    let mut values = Vec::with_capacity(row.len());
    for place in 0..row.len() {
        values.push(
            match kinds.get(place) {
                Some(Type::Boolean) => row.try_get::<_, Option<bool>>(place)?.map(Value::Boolean),
                Some(Type::Number) => row.try_get::<_, Option<f64>>(place)?.map(Value::number),
                Some(Type::Text) => row.try_get::<_, Option<String>>(place)?.map(Value::Text),
                Some(Type::Date) => row.try_get::<_, Option<i32>>(place)?.map(Value::Date),
                Some(Type::Timestamp) => {
                    row.try_get::<_, Option<i64>>(place)?.map(Value::Timestamp)
                }
                Some(Type::Integer) | None => {
                    row.try_get::<_, Option<i64>>(place)?.map(Value::Integer)
                }
            }
            .unwrap_or(Value::Null),
        );
    }
    Ok(values)
}

/// The error of a failure after rows may have been read. PostgreSQL's message may quote a
/// value, so only its kind is reported.
fn of_rows(error: &Error, doing: &'static str) -> EngineError {
    #[cfg(test)]
    eprintln!("{error:?}");
    if error.code() == Some(&SqlState::QUERY_CANCELED) {
        return EngineError::TimedOut { seconds: 0 };
    }
    if is_lost(error) {
        return EngineError::Disconnected;
    }
    EngineError::Failed { doing }
}
