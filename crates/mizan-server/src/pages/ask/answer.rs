//! An answer, or a refusal by the budget, as the page shows it.

use mizan_api::query::{QueryAnswer, ReservedDeltaJson, delta_down, plain};
use mizan_report::number;
use serde_json::Value;

use super::super::numbers;
use super::{List, list};
use crate::locale::{Markup, Strings, fill};
use crate::service::QueryResult;

/// An answer as the page shows it.
pub(super) struct AnswerView {
    pub(super) id: String,
    pub(super) repeated: bool,
    pub(super) spent: String,
    pub(super) left: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
    pub(super) svg: Option<String>,
    pub(super) confidence: Markup,
    pub(super) event: String,
    pub(super) lists: Vec<List>,
    pub(super) receipt: String,
}

/// A cell of an answer.
pub(super) struct Cell {
    pub(super) key: bool,
    pub(super) text: String,
    pub(super) range: Option<String>,
}

/// A refusal by the budget.
pub(super) struct Refusal {
    pub(super) id: Option<String>,
    pub(super) asked: String,
    pub(super) left: String,
    pub(super) largest: String,
    /// The reserved delta that the query takes, what is left of it, and its total.
    pub(super) reserved: Option<Markup>,
    /// The variance that the query needs on the Gaussian clock, and what is left of it.
    pub(super) clock: Option<Markup>,
    /// Whether the reserved delta does not suffice.
    pub(super) short_of_delta: bool,
}

pub(super) fn answer_of(t: &'static Strings, queried: QueryResult) -> AnswerView {
    let QueryResult { answer, svg } = queried;
    let columns = answer
        .rows
        .first()
        .map_or_else(Vec::new, |row| row.keys().map(|name| plain(name)).collect());
    let rows = answer
        .rows
        .iter()
        .map(|row| row.values().map(|shown| cell(t, shown)).collect());
    let confidence = number::nearest(100.0 * answer.confidence, 3);
    AnswerView {
        id: answer.id.clone(),
        repeated: answer.repeated,
        spent: spent(&answer),
        left: numbers::left(&answer.remaining),
        columns,
        rows: rows.collect(),
        svg,
        confidence: fill(t.answer_interval, &[("confidence", &confidence)]),
        event: answer.spent.event.clone(),
        lists: [
            list(t, t.quote_why, &answer.why_data),
            list(t, t.quote_clamping, &answer.clamping_data),
            list(t, t.quote_notes, &answer.notes_data),
        ]
        .into_iter()
        .flatten()
        .collect(),
        receipt: answer.receipt.clone(),
    }
}

fn spent(answer: &QueryAnswer) -> String {
    let epsilon = number::epsilon_up(answer.spent.epsilon, 4);
    numbers::delta(answer.spent.delta).map_or_else(
        || format!("ε {epsilon}"),
        |delta| format!("ε {epsilon}, δ {delta}"),
    )
}

/// An estimate is an object with the ends of its interval; every other value is a key.
fn cell(t: &Strings, shown: &Value) -> Cell {
    let Value::Object(estimate) = shown else {
        return Cell {
            key: true,
            text: plain(&numbers::value(shown)),
            range: None,
        };
    };
    let of = |name: &str| estimate.get(name).unwrap_or(&Value::Null);
    let range = match (of("low"), of("high")) {
        (Value::Null, _) | (_, Value::Null) => None,
        (low, high) => Some(format!(
            "{} – {}",
            numbers::value(low),
            numbers::value(high)
        )),
    };
    let text = match of("value") {
        // A quantile of a group that is too small has an interval and no value.
        Value::Null if range.is_some() => t.answer_too_few.to_owned(),
        value => plain(&numbers::value(value)),
    };
    Cell {
        key: false,
        text,
        range,
    }
}

/// The reserved delta that a query takes, what is left of it, and its total.
pub(super) fn reserved_of(t: &Strings, delta: &ReservedDeltaJson) -> Markup {
    let asked = number::delta_up(delta.asked);
    let left = delta_down(delta.left);
    let reserved = number::nearest(delta.reserved, 3);
    let values = [
        ("asked", asked.as_str()),
        ("left", left.as_str()),
        ("reserved", reserved.as_str()),
    ];
    fill(t.quote_reserved_of, &values)
}

/// The same, from the JSON of a refusal.
fn reserved_delta(refusal: &Value) -> Option<ReservedDeltaJson> {
    let delta = refusal.get("reserved_delta")?;
    let number = |name: &str| delta.get(name)?.as_f64();
    Some(ReservedDeltaJson {
        asked: number("asked")?,
        left: number("left")?,
        reserved: number("reserved")?,
        account: String::new(),
        fits: delta.get("fits")?.as_bool()?,
    })
}

/// What the query needs on the Gaussian clock of the account that refused, and what is left of it.
fn clock_of(t: &Strings, refusal: &Value) -> Option<Markup> {
    let at = |name: &str| refusal.pointer("/clock")?.get(name)?.as_f64();
    let (needed, limit) = (at("needed")?, at("limit")?);
    let taken = at("spent").zip(at("pending"));
    let left = taken.map_or(0.0, |(spent, pending)| (limit - spent - pending).max(0.0));
    let values = [
        ("needed", numbers::up(Some(needed))),
        ("left", numbers::down(Some(left))),
        ("limit", numbers::down(Some(limit))),
    ];
    let values = values
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    Some(fill(t.refused_clock, &values))
}

pub(super) fn refusal_of(t: &Strings, refusal: &Value) -> Refusal {
    let at = |path: &str| refusal.pointer(path).and_then(Value::as_f64);
    let delta = reserved_delta(refusal);
    let percent = at("/largest_that_fits/share").unwrap_or(0.0) * 100.0;
    let left = match at("/remaining/epsilon") {
        Some(epsilon) => format!("ε {}", number::down(epsilon, 4)),
        None => format!("{}\u{a0}%", numbers::percent(at("/remaining/share"))),
    };
    Refusal {
        id: refusal
            .pointer("/id")
            .and_then(Value::as_str)
            .map(str::to_owned),
        asked: format!("ε {}", numbers::up(at("/asked/epsilon"))),
        left,
        largest: format!("{}\u{a0}%", number::down(percent, 3)),
        reserved: delta.as_ref().map(|delta| reserved_of(t, delta)),
        clock: clock_of(t, refusal),
        short_of_delta: delta.is_some_and(|delta| !delta.fits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locale::Language;

    #[test]
    fn a_refusal_says_what_the_clock_lacks() {
        let clock = |fits: bool, needed: f64| {
            serde_json::json!({
                "clock": {"asked": 0.002, "needed": needed, "fits": fits, "tail": 0.0,
                    "spent": 0.05, "pending": 0.003, "limit": 0.0542},
            })
        };
        for language in [Language::English, Language::Arabic] {
            let t = language.strings();
            let refusal = refusal_of(t, &clock(false, 0.00213));
            let text = refusal.clock.unwrap().0;
            for number in ["0.00213", "0.001", "0.0542"] {
                assert!(text.contains(number), "{text}");
            }
            // The clock is exhausted, or the charge has no price on it.
            let refusal =
                serde_json::json!({"clock": {"needed": 0.1, "limit": 0.2, "spent": null}});
            assert!(refusal_of(t, &refusal).clock.unwrap().0.contains('0'));
            let refusal = serde_json::json!({"clock": {"needed": null, "limit": 0.2}});
            assert!(refusal_of(t, &refusal).clock.is_none());
            assert!(
                refusal_of(t, &serde_json::json!({"clock": null}))
                    .clock
                    .is_none()
            );
        }
    }

    #[test]
    fn an_estimate_has_its_interval() {
        let t = Language::English.strings();
        let shown = cell(
            t,
            &serde_json::json!({"value": 1234, "low": 1200.0, "high": 1268.0}),
        );
        assert_eq!(
            (shown.text.as_str(), shown.range.as_deref()),
            ("1,234", Some("1,200 – 1,268"))
        );
        assert!(cell(t, &serde_json::json!("ward")).key);
        let null = serde_json::json!({"value": null, "low": 0, "high": 200});
        let shown = cell(t, &null);
        assert_eq!(
            (shown.text.as_str(), shown.range.as_deref()),
            ("too few rows", Some("0 – 200"))
        );
    }
}
