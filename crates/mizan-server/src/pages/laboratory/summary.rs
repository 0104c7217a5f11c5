//! The bound of every method for an event, its Rényi curve, and how to compute the same on
//! the command line, over HTTP and in Rust.

use askama::Template;
use mizan_api::account::{AccountAnswer, AccountRequest, RequestedOrBound};
use mizan_api::curve::CurveRequest;
use mizan_api::messages::AsJson;
use mizan_api::number::NumberInput;
use mizan_report::Figure;

use super::super::numbers;
use super::risks::{Risk, Risks};
use super::{LaboratoryInput, render};
use crate::identity::Caller;
use crate::locale::{Markup, Strings, fill};
use crate::problem::Problem;
use crate::service::Service;

#[derive(Template)]
#[template(path = "laboratory_summary.html")]
struct Part {
    t: &'static Strings,
    outcome: SummaryOutcome,
}

/// The summary of an event, or why there is none.
enum SummaryOutcome {
    Good(Box<EventSummary>),
    Failed(Box<Problem>),
}

/// The summary of an event.
struct EventSummary {
    upper: String,
    by: Markup,
    between: Option<Markup>,
    warnings: Vec<Markup>,
    methods: Vec<MethodRow>,
    refused: Vec<RefusedRow>,
    curve: Option<String>,
    risks: Vec<Risk>,
    ranges: Option<String>,
    posterior: Option<Markup>,
    copies: Vec<CopyText>,
}

struct MethodRow {
    name: String,
    upper: String,
    lower: String,
    order: String,
    best: bool,
}

struct RefusedRow {
    name: String,
    reason: Markup,
}

/// The same computation elsewhere, as text to copy.
struct CopyText {
    name: &'static str,
    text: String,
}

/// The summary, the quick part of the page.
pub(super) async fn part(
    t: &'static Strings,
    service: &Service,
    caller: &Caller,
    input: &LaboratoryInput,
) -> Result<String, Problem> {
    let outcome = match summarize(t, service, caller, input).await {
        Ok(summary) => SummaryOutcome::Good(Box::new(summary)),
        Err(problem) => SummaryOutcome::Failed(Box::new(problem)),
    };
    render(&Part { t, outcome })
}

async fn summarize(
    t: &'static Strings,
    service: &Service,
    caller: &Caller,
    input: &LaboratoryInput,
) -> Result<EventSummary, Problem> {
    let request = AccountRequest {
        expression: input.expression.clone(),
        delta: Some(NumberInput::from(input.delta.trim())),
        ..AccountRequest::default()
    };
    let answer = service.account(caller, request).await?.json();
    let curve = CurveRequest {
        expression: input.expression.clone(),
        orders: "paper".to_owned(),
    };
    // Some events have no Rényi curve.
    let curve = service.curve(caller, curve).await.ok();
    let curve = curve.map(|curve| {
        let panel = curve.panel(t.language.labels());
        t.language.svg(Figure::new("").with(panel))
    });
    let risks = Risks::of(t, service, caller, input).await?;
    let (upper, lower, by) = bound(&answer);
    let between = lower.filter(|lower| *lower > 0.0).map(|lower| {
        let (lower, upper) = (numbers::down(Some(lower)), numbers::up(upper));
        fill(t.lab_exact_between, &[("lower", &lower), ("upper", &upper)])
    });
    let methods = answer.methods.as_deref().unwrap_or_default().iter();
    let methods = methods.map(|method| MethodRow {
        upper: numbers::up(method.upper),
        lower: numbers::down(method.lower),
        order: numbers::order(method.order),
        best: method.name == by,
        name: method.name.clone(),
    });
    let refused = answer.refused.as_deref().unwrap_or_default().iter();
    let refused = refused.map(|method| RefusedRow {
        name: method.name.clone(),
        reason: t.language.refused(method),
    });
    Ok(EventSummary {
        upper: numbers::up(upper),
        by: fill(t.lab_by_method, &[("method", by)]),
        between,
        warnings: answer
            .warnings_data
            .iter()
            .map(|AsJson(warning)| t.language.say(warning))
            .collect(),
        methods: methods.collect(),
        refused: refused.collect(),
        curve,
        risks: risks.table,
        ranges: risks.chart,
        posterior: risks.posterior,
        copies: copies(t, input),
    })
}

fn bound(answer: &AccountAnswer) -> (Option<f64>, Option<f64>, &str) {
    match &answer.epsilon {
        Some(RequestedOrBound::Bound(bound)) => (bound.upper, bound.lower, &bound.method),
        _ => (None, None, ""),
    }
}

/// The same computation on the command line, over HTTP and in a program.
fn copies(t: &'static Strings, input: &LaboratoryInput) -> Vec<CopyText> {
    let (expression, delta) = (input.expression.trim(), input.delta.trim());
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let body = serde_json::json!({"expression": expression, "delta": delta}).to_string();
    let all = [
        (
            t.lab_cli,
            format!(
                "mizan account {} --delta {}",
                quoted(expression),
                shell(delta)
            ),
        ),
        (
            t.lab_curl,
            format!(
                "curl \"$MIZAN_URL/api/v1/account\" \\\n  -H \"Authorization: Bearer $MIZAN_TOKEN\" \\\n  -H 'Content-Type: application/json' \\\n  -d {}",
                quoted(&body)
            ),
        ),
        (
            t.lab_rust,
            format!(
                "use mizan::{{Accountant, Delta, PrivacyEvent}};\n\n\
                 let event: PrivacyEvent = {expression:?}.parse()?;\n\
                 let cost = Accountant::of(&event).epsilon(Delta::at_most({delta:?})?)?;"
            ),
        ),
    ];
    all.into_iter()
        .map(|(name, text)| CopyText { name, text })
        .collect()
}

/// A word quoted for a shell.
fn shell(word: &str) -> String {
    let plain = word
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+'));
    match plain && !word.is_empty() {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locale::Language;

    #[test]
    fn copied_commands_are_quoted() {
        let input = LaboratoryInput {
            expression: "rr(0.6)'; rm -rf ~".to_owned(),
            delta: "1e-6; ls".to_owned(),
            baseline: String::new(),
            all: None,
        };
        let copies = copies(Language::English.strings(), &input);
        assert_eq!(
            copies[0].text,
            r"mizan account 'rr(0.6)'\''; rm -rf ~' --delta '1e-6; ls'"
        );
    }
}
