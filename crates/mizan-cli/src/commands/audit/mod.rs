//! `mizan audit`: attacks on mechanisms, one file for each.

mod event;
mod reconstruct;
mod sql;

use mizan_core::Code;

use crate::failure::Failure;
use crate::output::{CommandOutput, Output};

/// Attack a mechanism to bound its epsilon from below
#[derive(Debug, clap::Args)]
#[command(
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    override_usage = "mizan audit [OPTIONS] <EVENT>\n       mizan audit reconstruct [OPTIONS]\n       mizan audit sql [OPTIONS]",
    after_help = "\
Runs the mechanism on two inputs that differ in one person. Half of the runs
choose the set of outputs that distinguishes the inputs best; the other half
count it and bound epsilon from below. A bound above the claimed epsilon is a
violation (exit code 1). A correct mechanism shows one with probability at most
1 - confidence.

Examples:
  mizan audit 'discrete-laplace(10)'
  mizan audit '10 * rr(0.6)' --delta 0.01 --samples 1e7
  mizan audit 'discrete-laplace(5)' --epsilon 0.1      a false claim
  mizan audit reconstruct --svg reconstruct.svg
  mizan audit sql --pairs 2000"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    attack: Option<Attack>,

    #[command(flatten)]
    event: event::Arguments,
}

#[derive(Debug, clap::Subcommand)]
enum Attack {
    Reconstruct(reconstruct::Arguments),
    Sql(sql::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    match &arguments.attack {
        // Not left to clap: it would take `--format` for a conflict too.
        Some(_) if arguments.event.is_given() => Err(Failure::new(
            Code::MZ0008,
            "give an event or the name of an attack, not both",
            "see `mizan audit --help`",
        )),
        Some(Attack::Reconstruct(arguments)) => reconstruct::run(arguments, output),
        Some(Attack::Sql(arguments)) => sql::run(arguments, output),
        None => event::run(&arguments.event, output),
    }
}
