//! Reading golden values and comparing with them exactly.

pub(crate) mod random;

use mizan_core::{Bracket, Epsilon, Order, PrivacyEvent, Round, parse_decimal};
use serde_json::Value;

/// The records of testdata/golden/`file`, under `list`.
pub(crate) fn golden(file: &str, list: &str) -> Vec<Value> {
    let path = format!(
        "{}/../../testdata/golden/{file}",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json: Value = serde_json::from_str(&text).unwrap();
    json[list]
        .as_array()
        .unwrap_or_else(|| panic!("{path} has no {list}"))
        .clone()
}

/// A JSON number, a decimal string, or "inf".
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        Value::String(text) => text.parse().unwrap(),
        other => other.as_f64().unwrap(),
    }
}

pub(crate) fn order(value: &Value) -> Order {
    Order::new(number(value)).unwrap()
}

pub(crate) fn event(value: &Value) -> PrivacyEvent {
    PrivacyEvent::from_json(value).unwrap_or_else(|error| panic!("{value}: {error}"))
}

/// An exact value, known to 25 or more digits.
pub(crate) struct Truth<'a>(pub(crate) &'a str);

impl Truth<'_> {
    /// The doubles on both sides; twice the same if the value is a double to
    /// all the 25 digits that are known.
    pub(crate) fn sides(&self) -> (f64, f64) {
        if self.0 == "inf" {
            return (f64::INFINITY, f64::INFINITY);
        }
        let nearest: f64 = self.0.parse().unwrap();
        let digits = |text: String| -> String {
            let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
            mantissa
                .chars()
                .filter(char::is_ascii_digit)
                .collect::<String>()
                .trim_matches('0')
                .to_owned()
        };
        if digits(format!("{nearest:.24e}")) == digits(self.0.to_owned()) {
            return (nearest, nearest);
        }
        let side = |round| match self.0.strip_prefix('-') {
            // Only needed where a bound is below zero; nearest will do.
            Some(_) => self.0.parse().unwrap(),
            None => parse_decimal(self.0, round).unwrap(),
        };
        (side(Round::Down), side(Round::Up))
    }

    /// upper >= truth, and not by more than `relative` (or 1e-300).
    pub(crate) fn check_upper(&self, upper: f64, relative: f64, what: &dyn std::fmt::Display) {
        let (below, above) = self.sides();
        assert!(
            upper >= above,
            "{what}: upper bound {upper:e} below the truth {}",
            self.0
        );
        if above.is_finite() {
            let excess = upper - below;
            assert!(
                excess <= relative * below.abs() || excess <= 1e-300,
                "{what}: upper bound {upper:e} exceeds {} by {:e}",
                self.0,
                excess / below
            );
        }
    }

    /// Both ends on their side and close.
    pub(crate) fn check(
        &self,
        bracket: Bracket<Epsilon>,
        relative: f64,
        what: &dyn std::fmt::Display,
    ) {
        self.check_upper(bracket.upper.get(), relative, what);
        let (below, lower) = (self.sides().0, bracket.lower.get());
        assert!(
            lower <= below,
            "{what}: lower bound {lower:e} above the truth {}",
            self.0
        );
        assert!(
            !below.is_finite()
                || below - lower <= relative * below.abs()
                || below - lower <= 1e-300,
            "{what}: lower bound {lower:e} falls short of {}",
            self.0
        );
    }
}
