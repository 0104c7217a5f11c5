//! The numerical accountant against independent values of 22 digits
//! (testdata/golden/subsampled.py): always inside the bracket, and the bracket
//! narrow.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used
)]

mod common;

use common::{Truth, golden, number};
use mizan_accounting::account::{self, Method};
use mizan_accounting::{PrivacyProfile, RenyiCurve};
use mizan_core::{Bracket, Delta, Epsilon, Order, PrivacyEvent};
use serde_json::Value;

/// The double in full, so that reading it rounds nothing.
fn exactly(x: f64) -> String {
    let text = format!("{x:.120}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// An expression whose decimals mean the nearest doubles.
fn event(expression: &str) -> PrivacyEvent {
    let mut text = String::new();
    let mut word = String::new();
    for c in expression.chars().chain([' ']) {
        if c.is_alphanumeric() || matches!(c, '.' | '-') {
            word.push(c);
        } else {
            match word.parse::<f64>() {
                Ok(x) if word.contains('.') || word.contains('e') => text += &exactly(x),
                _ => text += &word,
            }
            word.clear();
            text.push(c);
        }
    }
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The larger of the two directions.
fn worst(record: &Value) -> &str {
    let field = |name: &str| record[name].as_str().unwrap();
    let value = |text: &str| text.parse::<f64>().unwrap();
    let (remove, add) = (field("remove"), field("add"));
    if value(remove) >= value(add) {
        remove
    } else {
        add
    }
}

/// Asserts that the truth is inside; gives the relative width.
fn width(bracket: Bracket<Epsilon>, truth: &str, what: &str) -> f64 {
    let (below, above) = Truth(truth).sides();
    let (lower, upper) = (bracket.lower.get(), bracket.upper.get());
    assert!(
        lower <= below && above <= upper,
        "{what}: {truth} is not in [{lower:e}, {upper:e}]"
    );
    if upper == 0.0 {
        0.0
    } else {
        (upper - lower) / upper
    }
}

#[test]
fn dp_sgd() {
    let (mut all, mut narrow, mut none) = (0, 0, 0);
    for record in golden("subsampled.json", "dp_sgd") {
        let of = |name: &str| exactly(number(&record[name]));
        let text = format!(
            "{} * poisson({}, gaussian({}))",
            record["steps"],
            of("q"),
            of("sigma")
        );
        let profile = PrivacyProfile::of(&text.parse().unwrap()).unwrap();
        let delta = Delta::new(number(&record["delta"])).unwrap();
        all += 1;
        let start = std::time::Instant::now();
        let Some(bracket) = profile.epsilon(delta) else {
            none += 1;
            println!("none {record}");
            continue;
        };
        let time = start.elapsed().as_secs_f64() * 1e3;
        let width = width(bracket, worst(&record), &record.to_string());
        if width <= 1e-9 {
            narrow += 1;
        } else {
            println!("{width:.1e} {time:.1} ms {record}");
        }
    }
    println!("{all} settings, {narrow} narrow, {none} none");
    assert_eq!(all, 200);
}

#[test]
fn compositions() {
    for record in golden("subsampled.json", "compositions") {
        let text = record["expression"].as_str().unwrap();
        let profile = PrivacyProfile::of(&event(text)).unwrap();
        let delta = Delta::new(number(&record["delta"])).unwrap();
        let short: String = record
            .to_string()
            .chars()
            .rev()
            .take(200)
            .collect::<String>()
            .chars()
            .rev()
            .collect();
        let start = std::time::Instant::now();
        let Some(bracket) = profile.epsilon(delta) else {
            println!("none {short}");
            continue;
        };
        let time = start.elapsed().as_secs_f64() * 1e3;
        let width = width(bracket, worst(&record), &short);
        if width > 1e-9 || time > 50.0 {
            println!("{width:.1e} {time:.1} ms {short}");
        }
    }
}

#[test]
fn renyi_curves() {
    for record in golden("subsampled.json", "renyi") {
        let parameter = exactly(number(&record["parameter"]));
        let inner = match record["event"].as_str().unwrap() {
            "rr" | "randomized_response" => format!("rr({parameter})"),
            name => format!("{name}({parameter})"),
        };
        let text = format!("poisson({}, {inner})", exactly(number(&record["q"])));
        let curve = RenyiCurve::of(&text.parse().unwrap()).unwrap();
        let at = curve.at(Order::new(number(&record["order"])).unwrap());
        // The curve is the larger of the two directions.
        let (below, above) = Truth(record["value"].as_str().unwrap()).sides();
        assert!(above <= at.upper.get(), "{record}: {at:?}");
        let width = at.upper.get() - at.lower.get();
        assert!(width <= 2e-11 * at.upper.get(), "{record}: {at:?}");
        if record["direction"] == "remove" && inner.starts_with("gaussian") {
            assert!(at.lower.get() <= below, "{record}: {at:?}");
        }
    }
}

#[test]
fn named_failures_of_others() {
    let epsilon = |text: &str, delta: f64| {
        let bound = account::epsilon_by(
            Method::Numeric,
            &text.parse().unwrap(),
            Delta::new(delta).unwrap(),
        )
        .unwrap();
        (bound.lower.unwrap().get(), bound.upper.get())
    };
    // A count of randomized responses is not ignored.
    let (lower, upper) = epsilon("100 * rr(0.75)", 1e-6);
    assert!(lower > 94.28 && upper < 94.29);
}
