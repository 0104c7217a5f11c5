//! Tables that cannot be queried, or not by this user: errors with codes, before a row is read.

use mizan_sql::{Expr, Function, Operator, Relation, Type, Value};

use super::server::{Schema, by_values, one_table, run};
use crate::engines::generate;

const COLUMNS: [(&str, Type); 2] = [("u", Type::Integer), ("x", Type::Integer)];

/// The error code of counting a table.
fn code(source: &str) -> String {
    let catalogue = one_table(source, &COLUMNS);
    match run(&by_values(&catalogue, &[]), &catalogue, [0; 16]) {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.code().to_string(),
    }
}

#[test]
fn only_tables_can_be_queried() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let name = schema.name.clone();
    schema.run(
        "CREATE TABLE t (u integer, x integer); \
         CREATE VIEW v AS SELECT * FROM t; \
         CREATE MATERIALIZED VIEW m AS SELECT * FROM t; \
         CREATE UNLOGGED TABLE l (u integer, x integer); \
         CREATE SEQUENCE s; \
         CREATE TABLE parent (u integer, x integer); \
         CREATE TABLE child () INHERITS (parent); \
         CREATE TABLE p (u integer, x integer) PARTITION BY RANGE (u); \
         CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); \
         CREATE TABLE p2 PARTITION OF p DEFAULT PARTITION BY RANGE (x); \
         CREATE TABLE p3 PARTITION OF p2 DEFAULT; \
         INSERT INTO p VALUES (1, 1), (11, 1), (12, 2); \
         CREATE TABLE q (u integer, x integer) PARTITION BY RANGE (u); \
         CREATE TABLE w (u integer, x integer) PARTITION BY RANGE (u); \
         CREATE TABLE w1 PARTITION OF w FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (x); \
         CREATE UNLOGGED TABLE w2 PARTITION OF w1 DEFAULT; \
         CREATE TABLE \"odd.\"\"name/\" (u integer, x integer)",
    );
    let is = |table: &str, expected: &str| {
        assert_eq!(code(&schema.source(table)), expected, "{table}");
    };
    for table in ["t", "p", "p1", "p2", "q", "child", "odd%2E%22name%2F"] {
        is(table, "answered");
    }
    for table in ["v", "m", "l", "s", "parent", "w", "w1", "w2"] {
        is(table, "MZ1915");
    }
    for table in ["none", "T", "t%22", "t;DROP TABLE t"] {
        is(table, "MZ1914");
    }
    let of_three = one_table(&schema.source("p"), &COLUMNS);
    let found = run(
        &by_values(&of_three, &[Expr::Column(1)]),
        &of_three,
        [0; 16],
    )
    .unwrap();
    assert_eq!(found.len(), 2);
    let wrapper = format!("wrapper_{name}");
    schema.run(&format!(
        "CREATE FOREIGN DATA WRAPPER {wrapper}; CREATE SERVER {wrapper} FOREIGN DATA WRAPPER {wrapper}; \
         CREATE FOREIGN TABLE f (u integer, x integer) SERVER {wrapper}; \
         CREATE FOREIGN TABLE q1 PARTITION OF q DEFAULT SERVER {wrapper}"
    ));
    assert_eq!(code(&schema.source("f")), "MZ1915");
    assert_eq!(code(&schema.source("q")), "MZ1915");
    schema.run(&format!("DROP FOREIGN DATA WRAPPER {wrapper} CASCADE"));
}

#[test]
fn rights_are_those_of_the_database_user() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let name = schema.name.clone();
    let role = format!("role_{name}");
    schema.run(&format!(
        "CREATE TABLE t (u integer, x integer); CREATE ROLE {role} LOGIN"
    ));
    let source = schema
        .source("t")
        .replace("postgres://postgres@", &format!("postgres://{role}@"));
    assert_eq!(code(&source), "MZ1916");
    schema.run(&format!("GRANT USAGE ON SCHEMA {name} TO {role}"));
    assert_eq!(code(&source), "MZ1916");
    // Rights on some of the columns are not enough.
    schema.run(&format!("GRANT SELECT (u) ON t TO {role}"));
    assert_eq!(code(&source), "MZ1916");
    schema.run(&format!("GRANT SELECT ON t TO {role}"));
    assert_eq!(code(&source), "answered");
    // Policies would hide rows.
    schema.run("ALTER TABLE t ENABLE ROW LEVEL SECURITY");
    assert_eq!(code(&source), "MZ1915");
    schema.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
    assert_eq!(code(&source), "MZ1913");
    assert_eq!(code("postgres://unknown@127.0.0.1:1/none/t"), "MZ1913");
}

#[test]
fn functions_of_other_roles_are_not_called() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    // A role that may write to a schema of the search path could replace functions.
    schema.run(
        "CREATE TABLE t (u integer, x integer); INSERT INTO t VALUES (1, -3), (2, 5); \
         CREATE FUNCTION abs(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 0::bigint'",
    );
    let role = format!("role_{}", schema.name);
    schema.run(&format!(
        "CREATE ROLE {role} LOGIN; ALTER ROLE {role} SET search_path = {name}, pg_catalog; \
         ALTER ROLE {role} SET timezone = 'Asia/Tokyo'; ALTER ROLE {role} SET datestyle = 'German'; \
         ALTER ROLE {role} SET standard_conforming_strings = off; \
         ALTER ROLE {role} SET extra_float_digits = -15; \
         GRANT USAGE ON SCHEMA {name} TO {role}; GRANT SELECT ON t TO {role}",
        name = schema.name
    ));
    let source = schema
        .source("t")
        .replace("postgres://postgres@", &format!("postgres://{role}@"));
    let catalogue = one_table(&source, &COLUMNS);
    let literal = Expr::Literal(Value::Text("\\' || \\".into()), Type::Text);
    let time = Expr::Literal(Value::Text("2024-02-03T00:00:00".into()), Type::Text);
    let keys = [
        Expr::call(Function::Abs, [Expr::Column(1)]),
        literal,
        Expr::Cast(Box::new(time), Type::Timestamp),
    ];
    let found = run(&by_values(&catalogue, &keys), &catalogue, [0; 16]).unwrap();
    let expected = [3, 5].map(|x| {
        vec![
            Value::Integer(x),
            Value::Text("\\' || \\".into()),
            Value::Timestamp(1_706_918_400_000_000),
        ]
    });
    assert_eq!(found.into_keys().collect::<Vec<_>>(), expected);
    schema.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}"));
}

#[test]
fn plans_that_postgres_cannot_run_are_refused() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    schema.run("CREATE TABLE t (u integer, x integer)");
    let catalogue = one_table(&schema.source("t"), &COLUMNS);
    let zero = Expr::Literal(Value::Text("a\0b".into()), Type::Text);
    let error = run(&by_values(&catalogue, &[zero]), &catalogue, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1922");
    assert!(error.to_string().contains("zero"), "{error}");
    // A server limits the depth of a statement.
    let mut deep = Expr::Column(1);
    for _ in 0..20_000 {
        deep = Expr::call(Function::Negate, [deep]);
    }
    let deep = crate::engines::thread::on_own_thread(|| {
        let found = run(
            &by_values(&catalogue, std::slice::from_ref(&deep)),
            &catalogue,
            [0; 16],
        );
        drop(deep);
        found
    });
    assert_eq!(deep.unwrap_err().code(), "MZ1922");
    // Two databases.
    let mut two = catalogue.clone();
    let mut other = two.datasets["t"].clone();
    other.name = "p".into();
    other.privacy = None;
    other.source = other.source.replace("/postgres/", "/template1/");
    two.datasets.insert("p".into(), other);
    let mut plan = by_values(&two, &[]);
    plan.public = vec!["p".into()];
    let error = run(&plan, &two, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1922");
}

#[test]
fn a_timeout_reveals_nothing_of_rows() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    schema.run(
        "CREATE TABLE t (u integer, x integer); CREATE TABLE p (u integer, x integer); \
         INSERT INTO t SELECT i, i FROM generate_series(1, 500000) i; \
         INSERT INTO p SELECT i, i FROM generate_series(1, 1000) i",
    );
    let mut catalogue = one_table(&format!("{}?timeout=1", schema.source("t")), &COLUMNS);
    let mut public = catalogue.datasets["t"].clone();
    public.name = "p".into();
    public.privacy = None;
    public.source = schema.source("p");
    catalogue.datasets.insert("p".into(), public);
    let mut plan = by_values(&catalogue, &[]);
    plan.public = vec!["p".into()];
    // 5 * 10^8 pairs, with the largest allowed fan-out.
    let (left, right) = (plan.relation, generate::scan(&catalogue, "p"));
    plan.relation = Relation {
        columns: [left.columns.as_slice(), &right.columns].concat(),
        unit: vec![0],
        one_row_per_unit: false,
        operator: Operator::Join {
            left: Box::new(left),
            right: Box::new(right),
            keeps_left: false,
            on: vec![],
            condition: None,
        },
    };
    let error = run(&plan, &catalogue, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1920");
    assert_eq!(error.to_string(), "the question was given up after 1 s");
}
