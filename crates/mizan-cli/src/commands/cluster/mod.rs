//! `mizan cluster`: the nodes of a Ballista cluster. Only with the cargo feature
//! `ballista`.

mod executor;
mod scheduler;
mod status;

use crate::failure::Failure;
use crate::output::Output;

/// Run the nodes of a Ballista cluster, and show their status
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Scheduler(scheduler::Arguments),
    Executor(executor::Arguments),
    Status(status::Arguments),
}

/// How other machines reach a node.
#[derive(Debug, clap::Args)]
struct Listen {
    /// Host name or address that nodes and clients use, if it differs
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Accept other machines: rows travel without authentication or TLS
    #[arg(long)]
    trusted_network: bool,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    match &arguments.command {
        Command::Scheduler(arguments) => scheduler::run(arguments),
        Command::Executor(arguments) => executor::run(arguments),
        Command::Status(arguments) => status::run(arguments, output),
    }
}
