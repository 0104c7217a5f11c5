//! `mizan dataset`: the datasets of the catalogue.

pub(crate) mod add;
mod bounds;
mod list;
mod show;

use crate::failure::Failure;
use crate::output::{CommandOutput, Output};

/// Add, list and show datasets; find bounds privately
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Add(Box<add::Arguments>),
    List(list::Arguments),
    Show(show::Arguments),
    Bounds(bounds::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<CommandOutput, Failure> {
    match &arguments.command {
        Command::Add(arguments) => add::run(arguments, output).map(CommandOutput::done),
        Command::List(arguments) => list::run(arguments, output).map(CommandOutput::done),
        Command::Show(arguments) => show::run(arguments, output).map(CommandOutput::done),
        Command::Bounds(arguments) => bounds::run(arguments, output),
    }
}
