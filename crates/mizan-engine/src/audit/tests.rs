//! Random queries with and without a unit: many with the oracle, some with DataFusion, which
//! must agree with the oracle bit for bit.
#![allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

use std::collections::BTreeMap;

use mizan_core::SplitMix64;
use mizan_sql::{BoundedPlan, Catalogue, GroupBounding, Operator, Relation, Type, Value};
use mizan_test_support::cases;

use super::dice::Dice;
use super::world::Tables;
use super::{AuditQuery, RunResult, SqlAudit, audit_sql, audit_with, compare, run, write};
use crate::DataFusion;
use crate::engines::redundant_limits::{MostRows, remove_redundant_limits};
use crate::exact::{Cell, ExactAggregates};
use crate::oracle;

/// Numbers of partitions of an engine.
const PARTITIONS: [usize; 4] = [1, 2, 7, 16];

/// Random numbers of a seed.
fn stream(seed: u64) -> impl FnMut() -> u64 {
    let mut numbers = SplitMix64::new(seed);
    move || numbers.word()
}

/// By what factor the long run has more cases.
fn times() -> u64 {
    cases(1, 50)
}

fn by_oracle(
    catalogue: &Catalogue,
    tables: &Tables,
    plans: &[AuditQuery],
    salt: [u8; 16],
) -> Vec<RunResult> {
    let data = tables.iter().map(|(name, rows)| {
        let columns = &catalogue.datasets[name].columns;
        let rows = rows.iter().map(|row| {
            let cells = columns.iter().zip(row);
            let read = cells.map(|(column, cell)| match cell {
                // An empty field of a CSV file is NULL.
                Some(text) if !text.is_empty() => column.kind.read(text),
                _ => Value::Null,
            });
            read.collect()
        });
        (name.clone(), rows.collect())
    });
    let data = data.collect();
    let ran = |query: &AuditQuery| Ok(oracle::run(&query.plan, catalogue, &data, &salt));
    plans.iter().map(ran).collect()
}

fn clean(audit: &SqlAudit) {
    let shown: Vec<_> = audit.violations.iter().take(5).collect();
    assert!(
        shown.is_empty(),
        "{} violations: {shown:#?}",
        audit.violations.len()
    );
    // Otherwise the test would cover too little.
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
fn datafusion_agrees_with_the_oracle_on_random_queries() {
    let folder = std::env::temp_dir().join(format!("mizan-sql-audit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let engines = PARTITIONS.map(|parts| DataFusion::with_partitions(parts).unwrap());
    let place = folder.to_string_lossy().into_owned();
    let both = |catalogue: &Catalogue, tables: &Tables, plans: &[AuditQuery], salt: [u8; 16]| {
        let engine = &engines[usize::from(salt[0]) % engines.len()];
        write(&folder, catalogue, tables).unwrap();
        let expected = by_oracle(catalogue, tables, plans, salt);
        let found = plans
            .iter()
            .map(|query| run(engine, catalogue, &query.plan, salt));
        let found: Vec<RunResult> = found.collect();
        for ((query, expected), found) in plans.iter().zip(expected).zip(&found) {
            assert_eq!(&expected, found, "{}\n{tables:?}", query.sql);
        }
        found
    };
    let mut next = stream(2);
    let audit = audit_with(&place, 600 * times(), &mut Dice(&mut next), both, |_| ());
    clean(&audit);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The most rows of a unit in each dataset.
fn most_rows(catalogue: &Catalogue, tables: &Tables) -> MostRows {
    let private = tables
        .iter()
        .filter(|(name, _)| catalogue.datasets[name].privacy.is_some());
    let most = private.map(|(name, rows)| {
        let mut units: BTreeMap<Value, u64> = BTreeMap::new();
        // The first column is the unit.
        for text in rows.iter().filter_map(|row| row[0].as_ref()) {
            *units.entry(Type::Integer.read(text)).or_default() += 1;
        }
        units.remove(&Value::Null);
        (name.clone(), units.into_values().max().unwrap_or(0))
    });
    most.collect()
}

/// Marks all columns as read by every row limit; returns whether there is one.
fn read_everything(relation: &mut Relation) -> bool {
    let places = (0..relation.columns.len()).collect();
    match &mut relation.operator {
        Operator::Scan { .. } => false,
        Operator::LimitRowsPerUnit { input, read, .. } => {
            *read = places;
            read_everything(input);
            true
        }
        Operator::Filter { input, .. }
        | Operator::Project { input, .. }
        | Operator::Group { input, .. } => read_everything(input),
        Operator::Union { inputs } => {
            let each = inputs.iter_mut().map(read_everything);
            each.fold(false, |any, one| any | one)
        }
        Operator::Join { left, right, .. } => read_everything(left) | read_everything(right),
    }
}

/// Row limits that no unit exceeds can be removed. And the columns that a row limit marks as
/// read are all that is read: keeping the others does not change answers.
#[test]
fn row_limits_above_every_unit_change_nothing() {
    let (mut redundant, mut all_redundant) = (0, 0);
    let all = |catalogue: &Catalogue, tables: &Tables, plans: &[AuditQuery], salt: [u8; 16]| {
        let most = most_rows(catalogue, tables);
        let run = |query: &AuditQuery, plan: BoundedPlan| {
            let sql = query.sql.clone();
            by_oracle(catalogue, tables, &[AuditQuery { sql, plan }], salt).remove(0)
        };
        let ran = plans.iter().map(|query| {
            let expected = run(query, query.plan.clone());
            let mut without = query.plan.clone();
            without.relation = remove_redundant_limits(without.relation, &most);
            if without == query.plan {
                return expected;
            }
            redundant += 1;
            assert_eq!(expected, run(query, without.clone()), "{}", query.sql);
            let mut everything = query.plan.clone();
            read_everything(&mut everything.relation);
            if !read_everything(&mut without.relation) {
                all_redundant += 1;
                assert_eq!(expected, run(query, everything), "{}", query.sql);
            }
            expected
        });
        ran.collect()
    };
    let mut next = stream(5);
    clean(&audit_with(
        "",
        4_000 * times(),
        &mut Dice(&mut next),
        all,
        |_| (),
    ));
    assert!(
        redundant > 100 && all_redundant > 100,
        "{redundant} {all_redundant}"
    );
}

#[test]
fn the_exported_audit_finds_no_violation() {
    let folder = std::env::temp_dir().join(format!("mizan-sql-owner-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let engine = DataFusion::new().unwrap();
    let mut told = 0;
    let audit = audit_sql(&engine, &folder, 30, &mut stream(3), |pairs| told += pairs).unwrap();
    clean(&audit);
    assert_eq!(told, audit.pairs);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A plan that claims too small a sensitivity is detected.
#[test]
fn a_false_sensitivity_is_detected() {
    let mut next = stream(4);
    let lying = |catalogue: &Catalogue, tables: &Tables, plans: &[AuditQuery], salt| {
        let honest = by_oracle(catalogue, tables, plans, salt);
        let twice = |ran: RunResult| {
            let double = |cell: Cell| match cell {
                Cell::Integer(value) => Cell::Integer(2 * value),
                bins @ Cell::Histogram(_) => bins,
            };
            let rows = |(key, cells): (Vec<Value>, Vec<Cell>)| {
                (key, cells.into_iter().map(double).collect())
            };
            ran.map(|exact| exact.into_iter().map(rows).collect::<ExactAggregates>())
        };
        honest.into_iter().map(twice).collect()
    };
    let audit = audit_with("", 2000, &mut Dice(&mut next), lying, |_| ());
    assert!(audit.violations.len() > 50, "{}", audit.violations.len());
    let empty = ExactAggregates::new();
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

/// An engine that does not clip is detected when a unit is in too many groups.
#[test]
fn a_unit_that_is_not_clipped_is_detected() {
    let mut next = stream(7);
    let mut clipped = 0;
    let careless = |catalogue: &Catalogue, tables: &Tables, plans: &[AuditQuery], salt| {
        let without_clipping = |query: &AuditQuery| {
            let group_bounding = match query.plan.group_bounding {
                GroupBounding::ClipL2 => GroupBounding::NotNeeded,
                other => other,
            };
            let plan = BoundedPlan {
                group_bounding,
                ..query.plan.clone()
            };
            let sql = query.sql.clone();
            AuditQuery { sql, plan }
        };
        let others: Vec<AuditQuery> = plans.iter().map(without_clipping).collect();
        let ran = by_oracle(catalogue, tables, &others, salt).into_iter();
        let finer = plans.iter().zip(ran).map(|(query, ran)| {
            clipped += u32::from(query.plan.group_bounding == GroupBounding::ClipL2);
            let mut exact = ran?;
            for cells in exact.values_mut() {
                for (cell, statistic) in cells.iter_mut().zip(&query.plan.statistics) {
                    if let Cell::Integer(value) = cell {
                        *value *= query.plan.fineness(statistic);
                    }
                }
            }
            Ok(exact)
        });
        finer.collect()
    };
    let audit = audit_with("", 20_000, &mut Dice(&mut next), careless, |_| ());
    assert!(clipped > 100, "{clipped}");
    assert!(audit.violations.len() >= 10, "{}", audit.violations.len());
    let norm = |found: &super::Violation| found.what.contains("squared norm");
    assert!(audit.violations.iter().all(norm));
}

/// The generator produces worst-case values, and joins of units that have more rows than the
/// limit.
#[test]
fn worst_case_values_are_generated() {
    let mut next = stream(5);
    let mut dice = Dice(&mut next);
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    let mut seen = |what| *found.entry(what).or_default() += 1;
    for _ in 0..300 {
        let catalogue = super::world::catalogue(&mut dice, "");
        let tables = super::world::tables(&mut dice, &catalogue);
        for (name, rows) in &tables {
            let columns = &catalogue.datasets[name].columns;
            for (place, cell) in rows.iter().flat_map(|row| row.iter().enumerate()) {
                let unit = columns[place].name == "u";
                match (unit, columns[place].kind, cell.as_deref()) {
                    (true, _, None) => seen("a NULL unit"),
                    (true, _, Some("unnamed")) => seen("a unit that does not read"),
                    (true, _, Some("")) => seen("an empty unit"),
                    (true, _, Some("-9223372036854775808")) => seen("the least unit"),
                    (false, _, None) => seen("NULL"),
                    (false, Type::Integer, Some("-9223372036854775808")) => seen("i64::MIN"),
                    (false, Type::Number, Some("NaN")) => seen("NaN"),
                    (false, Type::Number, Some("inf")) => seen("inf"),
                    (false, Type::Number, Some("-inf")) => seen("-inf"),
                    (false, Type::Number, Some("-0.0")) => seen("-0.0"),
                    _ => {}
                }
            }
            let rows_of_0 = rows.iter().filter(|row| row[0].as_deref() == Some("0"));
            if rows_of_0.count() > 4 {
                seen("a unit with more rows than are joined");
            }
        }
        let mut audit = SqlAudit::default();
        for query in audit.random_queries(&mut dice, &catalogue) {
            if format!("{:?}", query.plan.relation).contains("LimitRowsPerUnit {") {
                seen("a join with a limit");
            }
            if query.plan.group_bounding == GroupBounding::ClipL2 {
                seen("units that are clipped");
            }
        }
    }
    assert_eq!(found.len(), 13, "{found:?}");
    assert!(found.values().all(|times| *times >= 100), "{found:?}");
}

/// A unit with a million rows changes no more than claimed, in joins too, and the number of
/// partitions does not change a result.
#[test]
fn a_unit_with_a_million_rows_stays_within_the_sensitivity() {
    let folder = std::env::temp_dir().join(format!("mizan-sql-million-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut next = stream(6);
    let mut dice = Dice(&mut next);
    let catalogue = super::world::catalogue(&mut dice, &folder.to_string_lossy());
    let mut tables = super::world::tables(&mut dice, &catalogue);
    let visits = tables
        .iter_mut()
        .find(|(name, _)| name == "visits")
        .unwrap();
    let heavy: super::Text = Some("-7".to_owned());
    let words = ["k1", "k2", "k3", "a,b"];
    visits.1.extend((0..1_000_000_u64).map(|row| {
        let cell = |text: String| Some(text);
        vec![
            heavy.clone(),
            cell((row % 11).to_string()),
            cell(row.to_string()),
            cell(format!("{}e-3", row % 5000)),
            None,
            cell(words[row as usize % 4].to_owned()),
            cell(format!("w{}", row % 50)),
            cell("2024-01-15".to_owned()),
            cell("true".to_owned()),
        ]
    }));
    let fewer = super::without(&tables, &heavy);
    let salt = super::salt(&mut dice);
    let questions = [
        "SELECT COUNT(*) AS n, SUM(v.x) AS s FROM visits v JOIN visits w ON v.u = w.u",
        "SELECT v.c, MEDIAN(w.x) AS m FROM visits v JOIN visits w ON v.u = w.u GROUP BY v.c",
        "SELECT v.word, COUNT(*) AS n FROM visits v LEFT JOIN visits w ON v.u = w.u \
         AND v.a < w.a GROUP BY v.word",
        "SELECT word, COUNT(*) AS n, AVG(x) AS x FROM (SELECT u, word, x FROM visits UNION ALL \
         SELECT u, c AS word, x FROM visits) v GROUP BY word",
        "SELECT l.label, COUNT(DISTINCT v.word) AS n FROM visits v JOIN labels l ON v.a = l.k \
         GROUP BY l.label",
    ];
    let planned = |sql: &'static str| {
        let plan = mizan_sql::plan(sql, &catalogue);
        let plan = plan.unwrap_or_else(|refusal| panic!("{}", refusal.show(sql)));
        (sql, plan)
    };
    let mut plans = questions.map(planned).to_vec();
    // Eleven public groups with a limit of three per unit.
    let (sql, plan) = planned("SELECT a, COUNT(*) AS n, AVG(x) AS x FROM visits GROUP BY a");
    plans.push((sql, plan.clipped().unwrap()));
    let mut results: Vec<Vec<RunResult>> = Vec::new();
    for (parts, tables) in [
        (1, &tables),
        (2, &tables),
        (7, &tables),
        (16, &tables),
        (2, &fewer),
    ] {
        write(&folder, &catalogue, tables).unwrap();
        let engine = DataFusion::with_partitions(parts).unwrap();
        let ran = plans
            .iter()
            .map(|(_, plan)| run(&engine, &catalogue, plan, salt));
        results.push(ran.collect());
    }
    std::fs::remove_dir_all(&folder).unwrap();
    for (place, (sql, plan)) in plans.iter().enumerate() {
        let with = results[0][place].as_ref().unwrap();
        for others in &results[1..4] {
            assert_eq!(others[place].as_ref(), Ok(with), "{sql}");
        }
        let without = results[4][place].as_ref().unwrap();
        compare(plan, with, without).unwrap_or_else(|what| panic!("{sql}: {what}"));
        assert_ne!(with, without, "{sql}");
    }
}
