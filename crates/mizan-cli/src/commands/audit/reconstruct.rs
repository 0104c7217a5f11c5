//! `mizan audit reconstruct`: the reconstruction attack of Dinur and Nissim (2003).

use std::path::PathBuf;

use mizan_audit::{PRICED_AT, Point, Reconstruction};
use mizan_report::{Axis, Column, Figure, Panel, Series, Stroke, Table, number};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::input;
use crate::output::{self, CommandOutput, Output, Progress};
use mizan_api::number::finite;

/// The default number of queries for each person.
const QUERIES_PER_PERSON: u64 = 4;

/// Recover secret bits from noisy counts (Dinur-Nissim reconstruction)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each person has a secret bit. The attacker asks for noisy counts of the bits in
random halves of the people and solves for the bits. The table shows the share
of bits recovered as the noise grows, and the epsilon of all answers together at
delta 1e-6.

Examples:
  mizan audit reconstruct
  mizan audit reconstruct --n 1024 --svg reconstruct.svg --csv reconstruct.csv
  mizan audit reconstruct --n 128 --queries 128 --format json")]
pub(super) struct Arguments {
    /// Number of people
    #[arg(
        long = "n",
        value_name = "N",
        default_value = "256",
        allow_hyphen_values = true
    )]
    people: String,

    /// Number of queries [default: four per person]
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    queries: Option<String>,

    /// Draw the result to this file (SVG)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,

    /// Write the table to this file (CSV)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// The size of the attack and its results.
struct Report {
    people: u64,
    queries: u64,
    points: Vec<Point>,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    let people = input::whole(&arguments.people, "--n", Reconstruction::PEOPLE)?;
    let queries = match &arguments.queries {
        Some(text) => input::whole(text, "--queries", Reconstruction::QUERIES)?,
        None => people.saturating_mul(QUERIES_PER_PERSON),
    };
    let attack = Reconstruction::new(people, queries)?;
    let progress = Progress::of(attack.steps());
    let points = attack.run(&mut || progress.advance(1))?;
    let report = Report {
        people,
        queries,
        points,
    };
    let mut saved = String::new();
    for (path, contents) in [
        (&arguments.svg, report.figure().to_svg()),
        (&arguments.csv, report.csv()),
    ] {
        if let Some(path) = path {
            output::write_file(path, &contents)?;
            saved.push_str(&format!("\nSaved {}\n", path.display()));
        }
    }
    let text = output.either(|| report.json(), || report.text(output) + &saved);
    Ok(CommandOutput::done(text))
}

impl Report {
    fn json(&self) -> Value {
        let point = |point: &Point| {
            json!({
                "sigma": finite(point.sigma),
                "noise_over_sqrt_n": finite(point.noise_over_sqrt_n),
                "recovered": finite(point.recovered),
                "epsilon": finite(point.epsilon.get()),
            })
        };
        json!({
            "n": self.people,
            "queries": self.queries,
            "delta": finite(PRICED_AT),
            "points": self.points.iter().map(point).collect::<Vec<_>>(),
        })
    }

    fn csv(&self) -> String {
        let rows = self.points.iter().map(|point| {
            format!(
                "{},{},{},{}\n",
                point.sigma,
                point.noise_over_sqrt_n,
                point.recovered,
                point.epsilon.get()
            )
        });
        let header = "sigma,noise_over_sqrt_n,recovered,epsilon\n".to_owned();
        std::iter::once(header).chain(rows).collect()
    }

    fn text(&self, output: Output) -> String {
        let mut table = Table::new([
            Column::number("noise / √n"),
            Column::number("σ"),
            Column::number("recovered"),
            Column::text(""),
            Column::number("ε"),
        ]);
        for point in &self.points {
            table.row([
                number::nearest(point.noise_over_sqrt_n, 3),
                number::nearest(point.sigma, 4),
                format!("{:.1} %", 100.0 * point.recovered),
                // From chance to certainty.
                output.terminal.bar(2.0 * point.recovered - 1.0, 20),
                number::epsilon_up(point.epsilon.get(), 4),
            ]);
        }
        format!(
            "{} secret bits, {} queries over random halves of the people\n\n{table}\n\n{}\n\
             50 % is guessing (an empty bar). ε is the cost of all answers together at\n\
             δ = {PRICED_AT:e}.\n",
            self.people,
            self.queries,
            output.terminal.chart(&self.against_noise("")),
        )
    }

    fn figure(&self) -> Figure {
        let title = format!(
            "Reconstruction of {} bits from {} noisy sums",
            self.people, self.queries
        );
        Figure::new(title)
            .with(self.against_noise("The noise of each answer"))
            .with(self.against(
                "The cost of all answers",
                Axis::log10("ε at δ = 1e-6"),
                |point| point.epsilon.get(),
            ))
    }

    fn against_noise(&self, title: &str) -> Panel {
        let axis = Axis::log10("noise σ / √n");
        self.against(title, axis, |point| point.noise_over_sqrt_n)
    }

    fn against(&self, title: &str, axis: Axis, x: fn(&Point) -> f64) -> Panel {
        let recovered: Vec<_> = self
            .points
            .iter()
            .map(|point| (x(point), point.recovered))
            .collect();
        let chance = recovered.iter().map(|&(x, _)| (x, 0.5)).collect();
        let share = Axis::linear("share of recovered bits").range(0.4, 1.0);
        Panel::new(title, axis, share)
            .with(
                Series::new("recovered", recovered)
                    .stroke(Stroke::Solid)
                    .markers(),
            )
            .with(Series::new("chance", chance).stroke(Stroke::Dotted))
    }
}
