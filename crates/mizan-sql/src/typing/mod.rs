//! Type checking of expressions: argument counts, types, and arguments that must be literals.

mod problem;

pub use self::problem::TypeProblem;
use crate::expr::{Expr, Function};
use crate::relation::Column;
use crate::time;
use crate::value::{Type, Value};

impl Expr {
    /// The type over these columns.
    ///
    /// # Errors
    ///
    /// The innermost problem.
    pub fn type_of(&self, columns: &[Column]) -> Result<Type, TypeProblem> {
        match self {
            Self::Column(place) => match columns.get(*place) {
                Some(column) => Ok(column.kind),
                None => Err(TypeProblem::NoColumn {
                    place: *place,
                    columns: columns.len(),
                }),
            },
            Self::Literal(value, kind) => literal(value, *kind),
            Self::Call(function, arguments) => {
                let kinds: Result<Vec<_>, _> =
                    arguments.iter().map(|part| part.type_of(columns)).collect();
                call(*function, arguments, &kinds?)
            }
            Self::Case {
                branches,
                otherwise,
            } => {
                let result = otherwise.type_of(columns)?;
                for (when, then) in branches {
                    let found = when.type_of(columns)?;
                    if found != Type::Boolean {
                        return Err(TypeProblem::Argument {
                            function: "CASE",
                            expected: "conditions",
                            found,
                        });
                    }
                    same("CASE", &[result, then.type_of(columns)?])?;
                }
                Ok(result)
            }
            Self::Cast(inner, to) => cast(inner.type_of(columns)?, *to),
        }
    }
}

/// The type of a cast.
pub(crate) const fn cast(from: Type, to: Type) -> Result<Type, TypeProblem> {
    let known = match from {
        Type::Text => true,
        Type::Boolean => matches!(
            to,
            Type::Boolean | Type::Integer | Type::Number | Type::Text
        ),
        Type::Integer => true,
        Type::Number => matches!(to, Type::Number | Type::Integer),
        Type::Date => !matches!(to, Type::Boolean | Type::Number),
        Type::Timestamp => matches!(to, Type::Timestamp | Type::Date | Type::Integer),
    };
    if known {
        Ok(to)
    } else {
        Err(TypeProblem::NoCast { from, to })
    }
}

/// The type of a call with arguments of these types.
pub(crate) fn call(
    function: Function,
    arguments: &[Expr],
    kinds: &[Type],
) -> Result<Type, TypeProblem> {
    let name = function.name();
    count(function, kinds.len())?;
    let numeric = |kind: &Type| kind.is_numeric();
    let timed = |kind: &Type| matches!(kind, Type::Date | Type::Timestamp);
    let first = kinds.first().copied().unwrap_or(Type::Boolean);
    match function {
        Function::Add | Function::Subtract | Function::Multiply => {
            all(name, "numbers", kinds, numeric)?;
            Ok(widest(kinds))
        }
        Function::Divide | Function::Sqrt => {
            all(name, "numbers", kinds, numeric)?;
            Ok(Type::Number)
        }
        Function::Remainder => {
            all(name, "integers", kinds, |kind| *kind == Type::Integer)?;
            Ok(Type::Integer)
        }
        Function::Negate
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::Abs
        | Function::Sign => {
            all(name, "a number", kinds, numeric)?;
            Ok(first)
        }
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessOrEqual
        | Function::Greater
        | Function::GreaterOrEqual => {
            comparable(name, kinds)?;
            Ok(Type::Boolean)
        }
        Function::And | Function::Or | Function::Not => {
            all(name, "conditions", kinds, |kind| *kind == Type::Boolean)?;
            Ok(Type::Boolean)
        }
        Function::IsNull => Ok(Type::Boolean),
        Function::In => {
            comparable(name, kinds)?;
            for argument in arguments.iter().skip(1) {
                constant(name, "list", argument)?;
            }
            Ok(Type::Boolean)
        }
        Function::Like => {
            all(name, "text", kinds, |kind| *kind == Type::Text)?;
            let pattern = constant(name, "pattern", arguments.get(1).unwrap_or(&NOTHING))?;
            if !matches!(pattern, Value::Text(pattern) if is_pattern(pattern)) {
                return Err(TypeProblem::BadConstant {
                    function: name,
                    what: "pattern",
                    expected: r"text with backslashes only before %, _ or another backslash",
                });
            }
            Ok(Type::Boolean)
        }
        Function::NullIf => {
            comparable(name, kinds)?;
            Ok(first)
        }
        Function::Coalesce | Function::Least | Function::Greatest => same(name, kinds),
        Function::Lower | Function::Upper | Function::Trim | Function::Concat => {
            all(name, "text", kinds, |kind| *kind == Type::Text)?;
            Ok(Type::Text)
        }
        Function::Length => {
            all(name, "text", kinds, |kind| *kind == Type::Text)?;
            Ok(Type::Integer)
        }
        Function::Substring => substring(name, arguments, first),
        Function::Truncate(unit) => timed_call(name, unit.is_within_day(), kinds, timed, first),
        Function::Extract(part) => {
            timed_call(name, part.is_within_day(), kinds, timed, Type::Integer)
        }
        Function::Bucket => {
            all(name, "numbers", kinds, numeric)?;
            let width = constant(name, "width", arguments.get(1).unwrap_or(&NOTHING))?;
            if width.as_f64().is_some_and(|width| width > 0.0) {
                Ok(widest(kinds))
            } else {
                Err(TypeProblem::BadConstant {
                    function: name,
                    what: "width",
                    expected: "a number above 0",
                })
            }
        }
    }
}

/// Stands for a missing argument; the count is checked before.
static NOTHING: Expr = Expr::Literal(Value::Null, Type::Boolean);

fn literal(value: &Value, kind: Type) -> Result<Type, TypeProblem> {
    let right = match value {
        Value::Null => true,
        Value::Number(value) => kind == Type::Number && value.is_finite(),
        Value::Date(day) => kind == Type::Date && time::midnight(*day).is_some(),
        Value::Timestamp(time) => kind == Type::Timestamp && time::day_of(*time).is_some(),
        other => other.type_of() == Some(kind),
    };
    if right {
        Ok(kind)
    } else {
        Err(TypeProblem::BadLiteral { kind })
    }
}

fn count(function: Function, found: usize) -> Result<(), TypeProblem> {
    let (right, expected) = match function {
        Function::Negate
        | Function::Not
        | Function::IsNull
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::Abs
        | Function::Sign
        | Function::Sqrt
        | Function::Lower
        | Function::Upper
        | Function::Trim
        | Function::Length
        | Function::Truncate(_)
        | Function::Extract(_) => (found == 1, "one argument"),
        Function::And | Function::Or | Function::In => (found >= 2, "two arguments or more"),
        Function::Coalesce | Function::Least | Function::Greatest | Function::Concat => {
            (found >= 1, "one argument or more")
        }
        Function::Substring => (found == 3, "a text, a position and a length"),
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Remainder
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessOrEqual
        | Function::Greater
        | Function::GreaterOrEqual
        | Function::Like
        | Function::NullIf
        | Function::Bucket => (found == 2, "two arguments"),
    };
    if right {
        Ok(())
    } else {
        Err(TypeProblem::Arguments {
            function: function.name(),
            expected,
            found,
        })
    }
}

fn all(
    function: &'static str,
    expected: &'static str,
    kinds: &[Type],
    right: impl Fn(&Type) -> bool,
) -> Result<(), TypeProblem> {
    match kinds.iter().find(|kind| !right(kind)) {
        None => Ok(()),
        Some(found) => Err(TypeProblem::Argument {
            function,
            expected,
            found: *found,
        }),
    }
}

/// The common type of all arguments.
fn same(function: &'static str, kinds: &[Type]) -> Result<Type, TypeProblem> {
    let first = kinds.first().copied().unwrap_or(Type::Boolean);
    match kinds.iter().find(|kind| **kind != first) {
        None => Ok(first),
        Some(other) => Err(TypeProblem::Mixed {
            function,
            first,
            other: *other,
        }),
    }
}

fn comparable(function: &'static str, kinds: &[Type]) -> Result<(), TypeProblem> {
    if kinds.iter().all(|kind| kind.is_numeric()) {
        Ok(())
    } else {
        same(function, kinds).map(|_| ())
    }
}

fn widest(kinds: &[Type]) -> Type {
    if kinds.contains(&Type::Number) {
        Type::Number
    } else {
        Type::Integer
    }
}

fn constant<'a>(
    function: &'static str,
    what: &'static str,
    argument: &'a Expr,
) -> Result<&'a Value, TypeProblem> {
    match argument {
        Expr::Literal(value, _) => Ok(value),
        _ => Err(TypeProblem::NotConstant { function, what }),
    }
}

fn substring(name: &'static str, arguments: &[Expr], first: Type) -> Result<Type, TypeProblem> {
    all(name, "text", &[first], |kind| *kind == Type::Text)?;
    let [_, position, length] = arguments else {
        return count(Function::Substring, arguments.len()).map(|()| Type::Text);
    };
    let at_least = |what, argument, least, expected| match constant(name, what, argument)? {
        Value::Integer(value) if *value >= least => Ok(()),
        _ => Err(TypeProblem::BadConstant {
            function: name,
            what,
            expected,
        }),
    };
    at_least("position", position, 1, "an integer from 1")?;
    at_least("length", length, 0, "an integer from 0")?;
    Ok(Type::Text)
}

fn timed_call(
    name: &'static str,
    within_day: bool,
    kinds: &[Type],
    timed: impl Fn(&Type) -> bool,
    result: Type,
) -> Result<Type, TypeProblem> {
    if within_day {
        all(
            name,
            "of hours, minutes and seconds a timestamp",
            kinds,
            |kind| *kind == Type::Timestamp,
        )?;
    } else {
        all(name, "a date or a timestamp", kinds, timed)?;
    }
    Ok(result)
}

/// Whether every backslash stands before a character that it can escape.
fn is_pattern(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && !matches!(characters.next(), Some('%' | '_' | '\\')) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        Type::ALL
            .iter()
            .map(|kind| Column {
                name: kind.name().into(),
                kind: *kind,
                bounds: None,
            })
            .collect()
    }

    fn of(kind: Type) -> Expr {
        Expr::Column(Type::ALL.iter().position(|other| *other == kind).unwrap())
    }

    fn text(value: &str) -> Expr {
        Expr::Literal(Value::Text(value.into()), Type::Text)
    }

    fn check(function: Function, arguments: Vec<Expr>) -> Result<Type, &'static str> {
        Expr::call(function, arguments)
            .type_of(&columns())
            .map_err(|problem| {
                assert!(!problem.help().is_empty());
                assert!(!problem.to_string().is_empty());
                problem.code().as_str()
            })
    }

    #[test]
    fn integers_and_numbers_make_numbers() {
        let (i, n, t) = (of(Type::Integer), of(Type::Number), of(Type::Text));
        use Function::*;
        assert_eq!(check(Add, vec![i.clone(), i.clone()]), Ok(Type::Integer));
        assert_eq!(check(Add, vec![i.clone(), n.clone()]), Ok(Type::Number));
        assert_eq!(check(Divide, vec![i.clone(), i.clone()]), Ok(Type::Number));
        assert_eq!(check(Remainder, vec![i.clone(), n.clone()]), Err("MZ1882"));
        assert_eq!(check(Add, vec![i.clone(), t.clone()]), Err("MZ1882"));
        assert_eq!(check(Add, vec![i.clone()]), Err("MZ1881"));
        assert_eq!(check(Equal, vec![i.clone(), n.clone()]), Ok(Type::Boolean));
        assert_eq!(check(Equal, vec![i.clone(), t.clone()]), Err("MZ1883"));
        assert_eq!(check(Least, vec![i.clone(), n.clone()]), Err("MZ1883"));
        assert_eq!(check(Coalesce, vec![n.clone(), n]), Ok(Type::Number));
        assert_eq!(check(NullIf, vec![i.clone(), i]), Ok(Type::Integer));
        assert_eq!(check(Coalesce, vec![]), Err("MZ1881"));
        assert_eq!(check(IsNull, vec![t]), Ok(Type::Boolean));
    }

    #[test]
    fn some_arguments_must_be_constants() {
        let (i, t) = (of(Type::Integer), of(Type::Text));
        use Function::*;
        assert_eq!(
            check(Like, vec![t.clone(), text(r"a\%%")]),
            Ok(Type::Boolean)
        );
        assert_eq!(check(Like, vec![t.clone(), t.clone()]), Err("MZ1884"));
        assert_eq!(check(Like, vec![t.clone(), text(r"a\")]), Err("MZ1885"));
        assert_eq!(check(Like, vec![t.clone(), text(r"\a")]), Err("MZ1885"));
        assert_eq!(
            check(In, vec![i.clone(), Expr::integer(1)]),
            Ok(Type::Boolean)
        );
        assert_eq!(check(In, vec![i.clone(), i.clone()]), Err("MZ1884"));
        assert_eq!(
            check(Bucket, vec![i.clone(), Expr::integer(10)]),
            Ok(Type::Integer)
        );
        assert_eq!(
            check(Bucket, vec![i.clone(), Expr::integer(0)]),
            Err("MZ1885")
        );
        assert_eq!(check(Bucket, vec![i.clone(), i.clone()]), Err("MZ1884"));
        let sub = |from, length| vec![t.clone(), Expr::integer(from), Expr::integer(length)];
        assert_eq!(check(Substring, sub(1, 0)), Ok(Type::Text));
        assert_eq!(check(Substring, sub(0, 1)), Err("MZ1885"));
        assert_eq!(check(Substring, sub(1, -1)), Err("MZ1885"));
    }

    #[test]
    fn dates_have_no_hours() {
        use crate::expr::{TimePart, TimeUnit};
        let (d, t) = (of(Type::Date), of(Type::Timestamp));
        let hour = Function::Truncate(TimeUnit::Hour);
        assert_eq!(check(hour, vec![d.clone()]), Err("MZ1882"));
        assert_eq!(check(hour, vec![t.clone()]), Ok(Type::Timestamp));
        assert_eq!(
            check(Function::Extract(TimePart::Hour), vec![d.clone()]),
            Err("MZ1882")
        );
        assert_eq!(
            check(Function::Extract(TimePart::Week), vec![d.clone()]),
            Ok(Type::Integer)
        );
        assert_eq!(
            check(Function::Truncate(TimeUnit::Week), vec![d]),
            Ok(Type::Date)
        );
    }

    #[test]
    fn literals_columns_cases_and_casts() {
        let bad = |value, kind| Expr::Literal(value, kind).type_of(&[]).is_err();
        assert!(bad(Value::Number(f64::NAN), Type::Number));
        assert!(bad(Value::Number(f64::INFINITY), Type::Number));
        assert!(bad(Value::Integer(1), Type::Number));
        assert!(bad(Value::Date(i32::MAX), Type::Date));
        assert!(bad(Value::Timestamp(i64::MIN), Type::Timestamp));
        assert!(!bad(Value::Null, Type::Date));
        assert!(Expr::Column(6).type_of(&columns()).is_err());
        let case = |when, then| Expr::Case {
            branches: vec![(when, then)],
            otherwise: Box::new(Expr::integer(1)),
        };
        let boolean = of(Type::Boolean);
        assert!(
            case(boolean.clone(), Expr::integer(2))
                .type_of(&columns())
                .is_ok()
        );
        assert!(case(boolean, of(Type::Number)).type_of(&columns()).is_err());
        assert!(
            case(Expr::integer(1), Expr::integer(2))
                .type_of(&[])
                .is_err()
        );
        let to = |from, to| {
            Expr::Cast(Box::new(of(from)), to)
                .type_of(&columns())
                .is_ok()
        };
        assert!(
            Type::ALL
                .iter()
                .all(|kind| to(Type::Text, *kind) && to(*kind, *kind))
        );
        assert!(!to(Type::Number, Type::Text) && !to(Type::Timestamp, Type::Text));
        assert!(!to(Type::Date, Type::Number) && !to(Type::Boolean, Type::Date));
    }
}
