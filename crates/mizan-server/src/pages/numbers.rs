//! The format of numbers on pages: costs are rounded up, the remaining budget is rounded
//! down, digits are Latin.

use mizan_api::budget::{Remaining, TargetJson};
use mizan_api::number::OrderJson;
use mizan_report::number;
use serde_json::Value;

use crate::locale::Strings;
use crate::locale::plural::{self, Counted};

/// Digits of an epsilon.
const DIGITS: usize = 4;

/// Rounded up; infinity where there is none.
pub(super) fn up(x: Option<f64>) -> String {
    x.map_or_else(|| "∞".to_owned(), |x| number::epsilon_up(x, DIGITS))
}

/// Rounded down; a dash where there is none.
pub(super) fn down(x: Option<f64>) -> String {
    x.map_or_else(|| "–".to_owned(), |x| number::down(x, DIGITS))
}

/// An order.
pub(super) fn order(order: Option<OrderJson>) -> String {
    match order {
        Some(OrderJson::Finite(order)) => number::nearest(order, DIGITS),
        Some(OrderJson::Infinite(_)) => "∞".to_owned(),
        None => "–".to_owned(),
    }
}

/// A delta, if there is one.
pub(super) fn delta(delta: f64) -> Option<String> {
    (delta > 0.0).then(|| number::delta_up(delta))
}

/// The remaining budget: an epsilon where there is one, otherwise a share.
pub(super) fn left(remaining: &Remaining) -> String {
    match remaining.epsilon {
        Some(epsilon) => format!("ε {}", number::down(epsilon, DIGITS)),
        None => format!("{}\u{a0}%", percent(remaining.share)),
    }
}

/// A share from 0 to 100, rounded down.
pub(super) fn percent(share: Option<f64>) -> String {
    number::down(100.0 * share.unwrap_or(0.0).clamp(0.0, 1.0), 3)
}

/// The total budget of an account, in symbols.
pub(super) fn promise(target: &TargetJson) -> String {
    match target {
        TargetJson::Approximate { epsilon, delta } => format!(
            "ε {}, δ {}",
            number::nearest(*epsilon, 6),
            number::nearest(*delta, 4)
        ),
        TargetJson::Pure { epsilon, .. } => format!("ε {}, δ 0", number::nearest(*epsilon, 6)),
        TargetJson::Zcdp { rho } => format!("ρ {}", number::nearest(*rho, 6)),
        TargetJson::Curve => "ε(α)".to_owned(),
    }
}

/// The epsilon of the total budget.
pub(super) fn whole(target: &TargetJson) -> Option<f64> {
    match target {
        TargetJson::Approximate { epsilon, .. } | TargetJson::Pure { epsilon, .. } => {
            Some(*epsilon)
        }
        TargetJson::Zcdp { .. } | TargetJson::Curve => None,
    }
}

/// A number of things.
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(super) fn count(count: u64) -> String {
    if count > 1_000_000_000_000 {
        return "∞".to_owned();
    }
    number::grouped(count as f64, 15)
}

/// A number of things, of which there may be more.
pub(super) fn at_least(number: u64, more: bool) -> String {
    let number = count(number);
    match more {
        true => format!("≥ {number}"),
        false => number,
    }
}

/// A number of things with its noun.
pub(super) fn counted(t: &Strings, number: u64, noun: Counted) -> String {
    plural::counted(t.language, number, &count(number), noun)
}

/// A value of an answer.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number
            .as_f64()
            .map_or_else(|| number.to_string(), |x| number::grouped(x, 6)),
        other => other.to_string(),
    }
}

/// A time without fractions of a second.
pub(super) fn time(exact: &str) -> String {
    let (day, rest) = exact.split_once('T').unwrap_or((exact, ""));
    let time = rest.split('.').next().unwrap_or_default();
    format!("{day} {time} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_never_more_than_there_is() {
        let remaining = Remaining {
            epsilon: Some(0.123_999),
            delta: 1e-6,
            share: Some(0.999_99),
            order: None,
            account: String::new(),
        };
        assert_eq!(left(&remaining), "ε 0.1239");
        assert_eq!(percent(remaining.share), "99.9");
        assert_eq!(up(Some(0.123_41)), "0.1235");
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time("2026-11-16T12:30:00.123Z"), "2026-11-16 12:30:00 UTC");
    }
}
