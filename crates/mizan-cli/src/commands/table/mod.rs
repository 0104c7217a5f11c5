//! `mizan table`: the tables of Mironov 2017, with numbers.

mod mechanisms;
mod properties;

use crate::failure::Failure;
use crate::output::Output;

/// Print a table of Mironov's Rényi Differential Privacy (2017)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Tables:
  1  guarantees of Rényi differential privacy beside pure differential privacy
  2  Rényi-DP curves of randomized response, Laplace and Gaussian noise

Examples:
  mizan table 2")]
pub(crate) struct Arguments {
    /// Number of the table
    #[arg(value_parser = clap::value_parser!(u8).range(1..=2))]
    table: u8,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match arguments.table {
        1 => properties::write(output),
        _ => mechanisms::write(output),
    }
}
