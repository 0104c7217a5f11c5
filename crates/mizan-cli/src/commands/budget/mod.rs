//! `mizan budget`: accounts, their targets and what remains.

mod create;
mod list;
mod raise;
mod settle;
mod show;
pub(crate) mod target;

use crate::failure::Failure;
use crate::output::Output;

/// Create, show, list and raise budgets, and settle queries that failed
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Create(create::Arguments),
    Show(show::Arguments),
    List(list::Arguments),
    Raise(raise::Arguments),
    Settle(settle::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match &arguments.command {
        Command::Create(arguments) => create::run(arguments, output),
        Command::Show(arguments) => show::run(arguments, output),
        Command::List(arguments) => list::run(arguments, output),
        Command::Raise(arguments) => raise::run(arguments, output),
        Command::Settle(arguments) => settle::run(arguments, output),
    }
}
