//! `mizan ledger`: the log, its proofs and its verification.

mod at;
mod checkpoint;
mod export;
mod log;
mod restore;
mod show;
mod verify;

use crate::failure::Failure;
use crate::output::Output;

/// Read, prove and verify the log
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Log(log::Arguments),
    Show(show::Arguments),
    Verify(verify::Arguments),
    At(at::Arguments),
    Checkpoint(checkpoint::Arguments),
    Export(export::Arguments),
    Restore(restore::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match &arguments.command {
        Command::Log(arguments) => log::run(arguments, output),
        Command::Show(arguments) => show::run(arguments, output),
        Command::Verify(arguments) => verify::run(arguments, output),
        Command::At(arguments) => at::run(arguments, output),
        Command::Checkpoint(arguments) => checkpoint::run(arguments, output),
        Command::Export(arguments) => export::run(arguments, output),
        Command::Restore(arguments) => restore::run(arguments, output),
    }
}
