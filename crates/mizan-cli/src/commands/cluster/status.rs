//! `mizan cluster status`: the executors of a scheduler.

use std::time::{Duration, Instant};

use mizan_core::Code;
use mizan_engine::{Address, ClusterStatus, cluster_status};
use serde_json::json;

use crate::engine::from_environment;
use crate::failure::Failure;
use crate::output::Output;

/// Show a scheduler and its executors
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizan cluster status --scheduler 127.0.0.1:50050
  mizan cluster status --scheduler 127.0.0.1:50050 --wait 2")]
pub(super) struct Arguments {
    /// Scheduler of the cluster [default: MIZAN_SCHEDULER]
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: Option<String>,

    /// Wait up to a minute until N executors are registered
    #[arg(long, value_name = "N", default_value_t = 0)]
    wait: usize,
}

pub(super) fn run(arguments: &Arguments, output: Output) -> Result<String, Failure> {
    let scheduler = match &arguments.scheduler {
        Some(scheduler) => scheduler.clone(),
        None => from_environment()?,
    };
    let scheduler: Address = scheduler.parse()?;
    let status = waited(&scheduler, arguments.wait)?;
    Ok(output.either(
        || json!({"scheduler": scheduler.to_string(), "executors": status.executors}),
        || {
            let (executors, cores) = (status.executors.len(), status.cores());
            let executors = counted(executors);
            format!("{scheduler}: {executors}, {cores} tasks at a time\n")
        },
    ))
}

fn counted(executors: usize) -> String {
    match executors {
        1 => "1 executor".to_owned(),
        more => format!("{more} executors"),
    }
}

fn waited(scheduler: &Address, executors: usize) -> Result<ClusterStatus, Failure> {
    let start = Instant::now();
    loop {
        let status = cluster_status(scheduler)?;
        if status.executors.len() >= executors || start.elapsed() > Duration::from_secs(60) {
            if status.executors.len() < executors {
                let (found, place) = (counted(status.executors.len()), scheduler);
                return Err(Failure::new(
                    Code::MZ1927,
                    format!("the scheduler {place} has {found}, not {executors}"),
                    "start more with `mizan cluster executor --scheduler HOST:PORT`",
                ));
            }
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
