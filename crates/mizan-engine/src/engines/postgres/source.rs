//! The address of a dataset: `postgres://user@host/database/schema.table`.
//!
//! It is stored in the catalogue, where everyone can read it, so it has no password: that is in
//! `PGPASSWORD`. In names, dots, slashes and similar characters are percent-encoded.
//! `?timeout=` is the time limit of a query in seconds; other options are those of the ledger's
//! addresses.

use std::time::Duration;

use mizan_postgres::{Address, BadAddress};

use crate::engine::EngineError;

/// The time limit of a query, unless the source has another one.
const TIMEOUT: Duration = Duration::from_secs(600);

/// A table and its address.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// The database.
    pub(super) address: Address,
    /// Identifies the database: equal for tables of the same one.
    pub(super) database: String,
    /// The schema.
    pub(super) schema: String,
    /// The table.
    pub(super) table: String,
    /// The time limit of a query.
    pub(super) timeout: Duration,
}

impl Source {
    /// Parses a source.
    pub(super) fn parse(source: &str) -> Result<Self, EngineError> {
        let wrong = |reason| EngineError::BadAddress { reason };
        let (place, options) = source.split_once('?').unwrap_or((source, ""));
        let mut parts = place.splitn(6, '/');
        let (Some(scheme), Some(""), Some(host), Some(database), Some(table), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return Err(wrong(
                "it is not of the form postgres://user@host/database/table",
            ));
        };
        let (schema, table) = table.split_once('.').unwrap_or(("public", table));
        let name = |text: &str| decoded(text).filter(|name| !name.is_empty());
        let (Some(schema), Some(table)) = (name(schema), name(table)) else {
            return Err(wrong("the name of the table cannot be read"));
        };
        let mut timeout = TIMEOUT;
        let mut others = Vec::new();
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.strip_prefix("timeout=") {
                None => others.push(option),
                Some(text) => {
                    let seconds = text.parse().ok().filter(|s| (1..=86_400).contains(s));
                    timeout = Duration::from_secs(
                        seconds
                            .ok_or(wrong("timeout is not a number of seconds from 1 to 86400"))?,
                    );
                }
            }
        }
        let database = format!("{scheme}//{host}/{database}?{}", others.join("&"));
        let address = Address::parse(&database, "mizan")
            .map_err(|BadAddress { reason }| EngineError::BadAddress { reason })?;
        if address.has_password() {
            return Err(wrong(
                "it contains a password, and everyone can read the catalogue",
            ));
        }
        let address = match std::env::var("PGPASSWORD") {
            Ok(password) if !password.is_empty() => address.with_password(&password),
            _ => address,
        };
        Ok(Self {
            address,
            database,
            schema,
            table,
            timeout,
        })
    }

    /// The table as an SQL identifier.
    pub(super) fn sql(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.table))
    }

    /// The name that is shown to people.
    pub(super) fn shown(&self) -> String {
        format!("{}/{}.{}", self.address.place(), self.schema, self.table)
    }
}

/// A quoted SQL identifier.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Decodes a percent-encoded name.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = match (*first, others) {
            (b'%', [high, low, others @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                others
            }
            (b'%', _) => return None,
            (byte, others) => {
                bytes.push(byte);
                others
            }
        };
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|name| !name.contains('\0'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn sources_name_a_table_and_no_password() {
        let source = Source::parse("postgres://me@db.example.org:5433/shop/visits").unwrap();
        assert_eq!((&*source.schema, &*source.table), ("public", "visits"));
        assert_eq!(
            source.shown(),
            "postgres://db.example.org:5433/shop/public.visits"
        );
        assert_eq!(source.timeout, TIMEOUT);
        let url = "postgresql://me@%2Frun%2Fpg/shop/a%2Eb.v%20%C3%A9?timeout=7&sslmode=disable";
        let source = Source::parse(url).unwrap();
        assert_eq!((&*source.schema, &*source.table), ("a.b", "v é"));
        assert_eq!(source.timeout, Duration::from_secs(7));
        for bad in [
            "postgres://me@host/shop",
            "postgres://me@host/shop/",
            "postgres://me@host/shop/a.b/c",
            "postgres://me@host/shop/.b",
            "postgres://me@host/shop/b%2",
            "postgres://me@host/shop/b%00",
            "postgres://me@host/shop/b%ff",
            "postgres://me@host/shop/b?timeout=0",
            "postgres://me@host/shop/b?timeout=soon",
            "postgres://me@host/shop/b?color=red",
            "postgres://me:hunter2@host/shop/b",
            "postgres://me@host/shop/b?password=hunter2",
            "postgres:///shop/b",
        ] {
            let error = Source::parse(bad).unwrap_err();
            assert_eq!(error.code(), "MZ1912", "{bad}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
}
