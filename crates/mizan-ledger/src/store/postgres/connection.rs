//! A connection that is made again when it was lost, and what is refused before
//! anything is written through it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::postgres::types::ToSql;
use ::postgres::{Client, Row, Statement};
use mizan_postgres::{Address, is_lost, sentence};

use super::error::failed;
use super::schema;
use crate::store::StoreError;

/// The first version with everything that is used here and still found.
const OLDEST: i32 = 120_000;

/// Nothing waits for ever: not for another writer, not for a statement, and
/// nobody waits for a writer that was stopped within a transaction. The tables
/// only grow while prepared statements keep their plans, so those use indexes
/// from the start; what has no index then looks costly, and must not be compiled
/// for it. Warnings are heard, because one of them is about durability.
const SESSION: &str = "SET search_path = ''; SET lock_timeout = '10s'; \
    SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '20s'; \
    SET client_min_messages = warning; SET enable_seqscan = off; \
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";

/// A session that was checked.
struct Session {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    /// Begins a transaction that writes.
    begin: String,
    warning: Arc<Mutex<Option<String>>>,
}

/// A connection to a ledger.
pub(in crate::store) struct Connection {
    address: Address,
    /// None once it was lost.
    session: Option<Session>,
}

impl Connection {
    /// Connects to a ledger that exists.
    pub(super) fn open(address: Address) -> Result<Self, StoreError> {
        let mut connection = Self {
            address,
            session: None,
        };
        connection.ensure()?;
        Ok(connection)
    }

    /// Connects to a database without looking for a ledger in it.
    pub(super) fn bare(address: Address) -> Result<Self, StoreError> {
        let session = Some(Session::new(&address)?);
        Ok(Self { address, session })
    }

    /// Connects again if the connection was lost, and looks again what it is
    /// connected to: it may be another server now.
    fn ensure(&mut self) -> Result<(), StoreError> {
        if self.session.is_none() {
            self.session = Some(Session::new(&self.address)?);
            if let Err(error) = schema::check(self) {
                self.session = None;
                return Err(error);
            }
        }
        Ok(())
    }

    pub(super) const fn address(&self) -> &Address {
        &self.address
    }

    /// Runs something on the session, which is given up if it was lost.
    fn with<T>(
        &mut self,
        run: impl FnOnce(&mut Session) -> Result<T, ::postgres::Error>,
    ) -> Result<T, StoreError> {
        let session = self.session.as_mut();
        let session = session.ok_or_else(|| StoreError::Unreachable {
            reason: "the connection was lost".to_owned(),
        })?;
        let error = match run(session) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if is_lost(&error) || session.client.is_closed() {
            self.session = None;
        }
        Err(failed(&error))
    }

    /// The rows of a statement, which is prepared once.
    pub(super) fn query(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.with(|session| {
            let statement = session.prepared(sql)?;
            session.client.query(&statement, values)
        })
    }

    /// How many rows a statement changed.
    pub(super) fn change(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, StoreError> {
        self.with(|session| {
            let statement = session.prepared(sql)?;
            session.client.execute(&statement, values)
        })
    }

    /// Several statements without values.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), StoreError> {
        self.with(|session| session.client.batch_execute(sql))
    }

    /// Begins a transaction that writes. A connection that was lost since the
    /// last one is made again, once: nothing was asked of it yet.
    pub(super) fn begin_writing(&mut self, then: &str) -> Result<(), StoreError> {
        self.again_if_lost(|connection| {
            let begun = connection.with(|session| {
                let sql = format!("{}; {then}", session.begin);
                session.client.batch_execute(&sql)
            });
            if begun.is_err() {
                connection.abandon();
            }
            begun
        })
    }

    /// Does something that leaves no trace, and once more if that is where the
    /// connection turns out to be lost.
    pub(super) fn again_if_lost<T>(
        &mut self,
        mut run: impl FnMut(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let fresh = self.session.is_none();
        self.ensure()?;
        match run(self) {
            Err(_) if self.session.is_none() && !fresh => {
                self.ensure()?;
                run(self)
            }
            result => result,
        }
    }

    /// Makes what was written durable; the error is why that is not known.
    pub(super) fn commit(&mut self) -> Result<(), String> {
        let Some(session) = self.session.as_mut() else {
            return Err("the connection was lost".to_owned());
        };
        let warning = Arc::clone(&session.warning);
        let warning = || {
            warning
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take()
        };
        warning();
        let committed = session.client.batch_execute("COMMIT");
        if let Err(error) = committed {
            self.session = None;
            return Err(sentence(&error));
        }
        // A commit that gave up waiting for a synchronous standby succeeds with
        // a warning, although a failover can still lose it.
        match warning() {
            None => Ok(()),
            Some(warning) => Err(warning),
        }
    }

    /// Ends a transaction without a trace. If that cannot be said to the
    /// server, the end of the connection says it: a commit was never sent.
    pub(super) fn abandon(&mut self) {
        if self.run("ROLLBACK").is_err() {
            self.session = None;
        }
    }
}

impl Session {
    fn new(address: &Address) -> Result<Self, StoreError> {
        let warning = Arc::new(Mutex::new(None));
        let heard = Arc::clone(&warning);
        let client = address.connect(move |sentence| {
            *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(sentence);
        });
        let mut client = client.map_err(|error| StoreError::Unreachable {
            reason: error.reason,
        })?;
        let durable = check_server(&mut client)?;
        let set = client.batch_execute(SESSION);
        set.map_err(|error| failed(&error))?;
        // Said in every transaction, because a pooler between us and the server
        // may give each of them another session.
        let begin = format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
             SET LOCAL synchronous_commit = {durable}; SET LOCAL lock_timeout = '10s'"
        );
        Ok(Self {
            client,
            statements: HashMap::new(),
            begin,
            warning,
        })
    }

    fn prepared(&mut self, sql: &'static str) -> Result<Statement, ::postgres::Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Refuses a server that could lose what it has acknowledged. Returns the
/// `synchronous_commit` to insist on: that of the server if it is stricter.
fn check_server(client: &mut Client) -> Result<&'static str, StoreError> {
    let sql = "SELECT current_setting('server_version_num')::int4, \
               current_setting('server_version'), pg_catalog.pg_is_in_recovery(), \
               current_setting('fsync'), current_setting('full_page_writes'), \
               current_setting('synchronous_commit'), current_setting('server_encoding')";
    let row = client.query_one(sql, &[]).map_err(|error| failed(&error))?;
    let text = |column| {
        let text: Result<String, _> = row.try_get(column);
        text.map_err(|error| failed(&error))
    };
    let number: i32 = row.try_get(0).map_err(|error| failed(&error))?;
    if number < OLDEST {
        return Err(StoreError::OldPostgres { version: text(1)? });
    }
    if row.try_get(2).map_err(|error| failed(&error))? {
        return Err(StoreError::Standby);
    }
    let must_be = |setting, column, needed: &'static str| {
        let value = text(column)?;
        if needed.split(" or ").any(|needed| needed == value) {
            return Ok(value);
        }
        Err(StoreError::Unsafe {
            setting,
            value,
            needed,
        })
    };
    must_be("fsync", 3, "on")?;
    must_be("full_page_writes", 4, "on")?;
    must_be("server_encoding", 6, "UTF8")?;
    let durable = must_be("synchronous_commit", 5, "on or remote_apply")?;
    Ok(if durable == "on" {
        "on"
    } else {
        "remote_apply"
    })
}
