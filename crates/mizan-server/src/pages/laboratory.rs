//! The laboratory: the guarantees of a privacy event.
//!
//! The page has three parts, each with its own address, so that the quick one is there at
//! once and scripts fetch each again while a slider moves.

mod risks;
mod summary;

use std::time::{Duration, Instant};

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use mizan_api::account::AccountRequest;
use mizan_api::number::NumberInput;
use mizan_report::{Axis, Figure, Panel, Series};
use serde::Deserialize;

use super::frame::{Frame, link, page, part as part_of};
use super::numbers;
use super::problems::or_problem;
use super::read::{Path, Query};
use super::visitor::Visitor;
use crate::identity::Caller;
use crate::locale::{Strings, fill};
use crate::problem::Problem;
use crate::service::Service;

/// The first event of the page: DP-SGD as in many papers.
const FIRST: &str = "1000 * poisson(0.01, gaussian(1.1))";

/// The numbers of compositions of an event with itself.
const ROUNDS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// How long the composition is computed; the points that are done by then are shown.
const COMPOSITION_TIME: Duration = Duration::from_millis(1500);

#[derive(Template)]
#[template(path = "laboratory.html")]
struct Page {
    frame: Frame,
    expression: String,
    delta: String,
    baseline: String,
    examples: Vec<Example>,
    summary: Option<String>,
    profile: Option<String>,
    composition: Option<String>,
    all: String,
    figures: Vec<FigureCard>,
}

/// An example event.
struct Example {
    name: &'static str,
    expression: &'static str,
    address: String,
}

/// A figure of the paper.
struct FigureCard {
    number: u8,
    name: crate::locale::Markup,
    about: &'static str,
}

/// The query of the address.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LaboratoryInput {
    #[serde(default = "first")]
    pub(super) expression: String,
    #[serde(default = "delta")]
    pub(super) delta: String,
    #[serde(default = "baseline")]
    pub(super) baseline: String,
    #[serde(default)]
    all: Option<String>,
}

fn first() -> String {
    FIRST.to_owned()
}

fn delta() -> String {
    "1e-6".to_owned()
}

fn baseline() -> String {
    "0.01".to_owned()
}

/// The whole page; with `all` the parts are computed too.
pub(super) async fn show(
    visitor: Visitor,
    State(service): State<Service>,
    Query(input): Query<LaboratoryInput>,
) -> Response {
    let made = async {
        let caller = visitor.caller()?;
        let t = visitor.language.strings();
        let all = input.all.is_some();
        // The parts take long to compute; scripts fetch them after the page.
        let (summary, profile, composition) = match all && !input.expression.trim().is_empty() {
            true => (
                Some(summary::part(t, &service, caller, &input).await?),
                Some(profile(t, &service, caller, &input).await?),
                Some(composition(t, &service, caller, &input).await?),
            ),
            false => (None, None, None),
        };
        let parameters = [
            ("expression", input.expression.as_str()),
            ("delta", &input.delta),
            ("baseline", &input.baseline),
            ("all", "1"),
        ];
        page(&Page {
            frame: visitor.frame("laboratory"),
            examples: examples(t),
            summary,
            profile,
            composition,
            all: link("/laboratory", &parameters),
            figures: cards(t),
            expression: input.expression,
            delta: input.delta,
            baseline: input.baseline,
        })
    };
    or_problem(&visitor, made.await)
}

/// One part of the page.
pub(super) async fn part(
    visitor: Visitor,
    State(service): State<Service>,
    Path(name): Path<String>,
    Query(input): Query<LaboratoryInput>,
) -> Response {
    let made = async {
        let caller = visitor.caller()?;
        let t = visitor.language.strings();
        let html = match name.as_str() {
            "summary" => summary::part(t, &service, caller, &input).await?,
            "profile" => profile(t, &service, caller, &input).await?,
            "composition" => composition(t, &service, caller, &input).await?,
            _ => return Err(Problem::not_found("this part of the laboratory")),
        };
        Ok(([("content-type", "text/html; charset=utf-8")], html).into_response())
    };
    or_problem(&visitor, made.await)
}

/// A chart as HTML.
fn chart_html(svg: &str) -> String {
    format!("<figure class=\"chart\">{svg}</figure>")
}

/// The privacy profile by every method, and the trade-off function.
async fn profile(
    t: &Strings,
    service: &Service,
    caller: &Caller,
    input: &LaboratoryInput,
) -> Result<String, Problem> {
    let request = AccountRequest {
        expression: input.expression.clone(),
        profile: true,
        ..AccountRequest::default()
    };
    let answer = match service.account(caller, request).await {
        Ok(answer) => answer,
        Err(problem) => return empty_or_problem(problem),
    };
    let Some(profile) = &answer.profile else {
        return Ok(String::new());
    };
    let advantage = profile.advantage().upper;
    let advantage = fill(t.lab_advantage, &[("advantage", &numbers::up(advantage))]);
    let figure = profile.figure(&input.expression, t.language.labels());
    let svg = t.language.svg(figure);
    Ok(format!("{}<p>{advantage}</p>", chart_html(&svg)))
}

/// Errors of the event are shown in the summary; only errors of the server are shown here.
fn empty_or_problem(problem: Problem) -> Result<String, Problem> {
    match problem.status().is_client_error() && problem.retry_after.is_none() {
        true => Ok(String::new()),
        false => Err(problem),
    }
}

/// ε after n compositions of the event, by every method.
async fn composition(
    t: &Strings,
    service: &Service,
    caller: &Caller,
    input: &LaboratoryInput,
) -> Result<String, Problem> {
    let start = Instant::now();
    let mut curves: Vec<Series> = Vec::new();
    for n in ROUNDS {
        let request = AccountRequest {
            expression: format!("{n} * ({})", input.expression),
            delta: Some(NumberInput::from(input.delta.as_str())),
            ..AccountRequest::default()
        };
        let answer = match service.account(caller, request).await {
            Ok(answer) => answer.json(),
            Err(problem) => {
                if curves.is_empty() {
                    return empty_or_problem(problem);
                }
                break;
            }
        };
        for method in answer.methods.unwrap_or_default() {
            let Some(upper) = method.upper.filter(|upper| *upper > 0.0) else {
                continue;
            };
            let point = (f64::from(n), upper);
            match curves.iter_mut().find(|series| series.name == method.name) {
                Some(series) => series.points.push(point),
                None => curves.push(Series::new(method.name, vec![point])),
            }
        }
        if start.elapsed() > COMPOSITION_TIME {
            break;
        }
    }
    let last = f64::from(ROUNDS.last().copied().unwrap_or(1));
    let panel = Panel::new("", Axis::log10("n").range(1.0, last), Axis::log10("ε"));
    let panel = curves
        .into_iter()
        .filter(|series| series.points.len() > 1)
        .fold(panel, Panel::with);
    if panel.series.is_empty() {
        return Ok(String::new());
    }
    let svg = t.language.svg(Figure::new("").with(panel));
    Ok(chart_html(&svg))
}

fn examples(t: &'static Strings) -> Vec<Example> {
    let all = [
        (t.lab_example_training, FIRST),
        (
            t.lab_example_paper,
            "100 * (rr(0.52) + laplace(20) + gaussian(10))",
        ),
        (t.lab_example_survey, "20 * rr(0.6)"),
        (t.lab_example_counts, "12 * discrete-laplace(10)"),
        (t.lab_example_gaussian, "gaussian(2)"),
    ];
    let example = |(name, expression)| Example {
        name,
        expression,
        address: link("/laboratory", &[("expression", expression)]),
    };
    all.into_iter().map(example).collect()
}

fn cards(t: &'static Strings) -> Vec<FigureCard> {
    let all = [(1, t.figure_1), (2, t.figure_2), (3, t.figure_3)];
    let card = |(number, about): (u8, &'static str)| FigureCard {
        number,
        name: fill(t.figure, &[("number", &number.to_string())]),
        about,
    };
    all.into_iter().map(card).collect()
}

/// Renders a part.
fn render(template: &impl Template) -> Result<String, Problem> {
    part_of(template)
}

#[cfg(test)]
mod tests {
    use mizan_core::PrivacyEvent;

    /// The sliders of the page have the symbols of the parameters.
    #[test]
    fn every_parameter_has_its_symbol() {
        let script = include_str!("../../assets/laboratory.js");
        let (_, names) = script.split_once("const NAMES = {").unwrap();
        let (names, _) = names.split_once("};").unwrap();
        for help in PrivacyEvent::vocabulary() {
            let parameters = help.signature.split_once('(').unwrap().1;
            let numbers = parameters.trim_end_matches(')').split(", ");
            let numbers = numbers.filter(|parameter| *parameter != "event").count();
            // Pairs of probabilities have no sliders of their own.
            if help.name == "finite" {
                continue;
            }
            let quoted = [format!(" '{}': [", help.name), format!(" {}: [", help.name)];
            let symbols = quoted.iter().find_map(|start| names.split_once(start));
            let symbols = symbols.and_then(|(_, rest)| rest.split_once(']'));
            let symbols = symbols.map_or(0, |(symbols, _)| symbols.split(", ").count());
            assert_eq!(
                symbols, numbers,
                "assets/laboratory.js, NAMES: {}",
                help.signature
            );
        }
    }
}
