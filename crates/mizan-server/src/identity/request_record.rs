//! What was asked, by whom: so that analysts find what they asked themselves, and
//! a receipt can say which question it is of. The ledger has the price of it all;
//! this is for people.

use rusqlite::{Row, params};

use super::store::{held, now, signed, unsigned};
use super::{Identity, IdentityError};

/// What was asked under an id of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord {
    /// By whom.
    pub name: String,
    /// When first.
    pub unix_ms: u64,
    /// The SQL, or the event.
    pub what: String,
    /// The epsilon that was wished for.
    pub epsilon: Option<String>,
    /// The accuracy.
    pub accuracy: Option<String>,
}

impl RequestRecord {
    /// Just now.
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
    /// Remembers what was asked, the first time.
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

    /// Who asked under an id, the first first.
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
