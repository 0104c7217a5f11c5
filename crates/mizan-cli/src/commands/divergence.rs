//! `mizan divergence`: the Rényi divergence of two finite distributions.

use mizan_api::divergence::DivergenceRequest;
use mizan_api::names::Names;
use mizan_report::{Column, Table, number};

use crate::failure::Failure;
use crate::output::{self, Output};

/// Compute the Rényi divergence of two finite distributions, both ways
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan divergence --p 0.5,0.5 --q 0.6,0.4 --orders 1,2,inf
  mizan divergence --p 1/3,2/3 --q 2/3,1/3
  mizan divergence --p 0.9,0.1,0 --q 0.8,0.1,0.1 --format json")]
pub(crate) struct Arguments {
    /// First distribution: probabilities or fractions that add up to 1
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    p: String,

    /// Second distribution, over the same outcomes
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    q: String,

    /// Orders from 1 to inf, or a grid: paper (13 orders), default (70)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "paper",
        allow_hyphen_values = true
    )]
    orders: String,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let request = DivergenceRequest {
        p: arguments.p.clone(),
        q: arguments.q.clone(),
        orders: arguments.orders.clone(),
    };
    let found = request.evaluate(Names::CommandLine)?;
    Ok(output.either(
        || found.json(),
        || {
            let mut table = Table::new([
                Column::number("order α"),
                Column::number("D(p‖q)"),
                Column::number("D(q‖p)"),
            ]);
            for (order, forward, backward) in &found.rows {
                table.row([
                    output::order_text(order.value),
                    number::epsilon_up(forward.upper.get(), 8),
                    number::epsilon_up(backward.upper.get(), 8),
                ]);
            }
            format!("{table}\n")
        },
    ))
}
