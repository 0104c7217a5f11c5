//! Single expressions over extreme values, where PostgreSQL raises errors, rounds or parses
//! differently.

use mizan_sql::{Column, Expr, Function, Operator, TimePart, TimeUnit, Type, Value};

use super::server::{Schema, by_values, held, one_table, run};
use crate::engines::generate::Rng;
use crate::oracle::{self, Data, Rows};

/// Checks that expressions over rows of (unit, values) agree with the oracle, bit for bit.
pub(super) fn agree(columns: &[Type], rows: Vec<Vec<Value>>, expressions: &[Expr]) {
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

pub(super) fn call(function: Function, arguments: &[usize]) -> Expr {
    let arguments: Vec<Expr> = arguments.iter().map(|place| Expr::Column(*place)).collect();
    Expr::Call(function, arguments)
}

pub(super) fn cast(to: Type) -> Expr {
    Expr::Cast(Box::new(Expr::Column(1)), to)
}

/// Pairs of doubles whose products, quotients, sums or differences are at the limits of
/// doubles, and other pairs.
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
    // A mantissa of 53 bits, often with few bits set.
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
fn doubles_follow_ieee_754_to_their_limits() {
    let rows = doubles(&mut Rng::new(7));
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

/// If bounds exclude errors there is no guard.
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
    let mut rows = doubles(&mut Rng::new(10));
    rows.truncate(1500);
    agree(&[Type::Number, Type::Number], rows, &expressions);
}

/// Thirty nested queries, each of which uses the column of the inner one three times: inlined
/// they would be 3^30 products.
#[test]
fn nested_queries_do_not_explode() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let mut catalogue = one_table("", &[("u", Type::Integer), ("a", Type::Number)]);
    let values = [0.5, -1.5, 1e200, 0.0, f64::INFINITY].map(Value::Number);
    let rows = (0..)
        .zip(values)
        .map(|(unit, value)| vec![Value::Integer(unit), value]);
    let data = Data::from([("t".to_owned(), rows.collect())]);
    schema.fill(&mut catalogue, &data, || false);
    let mut plan = by_values(&catalogue, &[Expr::Column(0), Expr::Column(1)]);
    for level in 0..30 {
        let square = Expr::call(Function::Multiply, [Expr::Column(1), Expr::Column(1)]);
        let next = Expr::call(Function::Subtract, [square, Expr::Column(1)]);
        let input = plan.relation.clone();
        let columns = input.columns.iter().map(|column| Column {
            bounds: None,
            ..column.clone()
        });
        plan.relation.columns = columns.collect();
        plan.relation.operator = match level % 3 {
            2 => Operator::Filter {
                predicate: Expr::call(Function::NotEqual, [next, Expr::Column(1)]),
                input: Box::new(input),
            },
            _ => Operator::Project {
                expressions: vec![Expr::Column(0), next],
                input: Box::new(input),
            },
        };
    }
    let expected = oracle::run(&plan, &catalogue, &data, &[1; 16]);
    assert_eq!(run(&plan, &catalogue, [1; 16]), Ok(expected));
}

#[test]
fn integers_do_not_overflow() {
    let mut rng = Rng::new(8);
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
        // Within bounds, some of which need no guard.
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

#[test]
fn the_calendar_agrees_with_the_oracle() {
    let mut rng = Rng::new(9);
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
    let mut expressions = vec![
        cast(Type::Timestamp),
        cast(Type::Integer),
        cast(Type::Text),
        Expr::Cast(Box::new(Expr::Column(2)), Type::Date),
        Expr::Cast(Box::new(Expr::Column(2)), Type::Integer),
    ];
    for unit in TimeUnit::ALL {
        expressions.push(call(Function::Truncate(unit), &[2]));
        if !unit.is_within_day() {
            expressions.push(call(Function::Truncate(unit), &[1]));
        }
    }
    for part in TimePart::ALL {
        expressions.push(call(Function::Extract(part), &[2]));
        if !part.is_within_day() {
            expressions.push(call(Function::Extract(part), &[1]));
        }
    }
    agree(&[Type::Date, Type::Timestamp], rows, &expressions);
}
