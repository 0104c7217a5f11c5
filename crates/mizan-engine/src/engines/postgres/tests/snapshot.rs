//! One snapshot for each release, and versions that distinguish snapshots.

use mizan_sql::{Catalogue, Measure, Operator, Relation, Type};

use super::super::{Postgres, share_tables};
use super::server::{Schema, by_values, one_table};
use crate::engine::Engine;
use crate::exact::{Cell, ExactAggregates};
use crate::version::Version;

fn table(schema: &mut Schema) -> Catalogue {
    schema.run("CREATE TABLE t (u integer, x integer); INSERT INTO t VALUES (1, 1), (2, 2)");
    one_table(
        &schema.source("t"),
        &[("u", Type::Integer), ("x", Type::Integer)],
    )
}

fn units(exact: &ExactAggregates) -> i64 {
    match exact.values().next().map(Vec::as_slice) {
        Some([Cell::Integer(units)]) => *units,
        other => panic!("{other:?}"),
    }
}

#[test]
fn cached_counts_end_with_their_version() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let catalogue = table(&mut schema);
    let mut plan = by_values(&catalogue, &[]);
    let mut scan = plan.relation;
    scan.one_row_per_unit = false;
    plan.relation = Relation {
        columns: scan.columns.clone(),
        unit: scan.unit.clone(),
        one_row_per_unit: false,
        operator: Operator::LimitRowsPerUnit {
            rows: 2,
            read: vec![0, 1],
            input: Box::new(scan),
        },
    };
    plan.statistics[0].measure = Measure::Rows;
    plan.statistics[0].high = 100;
    let engine = Postgres::default();
    let rows = || {
        engine.prepare(&plan, &catalogue).unwrap();
        let version = engine.version(&catalogue.datasets["t"]).unwrap();
        let exact = engine.run(&plan, &catalogue, &[version], [0; 16]);
        units(exact.unwrap().exact())
    };
    // No unit has more than two rows.
    assert_eq!((rows(), rows()), (2, 2));
    schema.run("INSERT INTO t SELECT 1, i FROM generate_series(2, 9) i");
    assert_eq!((rows(), rows()), (3, 3));
    // An empty table.
    schema.run("DELETE FROM t");
    assert!(engine.prepare(&plan, &catalogue).is_ok());
    let version = engine.version(&catalogue.datasets["t"]).unwrap();
    let exact = engine.run(&plan, &catalogue, &[version], [0; 16]);
    assert!(exact.unwrap().exact().is_empty());
}

#[test]
fn a_release_sees_one_snapshot() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let catalogue = table(&mut schema);
    let (plan, dataset) = (by_values(&catalogue, &[]), &catalogue.datasets["t"]);
    let engine = Postgres::default();
    engine.prepare(&plan, &catalogue).unwrap();
    let version = engine.version(dataset).unwrap();
    // Later writes are visible to the next query only.
    schema.run("INSERT INTO t SELECT i, i FROM generate_series(3, 9) i; DELETE FROM t WHERE u = 1");
    assert_eq!(engine.version(dataset).unwrap(), version);
    let ran = engine.run(&plan, &catalogue, &[version], [0; 16]).unwrap();
    assert_eq!(units(ran.exact()), 2);
    engine.prepare(&plan, &catalogue).unwrap();
    let next = engine.version(dataset).unwrap();
    assert_ne!(next, version);
    // An old version does not match these rows.
    let changed = engine.run(&plan, &catalogue, &[version], [0; 16]);
    assert_eq!(changed.unwrap_err().code(), "MZ1908");
    // Without a snapshot nothing is read.
    let without = engine.run(&plan, &catalogue, &[next], [0; 16]);
    assert_eq!(without.unwrap_err().code(), "MZ1921");
}

#[test]
fn a_table_cannot_be_truncated_during_a_query() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let catalogue = table(&mut schema);
    let plan = by_values(&catalogue, &[]);
    let engine = Postgres::default();
    engine.prepare(&plan, &catalogue).unwrap();
    let version = engine.version(&catalogue.datasets["t"]).unwrap();
    schema.run("SET lock_timeout = '50ms'");
    assert!(schema.client.batch_execute("TRUNCATE t").is_err());
    assert!(
        schema
            .client
            .batch_execute("ALTER TABLE t ADD y integer")
            .is_err()
    );
    let ran = engine.run(&plan, &catalogue, &[version], [0; 16]).unwrap();
    assert_eq!(units(ran.exact()), 2);
    schema.run("TRUNCATE t");
}

/// The version, from a new engine.
fn version(catalogue: &Catalogue) -> Version {
    let dataset = &catalogue.datasets["t"];
    Postgres::default().version(dataset).unwrap()
}

#[test]
fn versions_are_of_one_snapshot_and_one_table() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let catalogue = table(&mut schema);
    let of = |table: &str, schema: &Schema| {
        one_table(
            &schema.source(table),
            &[("u", Type::Integer), ("x", Type::Integer)],
        )
    };
    let first = version(&catalogue);
    // Every write makes a new version; a rollback may.
    for change in [
        "INSERT INTO t VALUES (3, 3)",
        "UPDATE t SET x = x",
        "DELETE FROM t WHERE u = 3",
        "TRUNCATE t",
        "CREATE TABLE other (u integer, x integer)",
    ] {
        let before = version(&catalogue);
        schema.run(change);
        assert_ne!(version(&catalogue), before, "{change}");
    }
    assert_ne!(version(&catalogue), first);
    assert_ne!(version(&catalogue), version(&of("other", &schema)));
}

#[test]
fn tables_are_identified_by_the_system_catalogues() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    schema.run(
        "CREATE TABLE t (u integer); CREATE TABLE s (u integer); \
         CREATE TABLE p (u integer) PARTITION BY RANGE (u); \
         CREATE TABLE p1 PARTITION OF p DEFAULT",
    );
    let [t, s, p, p1] = ["t", "s", "p", "p1"].map(|table| schema.source(table));
    let elsewhere = format!("{t}?connect_timeout=9&timeout=5");
    assert!(share_tables(&t, &elsewhere));
    assert!(share_tables(&p, &p1) && share_tables(&p1, &p));
    assert!(!share_tables(&t, &s) && !share_tables(&t, &p));
    let gone = schema.source("gone");
    assert!(share_tables(&gone, &gone) && !share_tables(&gone, &t));
    // A user that is rejected, or an address that cannot be reached; also for a partition.
    let stranger = |source: &str| source.replace("//postgres@", "//unknown_role@");
    for (source, other) in [(&t, &t), (&p, &p1), (&p1, &p)] {
        assert!(share_tables(source, &stranger(other)));
        assert!(share_tables(&stranger(source), other));
    }
    assert!(!share_tables(&t, &stranger(&s)) && !share_tables(&stranger(&p), &t));
    let of = |host: &str, database: &str| {
        let name = &schema.name;
        format!("postgres://me@{host}/{database}/{name}.t?connect_timeout=1")
    };
    let nowhere = of("127.0.0.1:1", "postgres");
    assert!(share_tables(&t, &nowhere) && !share_tables(&s, &nowhere));
    assert!(share_tables(&nowhere, &of("localhost:2", "postgres")));
    assert!(!share_tables(&nowhere, &of("127.0.0.1:1", "other")));
    // A role without rights on the table reads the same system catalogues.
    let role = format!("role_{}", schema.name);
    schema.run(&format!("CREATE ROLE {role} LOGIN"));
    let by_role = t.replace("//postgres@", &format!("//{role}@"));
    assert!(share_tables(&t, &by_role) && !share_tables(&s, &by_role));
    schema.run(&format!("DROP ROLE {role}"));
}
