//! Random well-typed expressions over columns of every type, and rows for them with edge cases.

use mizan_sql::{Bounds, Column, Expr, Function, TimePart, TimeUnit, Type, Value};
use proptest::prelude::*;

/// Choices from numbers that proptest shrinks. When the numbers are used up, every choice is the
/// first.
pub(crate) struct Source {
    choices: Vec<u32>,
    at: usize,
}

impl Source {
    pub(crate) fn new(choices: Vec<u32>) -> Self {
        Self { choices, at: 0 }
    }

    fn next(&mut self) -> u32 {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    pub(crate) fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }

    pub(crate) fn bits(&mut self) -> u64 {
        u64::from(self.next()) << 32 | u64::from(self.next())
    }
}

pub(crate) fn choices() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..160)
}

pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").ok();
    ProptestConfig {
        cases: set.and_then(|cases| cases.parse().ok()).unwrap_or(usual),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn column(name: &str, kind: Type, bounds: Option<(f64, f64)>) -> Column {
    Column {
        name: name.into(),
        kind,
        bounds: bounds.map(|(low, high)| Bounds::new(low, high).unwrap()),
    }
}

/// Columns of every type, with and without bounds.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        column("flag", Type::Boolean, None),
        column("small", Type::Integer, Some((-3.0, 12.0))),
        column("wide", Type::Integer, Some((-1e18, 4e18))),
        column("any integer", Type::Integer, None),
        column("positive", Type::Integer, Some((0.0, 7.0))),
        column("number", Type::Number, Some((-1.5, 2.25))),
        column("huge", Type::Number, Some((-1e300, 1e308))),
        column("any number", Type::Number, None),
        column("tiny", Type::Number, Some((5e-324, 1e-300))),
        column("text", Type::Text, None),
        column("key", Type::Text, None),
        column("day", Type::Date, Some((18_990.0, 19_400.0))),
        column("any day", Type::Date, None),
        column("time", Type::Timestamp, Some((-2e12, 3e14))),
        column("late", Type::Timestamp, Some((2.4e17, 2.53e17))),
        column("any time", Type::Timestamp, None),
    ]
}

/// The declared keys; only the column "key" has some.
pub(crate) fn keys(place: usize) -> Option<Vec<Value>> {
    (place == 10).then(|| {
        ["", "a", "B%", "é"]
            .map(|text| Value::Text(text.into()))
            .into_iter()
            .chain([Value::Null])
            .collect()
    })
}

/// A value that a column can hold, within its bounds.
pub(crate) fn value(source: &mut Source, place: usize, column: &Column) -> Value {
    if source.below(6) == 5 {
        return Value::Null;
    }
    if let Some(keys) = keys(place) {
        return source.pick(&keys);
    }
    match column.kind {
        Type::Number => {
            let special = [
                0.0,
                -0.0,
                0.5,
                -0.5,
                1.0,
                2.0,
                1e16,
                f64::MAX,
                f64::MIN,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::MIN_POSITIVE,
                5e-324,
                0.49999999999999994,
            ];
            let value = match source.below(4) {
                0 => f64::from_bits(source.bits()),
                1 => (source.bits() % 1000) as f64 / 64.0 - 4.0,
                _ => source.pick(&special),
            };
            match column.bounds {
                Some(bounds) if value.is_nan() => Value::Number(bounds.low),
                Some(bounds) => Value::Number(value.clamp(bounds.low, bounds.high)),
                None => Value::Number(value),
            }
        }
        Type::Boolean => Value::Boolean(source.below(2) == 1),
        Type::Text => Value::Text(text(source)),
        Type::Integer => Value::Integer(integer(source, column.bounds)),
        Type::Timestamp => Value::Timestamp(integer(source, column.bounds)),
        Type::Date => {
            let range = i64::from(i32::MIN)..=i64::from(i32::MAX);
            let day = integer(source, column.bounds);
            Value::Date(day.clamp(*range.start(), *range.end()) as i32)
        }
    }
}

fn integer(source: &mut Source, bounds: Option<Bounds>) -> i64 {
    let special = [
        0,
        1,
        -1,
        2,
        7,
        i64::MIN,
        i64::MAX,
        i64::MIN + 1,
        1 << 53,
        (1 << 53) + 1,
        -(1 << 53) - 1,
        86_400_000_000,
        253_402_300_799_999_999,
        253_402_300_800_000_000,
        -62_135_596_800_000_000,
        -719_162,
        -719_163,
        2_932_896,
        2_932_897,
        19_000,
    ];
    let (low, high) = bounds.map_or((i64::MIN, i64::MAX), |bounds| {
        (bounds.low as i64, bounds.high as i64)
    });
    let span = (i128::from(high) - i128::from(low) + 1) as u128;
    match source.below(3) {
        0 => (i128::from(low) + (u128::from(source.bits()) % span) as i128) as i64,
        1 => source.pick(&[low, high]),
        _ => source.pick(&special).clamp(low, high),
    }
}

fn text(source: &mut Source) -> String {
    source
        .pick(&[
            "",
            " ",
            "a",
            "A b",
            "  trim ",
            "é\u{301}ß",
            "100%",
            "_x",
            r"\",
            "0",
            "-7",
            " 12 ",
            "1.5",
            "1e400",
            "nan",
            "inf",
            "9223372036854775808",
            "2024-02-29",
            "2023-02-29",
            "2024-02-29T12:30:45.123456Z",
            "true",
            "F",
            "\u{0}",
            "𝄞𝄞",
            "İI",
        ])
        .to_owned()
}

pub(crate) fn row(source: &mut Source, columns: &[Column]) -> Vec<Value> {
    let places = columns.iter().enumerate();
    places
        .map(|(place, column)| value(source, place, column))
        .collect()
}

pub(crate) fn literal(source: &mut Source, kind: Type) -> Expr {
    if source.below(8) == 7 {
        return Expr::Literal(Value::Null, kind);
    }
    let value = match kind {
        Type::Boolean => Value::Boolean(source.below(2) == 1),
        Type::Integer => Value::Integer(source.pick(&[
            0,
            1,
            -1,
            3,
            10,
            100,
            -7,
            i64::MIN,
            i64::MAX,
            (1 << 53) + 1,
        ])),
        Type::Number => Value::Number(source.pick(&[
            0.0,
            1.0,
            -1.0,
            0.1,
            0.5,
            2.5,
            -1e9,
            1e-320,
            1e200,
            f64::MAX,
        ])),
        Type::Text => Value::Text(text(source)),
        Type::Date => Value::Date(source.pick(&[0, 19_000, -719_162, 2_932_896])),
        Type::Timestamp => Value::Timestamp(source.pick(&[
            0,
            1,
            -1,
            1_700_000_000_000_000,
            253_402_300_799_999_999,
            -62_135_596_800_000_000,
        ])),
    };
    Expr::Literal(value, kind)
}

fn leaf(source: &mut Source, kind: Type, columns: &[Column]) -> Expr {
    let places: Vec<_> = (0..columns.len())
        .filter(|place| columns[*place].kind == kind)
        .collect();
    if places.is_empty() || source.below(3) == 2 {
        literal(source, kind)
    } else {
        Expr::Column(source.pick(&places))
    }
}

/// An expression of a type.
pub(crate) fn expr(source: &mut Source, kind: Type, depth: usize, columns: &[Column]) -> Expr {
    if depth == 0 || source.below(5) == 0 {
        return leaf(source, kind, columns);
    }
    let depth = depth - 1;
    let any = source.pick(&Type::ALL);
    let numeric = [Type::Integer, Type::Number];
    match source.below(12) {
        0 => {
            let branches = (0..source.below(3))
                .map(|_| {
                    (
                        expr(source, Type::Boolean, depth, columns),
                        expr(source, kind, depth, columns),
                    )
                })
                .collect();
            return Expr::Case {
                branches,
                otherwise: Box::new(expr(source, kind, depth, columns)),
            };
        }
        1 => {
            let from: Vec<_> = Type::ALL
                .into_iter()
                .filter(|from| {
                    let cast = Expr::Cast(Box::new(Expr::Literal(Value::Null, *from)), kind);
                    cast.type_of(&[]).is_ok()
                })
                .collect();
            let from = source.pick(&from);
            return Expr::Cast(Box::new(expr(source, from, depth, columns)), kind);
        }
        2 => {
            let function = source.pick(&[Function::Least, Function::Greatest, Function::Coalesce]);
            let count = 1 + source.below(3);
            let arguments: Vec<_> = (0..count)
                .map(|_| expr(source, kind, depth, columns))
                .collect();
            return Expr::call(function, arguments);
        }
        3 => {
            let arguments = [
                expr(source, kind, depth, columns),
                expr(source, kind, depth, columns),
            ];
            return Expr::call(Function::NullIf, arguments);
        }
        _ => {}
    }
    let mut of = |kinds: &[Type], source: &mut Source| -> Vec<Expr> {
        kinds
            .iter()
            .map(|kind| expr(source, *kind, depth, columns))
            .collect()
    };
    match kind {
        Type::Boolean => match source.below(8) {
            0 => Expr::call(Function::Not, of(&[Type::Boolean], source)),
            1 => Expr::call(Function::IsNull, of(&[any], source)),
            2 => Expr::call(Function::And, of(&[Type::Boolean; 2], source)),
            3 => Expr::call(Function::Or, of(&[Type::Boolean; 3], source)),
            4 => {
                let mut arguments = of(&[any], source);
                for _ in 0..=source.below(3) {
                    arguments.push(literal(source, any));
                }
                Expr::call(Function::In, arguments)
            }
            5 => {
                let mut arguments = of(&[Type::Text], source);
                let pattern = source.pick(&["%", "a%", "_", "%b", r"\%%", r"%\\", "", "%_%", "é%"]);
                arguments.push(Expr::Literal(Value::Text(pattern.into()), Type::Text));
                Expr::call(Function::Like, arguments)
            }
            _ => {
                let function = source.pick(&[
                    Function::Equal,
                    Function::NotEqual,
                    Function::Less,
                    Function::LessOrEqual,
                    Function::Greater,
                    Function::GreaterOrEqual,
                ]);
                if any.is_numeric() {
                    let kinds = [source.pick(&numeric), source.pick(&numeric)];
                    Expr::call(function, of(&kinds, source))
                } else {
                    Expr::call(function, of(&[any; 2], source))
                }
            }
        },
        Type::Integer => match source.below(6) {
            0 => Expr::call(Function::Remainder, of(&[Type::Integer; 2], source)),
            1 => Expr::call(Function::Length, of(&[Type::Text], source)),
            2 => {
                let part = source.pick(&TimePart::ALL);
                let kind = if part.is_within_day() {
                    Type::Timestamp
                } else {
                    source.pick(&[Type::Date, Type::Timestamp])
                };
                Expr::call(Function::Extract(part), of(&[kind], source))
            }
            3 => {
                let mut arguments = of(&[Type::Integer], source);
                arguments.push(Expr::integer(source.pick(&[1, 2, 10, 1 << 40, i64::MAX])));
                Expr::call(Function::Bucket, arguments)
            }
            4 => {
                let function =
                    source.pick(&[Function::Add, Function::Subtract, Function::Multiply]);
                Expr::call(function, of(&[Type::Integer; 2], source))
            }
            _ => unary(source, Type::Integer, &mut of),
        },
        Type::Number => match source.below(5) {
            0 => {
                let kinds = [source.pick(&numeric), source.pick(&numeric)];
                Expr::call(Function::Divide, of(&kinds, source))
            }
            1 => {
                let kind = source.pick(&numeric);
                Expr::call(Function::Sqrt, of(&[kind], source))
            }
            2 => {
                let mut arguments = of(&[Type::Number], source);
                let width = source.pick(&[0.1, 1.0, 2.5, 1e-300, 1e300]);
                arguments.push(Expr::Literal(Value::Number(width), Type::Number));
                Expr::call(Function::Bucket, arguments)
            }
            3 => {
                let function =
                    source.pick(&[Function::Add, Function::Subtract, Function::Multiply]);
                let mut kinds = [Type::Number, source.pick(&numeric)];
                if source.below(2) == 0 {
                    kinds.reverse();
                }
                Expr::call(function, of(&kinds, source))
            }
            _ => unary(source, Type::Number, &mut of),
        },
        Type::Text => match source.below(3) {
            0 => {
                let function = source.pick(&[Function::Lower, Function::Upper, Function::Trim]);
                Expr::call(function, of(&[Type::Text], source))
            }
            1 => {
                let mut arguments = of(&[Type::Text; 2], source);
                // Sometimes close to the longest concatenation.
                let around = source.below(20);
                if around < 4 {
                    let long = "x".repeat(mizan_sql::LONGEST_COMPUTED_TEXT - around);
                    arguments.push(Expr::Literal(Value::Text(long), Type::Text));
                }
                Expr::call(Function::Concat, arguments)
            }
            _ => {
                let mut arguments = of(&[Type::Text], source);
                arguments.push(Expr::integer(source.pick(&[1, 2, i64::MAX])));
                arguments.push(Expr::integer(source.pick(&[0, 1, 3, i64::MAX])));
                Expr::call(Function::Substring, arguments)
            }
        },
        Type::Date => {
            let unit = source.pick(&TimeUnit::ALL[..5]);
            Expr::call(Function::Truncate(unit), of(&[Type::Date], source))
        }
        Type::Timestamp => {
            let unit = source.pick(&TimeUnit::ALL);
            Expr::call(Function::Truncate(unit), of(&[Type::Timestamp], source))
        }
    }
}

fn unary(
    source: &mut Source,
    kind: Type,
    of: &mut impl FnMut(&[Type], &mut Source) -> Vec<Expr>,
) -> Expr {
    let function = source.pick(&[
        Function::Negate,
        Function::Abs,
        Function::Sign,
        Function::Floor,
        Function::Ceil,
        Function::Round,
    ]);
    Expr::call(function, of(&[kind], source))
}
