//! Fan-outs computed by the oracle and by DataFusion.

use std::cell::Cell;
use std::time::Instant;

use mizan_sql::{Catalogue, Operator, Relation};

use super::cases::{self, ANSWERED, REFUSED};
use super::{COUNTING, FanOutCache, check, growth, joins_public};
use crate::DataFusion;
use crate::engine::{EngineError, execute};
use crate::engines::test_queries::tables;
use crate::oracle::{self, Data};
use crate::version::Version;

/// The greatest value of the last column, by the oracle.
fn counted(relation: &Relation, catalogue: &Catalogue, data: &Data) -> u64 {
    let rows = oracle::rows(relation, catalogue, data, &[0; 16]);
    let last = rows.iter().filter_map(|row| match row.last() {
        Some(mizan_sql::Value::Integer(rows)) => Some(rows.unsigned_abs()),
        _ => None,
    });
    last.max().unwrap_or(0)
}

/// The fan-out of a query, by the oracle.
fn fan_out(sql: &str) -> Result<u64, EngineError> {
    let (catalogue, data) = (cases::catalogue(), cases::data(false));
    let plan = mizan_sql::plan(sql, &catalogue).unwrap();
    let mut count = |relation: &Relation| Ok(counted(relation, &catalogue, &data));
    growth(&plan.relation, &mut count).map(|growth| growth.fan_out)
}

#[test]
fn rows_that_share_a_key_are_counted() {
    let months = "visits v JOIN months m ON v.ward = m.ward";
    let cases = [
        ("visits v JOIN large l ON v.person = l.k".to_owned(), 1),
        ("visits v LEFT JOIN large l ON v.person = l.k".to_owned(), 1),
        ("large l JOIN visits v ON v.person = l.k".to_owned(), 1),
        // Rows without a ward match nothing.
        (months.to_owned(), 12),
        (
            "visits v LEFT JOIN months m ON v.ward = m.ward".to_owned(),
            12,
        ),
        (
            "visits v JOIN months m ON v.ward = upper(m.ward)".to_owned(),
            12,
        ),
        (format!("{months} AND v.person = m.month"), 1),
        (format!("{months} AND v.person < m.month"), 12),
        (format!("{months} JOIN months n ON v.ward = n.ward"), 144),
        (
            "visits v JOIN (SELECT ward FROM months WHERE month < 4) m ON v.ward = m.ward".into(),
            3,
        ),
        (
            "visits v CROSS JOIN (SELECT k FROM large WHERE k < 999) l".into(),
            999,
        ),
        (
            "visits v CROSS JOIN (SELECT k FROM large WHERE k < 0) l".into(),
            1,
        ),
        // One row for each person: the fan-out below does not count any more.
        (
            "(SELECT v.person, COUNT(*) AS n FROM visits v JOIN months m ON v.ward = m.ward \
             JOIN months o ON v.ward = o.ward GROUP BY v.person) AS g \
             JOIN months p ON p.month = g.n"
                .into(),
            170,
        ),
        (
            "(SELECT v.person FROM visits v JOIN months m ON v.ward = m.ward \
             UNION ALL SELECT person FROM visits) AS u JOIN large l ON u.person = l.k"
                .into(),
            12,
        ),
    ];
    for (from, expected) in cases {
        let sql = format!("SELECT COUNT(*) FROM {from}");
        assert_eq!(fan_out(&sql), Ok(expected), "{sql}");
    }
    for sql in REFUSED {
        assert_eq!(fan_out(sql).unwrap_err().code(), "MZ1940", "{sql}");
    }
}

/// A unit with 1,024 rows on both sides of a join has 2^20 rows after it.
#[test]
fn a_unit_has_a_limit_after_joins_of_private_tables() {
    let above = |rows: u32| {
        format!(
            "SELECT COUNT(*) FROM visits v JOIN visits w ON v.person = w.person \
             CROSS JOIN (SELECT k FROM large WHERE k < {rows}) l"
        )
    };
    assert_eq!(fan_out(&above(16)), Ok(16));
    let error = fan_out(&above(17)).unwrap_err();
    let expected = EngineError::FanOut {
        tables: vec!["large".into()],
        found: 17,
        limit: 16,
    };
    assert_eq!(error, expected);
}

#[test]
fn joins_of_public_tables_are_bounded_before_they_are_run() {
    let three = "SELECT COUNT(*) FROM visits v JOIN (SELECT a.k FROM large a CROSS JOIN large b \
                 CROSS JOIN large c) l ON v.person = l.k";
    let error = fan_out(three).unwrap_err();
    assert_eq!(error.code(), "MZ1941", "{error}");
    assert!(error.to_string().contains("\"large\""), "{error}");
    // Joined with itself on its key, the large table does not grow.
    let keyed = "SELECT COUNT(*) FROM visits v JOIN (SELECT a.k FROM large a \
                 JOIN large b ON a.k = b.k) l ON v.person = l.k";
    assert_eq!(fan_out(keyed), Ok(1));
}

/// Rows after a join with a public table are limited before a join with rows of the same unit.
#[test]
fn rows_of_a_public_join_are_limited_before_a_private_join() {
    let sql = "SELECT COUNT(*) FROM visits v JOIN months m ON v.ward = m.ward \
               JOIN visits w ON v.person = w.person";
    let plan = mizan_sql::plan(sql, &cases::catalogue()).unwrap();
    fn limited(relation: &Relation) -> bool {
        match &relation.operator {
            Operator::LimitRowsPerUnit { input, rows, .. } if joins_public(input) => {
                *rows == mizan_sql::MAX_JOINED
            }
            _ => relation.inputs().into_iter().any(limited),
        }
    }
    assert!(limited(&plan.relation), "{:?}", plan.relation);
}

#[test]
fn datafusion_counts_as_the_oracle() {
    let (catalogue, data) = (cases::catalogue(), cases::data(true));
    let engine = DataFusion::with_partitions(2).unwrap();
    let tables = tables(&catalogue, &data);
    let mut counts = 0;
    for sql in REFUSED.iter().chain(&ANSWERED) {
        let plan = mizan_sql::plan(sql, &catalogue).unwrap();
        let mut count = |relation: &Relation| {
            let expected = counted(relation, &catalogue, &data);
            let found = engine.count(relation, &catalogue, &tables, Instant::now() + COUNTING);
            assert_eq!(found, Ok(expected), "{sql}");
            counts += 1;
            // All of them are counted.
            found.map(|_| 1)
        };
        check(&plan.relation, &mut count).unwrap();
    }
    assert!(counts >= 12, "{counts}");
}

#[test]
fn neighbours_have_one_outcome_on_datafusion() {
    let directory = tempfile::tempdir().unwrap();
    let engine = DataFusion::with_partitions(2).unwrap();
    cases::neighbours(
        |name, catalogue, data| {
            cases::write_files(&directory.path().join(name), catalogue, data);
        },
        |plan, catalogue, salt| execute(&engine, plan, catalogue, salt)?.without_fallback(),
    );
}

#[test]
fn counts_are_cached_by_version() {
    let catalogue = cases::catalogue();
    let plan = mizan_sql::plan(ANSWERED[0], &catalogue).unwrap();
    let (cache, counts) = (FanOutCache::default(), Cell::new(0));
    let look = |cache: &FanOutCache, version: u8| {
        let mut count = |relation: &Relation| {
            let version = |_: &str| Some(Version::of([version; 32]));
            cache.count(relation, version, || {
                counts.set(counts.get() + 1);
                Ok(1)
            })
        };
        check(&plan.relation, &mut count).unwrap();
        counts.get()
    };
    assert_eq!(look(&cache, 1), 1);
    assert_eq!(look(&cache.clone(), 1), 1);
    assert_eq!(look(&cache, 2), 2);
    assert_eq!(look(&cache, 1), 2);
}
