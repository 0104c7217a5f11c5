//! Joins with public tables, on one snapshot of a database.

use super::super::Postgres;
use super::server::{Schema, run};
use crate::engine::Engine as _;
use crate::engines::fan_out::cases;

#[test]
fn neighbours_have_one_outcome() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let fill = |_: &str, catalogue: &mut _, data: &_| schema.fill(catalogue, data, || false);
    cases::neighbours(fill, run);
}

/// A quote reads public tables only: the private one need not exist.
#[test]
fn a_quote_counts_public_tables() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let (mut catalogue, data) = (cases::catalogue(), cases::data(false));
    schema.fill(&mut catalogue, &data, || false);
    schema.run("DROP TABLE visits");
    let engine = Postgres::default();
    let check = |sql: &str| {
        let plan = mizan_sql::plan(sql, &catalogue).unwrap();
        engine.check_joins(&plan, &catalogue)
    };
    for sql in cases::REFUSED {
        assert_eq!(check(sql).unwrap_err().code(), "MZ1940", "{sql}");
    }
    for sql in cases::ANSWERED {
        assert_eq!(check(sql), Ok(()), "{sql}");
    }
}
