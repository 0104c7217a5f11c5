//! `mizan cluster scheduler`: the node that plans, and that is asked.

use mizan_engine::{Address, Scheduler, run_scheduler};

use super::Listen;
use crate::failure::Failure;
use crate::output;

/// Run a scheduler until it is stopped
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It needs to see the files of datasets under the same paths as executors and who
asks. It writes nothing. Its address is the first line that it prints.

Examples:
  mizan cluster scheduler
  mizan cluster scheduler --listen 10.0.0.5:50050 --trusted-network")]
pub(super) struct Arguments {
    /// Where it listens; port 0 is any
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

/// Says where a node is.
pub(super) fn say(address: &Address) {
    // Nobody needs to read it.
    let _ = output::print(&format!("{address}\n"));
}
