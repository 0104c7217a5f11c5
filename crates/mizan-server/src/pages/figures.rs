//! The paper's three figures, with its parameters or with others.

use askama::Template;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use mizan_api::figure::{Strengths, draw};
use serde::Deserialize;

use super::frame::{Frame, page};
use super::problems::or_problem;
use super::read::{Path, Query};
use super::visitor::Visitor;
use crate::locale::{Markup, Strings, fill};
use crate::problem::Problem;
use crate::service::Service;

#[derive(Template)]
#[template(path = "figure.html")]
struct Page {
    frame: Frame,
    number: u8,
    name: Markup,
    about: &'static str,
    knobs: Vec<Knob>,
    svg: Option<String>,
    problem: Option<Problem>,
}

/// A parameter with a slider.
struct Knob {
    label: &'static str,
    name: &'static str,
    value: String,
    least: &'static str,
    most: &'static str,
    step: &'static str,
}

/// The query of the address; an empty value stands for the paper's.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FigureInput {
    #[serde(default)]
    rr: String,
    #[serde(default)]
    laplace: String,
    #[serde(default)]
    gaussian: String,
    /// Draws the figure into the page, for browsers without scripts.
    #[serde(default)]
    draw: Option<String>,
}

/// A figure, or its chart alone for the script.
pub(super) async fn show(
    visitor: Visitor,
    State(service): State<Service>,
    headers: HeaderMap,
    Path(number): Path<String>,
    Query(input): Query<FigureInput>,
) -> Response {
    let made = async {
        let number: u8 = number.parse().unwrap_or(0);
        let t = visitor.language.strings();
        let about = match number {
            1 => t.figure_1,
            2 => t.figure_2,
            3 => t.figure_3,
            _ => return Err(Problem::not_found("this figure")),
        };
        let fragment = headers.contains_key("x-fragment");
        // Figures 2 and 3 take long to draw; scripts fetch them after the page.
        let drawn = match fragment || number == 1 || input.draw.is_some() {
            true => Some(svg(&service, t, number, &input).await),
            false => None,
        };
        if let (true, Some(drawn)) = (fragment, &drawn) {
            let html = match drawn {
                Ok(svg) => format!("<figure class=\"chart\">{svg}</figure>"),
                Err(problem) => return Err(problem.clone()),
            };
            return Ok(([("content-type", "text/html; charset=utf-8")], html).into_response());
        }
        let (svg, problem) = match drawn {
            Some(Ok(svg)) => (Some(svg), None),
            Some(Err(problem)) => (None, Some(problem)),
            None => (None, None),
        };
        page(&Page {
            frame: visitor.frame("laboratory"),
            number,
            name: fill(t.figure, &[("number", &number.to_string())]),
            about,
            knobs: knobs(t, number, &input),
            svg,
            problem,
        })
    };
    or_problem(&visitor, made.await)
}

async fn svg(
    service: &Service,
    t: &Strings,
    number: u8,
    input: &FigureInput,
) -> Result<String, Problem> {
    let language = t.language;
    let given = |text: &str, name: &str| match text.trim() {
        "" => Ok(None),
        text => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Some(value)),
            _ => Err(Problem::malformed(&format!("{name} is not a number"))),
        },
    };
    let strengths = Strengths {
        truthful: given(&input.rr, "p")?,
        scale: given(&input.laplace, "λ")?,
        sigma: given(&input.gaussian, "σ")?,
    };
    service
        .compute(move |_| {
            let figure = draw(number, strengths, language.labels())?;
            Ok(language.svg(figure))
        })
        .await
}

/// Figure 1 begins with the paper's curves alone; the others need values.
fn knobs(t: &'static Strings, number: u8, input: &FigureInput) -> Vec<Knob> {
    let [rr, laplace, gaussian] = match number {
        1 => ["", "", ""],
        2 => ["0.51", "20", ""],
        _ => ["0.52", "20", "10"],
    };
    let value = |typed: &str, paper: &str| if typed.is_empty() { paper } else { typed }.to_owned();
    let mut knobs = vec![
        Knob {
            label: t.figure_rr,
            name: "rr",
            value: value(&input.rr, rr),
            least: "0.505",
            most: "0.95",
            step: "0.005",
        },
        Knob {
            label: t.figure_laplace,
            name: "laplace",
            value: value(&input.laplace, laplace),
            least: "0.5",
            most: "40",
            step: "0.5",
        },
    ];
    if number != 2 {
        knobs.push(Knob {
            label: t.figure_gaussian,
            name: "gaussian",
            value: value(&input.gaussian, gaussian),
            least: "0.5",
            most: "20",
            step: "0.5",
        });
    }
    knobs
}
