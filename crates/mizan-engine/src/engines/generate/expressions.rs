//! Random well-typed expressions over columns.

use mizan_sql::{Column, Expr, Function, TimePart, TimeUnit, Type, Value};

use super::{Rng, value};

/// An expression of a type over columns.
pub(crate) fn expr(rng: &mut Rng, columns: &[Column], kind: Type, depth: usize) -> Expr {
    loop {
        let candidate = candidate(rng, columns, kind, depth);
        if candidate.type_of(columns) == Ok(kind) {
            return candidate;
        }
    }
}

fn candidate(rng: &mut Rng, columns: &[Column], kind: Type, depth: usize) -> Expr {
    if depth == 0 || rng.chance(25) {
        let mut places = (0..columns.len()).filter(|place| columns[*place].kind == kind);
        let places: Vec<usize> = places.by_ref().collect();
        if places.is_empty() || rng.chance(20) {
            return literal(rng, kind);
        }
        return Expr::Column(rng.one(&places));
    }
    let of = |rng: &mut Rng, kind: Type| expr(rng, columns, kind, depth - 1);
    match rng.below(12) {
        0 => {
            let branches = (0..=rng.below(2))
                .map(|_| (of(rng, Type::Boolean), of(rng, kind)))
                .collect();
            return Expr::Case {
                branches,
                otherwise: Box::new(of(rng, kind)),
            };
        }
        1 => {
            let parts: Vec<Expr> = (0..2 + rng.below(2)).map(|_| of(rng, kind)).collect();
            let function = rng.one(&[Function::Coalesce, Function::Least, Function::Greatest]);
            return Expr::call(function, parts);
        }
        2 => return Expr::call(Function::NullIf, [of(rng, kind), of(rng, kind)]),
        3 | 4 => {
            let from = rng.one(&Type::ALL);
            return Expr::Cast(Box::new(of(rng, from)), kind);
        }
        _ => {}
    }
    let any = rng.one(&Type::ALL);
    let numeric = rng.one(&[Type::Integer, Type::Number]);
    let timed = rng.one(&[Type::Date, Type::Timestamp]);
    match kind {
        Type::Boolean => match rng.below(6) {
            0 => Expr::call(Function::Not, [of(rng, kind)]),
            1 => Expr::call(Function::IsNull, [of(rng, any)]),
            2 => {
                let mut parts = vec![of(rng, any)];
                parts.extend((0..1 + rng.below(3)).map(|_| literal(rng, any)));
                Expr::call(Function::In, parts)
            }
            3 => {
                let pattern = rng.one(&["a%", "%b", "_", "%a%", "a\\%b", "", "%", "a_b", "é"]);
                let pattern = Expr::Literal(Value::Text(pattern.to_owned()), Type::Text);
                Expr::call(Function::Like, [of(rng, Type::Text), pattern])
            }
            4 => {
                let function = rng.one(&[Function::And, Function::Or]);
                let parts: Vec<Expr> = (0..2 + rng.below(2)).map(|_| of(rng, kind)).collect();
                Expr::call(function, parts)
            }
            _ => {
                let function = rng.one(&[
                    Function::Equal,
                    Function::NotEqual,
                    Function::Less,
                    Function::LessOrEqual,
                    Function::Greater,
                    Function::GreaterOrEqual,
                ]);
                let other = if any.is_numeric() { numeric } else { any };
                Expr::call(function, [of(rng, any), of(rng, other)])
            }
        },
        Type::Integer => match rng.below(5) {
            0 => Expr::call(Function::Length, [of(rng, Type::Text)]),
            1 => {
                let part = rng.one(&TimePart::ALL);
                Expr::call(Function::Extract(part), [of(rng, timed)])
            }
            2 => {
                let function = rng.one(&[
                    Function::Negate,
                    Function::Abs,
                    Function::Sign,
                    Function::Floor,
                    Function::Ceil,
                    Function::Round,
                ]);
                Expr::call(function, [of(rng, kind)])
            }
            3 => Expr::call(Function::Bucket, [of(rng, kind), Expr::integer(3)]),
            _ => {
                let function = rng.one(&[
                    Function::Add,
                    Function::Subtract,
                    Function::Multiply,
                    Function::Remainder,
                ]);
                Expr::call(function, [of(rng, kind), of(rng, kind)])
            }
        },
        Type::Number => match rng.below(3) {
            0 => {
                let function = rng.one(&[
                    Function::Negate,
                    Function::Abs,
                    Function::Sign,
                    Function::Floor,
                    Function::Ceil,
                    Function::Round,
                    Function::Sqrt,
                ]);
                Expr::call(function, [of(rng, kind)])
            }
            1 => {
                let width = Expr::Literal(Value::Number(0.75), Type::Number);
                Expr::call(Function::Bucket, [of(rng, numeric), width])
            }
            _ => {
                let function = rng.one(&[
                    Function::Add,
                    Function::Subtract,
                    Function::Multiply,
                    Function::Divide,
                ]);
                let other = rng.one(&[Type::Integer, Type::Number]);
                Expr::call(function, [of(rng, numeric), of(rng, other)])
            }
        },
        Type::Text => match rng.below(3) {
            0 => {
                let function = rng.one(&[Function::Lower, Function::Upper, Function::Trim]);
                Expr::call(function, [of(rng, kind)])
            }
            1 => {
                let parts = [of(rng, kind), Expr::integer(1), Expr::integer(2)];
                Expr::call(Function::Substring, parts)
            }
            _ => {
                let mut parts = vec![of(rng, kind), of(rng, kind)];
                // Derived from the state without advancing it, so that seeds keep their plans.
                let around = usize::try_from(rng.state() % 24).unwrap();
                if around < 4 {
                    let long = "x".repeat(mizan_sql::LONGEST_COMPUTED_TEXT - around);
                    parts.insert(around % 3, Expr::Literal(Value::Text(long), Type::Text));
                }
                Expr::call(Function::Concat, parts)
            }
        },
        Type::Date | Type::Timestamp => {
            let unit = rng.one(&TimeUnit::ALL);
            Expr::call(Function::Truncate(unit), [of(rng, kind)])
        }
    }
}

fn literal(rng: &mut Rng, kind: Type) -> Expr {
    Expr::Literal(value(rng, kind), kind)
}
