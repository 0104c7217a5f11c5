//! `mizan curve`: the Rényi-DP curve of an event.

use std::path::PathBuf;

use mizan_api::curve::{CurveRequest, Point};
use mizan_api::messages::Label;
use mizan_api::names::Names;
use mizan_report::{Column, Table, number};

use crate::define::DefineArguments;
use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output};

/// Compute the Rényi-DP curve of an event: epsilon at each order
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan curve 'gaussian(2)'
  mizan curve '10 * (laplace(1) + rr(0.75))' --orders 1,1.5,2,10,inf
  mizan curve 'discrete-gaussian(0.8)' --orders default --svg curve.svg
  echo '{\"event\": \"pure\", \"epsilon\": 0.5}' | mizan curve - --format json")]
pub(crate) struct Arguments {
    /// Event as text or JSON, @FILE, or - for standard input
    #[arg(value_name = "EXPR")]
    expression: String,

    #[command(flatten)]
    defined: DefineArguments,

    /// Orders from 1 to inf, or a grid: paper (13 orders), default (70)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "paper",
        allow_hyphen_values = true
    )]
    orders: String,

    /// Draw the curve to this file (SVG)
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let request = CurveRequest {
        expression: input::typed(&arguments.expression)?,
        orders: arguments.orders.clone(),
    };
    let curve = request.evaluate(&arguments.defined.read()?, Names::CommandLine)?;
    if let Some(path) = &arguments.svg {
        output::write_file(path, &curve.figure(Label::english).to_svg())?;
    }
    Ok(output.either(
        || curve.json(),
        || {
            let mut table = Table::new([Column::number("order α"), Column::number("ε(α)")]);
            for Point { order, epsilon } in &curve.points {
                table.row([
                    output::order_text(order.value),
                    number::epsilon_up(epsilon.upper.get(), 8),
                ]);
            }
            let saved = arguments.svg.as_ref();
            let saved = saved.map(|path| format!("\nSaved {}\n", path.display()));
            let chart = output.terminal.chart(&curve.panel(Label::english));
            format!(
                "{}\n\n{table}\n\n{chart}{}",
                output::shortened(&curve.expression, 70),
                saved.unwrap_or_default()
            )
        },
    ))
}
