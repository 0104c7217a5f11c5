//! DataFusion agrees with Mizan on texts in the grammar of `mizan_sql::read`, so an engine needs a
//! guard only against other texts.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use crate::common::cases;
use datafusion_common::ScalarValue;
use datafusion_common::arrow::datatypes::{DataType, TimeUnit};
use mizan_sql::{Type, Value};
use proptest::prelude::*;

fn arrow(kind: Type) -> DataType {
    match kind {
        Type::Boolean => DataType::Boolean,
        Type::Integer => DataType::Int64,
        Type::Number => DataType::Float64,
        Type::Text => DataType::Utf8,
        Type::Date => DataType::Date32,
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

fn cast(text: &str, kind: Type) -> Option<Value> {
    let scalar = ScalarValue::Utf8(Some(text.into()));
    Some(match scalar.cast_to(&arrow(kind)).ok()? {
        ScalarValue::Boolean(value) => Value::Boolean(value?),
        ScalarValue::Int64(value) => Value::Integer(value?),
        ScalarValue::Float64(value) => Value::number(value?),
        ScalarValue::Utf8(value) => Value::Text(value?),
        ScalarValue::Date32(value) => Value::Date(value?),
        ScalarValue::TimestampMicrosecond(value, _) => Value::Timestamp(value?),
        other => panic!("{other:?}"),
    })
}

fn check(text: &str) {
    for kind in Type::ALL {
        let ours = kind.read(text);
        if !ours.is_null() {
            // DataFusion's dates have no surrounding spaces.
            let theirs = cast(text.trim_matches(' '), kind);
            let text = text.to_owned();
            let plain = if kind == Type::Text {
                cast(&text, kind)
            } else {
                theirs
            };
            assert_eq!(plain, Some(ours), "{text:?} as {kind}");
        }
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn any_text(text in r"[ -~éß]{0,20}") {
        check(&text);
    }

    #[test]
    fn texts_that_are_nearly_numbers(text in r" ?[+-]?[0-9]{0,22}\.?[0-9]{0,20}([eE][+-]?[0-9]{0,3})? ?") {
        check(&text);
    }

    #[test]
    fn texts_that_are_nearly_times(
        text in r"[0-9]{4}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,10})?(Z|[+-][01][0-9]:[0-5][0-9])?)?"
    ) {
        check(&text);
    }

}

#[test]
fn words() {
    for word in "true false t f yes no y n on off 1 0".split(' ') {
        for text in [word.to_owned(), word.to_uppercase(), format!(" {word}  ")] {
            assert!(!Type::Boolean.read(&text).is_null(), "{text}");
            check(&text);
        }
    }
    // The long s is an s only in Unicode case folding.
    assert!(Type::Boolean.read("yeſ").is_null());
}
