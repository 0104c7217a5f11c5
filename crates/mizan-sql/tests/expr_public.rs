//! Bounds and domains of typical expressions.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use crate::common::{columns, keys};
use mizan_sql::{Expr, Function, TimePart, TimeUnit, Type, Value};

fn column(name: &str) -> Expr {
    let place = columns().iter().position(|column| column.name == name);
    Expr::Column(place.unwrap())
}

fn number(value: f64) -> Expr {
    Expr::Literal(Value::Number(value), Type::Number)
}

fn text(value: &str) -> Expr {
    Expr::Literal(Value::Text(value.into()), Type::Text)
}

fn call<const N: usize>(function: Function, arguments: [Expr; N]) -> Expr {
    Expr::call(function, arguments)
}

fn bounds(expr: &Expr) -> Option<(f64, f64)> {
    expr.type_of(&columns()).unwrap();
    let bounds = expr.bounds(&columns())?;
    Some((bounds.low, bounds.high))
}

fn domain(expr: &Expr) -> Option<Vec<Value>> {
    expr.type_of(&columns()).unwrap();
    expr.domain(&columns(), &keys, 1000)
}

fn integers(values: impl IntoIterator<Item = i64>) -> Option<Vec<Value>> {
    Some(values.into_iter().map(Value::Integer).collect())
}

#[test]
fn arithmetic_of_small_integers_has_exact_bounds() {
    use Function::*;
    let (small, positive) = (column("small"), column("positive"));
    let cases = [
        (call(Add, [small.clone(), positive.clone()]), (-3.0, 19.0)),
        (
            call(Subtract, [small.clone(), positive.clone()]),
            (-10.0, 12.0),
        ),
        (
            call(Multiply, [small.clone(), positive.clone()]),
            (-21.0, 84.0),
        ),
        (
            call(Divide, [small.clone(), positive.clone()]),
            (-3.0, 12.0),
        ),
        (call(Divide, [positive.clone(), small.clone()]), (-7.0, 7.0)),
        (
            call(Remainder, [small.clone(), positive.clone()]),
            (-3.0, 6.0),
        ),
        (call(Abs, [small.clone()]), (0.0, 12.0)),
        (call(Negate, [small.clone()]), (-12.0, 3.0)),
        (call(Sqrt, [small.clone()]), (0.0, 12_f64.sqrt())),
        (
            call(Bucket, [small.clone(), Expr::integer(10)]),
            (-10.0, 12.0),
        ),
        (call(Bucket, [column("number"), number(0.5)]), (-1.5, 2.0)),
        (call(Round, [column("number")]), (-2.0, 2.0)),
        (call(Sign, [column("any number")]), (-1.0, 1.0)),
        (
            Expr::Cast(Box::new(column("number")), Type::Integer),
            (-2.0, 2.0),
        ),
        (
            Expr::Cast(Box::new(column("flag")), Type::Integer),
            (0.0, 1.0),
        ),
    ];
    for (expr, expected) in cases {
        assert_eq!(bounds(&expr), Some(expected), "{expr:?}");
    }
}

#[test]
fn clamps_bound_unbounded_columns() {
    use Function::*;
    let any = column("any number");
    let clamp = call(
        Least,
        [call(Greatest, [any.clone(), number(0.0)]), number(100.0)],
    );
    assert_eq!(bounds(&clamp), Some((0.0, 100.0)));
    let clamp = call(
        Greatest,
        [call(Least, [any.clone(), number(100.0)]), number(0.0)],
    );
    assert_eq!(bounds(&clamp), Some((0.0, 100.0)));
    assert_eq!(bounds(&any), None);
    assert_eq!(bounds(&call(Greatest, [any.clone(), number(0.0)])), None);
    // A clamp that may be NULL bounds nothing: LEAST skips NULL.
    let clamp = call(Least, [any.clone(), column("number")]);
    assert_eq!(bounds(&call(Greatest, [clamp, column("number")])), None);
    assert_eq!(
        bounds(&call(Coalesce, [column("number"), number(9.0)])),
        Some((-1.5, 9.0))
    );
    assert_eq!(bounds(&call(Coalesce, [column("number"), any])), None);
    let length = call(Length, [column("text")]);
    assert_eq!(bounds(&length), None);
    assert_eq!(
        bounds(&call(Least, [length, Expr::integer(80)])),
        Some((0.0, 80.0))
    );
    // A quotient by a number that may be close to zero.
    assert_eq!(bounds(&call(Divide, [number(1.0), column("number")])), None);
    assert_eq!(bounds(&call(Divide, [number(1.0), column("tiny")])), None);
    // Always NULL.
    assert_eq!(bounds(&Expr::Literal(Value::Null, Type::Number)), None);
}

#[test]
fn calendars_bound_their_parts() {
    let year = |of| bounds(&call(Function::Extract(TimePart::Year), [of]));
    assert_eq!(year(column("day")), Some((2021.0, 2023.0)));
    assert_eq!(year(column("any time")), Some((1.0, 9999.0)));
    let month = call(Function::Extract(TimePart::Month), [column("any day")]);
    assert_eq!(bounds(&month), Some((1.0, 12.0)));
    let week = call(Function::Truncate(TimeUnit::Week), [column("day")]);
    assert_eq!(bounds(&week), Some((18_988.0, 19_394.0)));
    let week = call(Function::Truncate(TimeUnit::Week), [column("any day")]);
    assert_eq!(bounds(&week), None);
}

#[test]
fn keys_have_domains() {
    use Function::*;
    let key = column("key");
    assert_eq!(domain(&key).map(|domain| domain.len()), Some(5));
    let upper = domain(&call(Upper, [key.clone()])).unwrap();
    let expected = ["", "A", "B%", "é"].map(|text| Value::Text(text.into()));
    assert_eq!(upper[0], Value::Null);
    assert_eq!(upper[1..], expected);
    let known = domain(&call(Coalesce, [key.clone(), text("z")])).unwrap();
    assert!(!known.contains(&Value::Null) && known.len() == 5);
    assert_eq!(domain(&column("text")), None);
    assert_eq!(domain(&call(Concat, [key.clone(), column("text")])), None);
    assert_eq!(
        domain(&call(Concat, [key.clone(), key])).map(|d| d.len()),
        Some(5)
    );
    let truth = Some(vec![Value::Boolean(false), Value::Boolean(true)]);
    assert_eq!(domain(&column("flag")), truth);
    assert_eq!(domain(&call(Like, [column("text"), text("a%")])), truth);
    assert_eq!(domain(&Expr::integer(7)), integers([7]));
}

#[test]
fn integers_and_days_between_bounds_are_domains() {
    use Function::*;
    assert_eq!(domain(&column("small")), integers(-3..=12));
    assert_eq!(domain(&column("wide")), None);
    assert_eq!(domain(&column("day")).map(|days| days.len()), Some(411));
    assert_eq!(domain(&column("any day")), None);
    let even = call(Multiply, [column("positive"), Expr::integer(2)]);
    assert_eq!(domain(&even), integers((0..=14).step_by(2)));
    let tens = call(Bucket, [column("small"), Expr::integer(10)]);
    assert_eq!(domain(&tens), integers([-10, 0, 10]));
    let clamp = call(Greatest, [column("any integer"), Expr::integer(0)]);
    let clamp = call(Least, [clamp, Expr::integer(5)]);
    assert_eq!(domain(&clamp), integers(0..=5));
    let halves = domain(&call(Bucket, [column("number"), number(0.5)])).unwrap();
    assert_eq!(halves.first(), Some(&Value::Number(-1.5)));
    assert_eq!(halves.len(), 8);
    assert_eq!(domain(&call(Floor, [column("number")])).unwrap().len(), 5);
    let month = call(Extract(TimePart::Month), [column("any time")]);
    assert_eq!(domain(&month), integers(1..=12));
    let year = call(Extract(TimePart::Year), [column("any time")]);
    assert_eq!(year.domain(&columns(), &keys, 100_000), None);
    let months = domain(&call(Truncate(TimeUnit::Month), [column("day")])).unwrap();
    assert_eq!(months.len(), 15);
    let years = domain(&call(Truncate(TimeUnit::Year), [column("time")])).unwrap();
    assert_eq!(years.len(), 11);
    let hours = call(Truncate(TimeUnit::Hour), [column("time")]);
    assert_eq!(domain(&hours), None);
}

#[test]
fn results_of_cases_are_a_domain() {
    let case = |otherwise| Expr::Case {
        branches: vec![(
            call(Function::Less, [column("any number"), number(1.0)]),
            text("low"),
        )],
        otherwise: Box::new(otherwise),
    };
    let texts = |texts: &[&str]| -> Vec<Value> {
        texts
            .iter()
            .map(|text| Value::Text((*text).into()))
            .collect()
    };
    assert_eq!(domain(&case(text("high"))), Some(texts(&["high", "low"])));
    let nothing = domain(&case(Expr::Literal(Value::Null, Type::Text))).unwrap();
    assert_eq!(nothing[0], Value::Null);
    assert_eq!(nothing[1..], texts(&["low"]));
    assert_eq!(domain(&case(column("text"))), None);
    let upper = call(Function::Upper, [case(text("high"))]);
    assert_eq!(domain(&upper), Some(texts(&["HIGH", "LOW"])));
}

#[test]
fn deep_expressions_take_no_time() {
    use Function::*;
    let mut deep = [column("any integer"), column("small"), column("text")];
    for level in 0..190 {
        let literal = Expr::integer(level);
        deep[0] = call(
            Least,
            [
                deep[0].clone(),
                call(Greatest, [literal.clone(), deep[0].clone()]),
            ],
        );
        if level > 6 {
            deep[0] = call(Add, [call(Abs, [column("any integer")]), literal.clone()]);
        }
        deep[1] = call(
            NullIf,
            [call(Add, [deep[1].clone(), Expr::integer(1)]), literal],
        );
        deep[2] = call(Coalesce, [call(Lower, [deep[2].clone()]), text("x")]);
    }
    assert_eq!(domain(&deep[0]), None);
    assert_eq!(
        domain(&deep[1]).unwrap().last(),
        Some(&Value::Integer(12 + 190))
    );
    assert_eq!(domain(&deep[2]), None);
    let mut chain = column("any integer");
    for level in 0..100 {
        chain = call(
            Greatest,
            [call(Least, [chain, column("wide")]), Expr::integer(level)],
        );
    }
    assert_eq!(domain(&chain), None);
}
