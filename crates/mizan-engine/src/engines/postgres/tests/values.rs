//! Single expressions over extreme values: where PostgreSQL raises, rounds or reads
//! in its own way.

use mizan_sql::{Expr, Function, TimePart, TimeUnit, Type, Value};

use super::super::numbers::{below_doubles, beyond_doubles};
use super::server::{Schema, by_values, held, one_table, run};
use crate::engines::generate::Rng;
use crate::oracle::{self, Data, Rows};

/// Expressions over rows of (unit, values) have the oracle's values, bit for bit.
fn agree(columns: &[Type], rows: Vec<Vec<Value>>, expressions: &[Expr]) {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let names = ["a", "b", "c"];
    let declared: Vec<(&str, Type)> = std::iter::once(("u", Type::Integer))
        .chain(names.into_iter().zip(columns.iter().copied()))
        .collect();
    let mut catalogue = one_table("", &declared);
    let rows: Rows = (0..)
        .zip(rows)
        .map(|(unit, row)| {
            let row = row.iter().map(held);
            std::iter::once(Value::Integer(unit)).chain(row).collect()
        })
        .collect();
    let data = Data::from([("t".to_owned(), rows)]);
    schema.fill(&mut catalogue, &data, || false);
    for expression in expressions {
        let plan = by_values(&catalogue, &[Expr::Column(0), expression.clone()]);
        let expected = oracle::run(&plan, &catalogue, &data, &[1; 16]);
        let found = run(&plan, &catalogue, [1; 16]).unwrap();
        for (found, expected) in found.keys().zip(expected.keys()) {
            let Value::Integer(unit) = found[0] else {
                panic!("{found:?}");
            };
            let row = &data["t"][usize::try_from(unit).unwrap()];
            assert_eq!(found, expected, "{expression:?} of {row:?}");
        }
        assert_eq!(found, expected, "{expression:?}");
    }
}

fn call(function: Function, arguments: &[usize]) -> Expr {
    let arguments: Vec<Expr> = arguments.iter().map(|place| Expr::Column(*place)).collect();
    Expr::Call(function, arguments)
}

fn cast(to: Type) -> Expr {
    Expr::Cast(Box::new(Expr::Column(1)), to)
}

/// Pairs of doubles of which products, quotients, sums or differences are at the
/// ends of doubles, and any others.
fn doubles(rng: &mut Rng) -> Vec<Vec<Value>> {
    let special = [
        0.0,
        1.0,
        -1.0,
        0.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        f64::EPSILON,
        1e307,
        8.98846567431158e307,
        0.49999999999999994,
        4_503_599_627_370_495.5,
        4_503_599_627_370_497.0,
        2.5,
        -2.5,
        9_223_372_036_854_775_808.0,
        -9_223_372_036_854_775_808.0,
        9_223_372_036_854_774_784.0,
    ];
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    for a in special {
        pairs.extend(special.map(|b| (a, b)));
    }
    // A mantissa of 53 bits, often with few of them.
    let mantissa = |rng: &mut Rng| {
        let bits = match rng.below(4) {
            0 => 1 << 52,
            1 => (1 << 52) + 1,
            2 => (1 << 53) - 1,
            _ => (1 << 52) | (rng.next() >> 12),
        };
        bits as f64
    };
    let scaled =
        |value: f64, power: i32| value * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2);
    for _ in 0..4000 {
        let sign = if rng.chance(50) { 1.0 } else { -1.0 };
        let (a, b) = (mantissa(rng), sign * mantissa(rng));
        let wobble = i32::try_from(rng.below(7)).unwrap() - 3;
        let first = -i32::try_from(rng.below(1000)).unwrap();
        let pair = match rng.below(6) {
            // The product is near 2^-1075.
            0 => (scaled(a, first), scaled(b, -1180 - first + wobble)),
            // The product is near 2^1024.
            1 => (
                scaled(a, -first / 2 + 300),
                scaled(b, 618 + first / 2 + wobble),
            ),
            // The quotient is near 2^-1075.
            2 => (scaled(a, first - 70), scaled(b, first + 1005 + wobble)),
            // The quotient is near 2^1024.
            3 => (
                scaled(a, first / 2 + 900),
                scaled(b, first / 2 - 124 + wobble),
            ),
            // The sum is near 2^1024.
            4 => (
                scaled(a, 971),
                scaled(b, 971 - i32::try_from(rng.below(60)).unwrap()),
            ),
            _ => (f64::from_bits(rng.next()), f64::from_bits(rng.next())),
        };
        pairs.push(pair);
    }
    let pairs = pairs.into_iter();
    pairs
        .map(|(a, b)| vec![Value::number(a), Value::number(b)])
        .chain([
            vec![Value::Null, Value::Number(1e-310)],
            vec![Value::Number(1e-310), Value::Null],
            vec![Value::Null, Value::Null],
        ])
        .collect()
}

#[test]
fn doubles_are_those_of_ieee_754_to_their_ends() {
    let rows = doubles(&mut Rng(7));
    let near = |low: f64, high: f64| {
        let a = Expr::call(Function::Multiply, [Expr::Column(1), Expr::Column(2)]);
        let b = Expr::call(Function::Multiply, [Expr::Column(1), Expr::Column(2)]);
        let literal = |value: f64| Expr::Literal(Value::number(value), Type::Number);
        // A longer operand, computed once.
        let sum = Expr::call(Function::Add, [a, literal(low)]);
        Expr::call(
            Function::Divide,
            [sum, Expr::call(Function::Subtract, [b, literal(high)])],
        )
    };
    let literal = Expr::Literal(Value::Number(5e-324), Type::Number);
    let width = |width: f64| {
        let width = Expr::Literal(Value::Number(width), Type::Number);
        Expr::call(Function::Bucket, [Expr::Column(1), width])
    };
    let expressions = [
        call(Function::Add, &[1, 2]),
        call(Function::Subtract, &[1, 2]),
        call(Function::Multiply, &[1, 2]),
        call(Function::Divide, &[1, 2]),
        call(Function::Negate, &[1]),
        call(Function::Abs, &[1]),
        call(Function::Sign, &[1]),
        call(Function::Sqrt, &[1]),
        call(Function::Floor, &[1]),
        call(Function::Ceil, &[1]),
        call(Function::Round, &[1]),
        call(Function::Least, &[1, 2]),
        call(Function::Greatest, &[1, 2]),
        call(Function::NullIf, &[1, 2]),
        call(Function::Less, &[1, 2]),
        width(0.75),
        width(1e-300),
        width(5e-324),
        width(1e300),
        near(0.5, 0.25),
        near(1e308, -1e308),
        Expr::call(Function::Add, [literal.clone(), Expr::Column(1)]),
        Expr::call(Function::Multiply, [literal.clone(), Expr::Column(1)]),
        Expr::call(Function::Divide, [Expr::Column(1), literal]),
        cast(Type::Integer),
    ];
    agree(&[Type::Number, Type::Number], rows, &expressions);
}

/// Where bounds tell that nothing raises there is no guard.
#[test]
fn bounded_doubles_need_no_guards() {
    let literal = |value: f64| Expr::Literal(Value::number(value), Type::Number);
    let clamped = |low: f64, high: f64, place: usize| {
        let least = Expr::call(Function::Least, [Expr::Column(place), literal(high)]);
        Expr::call(Function::Greatest, [least, literal(low)])
    };
    let mut expressions = Vec::new();
    for (low, high) in [
        (0.51, 1e10),
        (-1.9, -0.6),
        (0.5, 3.0),
        (-1.9, 1.9),
        (-1e300, 1e300),
    ] {
        for function in [
            Function::Add,
            Function::Subtract,
            Function::Multiply,
            Function::Divide,
        ] {
            let others = [clamped(-1e10, 1e10, 1), clamped(-1e-9, 0.0, 1)];
            for other in others {
                let b = clamped(low, high, 2);
                expressions.push(Expr::call(function, [other.clone(), b.clone()]));
                expressions.push(Expr::call(function, [b, other]));
            }
        }
    }
    let mut rows = doubles(&mut Rng(10));
    rows.truncate(1500);
    agree(&[Type::Number, Type::Number], rows, &expressions);
}

#[test]
fn integers_do_not_overflow() {
    let mut rng = Rng(8);
    let special = [
        i64::MIN,
        i64::MIN + 1,
        i64::MAX,
        i64::MAX - 1,
        0,
        1,
        -1,
        2,
        -2,
        3,
        1 << 31,
        -(1 << 31),
        1 << 32,
        3_037_000_500,
        -3_037_000_500,
        1 << 62,
        -(1 << 62),
        1 << 53,
        (1 << 53) + 1,
    ];
    let mut rows = Vec::new();
    for a in special {
        rows.extend(special.map(|b| vec![Value::Integer(a), Value::Integer(b)]));
    }
    for _ in 0..500 {
        let any = |rng: &mut Rng| Value::Integer((rng.next() >> rng.below(63)).cast_signed());
        rows.push(vec![any(&mut rng), any(&mut rng)]);
    }
    rows.push(vec![Value::Null, Value::Integer(1)]);
    rows.push(vec![Value::Integer(1), Value::Null]);
    let bucket = |width: i64| Expr::call(Function::Bucket, [Expr::Column(1), Expr::integer(width)]);
    let between = |low: i64, high: i64, place: usize| {
        let least = Expr::call(Function::Least, [Expr::Column(place), Expr::integer(high)]);
        Expr::call(Function::Greatest, [least, Expr::integer(low)])
    };
    let both = |function: Function, most: i64| {
        Expr::call(function, [between(-most, most, 1), between(-1, most, 2)])
    };
    let fraction = Expr::Literal(Value::Number(0.75), Type::Number);
    let expressions = [
        call(Function::Add, &[1, 2]),
        call(Function::Subtract, &[1, 2]),
        call(Function::Multiply, &[1, 2]),
        call(Function::Divide, &[1, 2]),
        call(Function::Remainder, &[1, 2]),
        // Within bounds, of which some leave nothing to guard.
        both(Function::Add, 1 << 61),
        both(Function::Add, 1 << 62),
        both(Function::Subtract, i64::MAX),
        both(Function::Multiply, 1 << 30),
        both(Function::Multiply, 1 << 32),
        both(Function::Divide, 1),
        both(Function::Divide, 5),
        Expr::call(Function::Divide, [Expr::Column(1), between(0, 1, 2)]),
        Expr::call(Function::Divide, [between(-9, 9, 1), between(1, 1, 2)]),
        call(Function::Negate, &[1]),
        call(Function::Abs, &[1]),
        call(Function::Sign, &[1]),
        call(Function::Sqrt, &[1]),
        call(Function::Round, &[1]),
        bucket(1),
        bucket(3),
        bucket(i64::MAX),
        Expr::call(Function::Bucket, [Expr::Column(1), fraction]),
        cast(Type::Boolean),
        cast(Type::Number),
        cast(Type::Text),
        cast(Type::Date),
        cast(Type::Timestamp),
    ];
    agree(&[Type::Integer, Type::Integer], rows, &expressions);
}

/// Texts that are something, nearly something, or nothing.
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
fn texts_are_read_as_one_grammar_says() {
    let rows = texts().into_iter().map(|text| vec![Value::Text(text)]);
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
        // Guards over what guards.
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

#[test]
fn the_calendar_is_ours() {
    let mut rng = Rng(9);
    let days = [
        -719_163, -719_162, 2_932_896, 2_932_897, 0, -1, 19_782, 11_016, -25_509,
    ];
    let mut rows: Vec<Vec<Value>> = days
        .map(|day| {
            vec![
                Value::Date(day),
                Value::Timestamp(i64::from(day) * 86_400_000_000),
            ]
        })
        .to_vec();
    for _ in 0..600 {
        let day = i32::try_from(rng.below(3_652_059)).unwrap() - 719_162;
        let time = i64::from(day) * 86_400_000_000 + (rng.next() % 86_400_000_000).cast_signed();
        rows.push(vec![Value::Date(day), Value::Timestamp(time)]);
    }
    for time in [
        -1,
        1,
        -62_135_596_800_000_001,
        253_402_300_799_999_999,
        253_402_300_800_000_000,
    ] {
        rows.push(vec![Value::Null, Value::Timestamp(time)]);
    }
    let units = [
        TimeUnit::Year,
        TimeUnit::Quarter,
        TimeUnit::Month,
        TimeUnit::Week,
        TimeUnit::Day,
        TimeUnit::Hour,
        TimeUnit::Minute,
        TimeUnit::Second,
    ];
    let parts = [
        TimePart::Year,
        TimePart::Quarter,
        TimePart::Month,
        TimePart::Week,
        TimePart::Day,
        TimePart::DayOfWeek,
        TimePart::DayOfYear,
        TimePart::Hour,
        TimePart::Minute,
        TimePart::Second,
    ];
    let mut expressions = vec![
        cast(Type::Timestamp),
        cast(Type::Integer),
        cast(Type::Text),
        Expr::Cast(Box::new(Expr::Column(2)), Type::Date),
        Expr::Cast(Box::new(Expr::Column(2)), Type::Integer),
    ];
    for unit in units {
        expressions.push(call(Function::Truncate(unit), &[2]));
        if !unit.is_within_day() {
            expressions.push(call(Function::Truncate(unit), &[1]));
        }
    }
    for part in parts {
        expressions.push(call(Function::Extract(part), &[2]));
        if !part.is_within_day() {
            expressions.push(call(Function::Extract(part), &[1]));
        }
    }
    agree(&[Type::Date, Type::Timestamp], rows, &expressions);
}
