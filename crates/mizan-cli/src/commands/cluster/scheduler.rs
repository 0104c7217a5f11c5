//! `mizan cluster scheduler`: the node that plans queries and accepts them.

use mizan_engine::{Address, Scheduler, run_scheduler};

use super::Listen;
use crate::failure::Failure;
use crate::output;

/// Run a scheduler until it is stopped
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The scheduler, the executors and the clients need the dataset files under the
same paths. The scheduler writes no files. The first line of output is its
address.

Examples:
  mizan cluster scheduler
  mizan cluster scheduler --listen 10.0.0.5:50050 --trusted-network")]
pub(super) struct Arguments {
    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    listen: String,

    #[command(flatten)]
    open: Listen,
}

pub(super) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let options = Scheduler {
        listen: arguments.listen.parse()?,
        advertise: arguments.open.advertise.clone(),
        trusted_network: arguments.open.trusted_network,
    };
    run_scheduler(&options, say)?;
    Ok(String::new())
}

/// Prints the address of a node.
pub(super) fn say(address: &Address) {
    // The node runs even if standard output is closed.
    let _ = output::print(&format!("{address}\n"));
}
