//! Columns of every type that can be read, with unusual values; and columns that cannot be
//! read.

use mizan_sql::{Bounds, Expr, Type, Value};

use super::server::{Schema, by_values, one_table, run};

/// The values of a column `x` of a type, in the order of rows, as PostgreSQL reads them.
fn read(schema: &mut Schema, declared: &str, values: &[&str], kind: Type) -> Vec<Value> {
    read_between(schema, declared, values, kind, None)
}

/// The same with bounds.
fn read_between(
    schema: &mut Schema,
    declared: &str,
    values: &[&str],
    kind: Type,
    bounds: Option<Bounds>,
) -> Vec<Value> {
    let rows: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(unit, value)| format!("({unit}, {value})"))
        .collect();
    schema.run(&format!(
        "DROP TABLE IF EXISTS t; CREATE TABLE t (u integer, x {declared}); \
         INSERT INTO t VALUES {}",
        rows.join(", ")
    ));
    let mut catalogue = one_table(&schema.source("t"), &[("u", Type::Integer), ("x", kind)]);
    catalogue.datasets.get_mut("t").unwrap().columns[1].bounds = bounds;
    let plan = by_values(&catalogue, &[Expr::Column(0), Expr::Column(1)]);
    let found = run(&plan, &catalogue, [0; 16]).unwrap();
    found.into_keys().map(|key| key[1].clone()).collect()
}

#[test]
fn columns_of_every_type() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let number = Value::number;
    let text = |text: &str| Value::Text(text.to_owned());
    let mut is = |declared: &str, kind: Type, cases: &[(&str, Value)]| {
        let values: Vec<&str> = cases.iter().map(|(value, _)| *value).collect();
        let wanted: Vec<Value> = cases.iter().map(|(_, value)| value.clone()).collect();
        assert_eq!(
            read(&mut schema, declared, &values, kind),
            wanted,
            "{declared}"
        );
    };
    is(
        "boolean",
        Type::Boolean,
        &[("TRUE", Value::Boolean(true)), ("NULL", Value::Null)],
    );
    is(
        "smallint",
        Type::Integer,
        &[("-32768", Value::Integer(-32768)), ("NULL", Value::Null)],
    );
    is(
        "integer",
        Type::Integer,
        &[("'-2147483648'", Value::Integer(i32::MIN.into()))],
    );
    is(
        "bigint",
        Type::Integer,
        &[
            ("'-9223372036854775808'", Value::Integer(i64::MIN)),
            ("NULL", Value::Null),
        ],
    );
    is(
        "numeric(30)",
        Type::Integer,
        &[
            ("7", Value::Integer(7)),
            ("'NaN'", Value::Null),
            ("9223372036854775807", Value::Integer(i64::MAX)),
            ("9223372036854775808", Value::Null),
            ("-9223372036854775808", Value::Integer(i64::MIN)),
            ("-9223372036854775809", Value::Null),
            ("NULL", Value::Null),
        ],
    );
    let decimals = [
        ("0.1", number(0.1)),
        ("'NaN'", Value::Null),
        ("'Infinity'", number(f64::INFINITY)),
        ("'-Infinity'", number(f64::NEG_INFINITY)),
        ("1e400", number(f64::INFINITY)),
        ("-1e400", number(f64::NEG_INFINITY)),
        ("1e-400", number(0.0)),
        ("-1e-310", number(0.0)),
        ("1.7976931348623157e308", number(f64::MAX)),
        ("0.30000000000000004", number(0.1 + 0.2)),
        ("9007199254740993", number(9_007_199_254_740_992.0)),
        ("NULL", Value::Null),
    ];
    is("numeric", Type::Number, &decimals);
    let few = [
        ("-1.25", number(-1.25)),
        ("0", number(0.0)),
        ("0.07", number(0.07)),
        ("9999.99", number(9999.99)),
        ("'NaN'", Value::Null),
        ("NULL", Value::Null),
    ];
    is("numeric(6, 2)", Type::Number, &few);
    is(
        "numeric(15, 15)",
        Type::Number,
        &[
            ("0.123456789012345", number(0.123_456_789_012_345)),
            ("0.999999999999999", number(0.999_999_999_999_999)),
            ("-0.000000000000001", number(-1e-15)),
        ],
    );
    is(
        "numeric(15, 2)",
        Type::Number,
        &[("9999999999999.99", number(9_999_999_999_999.99))],
    );
    is(
        "real",
        Type::Number,
        &[("0.1", number(f64::from(0.1_f32))), ("'-0'", number(0.0))],
    );
    is(
        "double precision",
        Type::Number,
        &[
            ("'NaN'", Value::Null),
            ("'-0'", number(0.0)),
            ("'-Infinity'", number(f64::NEG_INFINITY)),
            ("5e-324::float8", number(5e-324)),
        ],
    );
    is(
        "text",
        Type::Text,
        &[
            ("''", text("")),
            ("'a '", text("a ")),
            ("NULL", Value::Null),
        ],
    );
    is(
        "text",
        Type::Text,
        &[("repeat('x', 16777217)", Value::Null)],
    );
    is("varchar(5)", Type::Text, &[("'é '", text("é "))]);
    is(
        "char(5)",
        Type::Text,
        &[("'a'", text("a")), ("' b '", text(" b"))],
    );
    let id = "00112233-4455-6677-8899-aabbccddeeff";
    is(
        "uuid",
        Type::Text,
        &[("'00112233-4455-6677-8899-AABBCCDDEEFF'", text(id))],
    );
    is(
        "date",
        Type::Date,
        &[
            ("'1970-01-02'", Value::Date(1)),
            ("'infinity'", Value::Null),
            ("'-infinity'", Value::Null),
            ("'4713-01-01 BC'", Value::Date(-2_440_550)),
            ("'5874897-12-31'", Value::Date(2_145_042_905)),
        ],
    );
    let second = Value::Timestamp(1_000_000);
    let times = [
        ("'1970-01-01 00:00:01'", second.clone()),
        ("'infinity'", Value::Null),
        ("'-infinity'", Value::Null),
        ("'294247-01-01'", Value::Null),
        (
            "'294246-12-31 23:59:59.999999'",
            Value::Timestamp(9_223_371_244_799_999_999),
        ),
        (
            "'0044-03-15 12:00:00.000001 BC'",
            Value::Timestamp(-63_517_780_799_999_999),
        ),
    ];
    is("timestamp", Type::Timestamp, &times);
    is(
        "timestamptz",
        Type::Timestamp,
        &[
            ("'1970-01-01 02:00:01+02'", second),
            ("'infinity'", Value::Null),
        ],
    );
    // A column with another declared type is cast.
    is(
        "text",
        Type::Integer,
        &[("' 7 '", Value::Integer(7)), ("'x'", Value::Null)],
    );
    is("numeric(9)", Type::Number, &[("7", number(7.0))]);
    is(
        "date",
        Type::Timestamp,
        &[("'1970-01-02'", Value::Timestamp(86_400_000_000))],
    );
    schema.run("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE DOMAIN age AS integer; CREATE DOMAIN old AS age; CREATE DOMAIN whole AS numeric(9, 0)");
    assert_eq!(
        read(&mut schema, "mood", &["'sad'", "NULL"], Type::Text),
        [text("sad"), Value::Null]
    );
    assert_eq!(
        read(&mut schema, "old", &["7"], Type::Integer),
        [Value::Integer(7)]
    );
    assert_eq!(
        read(&mut schema, "whole", &["7"], Type::Integer),
        [Value::Integer(7)]
    );
}

#[test]
fn values_are_clamped_to_bounds() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let number = Value::number;
    let mut is = |declared: &str, kind: Type, low: f64, high: f64, cases: &[(&str, Value)]| {
        let values: Vec<&str> = cases.iter().map(|(value, _)| *value).collect();
        let wanted: Vec<Value> = cases.iter().map(|(_, value)| value.clone()).collect();
        let bounds = Bounds::new(low, high);
        let found = read_between(&mut schema, declared, &values, kind, bounds);
        assert_eq!(found, wanted, "{declared}");
    };
    let decimals = [
        ("0.1", number(0.1)),
        ("0.05", number(0.05)),
        ("0.07", number(0.07)),
        ("-9", number(-0.5)),
        ("99", number(0.1)),
        ("0", number(0.0)),
        ("'NaN'", Value::Null),
        ("NULL", Value::Null),
    ];
    is("numeric(6, 2)", Type::Number, -0.5, 0.1, &decimals);
    is("numeric", Type::Number, -0.5, 0.1, &decimals);
    is("double precision", Type::Number, -0.5, 0.1, &decimals);
    let extreme = [
        ("'Infinity'", number(0.1)),
        ("'-Infinity'", number(-0.5)),
        ("1e999", number(0.1)),
        ("-1e999", number(-0.5)),
        ("1e-999", number(0.0)),
    ];
    is("numeric", Type::Number, -0.5, 0.1, &extreme);
    is(
        "numeric(9)",
        Type::Number,
        1.5,
        2.5,
        &[("1", number(1.5)), ("2", number(2.0))],
    );
    let integers = [("-7", -1), ("0", 0), ("7", 2)].map(|(text, x)| (text, Value::Integer(x)));
    for declared in ["smallint", "integer", "bigint", "numeric(9)"] {
        is(declared, Type::Integer, -1.5, 2.9, &integers);
    }
    let days = [
        ("'1970-01-01'", Value::Date(1)),
        ("'1970-01-03'", Value::Date(2)),
        ("'5874897-12-31'", Value::Date(9)),
        ("'infinity'", Value::Null),
        ("'-infinity'", Value::Null),
        ("NULL", Value::Null),
    ];
    is("date", Type::Date, 0.5, 9.0, &days);
    is(
        "date",
        Type::Date,
        -1e300,
        1e300,
        &[("'1970-01-03'", Value::Date(2))],
    );
    let times = [
        ("'1970-01-01'", Value::Timestamp(5)),
        ("'1970-01-02'", Value::Timestamp(9)),
        ("'infinity'", Value::Null),
    ];
    is("timestamp", Type::Timestamp, 5.0, 9.0, &times);
}

#[test]
fn types_that_cannot_be_read_are_named() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    schema.run("CREATE TYPE pair AS (a integer, b integer)");
    for kind in [
        "money",
        "integer[]",
        "text[]",
        "json",
        "jsonb",
        "bytea",
        "interval",
        "time",
        "timetz",
        "inet",
        "point",
        "int4range",
        "bit(3)",
        "oid",
        "\"char\"",
        "name",
        "xml",
        "tsvector",
        "pair",
    ] {
        schema.run(&format!(
            "DROP TABLE IF EXISTS t; CREATE TABLE t (u integer, x {kind})"
        ));
        let source = schema.source("t");
        let found = super::super::inspect(&source).unwrap();
        assert_eq!(
            found.columns,
            [("u".to_owned(), Some(Type::Integer))],
            "{kind}"
        );
        assert_eq!(found.left_out.len(), 1, "{kind}");
        let catalogue = one_table(&source, &[("u", Type::Integer), ("x", Type::Text)]);
        let plan = by_values(&catalogue, &[]);
        let error = run(&plan, &catalogue, [0; 16]).unwrap_err();
        assert_eq!(error.code(), "MZ1907", "{kind}");
        assert!(
            error.to_string().contains(&found.left_out[0].1),
            "{kind}: {error}"
        );
    }
    schema.run("DROP TABLE t; CREATE TABLE t (u integer, x date)");
    let catalogue = one_table(
        &schema.source("t"),
        &[("u", Type::Integer), ("x", Type::Boolean)],
    );
    let error = run(&by_values(&catalogue, &[]), &catalogue, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1907");
    let catalogue = one_table(
        &schema.source("t"),
        &[("u", Type::Integer), ("y", Type::Date)],
    );
    let error = run(&by_values(&catalogue, &[]), &catalogue, [0; 16]).unwrap_err();
    assert_eq!(error.code(), "MZ1906");
}
