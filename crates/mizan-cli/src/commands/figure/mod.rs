//! `mizan figure`: the figures of Mironov 2017.

use std::path::PathBuf;

use mizan_api::figure::Strengths;
use mizan_api::messages::Label;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, Output};

/// Draw a figure of Mironov's Rényi Differential Privacy (2017)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Figures:
  1  Rényi-DP curves of randomized response, Laplace and Gaussian noise
  2  increase of the probability of a bad outcome over n rounds, by four
     analyses and exactly; randomized response and Laplace noise, three
     baselines
  3  the same for rounds of three mechanisms together, with all orders and with
     the 13 orders of the paper; and the best order

Examples:
  mizan figure 1 --out figures     writes figure-1.svg and figure-1.csv")]
pub(crate) struct Arguments {
    /// Number of the figure
    #[arg(value_parser = clap::value_parser!(u8).range(1..=3))]
    figure: u8,

    /// Folder for the files; created if missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let out = &arguments.out;
    std::fs::create_dir_all(out)
        .map_err(|error| Failure::file("make the folder", &out.display().to_string(), &error))?;
    let figure = mizan_api::figure::draw(arguments.figure, Strengths::default(), Label::english)?;
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
