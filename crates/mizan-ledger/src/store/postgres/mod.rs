//! A ledger in a PostgreSQL database, which several machines may share.
//!
//! `connection.rs` gets there and checks the server, `schema.rs` has the tables and
//! `rows.rs` their rows.

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
/// An address is `postgres://user:password@host:port/database`; a host may also
/// be the directory of a socket, written with `%2F`. Over a network there is
/// always TLS, with the certificate and the name of the host checked against
/// the authorities that the system trusts (or those in `SSL_CERT_FILE`), unless
/// the address ends with `?sslmode=disable`.
///
/// A server is refused that could lose what it has acknowledged: with `fsync`,
/// `full_page_writes` or `synchronous_commit` off or weaker than `on`, or a
/// standby. Who fails over to a standby needs it in `synchronous_standby_names`,
/// or the last entries are lost with the first server.
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
    /// Makes a ledger in a database that exists and has none, complete or not
    /// at all. It has not begun.
    ///
    /// # Errors
    ///
    /// There is one already, the server is refused or none can be made.
    pub fn create(url: &str) -> Result<Self, StoreError> {
        let address = address(url)?;
        schema::create(&mut Connection::bare(address)?)?;
        Self::open(url)
    }

    /// Opens a ledger.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or is refused; the database has no ledger,
    /// or one that is damaged or of another version.
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

/// What may be shown of an address; None if it is none.
pub(crate) fn shown(url: &str) -> Option<String> {
    Some(address(url).ok()?.place().to_owned())
}

impl Handled for Postgres {
    type Reader = Connection;

    fn handle(&self) -> &Handle<Connection> {
        &self.0
    }
}
