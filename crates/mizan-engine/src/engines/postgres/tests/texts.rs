//! Texts that are parsed as numbers, days and times: by our grammar, not PostgreSQL's.

use mizan_sql::{Expr, Function, Type, Value};

use super::super::numbers::{below_doubles, beyond_doubles};
use super::values::{agree, call, cast};

/// Texts that are valid, nearly valid, or invalid.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "a",
        "A",
        "é",
        "É",
        "ß",
        "🦀",
        "a\nb",
        "\t1",
        "1\n",
        "null",
        "true",
        "T",
        " Yes ",
        "y",
        "ON",
        "1",
        "0",
        "false",
        "F",
        "no",
        "off",
        "of",
        "tr",
        "2",
        "-0",
        "+7",
        " 007 ",
        "-9223372036854775808",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775809",
        "1.0",
        "1e3",
        "0x1",
        "1_000",
        "1,000",
        "١",
        "- 1",
        "--1",
        "+",
        "-",
        ".",
        "1.",
        ".5",
        "+1.5e3",
        "1E-400",
        "1e400",
        "-1e400",
        "1e308",
        "1.8e308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "5e-324",
        "4.9e-324",
        "2.5e-324",
        "2.4e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "e5",
        "1e",
        "1e+",
        "1e5.5",
        "inf",
        "-Infinity",
        "NaN",
        "1.2.3",
        "\u{a0}1",
        "1d",
        "0e99999999999",
        "0.00e-99999999999",
        "-.0e99999999999",
        "1e99999999999",
        "-1e99999999999",
        "1e-99999999999",
        "1e10000",
        "1e-10000",
        "1e9999",
        "1e-9999",
        "1e00000000000000000000000000005",
        "1e+00010",
        "123456789012345678901234567890",
        "0.1",
        "0.30000000000000004",
        "9007199254740993",
        "2024-02-29",
        " 2024-02-29 ",
        "2023-02-29",
        "1900-02-29",
        "2000-02-29",
        "0004-02-29",
        "0100-02-29",
        "0400-02-29",
        "0000-02-29",
        "0000-01-01",
        "0001-01-01",
        "9999-12-31",
        "10000-01-01",
        "2024-13-01",
        "2024-00-01",
        "2024-04-31",
        "2024-06-31",
        "2024-1-1",
        "20240101",
        "+2024-01-01",
        "2024/01/01",
        "2024-01-01T00:00:00",
        "1970-01-01 00:00:01",
        "1970-01-01T00:00:00.5Z",
        "1970-01-01T00:00:00.123456789",
        "1970-01-01T00:00:00.1234567890",
        "1970-01-01T01:00:00+01:00",
        "1969-12-31T23:00:00.000001-01:00",
        "1970-01-01T",
        "1970-01-01T00:00",
        "1970-01-01T24:00:00",
        "1970-01-01T00:60:00",
        "1970-01-01T00:00:60",
        "1970-01-01T00:00:00.",
        "1970-01-01T00:00:00z",
        "1970-01-01T00:00:00+1",
        "1970-01-01T00:00:00+15:59",
        "1970-01-01T00:00:00-15:59",
        "1970-01-01T00:00:00+16:00",
        "1970-01-01t00:00:00",
        "1970-01-01T00:00:00 UTC",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59.999999",
        "9999-12-31T23:59:59-00:01",
        "1970-01-01  00:00:00",
        "0001-01-01T00:00:00",
        "a%b",
        "a_b",
        "\\",
        "a\\b",
        "aXb",
        "ab",
        "%",
        "_",
    ]
    .map(str::to_owned)
    .to_vec();
    for text in [beyond_doubles(), below_doubles()] {
        texts.extend([
            text.clone(),
            format!("-{text}"),
            format!("{text}1"),
            format!("{text}e-3"),
        ]);
        texts.push(text.chars().take(300).collect());
    }
    let almost = beyond_doubles();
    let almost: String = almost.chars().take(almost.len() - 1).collect();
    texts.push(format!("{almost}1.99"));
    for length in [999, 1000, 1001] {
        texts.push("7".repeat(length));
        texts.push(format!("0.{}7", "0".repeat(length - 3)));
        texts.push(format!("{}7", "0".repeat(length - 1)));
        texts.push(format!("1e-{}5", "0".repeat(length - 4)));
    }
    for month in 1..=13 {
        for day in [0, 1, 28, 29, 30, 31, 32] {
            texts.extend([2023, 2024].map(|year| format!("{year}-{month:02}-{day:02}")));
        }
    }
    texts
}

#[test]
fn texts_are_parsed_by_our_grammar() {
    // As long as a computed text may be, and longer.
    let most = "X".repeat(mizan_sql::LONGEST_COMPUTED_TEXT);
    let long = [most.clone(), format!("{most}x"), format!(" {most} ")];
    let rows = texts().into_iter().chain(long);
    let rows = rows.map(|text| vec![Value::Text(text)]);
    let rows: Vec<Vec<Value>> = rows.chain([vec![Value::Null]]).collect();
    let like = |pattern: &str| {
        let pattern = Expr::Literal(Value::Text(pattern.to_owned()), Type::Text);
        Expr::call(Function::Like, [Expr::Column(1), pattern])
    };
    let substring = |position: i64, length: i64| {
        let ends = [position, length].map(Expr::integer);
        let [position, length] = ends;
        Expr::call(Function::Substring, [Expr::Column(1), position, length])
    };
    let text = |text: &str| Expr::Literal(Value::Text(text.to_owned()), Type::Text);
    let around_limit = |rest: usize| {
        let long = text(&"x".repeat(mizan_sql::LONGEST_COMPUTED_TEXT - rest));
        let inner = Expr::call(Function::Concat, [Expr::Column(1), long]);
        Expr::call(
            Function::Length,
            [Expr::call(Function::Concat, [inner, Expr::Column(1)])],
        )
    };
    let expressions = [
        cast(Type::Boolean),
        cast(Type::Integer),
        cast(Type::Number),
        cast(Type::Date),
        cast(Type::Timestamp),
        call(Function::Lower, &[1]),
        call(Function::Upper, &[1]),
        call(Function::Trim, &[1]),
        call(Function::Length, &[1]),
        call(Function::Concat, &[1, 1]),
        call(Function::Concat, &[1]),
        around_limit(0),
        around_limit(1),
        around_limit(1000),
        // Operands that are used twice, nested.
        (0..40).fold(Expr::Column(1), |inner, _| {
            let part = Expr::call(Function::Trim, [inner]);
            Expr::call(Function::Concat, [part, text(" b ")])
        }),
        Expr::call(Function::Less, [Expr::Column(1), text("a")]),
        Expr::call(Function::Greatest, [Expr::Column(1), text("É")]),
        like("%"),
        like("a%b"),
        like("a\\%b"),
        like("_"),
        like("a\\\\b"),
        like("%\u{e9}"),
        substring(1, 2),
        substring(2, 0),
        substring(i64::MAX, i64::MAX),
        substring(2, i64::MAX),
        // Guards within guards.
        Expr::Cast(
            Box::new(Expr::call(
                Function::Add,
                [cast(Type::Number), cast(Type::Number)],
            )),
            Type::Integer,
        ),
    ];
    agree(&[Type::Text], rows, &expressions);
}
