//! `mizan table`: the tables of Mironov's paper, with numbers.

mod mechanisms;
mod properties;

use crate::failure::Failure;
use crate::output::Output;

/// Print a table of Mironov's Rényi Differential Privacy (2017)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tables:
  1  what Rényi differential privacy promises, beside differential privacy
  2  the budget curves of randomized response, Laplace and Gaussian noise

Examples:
  mizan table 2")]
pub(crate) struct Arguments {
    /// Which table
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    table: u8,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match arguments.table {
        1 => properties::write(output),
        _ => mechanisms::write(output),
    }
}
