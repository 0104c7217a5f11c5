//! The engine that runs queries: this machine, or a cluster.

use mizan_core::Code;
use mizan_engine::{EngineSet, this_program};

use crate::failure::Failure;
use crate::query_limits::{self, QueryLimitArguments};

/// The options that select the engine.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArguments {
    /// Run queries on this machine, or on a cluster that sees the same files
    #[arg(long, value_enum, value_name = "ENGINE")]
    engine: Option<Kind>,

    /// Scheduler of the cluster [default: MIZAN_SCHEDULER]
    #[arg(long, value_name = "HOST:PORT")]
    scheduler: Option<String>,

    #[command(flatten)]
    pub(crate) limits: QueryLimitArguments,
}

/// The engines for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    Embedded,
    Ballista,
}

impl EngineArguments {
    /// The limits of a query as text; None on a cluster, which has its own.
    pub(crate) fn limits_text(&self) -> Result<Option<String>, Failure> {
        if self.scheduler.is_some() || self.engine == Some(Kind::Ballista) {
            return Ok(None);
        }
        Ok(Some(query_limits::text(&self.limits.limits(1)?)))
    }

    /// Opens the selected engines.
    pub(crate) fn open(&self) -> Result<EngineSet, Failure> {
        match (self.engine, &self.scheduler) {
            (Some(Kind::Embedded), Some(_)) => Err(Failure::new(
                Code::MZ0008,
                "--scheduler: the embedded engine has no scheduler",
                "leave it out, or add --engine ballista",
            )),
            (None | Some(Kind::Embedded), None) => {
                let limits = self.limits.limits(1)?;
                Ok(EngineSet::in_workers(this_program()?, limits)?)
            }
            (Some(Kind::Ballista), None) => self.on_cluster(&from_environment()?),
            (_, Some(scheduler)) => self.on_cluster(scheduler),
        }
    }

    /// A cluster. Public rows are counted on this machine, in worker processes.
    fn on_cluster(&self, scheduler: &str) -> Result<EngineSet, Failure> {
        let limits = self.limits.limits(1)?;
        Ok(EngineSet::on_cluster(scheduler)?.counting_in_workers(this_program()?, limits))
    }
}

/// The scheduler named by MIZAN_SCHEDULER.
pub(crate) fn from_environment() -> Result<String, Failure> {
    let set = std::env::var("MIZAN_SCHEDULER").ok();
    set.filter(|set| !set.is_empty()).ok_or_else(|| {
        Failure::new(
            Code::MZ0009,
            "no scheduler is named",
            "add --scheduler HOST:PORT, or set MIZAN_SCHEDULER",
        )
    })
}
