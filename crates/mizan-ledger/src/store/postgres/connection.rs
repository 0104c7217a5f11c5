//! A connection to PostgreSQL that reconnects after a loss, and the checks of the server before
//! anything is written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use ::postgres::types::ToSql;
use ::postgres::{Client, Row, Statement};
use mizan_postgres::{Address, is_lost, sentence};

use super::error::failed;
use super::schema;
use crate::store::StoreError;

/// The oldest supported version.
const OLDEST: i32 = 120_000;

/// The settings of a session. Timeouts bound every wait: for a lock, for a statement, and for a
/// writer that stopped inside a transaction. Tables grow while prepared statements keep their
/// plans, so plans use indexes from the start; a scan without an index then looks expensive, and
/// must not be compiled for that reason. Warnings are on, because one of them is about durability.
const SESSION: &str = "SET search_path = ''; SET lock_timeout = '10s'; \
    SET statement_timeout = '60s'; SET idle_in_transaction_session_timeout = '20s'; \
    SET client_min_messages = warning; SET enable_seqscan = off; \
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off";

/// A session that was checked.
struct Session {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    /// The statement that begins a write transaction.
    begin: String,
    warning: Arc<Mutex<Option<String>>>,
}

/// A connection to a ledger.
pub(in crate::store) struct Connection {
    address: Address,
    /// None after a loss.
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

    /// Reconnects after a loss, and checks the server again: it may be another one now.
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

    /// Runs a function on the session, and drops the session if the connection was lost.
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

    /// The number of rows that a statement changed.
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

    /// Runs several statements without parameters.
    pub(super) fn run(&mut self, sql: &str) -> Result<(), StoreError> {
        self.with(|session| session.client.batch_execute(sql))
    }

    /// Begins a write transaction. After a loss it reconnects once: the transaction has not done
    /// anything yet.
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

    /// Runs a function without side effects, and once more if the connection was lost.
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

    /// Commits. After an error it is not known whether the transaction is durable.
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
        // A commit that stopped waiting for a synchronous standby succeeds with a warning, although
        // a failover can still lose it.
        match warning() {
            None => Ok(()),
            Some(warning) => Err(warning),
        }
    }

    /// Rolls back. If the server cannot be reached, closing the connection does it: a commit was
    /// never sent.
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
        // Set in every transaction, because a connection pooler may assign each to another session.
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

/// Refuses a server that could lose acknowledged transactions. Returns the `synchronous_commit` to
/// require: that of the server if it is stricter.
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
