//! `mizan divergence`: the Rényi divergence of two finite distributions.

use mizan_accounting::FiniteDistribution;
use mizan_core::{Interval, Round, parse_decimal};
use mizan_report::{Column, Table, number};
use serde_json::json;

use crate::failure::Failure;
use crate::input;
use crate::output::{self, Output};

/// The Rényi divergence of two finite distributions, in both directions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan divergence --p 0.5,0.5 --q 0.6,0.4 --orders 1,2,inf
  mizan divergence --p 1/3,2/3 --q 2/3,1/3
  mizan divergence --p 0.9,0.1,0 --q 0.8,0.1,0.1 --format json")]
pub(crate) struct Arguments {
    /// The first distribution: probabilities or fractions that add up to 1
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    p: String,

    /// The second distribution, over the same outcomes
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
    let p = distribution("--p", &arguments.p)?;
    let q = distribution("--q", &arguments.q)?;
    let rows = input::orders(&arguments.orders)?
        .into_iter()
        .map(|order| {
            Ok((
                order,
                p.divergence(&q, order.value)?,
                q.divergence(&p, order.value)?,
            ))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    Ok(output.either(
        || {
            let rows: Vec<_> = rows
                .iter()
                .map(|(order, forward, backward)| {
                    json!({
                        "order": output::json_order(order.shown),
                        "forward": output::json_number(forward.upper.get()),
                        "backward": output::json_number(backward.upper.get()),
                    })
                })
                .collect();
            json!({"p": arguments.p, "q": arguments.q, "divergence": rows})
        },
        || {
            let mut table = Table::new([
                Column::number("order α"),
                Column::number("D(p‖q)"),
                Column::number("D(q‖p)"),
            ]);
            for (order, forward, backward) in &rows {
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

fn distribution(option: &str, list: &str) -> Result<FiniteDistribution, Failure> {
    let probabilities = list
        .split(',')
        .map(|text| probability(option, text.trim()))
        .collect::<Result<Vec<_>, Failure>>()?;
    FiniteDistribution::enclosed(probabilities)
        .map_err(|error| Failure::from(error).of_option(option))
}

/// A decimal or a fraction of two, enclosed between doubles.
fn probability(option: &str, text: &str) -> Result<Interval, Failure> {
    match text.split_once('/') {
        Some((over, under)) => Ok(decimal(option, over.trim())? / decimal(option, under.trim())?),
        None => decimal(option, text),
    }
}

fn decimal(option: &str, text: &str) -> Result<Interval, Failure> {
    let side = |round| {
        parse_decimal(text, round).map_err(|error| {
            Failure::new(
                error.code(),
                format!("{option} {text:?}: {error}"),
                error.help(),
            )
        })
    };
    Ok(Interval::new(side(Round::Down)?, side(Round::Up)?))
}
