//! Random questions with and without a unit: many by the oracle, some by DataFusion,
//! which must agree with the oracle bit for bit.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use mizan_sql::{Catalogue, Value};

use super::dice::Dice;
use super::world::Tables;
use super::{Asked, Ran, SqlAudit, audit_sql, audit_with, compare, run, write};
use crate::DataFusion;
use crate::exact::{Cell, Exact};
use crate::oracle;

/// Numbers from a seed.
fn stream(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// How many times as many cases the long run has.
fn times() -> u64 {
    let cases = std::env::var("PROPTEST_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse::<u64>().ok());
    if cases.is_some_and(|cases| cases >= 10_000) {
        50
    } else {
        1
    }
}

fn by_oracle(catalogue: &Catalogue, tables: &Tables, plans: &[Asked], salt: [u8; 16]) -> Vec<Ran> {
    let data = tables.iter().map(|(name, rows)| {
        let columns = &catalogue.datasets[name].columns;
        let rows = rows.iter().map(|row| {
            let cells = columns.iter().zip(row);
            let read = cells.map(|(column, cell)| match cell {
                // An empty field of a CSV file is nothing.
                Some(text) if !text.is_empty() => column.kind.read(text),
                _ => Value::Null,
            });
            read.collect()
        });
        (name.clone(), rows.collect())
    });
    let data = data.collect();
    let ran = |asked: &Asked| Ok(oracle::run(&asked.plan, catalogue, &data, &salt));
    plans.iter().map(ran).collect()
}

fn clean(audit: &SqlAudit) {
    let shown: Vec<_> = audit.violations.iter().take(5).collect();
    assert!(
        shown.is_empty(),
        "{} violations: {shown:#?}",
        audit.violations.len()
    );
    // Otherwise this would test little.
    assert!(audit.refused < audit.questions / 2, "{audit:?}");
}

#[test]
fn one_unit_changes_no_more_than_is_claimed_by_the_oracle() {
    let pairs = 20_000 * times();
    let mut next = stream(1);
    let audit = audit_with("", pairs, &mut Dice(&mut next), by_oracle, |_| ());
    clean(&audit);
    assert!(audit.pairs >= pairs);
}

#[test]
fn datafusion_agrees_with_the_oracle_on_random_questions() {
    let folder = std::env::temp_dir().join(format!("mizan-sql-audit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let engine = DataFusion::new().unwrap();
    let place = folder.to_string_lossy().into_owned();
    let both = |catalogue: &Catalogue, tables: &Tables, plans: &[Asked], salt| {
        write(&folder, catalogue, tables).unwrap();
        let expected = by_oracle(catalogue, tables, plans, salt);
        let found = plans
            .iter()
            .map(|asked| run(&engine, catalogue, &asked.plan, salt));
        let found: Vec<Ran> = found.collect();
        for ((asked, expected), found) in plans.iter().zip(expected).zip(&found) {
            assert_eq!(&expected, found, "{}\n{tables:?}", asked.sql);
        }
        found
    };
    let mut next = stream(2);
    let audit = audit_with(&place, 600 * times(), &mut Dice(&mut next), both, |_| ());
    clean(&audit);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_audit_of_owners_finds_nothing() {
    let folder = std::env::temp_dir().join(format!("mizan-sql-owner-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let engine = DataFusion::new().unwrap();
    let mut told = 0;
    let audit = audit_sql(&engine, &folder, 30, &mut stream(3), |pairs| told += pairs).unwrap();
    clean(&audit);
    assert_eq!(told, audit.pairs);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A plan that claims too little is found out.
#[test]
fn a_false_claim_is_noticed() {
    let mut next = stream(4);
    let lying = |catalogue: &Catalogue, tables: &Tables, plans: &[Asked], salt| {
        let honest = by_oracle(catalogue, tables, plans, salt);
        let twice = |ran: Ran| {
            let double = |cell: Cell| match cell {
                Cell::Integer(value) => Cell::Integer(2 * value),
                bins @ Cell::Histogram(_) => bins,
            };
            let rows = |(key, cells): (Vec<Value>, Vec<Cell>)| {
                (key, cells.into_iter().map(double).collect())
            };
            ran.map(|exact| exact.into_iter().map(rows).collect::<Exact>())
        };
        honest.into_iter().map(twice).collect()
    };
    let audit = audit_with("", 2000, &mut Dice(&mut next), lying, |_| ());
    assert!(audit.violations.len() > 50, "{}", audit.violations.len());
    let empty = Exact::new();
    assert!(
        audit
            .violations
            .iter()
            .all(|found| found.what.contains("claimed"))
    );
    let catalogue = super::world::catalogue(&mut Dice(&mut next), "");
    let plan = mizan_sql::plan("SELECT COUNT(*) AS n FROM visits", &catalogue).unwrap();
    compare(&plan, &empty, &empty).unwrap();
}
