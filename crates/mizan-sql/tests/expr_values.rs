//! Tables of the values of each function for each kind of argument.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use Function::*;
use mizan_sql::{
    Expr, Function, LONGEST_COMPUTED_TEXT, LONGEST_STORED_TEXT, TimePart, TimeUnit, Type, Value,
};

const INF: f64 = f64::INFINITY;

fn i(value: i64) -> Value {
    Value::Integer(value)
}

fn n(value: f64) -> Value {
    Value::Number(value)
}

fn t(value: &str) -> Value {
    Value::Text(value.into())
}

fn b(value: bool) -> Value {
    Value::Boolean(value)
}

const NULL: Value = Value::Null;

/// The arguments come from columns of a row.
fn call(function: Function, values: &[Value]) -> Value {
    let arguments: Vec<_> = (0..values.len()).map(Expr::Column).collect();
    Expr::call(function, arguments).eval(values)
}

fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => a.to_bits() == b.to_bits(),
        _ => found == expected && found.type_of() == expected.type_of(),
    }
}

fn table(cases: &[(Function, &[Value], Value)]) {
    for (function, values, expected) in cases {
        let found = call(*function, values);
        assert!(same(&found, expected), "{function:?} {values:?}: {found:?}");
    }
}

#[test]
fn integer_overflow_is_null() {
    table(&[
        (Add, &[i(2), i(3)], i(5)),
        (Add, &[i(i64::MAX), i(1)], NULL),
        (Add, &[i(1), NULL], NULL),
        (Subtract, &[i(i64::MIN), i(1)], NULL),
        (Subtract, &[i(-2), i(i64::MIN)], i(i64::MAX - 1)),
        (Multiply, &[i(i64::MIN), i(-1)], NULL),
        (Multiply, &[i(1 << 32), i(1 << 31)], NULL),
        (Multiply, &[i(-(1 << 32)), i(1 << 31)], i(i64::MIN)),
        (Divide, &[i(7), i(2)], n(3.5)),
        (Divide, &[i(1), i(0)], NULL),
        (
            Divide,
            &[i(i64::MIN), i(-1)],
            n(9_223_372_036_854_775_808.0),
        ),
        (Divide, &[i(0), i(-5)], n(0.0)),
        (Remainder, &[i(7), i(-3)], i(1)),
        (Remainder, &[i(-7), i(3)], i(-1)),
        (Remainder, &[i(7), i(0)], NULL),
        (Remainder, &[i(i64::MIN), i(-1)], i(0)),
        (Remainder, &[i(7), n(2.0)], NULL),
        (Negate, &[i(i64::MIN)], NULL),
        (Negate, &[i(4)], i(-4)),
        (Abs, &[i(i64::MIN)], NULL),
        (Abs, &[i(-4)], i(4)),
        (Sign, &[i(i64::MIN)], i(-1)),
        (Sign, &[i(0)], i(0)),
        (Floor, &[i(i64::MAX)], i(i64::MAX)),
        (Round, &[i((1 << 53) + 1)], i((1 << 53) + 1)),
    ]);
}

#[test]
fn arithmetic_of_numbers_is_never_nan() {
    table(&[
        (Add, &[n(INF), n(-INF)], NULL),
        (Add, &[n(f64::MAX), n(f64::MAX)], n(INF)),
        (Add, &[n(-0.0), n(-0.0)], n(0.0)),
        (Add, &[i((1 << 53) + 1), n(0.0)], n(9_007_199_254_740_992.0)),
        (Multiply, &[n(INF), n(0.0)], NULL),
        (Multiply, &[n(-1.0), n(0.0)], n(0.0)),
        (Divide, &[n(1.0), n(-0.0)], NULL),
        (Divide, &[n(INF), n(INF)], NULL),
        (Divide, &[n(1.0), n(INF)], n(0.0)),
        (Divide, &[n(1.0), n(3.0)], n(1.0 / 3.0)),
        (Add, &[n(f64::NAN), n(1.0)], NULL),
        (Negate, &[n(0.0)], n(0.0)),
        (Abs, &[n(-0.0)], n(0.0)),
        (Abs, &[n(-INF)], n(INF)),
        (Sign, &[n(-0.0)], n(0.0)),
        (Sign, &[n(-INF)], n(-1.0)),
        (Sign, &[n(5e-324)], n(1.0)),
        (Floor, &[n(-0.5)], n(-1.0)),
        (Ceil, &[n(-0.5)], n(0.0)),
        (Round, &[n(-0.5)], n(-1.0)),
        (Round, &[n(2.5)], n(3.0)),
        (Round, &[n(0.49999999999999994)], n(0.0)),
        (Round, &[n(-INF)], n(-INF)),
        (Sqrt, &[n(-1.0)], NULL),
        (Sqrt, &[n(-0.0)], n(0.0)),
        (Sqrt, &[i(2)], n(2_f64.sqrt())),
        (Sqrt, &[n(INF)], n(INF)),
    ]);
}

#[test]
fn buckets_are_multiples_at_or_below() {
    table(&[
        (Bucket, &[i(17), i(10)], i(10)),
        (Bucket, &[i(-1), i(10)], i(-10)),
        (Bucket, &[i(-10), i(10)], i(-10)),
        (Bucket, &[i(i64::MIN), i(10)], NULL),
        (Bucket, &[i(i64::MIN), i(2)], i(i64::MIN)),
        (Bucket, &[i(i64::MAX), i(i64::MAX)], i(i64::MAX)),
        (Bucket, &[i(17), n(2.5)], n(15.0)),
        (Bucket, &[n(-0.1), i(5)], n(-5.0)),
        (Bucket, &[n(0.3), n(0.1)], n(0.2)),
        (Bucket, &[n(INF), n(1.0)], n(INF)),
        (Bucket, &[n(1e300), n(1e-300)], n(INF)),
        (Bucket, &[n(1.0), n(0.0)], NULL),
        (Bucket, &[i(1), i(0)], NULL),
        (Bucket, &[NULL, i(1)], NULL),
    ]);
}

#[test]
fn comparisons_and_logic_have_three_values() {
    table(&[
        (Equal, &[i(1), n(1.0)], b(true)),
        (Equal, &[n(0.0), n(-0.0)], b(true)),
        (Equal, &[NULL, NULL], NULL),
        (Equal, &[n(f64::NAN), n(f64::NAN)], NULL),
        (
            Equal,
            &[i((1 << 53) + 1), n(9_007_199_254_740_992.0)],
            b(true),
        ),
        (Less, &[i(i64::MAX - 1), i(i64::MAX)], b(true)),
        (Less, &[n(1e308), n(INF)], b(true)),
        (Less, &[t("Z"), t("a")], b(true)),
        (Less, &[t("z"), t("é")], b(true)),
        (Less, &[b(false), b(true)], b(true)),
        (GreaterOrEqual, &[Value::Date(2), Value::Date(2)], b(true)),
        (
            NotEqual,
            &[Value::Timestamp(1), Value::Timestamp(2)],
            b(true),
        ),
        (LessOrEqual, &[i(1), t("1")], NULL),
        (And, &[b(false), NULL], b(false)),
        (And, &[b(true), NULL], NULL),
        (And, &[b(true), b(true), b(true)], b(true)),
        (Or, &[b(true), NULL], b(true)),
        (Or, &[b(false), NULL], NULL),
        (Or, &[b(false), b(false)], b(false)),
        (Not, &[NULL], NULL),
        (Not, &[b(true)], b(false)),
        (IsNull, &[n(f64::NAN)], b(true)),
        (IsNull, &[t("")], b(false)),
        (In, &[i(1), i(2), n(1.0)], b(true)),
        (In, &[i(1), i(2), NULL], NULL),
        (In, &[i(1), NULL, i(1)], b(true)),
        (In, &[NULL, i(1)], NULL),
        (In, &[i(1), i(2)], b(false)),
        (Coalesce, &[NULL, n(f64::NAN), n(2.0)], n(2.0)),
        (Coalesce, &[NULL, NULL], NULL),
        (NullIf, &[i(1), i(1)], NULL),
        (NullIf, &[i(1), NULL], i(1)),
        (NullIf, &[NULL, i(1)], NULL),
        (Least, &[i(3), NULL, i(-2)], i(-2)),
        (Greatest, &[n(-INF), n(1.0), NULL], n(1.0)),
        (Greatest, &[NULL, NULL], NULL),
        (Least, &[t("b"), t("B")], t("B")),
    ]);
}

#[test]
fn texts_are_of_code_points_and_ascii_has_cases() {
    table(&[
        (Lower, &[t("ÀBC İ")], t("Àbc İ")),
        (Upper, &[t("straße")], t("STRAßE")),
        (Trim, &[t("  a \t ")], t("a \t")),
        (Trim, &[t("\u{a0}a")], t("\u{a0}a")),
        (Length, &[t("e\u{301}𝄞")], i(3)),
        (Length, &[t("")], i(0)),
        (Substring, &[t("𝄞bc"), i(1), i(2)], t("𝄞b")),
        (Substring, &[t("abc"), i(3), i(i64::MAX)], t("c")),
        (Substring, &[t("abc"), i(i64::MAX), i(i64::MAX)], t("")),
        (Substring, &[t("abc"), i(0), i(2)], NULL),
        (Substring, &[NULL, i(1), i(2)], NULL),
        (Concat, &[t("a"), t(""), t("b")], t("ab")),
        (Concat, &[t("a"), NULL], NULL),
    ]);
}

#[test]
fn texts_are_bounded() {
    let most = t(&"x".repeat(LONGEST_COMPUTED_TEXT));
    let more = t(&"x".repeat(LONGEST_COMPUTED_TEXT + 1));
    let half = t(&"x".repeat(LONGEST_COMPUTED_TEXT / 2));
    table(&[
        (Concat, &[half.clone(), half.clone()], most.clone()),
        (Concat, &[most.clone(), t("")], most.clone()),
        (Concat, &[most.clone(), t("y")], NULL),
        (Concat, &[t("é"), half.clone(), half], NULL),
        (Concat, std::slice::from_ref(&more), NULL),
        (
            Upper,
            std::slice::from_ref(&most),
            t(&"X".repeat(LONGEST_COMPUTED_TEXT)),
        ),
        (Upper, std::slice::from_ref(&more), NULL),
        (Lower, std::slice::from_ref(&more), NULL),
        (Trim, std::slice::from_ref(&more), NULL),
        (Substring, &[more.clone(), i(1), i(i64::MAX)], NULL),
        // Only the length of the computed text is limited, not that of the arguments.
        (Substring, &[more.clone(), i(2), i(i64::MAX)], most.clone()),
        (
            Trim,
            &[t(&format!("  {}  ", "x".repeat(LONGEST_COMPUTED_TEXT)))],
            most.clone(),
        ),
        // A text that is chosen is not computed.
        (Coalesce, &[NULL, more.clone()], more.clone()),
        (Greatest, &[t("a"), more.clone()], more.clone()),
        (NullIf, &[more.clone(), t("a")], more.clone()),
    ]);
    let stored = |length: usize| Expr::Column(0).eval(&[t(&"x".repeat(length))]);
    assert!(!stored(LONGEST_STORED_TEXT).is_null());
    assert!(stored(LONGEST_STORED_TEXT + 1).is_null());
}

#[test]
fn nested_concatenations_are_one() {
    let text = |length: usize| Expr::Literal(t(&"x".repeat(length)), Type::Text);
    let all = |parts: Vec<Expr>| Expr::call(Concat, parts);
    let third = LONGEST_COMPUTED_TEXT / 3;
    for (a, b, c) in [(third, third, third), (third, 2 * third, third), (1, 2, 3)] {
        let [a, b, c] = [a, b, c].map(text);
        let flat = all(vec![a.clone(), b.clone(), c.clone()]).eval(&[]);
        let left = all(vec![all(vec![a.clone(), b.clone()]), c.clone()]).eval(&[]);
        let right = all(vec![a, all(vec![b, c])]).eval(&[]);
        assert!(left == flat && right == flat);
    }
}

#[test]
fn like_patterns() {
    let cases = [
        ("", "", true),
        ("", "%", true),
        ("", "_", false),
        ("abc", "a%", true),
        ("abc", "%c", true),
        ("abc", "%b%", true),
        ("abc", "a_c", true),
        ("abc", "b", false),
        ("abc", "%d%", false),
        ("é", "_", true),
        ("a\nb", "a%b", true),
        ("100%", r"100\%", true),
        ("1000", r"100\%", false),
        (r"a\b", r"a\\b", true),
        ("a_b", r"a\_b", true),
        ("axb", r"a\_b", false),
        ("aab", "%ab", true),
        ("abab", "%ab", true),
        ("mississippi", "m%iss%ip_i", true),
        ("mississippi", "m%iss%ipx%", false),
        ("a.c", "a.c", true),
        ("abc", "a.c", false),
        ("ABC", "abc", false),
    ];
    for (text, pattern, expected) in cases {
        assert_eq!(
            call(Like, &[t(text), t(pattern)]),
            b(expected),
            "{text:?} {pattern:?}"
        );
    }
    // Naive backtracking takes exponential time here.
    let long = "a".repeat(20_000);
    let pattern = "%a".repeat(200) + "b";
    assert_eq!(call(Like, &[t(&long), t(&pattern)]), b(false));
}

#[test]
fn days_and_times() {
    let day = |text: &str| Type::Date.read(text);
    let time = |text: &str| Type::Timestamp.read(text);
    table(&[
        (
            Truncate(TimeUnit::Year),
            &[day("2024-02-29")],
            day("2024-01-01"),
        ),
        (
            Truncate(TimeUnit::Quarter),
            &[day("2024-06-30")],
            day("2024-04-01"),
        ),
        (
            Truncate(TimeUnit::Week),
            &[day("2024-03-03")],
            day("2024-02-26"),
        ),
        (
            Truncate(TimeUnit::Week),
            &[day("0001-01-07")],
            day("0001-01-01"),
        ),
        (Truncate(TimeUnit::Hour), &[day("2024-03-03")], NULL),
        (
            Truncate(TimeUnit::Minute),
            &[time("1969-12-31T23:59:59.5")],
            time("1969-12-31T23:59:00"),
        ),
        (
            Truncate(TimeUnit::Month),
            &[time("2024-03-03T10:00:00")],
            time("2024-03-01"),
        ),
        (Extract(TimePart::Week), &[day("2021-01-03")], i(53)),
        (Extract(TimePart::DayOfWeek), &[day("2021-01-03")], i(0)),
        (Extract(TimePart::DayOfYear), &[day("2024-12-31")], i(366)),
        (
            Extract(TimePart::Second),
            &[time("1969-12-31T23:59:59.999999")],
            i(59),
        ),
        (Extract(TimePart::Year), &[day("9999-12-31")], i(9999)),
        (Extract(TimePart::Hour), &[day("2024-12-31")], NULL),
        (Extract(TimePart::Year), &[Value::Date(i32::MAX)], NULL),
        (Extract(TimePart::Year), &[Value::Timestamp(i64::MIN)], NULL),
        (
            Truncate(TimeUnit::Second),
            &[Value::Timestamp(i64::MAX)],
            NULL,
        ),
        (Truncate(TimeUnit::Day), &[Value::Date(i32::MIN)], NULL),
        (Extract(TimePart::Year), &[i(0)], NULL),
    ]);
}

#[test]
fn casts() {
    use Type::*;
    let cases = [
        (b(true), Integer, i(1)),
        (b(true), Number, n(1.0)),
        (b(false), Text, t("false")),
        (i(-5), Boolean, b(true)),
        (i(0), Boolean, b(false)),
        (i(i64::MAX), Number, n(9_223_372_036_854_775_808.0)),
        (i(i64::MIN), Text, t("-9223372036854775808")),
        (n(-2.9), Integer, i(-3)),
        (n(2.9), Integer, i(3)),
        (n(12.6), Integer, i(13)),
        (n(2.5), Integer, i(2)),
        (n(-3.5), Integer, i(-4)),
        (n(0.5), Integer, i(0)),
        (
            n(4_503_599_627_370_495.5),
            Integer,
            i(4_503_599_627_370_496),
        ),
        (n(9_223_372_036_854_775_808.0), Integer, NULL),
        (n(-9_223_372_036_854_775_808.0), Integer, i(i64::MIN)),
        (n(INF), Integer, NULL),
        (n(f64::NAN), Integer, NULL),
        (n(1.0), Text, NULL),
        (t("12"), Integer, i(12)),
        (t("12.5"), Integer, NULL),
        (t("nan"), Number, NULL),
        (t("-0"), Number, n(0.0)),
        (t("x"), Boolean, NULL),
        (t(" x"), Text, t(" x")),
        (Value::Date(1), Timestamp, Value::Timestamp(86_400_000_000)),
        (Value::Date(i32::MAX), Timestamp, NULL),
        (Value::Date(1), Text, t("1970-01-02")),
        (Value::Date(1), Integer, i(1)),
        (Value::Timestamp(-1), Date, Value::Date(-1)),
        (Value::Timestamp(i64::MIN), Date, NULL),
        (Value::Timestamp(5), Integer, i(5)),
        (Value::Timestamp(0), Text, NULL),
        (i(-1), Date, Value::Date(-1)),
        (i(i64::MAX), Date, NULL),
        (i(i64::MAX), Timestamp, NULL),
        (i(7), Timestamp, Value::Timestamp(7)),
        (NULL, Text, NULL),
    ];
    for (value, to, expected) in cases {
        let row = [value.clone()];
        let found = Expr::Cast(Box::new(Expr::Column(0)), to).eval(&row);
        assert!(same(&found, &expected), "{value:?} as {to}: {found:?}");
    }
}

#[test]
fn cases_take_the_first_true_branch() {
    let case = Expr::Case {
        branches: vec![
            (Expr::Column(0), Expr::integer(1)),
            (Expr::Column(1), Expr::integer(2)),
        ],
        otherwise: Box::new(Expr::Literal(NULL, Type::Integer)),
    };
    assert_eq!(case.eval(&[b(true), b(true)]), i(1));
    assert_eq!(case.eval(&[NULL, b(true)]), i(2));
    assert_eq!(case.eval(&[b(false), NULL]), NULL);
    assert_eq!(case.eval(&[]), NULL);
}
