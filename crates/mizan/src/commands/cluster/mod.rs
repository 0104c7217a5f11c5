//! `mizan cluster`: the nodes of a cluster that answers questions. Only in programs that
//! are built with the feature `ballista`.

mod executor;
mod scheduler;
mod status;

use crate::failure::Failure;
use crate::output::Output;

/// Start the nodes of a cluster, and look at them
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

/// Where a node listens.
#[derive(Debug, clap::Args)]
struct Listen {
    /// The host by which other nodes and who asks reach it, if it is another
    #[arg(long, value_name = "HOST")]
    advertise: Option<String>,

    /// Listen where other machines reach it: rows travel without passwords or TLS
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
