//! Records of requests: who sent which query or event under an id of the ledger. Analysts
//! find their own receipts by them, and a receipt shows its query. The ledger itself has
//! events and costs only.

use rusqlite::{Row, params};

use super::store::{held, now, signed, unsigned};
use super::{Identity, IdentityError};

/// A request that was made under an id of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// The name of the token.
    pub name: String,
    /// When it was made first.
    pub unix_ms: u64,
    /// The SQL, or the event.
    pub what: String,
    /// The requested epsilon.
    pub epsilon: Option<String>,
    /// The requested accuracy.
    pub accuracy: Option<String>,
}

impl RequestRecord {
    /// A request that is made now.
    #[must_use]
    pub fn now(name: &str, what: &str, epsilon: Option<String>, accuracy: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            unix_ms: now(),
            what: what.to_owned(),
            epsilon,
            accuracy,
        }
    }
}

impl Identity {
    /// Records a request, the first time that it is made under this id and name.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn record_request(&self, id: &str, record: &RequestRecord) -> Result<(), IdentityError> {
        let connection = held(&self.records);
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO asked VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        insert.execute(params![
            id,
            record.name,
            signed(record.unix_ms),
            record.what,
            record.epsilon,
            record.accuracy
        ])?;
        Ok(())
    }

    /// The requests under an id, the oldest first.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn request_records(&self, id: &str) -> Result<Vec<RequestRecord>, IdentityError> {
        let connection = held(&self.records);
        let mut query = connection.prepare_cached(
            "SELECT name, unix_ms, what, epsilon, accuracy FROM asked WHERE id = ?1 ORDER BY unix_ms",
        )?;
        let record = |row: &Row<'_>| {
            Ok(RequestRecord {
                name: row.get(0)?,
                unix_ms: unsigned(row.get(1)?),
                what: row.get(2)?,
                epsilon: row.get(3)?,
                accuracy: row.get(4)?,
            })
        };
        let found = query.query_map([id], record)?.collect::<Result<_, _>>()?;
        Ok(found)
    }
}
