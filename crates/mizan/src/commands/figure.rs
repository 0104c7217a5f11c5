//! `mizan figure`: the figures of Mironov's paper, drawn anew.

use std::path::PathBuf;

use mizan_accounting::RenyiCurve;
use mizan_core::{Order, PrivacyEvent};
use mizan_report::{Axis, Figure, Panel, Series};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, Output};

/// Draw a figure of Mironov's Rényi Differential Privacy (2017)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Figures:
  1  Rényi budget curves of randomized response, Laplace and Gaussian noise

Examples:
  mizan figure 1 --out figures     writes figure-1.svg and figure-1.csv")]
pub(crate) struct Arguments {
    /// Which figure
    #[arg(value_parser = clap::value_parser!(u8).range(1..=1))]
    figure: u8,

    /// The folder to write to, made if it is not there
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let figure = budget_curves()?;
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::file("make the folder", &out.display().to_string(), &error))?;
    let path = |extension: &str| out.join(format!("figure-{}.{extension}", arguments.figure));
    let (svg, csv) = (path("svg"), path("csv"));
    output::write_file(&svg, &figure.to_svg())?;
    output::write_file(&csv, &figure.to_csv())?;
    Ok(output.either(
        || json!({"figure": arguments.figure, "files": [svg.display().to_string(), csv.display().to_string()]}),
        || {
            let charts: Vec<_> = figure.panels.iter().map(|panel| output.terminal.chart(panel)).collect();
            format!("{}\nSaved {} and {}\n", charts.join("\n"), svg.display(), csv.display())
        },
    ))
}

/// Figure 1: three mechanisms at three strengths each, orders 1 to 10.
fn budget_curves() -> Result<Figure, Failure> {
    let panels = [
        (
            "Randomized response",
            [
                ("p = 0.55", "rr(0.55)"),
                ("p = 0.6", "rr(0.6)"),
                ("p = 0.75", "rr(0.75)"),
            ],
        ),
        (
            "Laplace noise",
            [
                ("1/λ = 0.25", "laplace(4)"),
                ("1/λ = 0.5", "laplace(2)"),
                ("1/λ = 1", "laplace(1)"),
            ],
        ),
        (
            "Gaussian noise",
            [
                ("σ = 4", "gaussian(4)"),
                ("σ = 3", "gaussian(3)"),
                ("σ = 2", "gaussian(2)"),
            ],
        ),
    ];
    let mut figure = Figure::new("Rényi differential privacy of basic mechanisms");
    for (title, curves) in panels {
        let mut panel = Panel::new(
            title,
            Axis::linear("order α").range(1.0, 10.0),
            Axis::linear("ε(α)"),
        );
        for (name, expression) in curves {
            let event: PrivacyEvent = expression.parse()?;
            let curve = RenyiCurve::of(&event)?;
            let at = |order: f64| {
                Order::new(order).map_or(f64::NAN, |order| curve.at(order).upper.get())
            };
            panel = panel.with(Series::sampled(name, 1.0, 10.0, 180, at));
        }
        figure = figure.with(panel);
    }
    Ok(figure.columns(3))
}
