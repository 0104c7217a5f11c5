//! Whether two sources are the same table, however they are reached.

use std::collections::BTreeSet;

use postgres::{Client, Error};

use super::source::Source;
use crate::engines::thread::on_own_thread;

/// Whether two sources are the same table, or a table and a partition of it.
///
/// If both databases can be reached, their system catalogues decide. Copies of a server, such
/// as its standbys, contain the same people and count as the same server.
///
/// If one of them cannot be reached (it is down, or rejects this user), its names are looked up
/// in the other one if both have the same database name. Equal names of database, schema and
/// table count as the same table, whatever their hosts and ports: a server has many addresses
/// (a socket, an alias, a pooler), and they cannot be compared without reaching it. The
/// consequence of a false match is that the tables must share a budget until both can be
/// reached; a missed match would allow two budgets for the same people. A match is missed if a
/// pooler uses another name for the database, while it cannot be reached. Servers that are down
/// have no other effect.
pub(crate) fn share_tables(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (Source::parse(one), Source::parse(other)) else {
        return one == other;
    };
    let shared = on_own_thread(|| {
        Ok(match (Reachable::new(&one), Reachable::new(&other)) {
            (Some(mut at), Some(mut at_other)) => {
                at.is(&at_other) && at.shares(&one, &mut at_other, &other)
            }
            (Some(mut at), None) => at.shares_alone(&one, &other),
            (None, Some(mut at)) => at.shares_alone(&other, &one),
            (None, None) => same_names(&one, &other),
        })
    });
    shared.unwrap_or_else(|_| same_names(&one, &other))
}

/// Whether two tables have the same name, on any server.
fn same_names(one: &Source, other: &Source) -> bool {
    one.address.database() == other.address.database()
        && (&one.schema, &one.table) == (&other.schema, &other.table)
}

/// A database that can be reached.
struct Reachable {
    client: Client,
    /// The system identifier that the server got at initialization, which copies keep. Not
    /// every server lets every role read it.
    made: Option<i64>,
    /// The start time of the server, and the OID of the database.
    started: (String, i64),
}

impl Reachable {
    fn new(source: &Source) -> Option<Self> {
        let mut client = source.address.connect(|_| ()).ok()?;
        let sql = "SELECT system_identifier FROM pg_catalog.pg_control_system()";
        let made = client.query_one(sql, &[]).and_then(|row| row.try_get(0));
        // Names refer to PostgreSQL's own objects in this transaction.
        let begin = "BEGIN READ ONLY; SET LOCAL search_path = ''";
        client.batch_execute(begin).ok()?;
        let sql = "SELECT extract(epoch FROM pg_postmaster_start_time())::text, \
                   (SELECT oid::int8 FROM pg_database WHERE datname = current_database())";
        let row = client.query_one(sql, &[]).ok()?;
        Some(Self {
            started: (row.try_get(0).ok()?, row.try_get(1).ok()?),
            made: made.ok(),
            client,
        })
    }

    /// Whether this is the same database as the other, or a copy of it.
    fn is(&self, other: &Self) -> bool {
        let copy = self.made.is_some() && self.made == other.made;
        self.started == other.started || (copy && self.started.1 == other.started.1)
    }

    /// Whether a table here and a table of the same database, reached in another way, are the
    /// same.
    fn shares(&mut self, here: &Source, there: &mut Self, other: &Source) -> bool {
        match (
            parts(&mut self.client, here),
            parts(&mut there.client, other),
        ) {
            (Ok(parts), Ok(others)) if parts.is_empty() && others.is_empty() => {
                same_names(here, other)
            }
            (Ok(parts), Ok(others)) => !parts.is_disjoint(&others),
            // A table that is not taken for itself would be paid for twice.
            _ => true,
        }
    }

    /// The same if only this database can be reached.
    fn shares_alone(&mut self, here: &Source, other: &Source) -> bool {
        if here.address.database() != other.address.database() {
            return false;
        }
        let mut parts = |source| parts(&mut self.client, source);
        match (parts(here), parts(other)) {
            (Ok(parts), Ok(others)) => same_names(here, other) || !parts.is_disjoint(&others),
            _ => true,
        }
    }
}

/// The OIDs of a table and its partitions; empty if the table does not exist. Every role may
/// read them.
fn parts(client: &mut Client, source: &Source) -> Result<BTreeSet<i64>, Error> {
    let sql = "WITH RECURSIVE parts(part) AS (SELECT c.oid FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = $1 AND c.relname = $2 UNION \
         SELECT i.inhrelid FROM pg_inherits i JOIN parts ON i.inhparent = part) \
         SELECT part::int8 FROM parts";
    let rows = client.query(sql, &[&source.schema, &source.table])?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
