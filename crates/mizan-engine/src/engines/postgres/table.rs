//! The metadata of a table, from PostgreSQL's system catalogues: its columns, its partitions,
//! and whether it can be queried. No row is read.

use mizan_postgres::{is_lost, sentence};
use postgres::{Client, Error};

use super::columns::FoundColumn;
use super::source::Source;
use crate::engine::EngineError;

/// A table that can be queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The name that is shown to people.
    pub(super) shown: String,
    /// Its columns, in order.
    pub(super) columns: Vec<FoundColumn>,
    /// Its OID.
    pub(super) oid: i64,
    /// The OIDs of the table and its partitions, with those of their files.
    pub(super) parts: Vec<(i64, i64)>,
    /// Its SQL identifier.
    name: String,
    is_partitioned: bool,
}

impl Table {
    /// Finds a table.
    pub(super) fn find(client: &mut Client, source: &Source) -> Result<Self, EngineError> {
        let failed = |error: Error| of_books(source, &error);
        let sql = "SELECT c.oid::int8, c.relkind::text, c.relpersistence::text, \
             has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT'), \
             row_security_active(c.oid), c.relispartition, \
             EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid) \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = $1 AND c.relname = $2";
        let rows = client.query(sql, &[&source.schema, &source.table]);
        let rows = rows.map_err(failed)?;
        let [row] = rows.as_slice() else {
            return Err(EngineError::NoTable {
                table: source.shown(),
            });
        };
        let get = |column: usize| row.try_get::<_, String>(column).map_err(failed);
        let is = |column: usize| row.try_get::<_, bool>(column).map_err(failed);
        let oid: i64 = row.try_get(0).map_err(failed)?;
        let (kind, persistence) = (get(1)?, get(2)?);
        let refused = match (kind.as_str(), persistence.as_str()) {
            ("r" | "p", "u") => Some("an unlogged table, which a crash empties"),
            ("r", "p") if is(6)? => Some("a table that others inherit from"),
            ("r" | "p", "p") => None,
            ("r" | "p", _) => Some("a temporary table"),
            ("v", _) => Some("a view, whose rows may be of several people"),
            ("m", _) => Some("a materialized view, whose rows may be of several people"),
            ("f", _) => Some("a foreign table, which is not here"),
            _ => Some("no table"),
        };
        if let Some(what) = refused {
            return Err(EngineError::NotATable {
                table: source.shown(),
                what,
            });
        }
        if !is(3)? {
            return Err(EngineError::NoRights {
                table: source.shown(),
            });
        }
        if is(4)? {
            return Err(EngineError::NotATable {
                table: source.shown(),
                what: "a table whose policies hide rows from the database user",
            });
        }
        let mut table = Self {
            shown: source.shown(),
            columns: columns(client, oid).map_err(failed)?,
            oid,
            parts: Vec::new(),
            name: source.sql(),
            is_partitioned: kind == "p",
        };
        table.parts = table.parts_now(client)?;
        Ok(table)
    }

    /// The table and its partitions, as the snapshot shows them and as statements would find
    /// them. They differ if a session has attached, truncated or rewritten one since, which a
    /// snapshot does not show.
    pub(super) fn parts_now(&self, client: &mut Client) -> Result<Vec<(i64, i64)>, EngineError> {
        let sql = "WITH RECURSIVE parts(part) AS (SELECT $1::int8::oid UNION \
             SELECT i.inhrelid FROM pg_inherits i JOIN parts ON i.inhparent = part), \
             now(part) AS (SELECT $1::int8::oid UNION SELECT t.relid \
             FROM pg_partition_tree($1::int8::oid::regclass) t) \
             SELECT parts.part::int8, c.relkind::text || c.relpersistence::text, \
             c.relfilenode::int8, now.part IS NOT NULL AND \
             c.relfilenode = COALESCE(pg_relation_filenode(parts.part), 0) \
             FROM parts FULL JOIN now USING (part) \
             LEFT JOIN pg_class c ON c.oid = part ORDER BY 1";
        let failed = |error: Error| of_shown(&self.shown, &error);
        let mut parts = Vec::new();
        for row in client.query(sql, &[&self.oid]).map_err(failed)? {
            let part: Option<i64> = row.try_get(0).map_err(failed)?;
            let kind: Option<String> = row.try_get(1).map_err(failed)?;
            let file: Option<i64> = row.try_get(2).map_err(failed)?;
            let same: Option<bool> = row.try_get(3).map_err(failed)?;
            let (Some(part), Some(file), Some(true)) = (part, file, same) else {
                return Err(EngineError::Changed {
                    dataset: self.shown.clone(),
                });
            };
            let refused = match kind.as_deref() {
                Some("rp" | "pp") => None,
                Some("ru" | "pu") => {
                    Some("a table with unlogged partitions, which a crash empties")
                }
                _ => Some("a table with foreign partitions, which are on other servers"),
            };
            if let Some(what) = refused {
                return Err(EngineError::NotATable {
                    table: self.shown.clone(),
                    what,
                });
            }
            parts.push((part, file));
        }
        Ok(parts)
    }

    /// As statements use it. `ONLY` excludes inheriting tables, of which there are none.
    pub(super) fn sql(&self) -> String {
        match self.is_partitioned {
            true => self.name.clone(),
            false => format!("ONLY {}", self.name),
        }
    }
}

/// The columns of a table, with the base types of domains.
fn columns(client: &mut Client, oid: i64) -> Result<Vec<FoundColumn>, Error> {
    let sql = "WITH RECURSIVE base(place, name, type, modifier, shown) AS (\
         SELECT a.attnum, a.attname::text, a.atttypid, a.atttypmod, \
         format_type(a.atttypid, a.atttypmod) FROM pg_attribute a \
         WHERE a.attrelid = $1::int8::oid AND a.attnum > 0 AND NOT a.attisdropped \
         UNION ALL SELECT b.place, b.name, t.typbasetype, t.typtypmod, b.shown \
         FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd') \
         SELECT b.name, b.shown, CASE WHEN n.nspname = 'pg_catalog' THEN t.typname::text \
         ELSE '' END, t.typtype = 'e', b.modifier \
         FROM base b JOIN pg_type t ON t.oid = b.type \
         JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype <> 'd' ORDER BY b.place";
    let mut columns = Vec::new();
    for row in client.query(sql, &[&oid])? {
        columns.push(FoundColumn {
            name: row.try_get(0)?,
            shown: row.try_get(1)?,
            base: row.try_get(2)?,
            is_enum: row.try_get(3)?,
            modifier: row.try_get(4)?,
        });
    }
    Ok(columns)
}

/// The error of a failure before a row is read: nothing in it is private.
pub(super) fn of_books(source: &Source, error: &Error) -> EngineError {
    of_shown(&source.shown(), error)
}

fn of_shown(table: &str, error: &Error) -> EngineError {
    use postgres::error::SqlState;
    let table = table.to_owned();
    match error.code() {
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => EngineError::NoRights { table },
        Some(&SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME) => {
            EngineError::NoTable { table }
        }
        Some(&SqlState::LOCK_NOT_AVAILABLE) => EngineError::Locked { table },
        _ if is_lost(error) => EngineError::Unreachable {
            place: table,
            reason: sentence(error),
        },
        _ => EngineError::Server {
            reason: sentence(error),
        },
    }
}
