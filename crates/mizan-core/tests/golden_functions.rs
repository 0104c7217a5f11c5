//! The elementary functions of `Interval` against 25-digit values at exact doubles: the value is
//! inside, and the interval is at most a few units in the last place wide.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper may panic"
)]

use mizan_core::{Interval, Round, parse_decimal};
use serde_json::Value;

fn records() -> Vec<Value> {
    let path = format!(
        "{}/../../testdata/golden/functions.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json: Value = serde_json::from_str(&text).unwrap();
    json["values"].as_array().unwrap().clone()
}

/// The doubles on both sides of a decimal of either sign. If the decimal is a
/// double to all the digits that are known, both sides are that double.
fn sides(truth: &str) -> (f64, f64) {
    if let Some(magnitude) = truth.strip_prefix('-') {
        let (below, above) = sides(magnitude);
        return (-above, -below);
    }
    let nearest: f64 = truth.parse().unwrap();
    if significant(&format!("{nearest:.24e}")) == significant(truth) {
        return (nearest, nearest);
    }
    // A decimal just above the largest double lies below infinity.
    let above = parse_decimal(truth, Round::Up).unwrap_or(f64::INFINITY);
    let below = parse_decimal(truth, Round::Down).unwrap_or(f64::MAX);
    (below, above)
}

fn significant(decimal: &str) -> String {
    let mantissa = decimal.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}

/// How many steps from one double to the next lead from `low` to `high`.
fn steps(low: f64, high: f64) -> i64 {
    let place = |x: f64| {
        let bits = i64::from_ne_bytes(x.abs().to_ne_bytes());
        if x < 0.0 { -bits } else { bits }
    };
    place(high) - place(low)
}

fn evaluate(function: &str, x: Interval) -> Option<Interval> {
    Some(match function {
        "exp" => x.exp(),
        "expm1" => x.exp_m1(),
        "ln" => x.ln(),
        "ln_1p" => x.ln_1p(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "f2" => x.exp_beyond_tangent(),
        // ln_sinhc_half, which is private to the accounting crate.
        "g" => return None,
        other => panic!("no function {other}"),
    })
}

#[test]
fn the_truth_is_inside() {
    let mut checked = 0;
    for record in records() {
        let x = record["x"].as_f64().unwrap();
        let Some(result) = evaluate(record["function"].as_str().unwrap(), Interval::from(x)) else {
            continue;
        };
        let (below, above) = sides(record["value"].as_str().unwrap());
        assert!(
            result.lower() <= below && above <= result.upper(),
            "{record}: [{:e}, {:e}]",
            result.lower(),
            result.upper()
        );
        checked += 1;
    }
    assert!(checked > 800, "only {checked} values");
}

#[test]
fn intervals_are_narrow() {
    for record in records() {
        let x = record["x"].as_f64().unwrap();
        let function = record["function"].as_str().unwrap();
        let Some(result) = evaluate(function, Interval::from(x)) else {
            continue;
        };
        let (lower, upper) = (result.lower(), result.upper());
        if function == "f2" {
            // Next to the largest double a step outward is infinite.
            assert!(
                upper - lower <= 1e-14 * lower
                    || upper - lower <= 1e-300
                    || steps(lower, upper) <= 4,
                "{record}: [{lower:e}, {upper:e}]"
            );
        } else {
            assert!(
                steps(lower, upper) <= 4,
                "{record}: [{lower:e}, {upper:e}] is {} steps wide",
                steps(lower, upper)
            );
        }
    }
}

/// An interval argument encloses the values at all of its points: here at the
/// neighbours among the golden arguments.
#[test]
fn wide_arguments_enclose_all_values_between() {
    let records = records();
    for pair in records.windows(3) {
        let function = pair[0]["function"].as_str().unwrap();
        if pair.iter().any(|record| record["function"] != function) {
            continue;
        }
        let ends = [0, 2].map(|index: usize| pair[index]["x"].as_f64().unwrap());
        let Some(result) = evaluate(function, Interval::new(ends[0], ends[1])) else {
            continue;
        };
        for record in pair {
            let (below, above) = sides(record["value"].as_str().unwrap());
            assert!(
                result.lower() <= below && above <= result.upper(),
                "{function} on [{:e}, {:e}]: [{:e}, {:e}] misses {record}",
                ends[0],
                ends[1],
                result.lower(),
                result.upper()
            );
        }
    }
}
