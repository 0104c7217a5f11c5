//! Random expressions over random rows: every value has the type, lies within the bounds and is in
//! the domain that were computed without rows.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use std::cmp::Ordering;

use crate::common::{Source, cases, choices, columns, expr, keys, row};
use mizan_sql::{Expr, Type, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Compares a value with a double exactly.
fn compare(value: &Value, with: f64) -> Ordering {
    let whole = match value {
        Value::Integer(value) | Value::Timestamp(value) => i128::from(*value),
        Value::Date(value) => i128::from(*value),
        Value::Number(value) => return value.partial_cmp(&with).unwrap(),
        other => panic!("{other:?} has no bounds"),
    };
    // Casts of doubles to integers saturate far beyond 64 bits.
    let floor = with.floor();
    whole.cmp(&(floor as i128)).then(if with > floor {
        Ordering::Less
    } else {
        Ordering::Equal
    })
}

fn made(choices: Vec<u32>) -> (Expr, Type) {
    let mut source = Source::new(choices);
    let kind = source.pick(&Type::ALL);
    let expr = expr(&mut source, kind, 4, &columns());
    (expr, kind)
}

proptest! {
    #![proptest_config(cases(6000))]

    #[test]
    fn expressions_have_values_of_their_type(
        choices in choices(),
        rows in prop::collection::vec(choices(), 8),
    ) {
        let (expr, kind) = made(choices);
        prop_assert_eq!(expr.type_of(&columns()), Ok(kind));
        for choices in rows {
            let value = expr.eval(&row(&mut Source::new(choices), &columns()));
            prop_assert!(value.is_null() || value.type_of() == Some(kind), "{value:?}");
            if let Value::Number(value) = value {
                prop_assert!(!value.is_nan());
                prop_assert!(value != 0.0 || value.is_sign_positive());
            }
        }
    }

    #[test]
    fn values_lie_within_bounds(
        choices in choices(),
        rows in prop::collection::vec(choices(), 12),
    ) {
        let (expr, _) = made(choices);
        let Some(bounds) = expr.bounds(&columns()) else {
            return Ok(());
        };
        for choices in rows {
            let row = row(&mut Source::new(choices), &columns());
            let value = expr.eval(&row);
            if !value.is_null() {
                let inside = compare(&value, bounds.low).is_ge() && compare(&value, bounds.high).is_le();
                prop_assert!(inside, "{value:?} is not in {bounds:?}, of {row:?}");
            }
        }
    }

    #[test]
    fn values_are_in_the_domain(
        choices in choices(),
        rows in prop::collection::vec(choices(), 12),
        limit in 1_usize..3000,
    ) {
        let (expr, kind) = made(choices);
        let Some(domain) = expr.domain(&columns(), &keys, limit) else {
            return Ok(());
        };
        prop_assert!(domain.len() <= limit);
        prop_assert!(domain.windows(2).all(|pair| pair[0] < pair[1]));
        for value in &domain {
            prop_assert!(value.is_null() || value.type_of() == Some(kind));
        }
        for choices in rows {
            let row = row(&mut Source::new(choices), &columns());
            let value = expr.eval(&row);
            let inside = value.is_null() || domain.binary_search(&value).is_ok();
            prop_assert!(inside, "{value:?} is not in {domain:?}, of {row:?}");
        }
    }

    #[test]
    fn ill_typed_expressions_do_not_panic(
        choices in choices(),
        other in choices(),
    ) {
        // The same places have columns of other types.
        let (expr, _) = made(choices);
        let mut columns = columns();
        columns.reverse();
        let _ = expr.type_of(&columns);
        let _ = expr.bounds(&columns);
        let _ = expr.domain(&columns, &|_| None, 100);
        let _ = expr.eval(&row(&mut Source::new(other), &columns));
        let _ = expr.eval(&[]);
    }
}

/// The tests above check nothing for expressions without bounds or domains, so enough must have
/// them.
#[test]
fn enough_has_bounds_and_domains() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut bounds, mut domains) = (0, 0);
    for _ in 0..1000 {
        let choices = choices().new_tree(&mut runner).unwrap().current();
        let (expr, _) = made(choices);
        let found = expr.bounds(&columns());
        bounds += i32::from(found.is_some() && !expr.columns().is_empty());
        let found = expr.domain(&columns(), &keys, 3000);
        domains += i32::from(found.is_some() && !expr.columns().is_empty());
    }
    assert!(bounds >= 150 && domains >= 150, "{bounds} {domains}");
}
