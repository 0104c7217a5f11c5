//! The tables in PostgreSQL: how they are created, and the checks before they are used.
//!
//! As in SQLite, the log is authoritative and the other tables follow from it. Everything is in
//! its own schema, so that a ledger can share a database with other tables.

use super::connection::Connection;
use crate::store::StoreError;

/// The version of the tables.
const FORMAT: i32 = 1;

/// Creates the tables. Triggers fire ALWAYS, because a session in replica mode skips others. They
/// refuse the statement, whatever its rows.
const TABLES: &str = "
CREATE SCHEMA mizan;
CREATE TABLE mizan.format (one int8 PRIMARY KEY CHECK (one = 1), version int4 NOT NULL);
CREATE TABLE mizan.log (seq int8 PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE mizan.answers (seq int8 PRIMARY KEY, bytes bytea NOT NULL);
CREATE TABLE mizan.records (id bytea PRIMARY KEY, first int8 NOT NULL, last int8 NOT NULL);
CREATE TABLE mizan.accounts (number int8 PRIMARY KEY, name text COLLATE \"C\" NOT NULL UNIQUE,
  created int8 NOT NULL, raised int8, neighbours int2 NOT NULL, spent bytea NOT NULL,
  pending bytea NOT NULL);
CREATE TABLE mizan.nodes (level int8 NOT NULL, place int8 NOT NULL, hash bytea NOT NULL,
  PRIMARY KEY (level, place));
CREATE TABLE mizan.head (one int8 PRIMARY KEY CHECK (one = 1), ledger bytea,
  accounts int8 NOT NULL, size int8 NOT NULL, frontier bytea NOT NULL);
CREATE FUNCTION mizan.refuse() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'entries and answers are kept as they are'; END $$;
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON mizan.log
  FOR EACH STATEMENT EXECUTE FUNCTION mizan.refuse();
CREATE TRIGGER stays BEFORE UPDATE OR DELETE OR TRUNCATE ON mizan.answers
  FOR EACH STATEMENT EXECUTE FUNCTION mizan.refuse();
ALTER TABLE mizan.log ENABLE ALWAYS TRIGGER stays;
ALTER TABLE mizan.answers ENABLE ALWAYS TRIGGER stays;
INSERT INTO mizan.format VALUES (1, 1);
INSERT INTO mizan.head VALUES (1, NULL, 0, 0, '');";

/// Lists the contents of the schema, one line each: ordinary, crash-safe (p) tables with their
/// columns, the keys, the triggers (statement, before, update + delete + truncate = 58; always) and
/// their bodies.
const CONTENTS: &str = "
SELECT pg_catalog.concat_ws(' ', 'column', c.relname, c.relkind, c.relpersistence, a.attname,
    t.typname, a.attnotnull) AS line
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE c.relnamespace = 'mizan'::regnamespace AND c.relkind <> 'i' AND a.attnum > 0
UNION ALL
SELECT pg_catalog.concat_ws(' ', 'key', c.relname, k.contype, k.conkey)
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
  WHERE c.relnamespace = 'mizan'::regnamespace AND k.contype IN ('p', 'u')
UNION ALL
SELECT pg_catalog.concat_ws(' ', 'trigger', c.relname, t.tgname, t.tgtype, t.tgenabled,
    t.tgqual IS NULL, p.prosrc)
  FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
  JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
  WHERE c.relnamespace = 'mizan'::regnamespace AND NOT t.tgisinternal
UNION ALL
SELECT pg_catalog.concat_ws(' ', 'rule', c.relname, r.rulename)
  FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
  WHERE c.relnamespace = 'mizan'::regnamespace";

/// The expected contents.
const EXPECTED: [&str; 34] = [
    "column accounts r p created int8 t",
    "column accounts r p name text t",
    "column accounts r p neighbours int2 t",
    "column accounts r p number int8 t",
    "column accounts r p pending bytea t",
    "column accounts r p raised int8 f",
    "column accounts r p spent bytea t",
    "column answers r p bytes bytea t",
    "column answers r p seq int8 t",
    "column format r p one int8 t",
    "column format r p version int4 t",
    "column head r p accounts int8 t",
    "column head r p frontier bytea t",
    "column head r p ledger bytea f",
    "column head r p one int8 t",
    "column head r p size int8 t",
    "column log r p bytes bytea t",
    "column log r p seq int8 t",
    "column nodes r p hash bytea t",
    "column nodes r p level int8 t",
    "column nodes r p place int8 t",
    "column records r p first int8 t",
    "column records r p id bytea t",
    "column records r p last int8 t",
    "key accounts p {1}",
    "key accounts u {2}",
    "key answers p {1}",
    "key format p {1}",
    "key head p {1}",
    "key log p {1}",
    "key nodes p {1,2}",
    "key records p {1}",
    "trigger answers stays 58 A t  BEGIN RAISE EXCEPTION 'entries and answers are kept as they are'; END ",
    "trigger log stays 58 A t  BEGIN RAISE EXCEPTION 'entries and answers are kept as they are'; END ",
];

/// Creates the tables in one transaction.
pub(super) fn create(connection: &mut Connection) -> Result<(), StoreError> {
    connection.begin_writing("")?;
    let made = exists(
        connection,
        "SELECT 1 WHERE to_regnamespace('mizan') IS NOT NULL",
    )
    .and_then(|there| match there {
        true => Err(StoreError::Exists {
            place: connection.address().place().into(),
        }),
        false => connection.run(TABLES),
    });
    if let Err(error) = made {
        connection.abandon();
        return Err(error);
    }
    let unknown = |reason| StoreError::Unknown { reason };
    connection.commit().map_err(unknown)
}

fn exists(connection: &mut Connection, sql: &'static str) -> Result<bool, StoreError> {
    Ok(!connection.query(sql, &[])?.is_empty())
}

/// Refuses a database without a ledger, with one of another version, or with changed tables or
/// triggers.
pub(super) fn check(connection: &mut Connection) -> Result<(), StoreError> {
    let sql = "SELECT 1 WHERE to_regclass('mizan.format') IS NOT NULL";
    if !exists(connection, sql)? {
        return Err(StoreError::NotALedger {
            path: connection.address().place().into(),
            reason: "the database has no ledger in it",
        });
    }
    let rows = connection.query("SELECT version FROM mizan.format", &[])?;
    let versions: Result<Vec<i32>, _> = rows.iter().map(|row| row.try_get(0)).collect();
    match versions.as_deref() {
        Ok([FORMAT]) => {}
        Ok([found]) => {
            return Err(StoreError::Format {
                found: *found,
                known: FORMAT,
            });
        }
        _ => return Err(StoreError::damaged("it does not say which format it has")),
    }
    let rows = connection.query(CONTENTS, &[])?;
    let lines: Result<Vec<String>, _> = rows.iter().map(|row| row.try_get(0)).collect();
    let mut lines = lines.unwrap_or_default();
    lines.sort_unstable();
    if lines != EXPECTED {
        return Err(StoreError::damaged("its tables or triggers were changed"));
    }
    Ok(())
}
