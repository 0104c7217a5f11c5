//! The text around an answer: one summary line, what is left, and the largest epsilon
//! that fits after a refusal. `--explain` adds the details.

use mizan_api::budget::view;
use mizan_engine::{Answer, AnswerCell, Answered, ChoiceReason, QueryError, Quote, SpendTarget};
use mizan_ledger::AccountView;
use mizan_ledger::evidence::Room;
use mizan_report::number;
use mizan_sql::Effect;

use crate::input;
use crate::output::{Output, shortened, wrapped};
use crate::query_args::{clamping_text, notes_text, why_text};

/// What the ± of an answer means.
const MARGIN: &str = "± is a 95 % margin of error for the privacy noise only; sampling error \
                      and contribution bounds are not included.";

/// The widest line.
const WIDTH: usize = 79;

/// An epsilon is suggested down to this part of the one that was refused.
const LEAST_PART: f64 = 1e-3;

/// Joins the parts of a summary, in lines of at most 79 columns.
pub(crate) fn joined(parts: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + part.chars().count() + 3 <= WIDTH => {
                line.push_str(" · ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// How many contribution bounds may change an answer.
pub(crate) fn limits_part(effects: &[Effect]) -> String {
    let limits = effects
        .iter()
        .filter(|effect| effect.is_contribution_limit());
    match limits.count() {
        0 => "no contribution bound applies".to_owned(),
        1 => "1 contribution bound applies".to_owned(),
        many => format!("{many} contribution bounds apply"),
    }
}

/// Which groups partition selection hides.
pub(crate) fn hidden_part(threshold: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let threshold = number::grouped(threshold as f64, 3);
    format!("groups under about {threshold} people hidden")
}

/// The summary of an answer: the margin of error, the limits, hidden groups, the cost.
pub(crate) fn summary(answered: &Answered) -> String {
    let answer = &answered.answer;
    let mut parts = Vec::new();
    if has_margin(answer) {
        parts.push("± noise only (95 %)".to_owned());
    }
    parts.extend(rank_parts(answer).into_iter().flatten());
    parts.push(limits_part(&answer.clamping));
    parts.extend(answered.threshold().map(hidden_part));
    let spent = match answered.repeated {
        true => "stored answer, nothing spent".to_owned(),
        false => format!("ε {} spent", number::epsilon_up(answered.epsilon.get(), 4)),
    };
    parts.push(match view::left(&answered.account).room {
        Some(room) => format!("{spent}, {} % left", number::down(100.0 * room.share, 3)),
        None => spent,
    });
    joined(&parts)
}

/// Whether a value has an interval.
fn has_margin(answer: &Answer) -> bool {
    let mut cells = answer.rows.iter().flatten();
    cells.any(|cell| matches!(cell, AnswerCell::Estimate { low: Some(_), .. }))
}

/// The largest error of quantiles, in ranks, and the groups in which they are arbitrary.
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn rank_parts(answer: &Answer) -> Option<[String; 2]> {
    let ranks = || answer.ranks.iter().flatten();
    let rows = ranks().map(|rank| rank.rows).max()?;
    let arbitrary = ranks().map(|rank| rank.arbitrary_up_to).max()?;
    Some([
        format!(
            "rank error of quantiles at most {} (95 %)",
            number::grouped_up(rows as f64, 3)
        ),
        format!(
            "meaningless if there are at most {} rows",
            number::grouped_up(arbitrary as f64, 3)
        ),
    ])
}

/// A hint at the details that are not shown.
pub(crate) fn hint(notes: usize) -> String {
    match notes {
        0 => "details: --explain\n".to_owned(),
        1 => "details and 1 note: --explain\n".to_owned(),
        many => format!("details and {many} notes: --explain\n"),
    }
}

/// Notes under their heading, if there are any.
pub(crate) fn notes_section(notes: &str) -> String {
    match notes.is_empty() {
        true => String::new(),
        false => format!("Notes:\n{notes}"),
    }
}

/// The details of an answer: every limit, every note, the choice of noise, the cost.
pub(crate) fn details(answered: &Answered) -> String {
    let answer = &answered.answer;
    let mut text = String::from("\n");
    if has_margin(answer) {
        text.push_str(&wrapped(MARGIN, "", ""));
    }
    text.push_str(&clamping_text(&answer.clamping, has_margin(answer)));
    text.push_str(&notes_section(&notes_text(&answer.notes)));
    text.push_str("Choice of noise:\n");
    // The notes have the rank errors already.
    let is_rank = |reason: &&ChoiceReason| matches!(reason, ChoiceReason::QuantileRank(_));
    let why: Vec<_> = (answered.why.iter())
        .filter(|reason| !is_rank(reason))
        .cloned()
        .collect();
    text.push_str(&why_text(&why));
    text.push_str(&cost_text(answered));
    text
}

/// The cost, unless the choice of noise has it; and whether it was charged before.
fn cost_text(answered: &Answered) -> String {
    let is_cost = |reason: &ChoiceReason| matches!(reason, ChoiceReason::Cost { .. });
    let has_cost = answered.why.iter().any(is_cost);
    match (has_cost, answered.repeated) {
        (true, true) => "  It was charged before.\n\n".to_owned(),
        (true, false) => "\n".to_owned(),
        (false, repeated) => format!(
            "Cost: ε {} at δ {}{}\n\n",
            number::epsilon_up(answered.epsilon.get(), 4),
            number::delta_up(answered.delta.get()),
            if repeated { ", charged before" } else { "" }
        ),
    }
}

/// The bar of what is left in an account, or in the account above it that has less.
pub(crate) fn left_bar(view: &AccountView, output: Output) -> String {
    let left = view::left(view);
    let Some(Room { share, .. }) = left.room else {
        return String::new();
    };
    format!(
        "left {} {} % of {}\n",
        output.terminal.bar(share, 30),
        number::down(100.0 * share, 3),
        shortened(left.at.name().as_str(), 30)
    )
}

/// The largest epsilon of two digits, below the one that was refused, with which a query
/// fits now. `quote` prices a query: no private row is read, nothing is charged. Every
/// candidate is quoted, so the one that is returned fits.
pub(crate) fn largest_epsilon(
    refused: f64,
    quote: impl Fn(SpendTarget) -> Result<Quote, QueryError>,
) -> Option<String> {
    let candidates = two_digits(refused);
    let fits = |text: &String| {
        let epsilon = input::epsilon(text, "--epsilon").ok()?;
        let quote = quote(SpendTarget::Epsilon(epsilon.value)).ok()?;
        quote.fits.then(|| text.clone())
    };
    let mut found = candidates.first().and_then(fits)?;
    let (mut low, mut high) = (0, candidates.len());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match candidates.get(middle).and_then(fits) {
            Some(fitting) => (low, found) = (middle, fitting),
            None => high = middle,
        }
    }
    Some(found)
}

/// The decimals of two digits below a number, down to a part of it, from the least.
fn two_digits(below: f64) -> Vec<String> {
    let mut decimals = Vec::new();
    if !(below > 0.0 && below.is_finite()) {
        return decimals;
    }
    #[expect(clippy::cast_possible_truncation, reason = "of the order of hundreds")]
    let least = (below * LEAST_PART).log10().floor() as i32;
    for exponent in least..=least + 4 {
        for digits in 10..100 {
            let value: f64 = format!("{digits}e{}", exponent - 1).parse().unwrap_or(0.0);
            if value >= below * LEAST_PART && value < below {
                decimals.push(value.to_string());
            }
        }
    }
    decimals
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_have_two_digits_and_are_below() {
        let candidates = two_digits(1.25);
        assert_eq!(candidates.first().map(String::as_str), Some("0.0013"));
        assert_eq!(candidates.last().map(String::as_str), Some("1.2"));
        let values: Vec<f64> = candidates
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
        assert!(values.is_sorted_by(|a, b| a < b), "{candidates:?}");
        assert_eq!(two_digits(30.0).last().map(String::as_str), Some("29"));
        assert!(two_digits(0.0).is_empty() && two_digits(f64::INFINITY).is_empty());
    }

    #[test]
    fn parts_are_joined_within_a_line() {
        let parts = ["± noise only (95 %)", "2 bounds"].map(str::to_owned);
        assert_eq!(joined(&parts), "± noise only (95 %) · 2 bounds\n");
        let long = vec!["x".repeat(40); 3];
        let lines = joined(&long);
        assert_eq!(lines.lines().count(), 3);
    }
}
