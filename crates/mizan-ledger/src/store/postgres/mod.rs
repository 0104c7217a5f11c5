//! A ledger in a PostgreSQL database, which several machines can share.
//!
//! `connection.rs` connects and checks the server, `schema.rs` has the tables and `rows.rs` the
//! queries.

mod connection;
mod error;
mod rows;
mod schema;

use mizan_postgres::Address;

use self::connection::Connection;
use crate::store::handle::{Handle, Handled};
use crate::store::{StoreError, read};

/// A ledger in a PostgreSQL database, in a schema named `mizan`.
///
/// An address is `postgres://user:password@host:port/database`; the host may be the directory of a
/// Unix socket, written with `%2F`. Network connections use TLS, and the certificate and the host
/// name are verified against the authorities that the system trusts (or those in `SSL_CERT_FILE`),
/// unless the address ends with `?sslmode=disable`.
///
/// A server that could lose acknowledged transactions is refused: `fsync`, `full_page_writes` or
/// `synchronous_commit` off or weaker than `on`, or a standby. A standby for failover must be
/// listed in `synchronous_standby_names`, or a failover loses the last entries.
///
/// ```no_run
/// use mizan_ledger::store::{Postgres, Store};
///
/// let store = Postgres::open("postgres://mizan@db.example.org/budgets")?;
/// println!("{} entries", store.head()?.size);
/// # Ok::<(), mizan_ledger::store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Postgres(Handle<Connection>);

impl Postgres {
    /// Creates the tables of a ledger in an existing database, in one transaction.
    ///
    /// # Errors
    ///
    /// The database has a ledger already, the server is refused, or the tables cannot be created.
    pub fn create(url: &str) -> Result<Self, StoreError> {
        let address = address(url)?;
        schema::create(&mut Connection::bare(address)?)?;
        Self::open(url)
    }

    /// Opens a ledger.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or is refused; the database has no ledger, or one that is
    /// damaged or of another version.
    pub fn open(url: &str) -> Result<Self, StoreError> {
        let address = address(url)?;
        let mut connection = Connection::open(address.clone())?;
        read::position(&mut connection)?;
        Handle::new(connection, Connection::open(address)?).map(Self)
    }
}

fn address(url: &str) -> Result<Address, StoreError> {
    let parsed = Address::parse(url, "mizan-ledger");
    parsed.map_err(|error| StoreError::Address {
        reason: error.reason,
    })
}

/// The address without its secrets; None if it is not a valid address.
pub(crate) fn shown(url: &str) -> Option<String> {
    Some(address(url).ok()?.place().to_owned())
}

impl Handled for Postgres {
    type Reader = Connection;

    fn handle(&self) -> &Handle<Connection> {
        &self.0
    }
}
