//! One file per command. Each takes its arguments and returns the text to print.

pub(crate) mod account;
pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod calibrate;
#[cfg(feature = "ballista")]
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod curve;
pub(crate) mod dataset;
pub(crate) mod demo;
pub(crate) mod divergence;
pub(crate) mod figure;
pub(crate) mod group;
pub(crate) mod init;
pub(crate) mod ledger;
pub(crate) mod noise;
pub(crate) mod query;
pub(crate) mod quote;
pub(crate) mod risk;
pub(crate) mod serve;
pub(crate) mod spend;
pub(crate) mod table;
pub(crate) mod token;

use crate::cli::Command;
use crate::failure::Failure;
use crate::output::{CommandOutput, Output};

pub(crate) fn run(command: Command, output: Output) -> Result<CommandOutput, Failure> {
    let text = match command {
        Command::Audit(arguments) => return audit::run(&arguments, output),
        Command::Dataset(arguments) => return dataset::run(&arguments, output),
        Command::Query(arguments) => return query::run(&arguments, output),
        Command::Quote(arguments) => return quote::run(&arguments, output),
        Command::Spend(arguments) => return spend::run(&arguments, output),
        Command::Account(arguments) => account::run(&arguments, output),
        Command::Budget(arguments) => budget::run(&arguments, output),
        Command::Calibrate(arguments) => calibrate::run(&arguments, output),
        #[cfg(feature = "ballista")]
        Command::Cluster(arguments) => cluster::run(&arguments, output),
        Command::Curve(arguments) => curve::run(&arguments, output),
        Command::Demo(arguments) => demo::run(&arguments, output),
        Command::Divergence(arguments) => divergence::run(&arguments, output),
        Command::Figure(arguments) => figure::run(&arguments, output),
        Command::Group(arguments) => group::run(&arguments, output),
        Command::Init(arguments) => init::run(&arguments, output),
        Command::Ledger(arguments) => ledger::run(&arguments, output),
        Command::Noise(arguments) => noise::run(&arguments, output),
        Command::Risk(arguments) => risk::run(&arguments, output),
        Command::Serve(arguments) => serve::run(&arguments, output),
        Command::Table(arguments) => table::run(&arguments, output),
        Command::Token(arguments) => token::run(&arguments, output),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man => completions::manual(),
    };
    text.map(CommandOutput::done)
}
