//! `mizan cluster executor`: a node that reads files and runs tasks.

use std::path::PathBuf;

use mizan_engine::{Executor, run_executor};

use super::Listen;
use super::scheduler::say;
use crate::engine::from_environment;
use crate::failure::Failure;

/// Run an executor until it is stopped or its scheduler is gone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rows that move between executors are kept in a private directory within the work
directory; the executor removes it at its end. The first line of output is the
address of the executor.

Examples:
  mizan cluster executor --scheduler 127.0.0.1:50050
  mizan cluster executor --scheduler 10.0.0.5:50050 --listen 10.0.0.6:50051 \\
    --trusted-network --work-dir /var/lib/mizan/shuffle --cores 16")]
pub(super) struct Arguments {
    /// Scheduler of the cluster [default: MIZAN_SCHEDULER]
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: Option<String>,

    /// Address to listen on; port 0 selects a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    listen: String,

    #[command(flatten)]
    open: Listen,

    /// Work directory [default: the system's directory for temporary files]
    #[arg(long, value_name = "DIR")]
    work_dir: Option<PathBuf>,

    /// Tasks at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    cores: Option<u16>,
}

pub(super) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let scheduler = match &arguments.scheduler {
        Some(scheduler) => scheduler.clone(),
        None => from_environment()?,
    };
    let options = Executor {
        scheduler: scheduler.parse()?,
        listen: arguments.listen.parse()?,
        advertise: arguments.open.advertise.clone(),
        trusted_network: arguments.open.trusted_network,
        work_dir: arguments
            .work_dir
            .clone()
            .unwrap_or_else(std::env::temp_dir),
        cores: arguments.cores.map_or(0, usize::from),
    };
    run_executor(&options, say)?;
    Ok(String::new())
}
