//! Whether two sources are one table, by whatever way they are reached.

use std::collections::BTreeSet;

use postgres::{Client, Error};

use super::source::Source;
use crate::engines::thread::on_own_thread;

/// Whether two sources are one table, or a table and a partition of it.
///
/// Where both databases can be reached, their own books tell. Copies of a server, such
/// as its standbys, have the same people in them and are taken for it.
///
/// Where one cannot be reached (it is down, or not open to who asks with this password)
/// its names are looked up in the other, if both call their database the same; and equal
/// names of database, schema and table are one table, whatever their hosts and ports: a
/// server has many (a socket, an alias, a pooler), and whoever cannot reach it cannot
/// tell. A table that is taken for another is asked about under one budget or not at all
/// until both can be reached; one that is not taken for itself would be paid for twice.
/// What is not noticed is a table in a database that a pooler calls otherwise, while it
/// cannot be reached. Servers that are down refuse nothing else.
pub(crate) fn share_tables(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (Source::parse(one), Source::parse(other)) else {
        return one == other;
    };
    let shared = on_own_thread(|| {
        Ok(match (Reached::new(&one), Reached::new(&other)) {
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

/// Whether two tables are called the same, wherever they are.
fn same_names(one: &Source, other: &Source) -> bool {
    one.address.database() == other.address.database()
        && (&one.schema, &one.table) == (&other.schema, &other.table)
}

/// A database that can be reached.
struct Reached {
    client: Client,
    /// The number that its server was given when it was made, which copies keep; not every
    /// server tells everybody.
    made: Option<i64>,
    /// When its server was started, and the number of the database.
    started: (String, i64),
}

impl Reached {
    fn new(source: &Source) -> Option<Self> {
        let mut client = source.address.connect(|_| ()).ok()?;
        let sql = "SELECT system_identifier FROM pg_catalog.pg_control_system()";
        let made = client.query_one(sql, &[]).and_then(|row| row.try_get(0));
        // Names mean PostgreSQL's own, for this transaction.
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

    /// Whether it is the other, or a copy of it.
    fn is(&self, other: &Self) -> bool {
        let copy = self.made.is_some() && self.made == other.made;
        self.started == other.started || (copy && self.started.1 == other.started.1)
    }

    /// Whether a table here and one of the same database, there, are one.
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

    /// The same where only this database can be reached.
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

/// The numbers of a table and its partitions; none if there is no such table. Everybody
/// may read of them.
fn parts(client: &mut Client, source: &Source) -> Result<BTreeSet<i64>, Error> {
    let sql = "WITH RECURSIVE parts(part) AS (SELECT c.oid FROM pg_class c \
         JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname = $1 AND c.relname = $2 UNION \
         SELECT i.inhrelid FROM pg_inherits i JOIN parts ON i.inhparent = part) \
         SELECT part::int8 FROM parts";
    let rows = client.query(sql, &[&source.schema, &source.table])?;
    rows.iter().map(|row| row.try_get(0)).collect()
}
