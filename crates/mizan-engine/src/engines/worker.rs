//! A separate process for each query over files, with a memory limit and a time limit.
//!
//! The program starts itself again (`process.rs`) and sends a [`Request`]; the worker
//! (`child.rs`) computes an [`Execution`] and exits. If the worker ends in any other way, even
//! by running out of memory, the query gets an error and nothing else is affected. Exact
//! integers cross this pipe only, in the frames of `frame.rs`.
//!
//! Tasks before the charge that could exhaust a process run in workers too: counting public
//! rows (`counter.rs`) and planning large plans.
//!
//! A worker inherits no environment variables but library paths, so it has no passwords. It has
//! its own process group, so that Ctrl-C reaches the parent only. It ends when the parent does,
//! because its standard input closes then.

mod child;
mod counter;
mod frame;
mod process;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use mizan_sql::{BoundedPlan, Catalogue, Dataset};
use serde::{Deserialize, Serialize};

pub use self::child::run_worker;
pub(super) use self::counter::Counter;
pub(super) use self::process::WorkerProgram;
use self::process::no_worker;
use super::datafusion::planning::{check_statements, is_large, of_planning};
use super::datafusion::sizes::Lines;
use super::datafusion::{self, DataFusion};
use super::fan_out::COUNTING;
use super::lower_sql::relations;
use super::thread;
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::query_limits::QueryLimits;
use crate::sampling_hash::Salt;
use crate::version::Version;

/// The only argument of the program when it is started as a worker.
pub const WORKER_ARGUMENT: &str = "run-plan";

/// The longest request, in bytes.
const LONGEST_REQUEST: u64 = 256 << 20;

/// The longest answer that is an error or empty, in bytes.
const LONGEST_ERROR: u64 = 1 << 20;

/// The environment variables that a worker inherits: the library search paths.
const KEPT_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// The path of this program, to start it as a worker.
///
/// # Errors
///
/// The operating system does not provide the path.
pub fn this_program() -> Result<PathBuf, EngineError> {
    // This is the running program even if the file was replaced by another version.
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running);
    }
    std::env::current_exe().map_err(|error| no_worker(&error))
}

/// The first message to a worker.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    task: Task,
    /// The datasets that the worker reads, and no others.
    catalogue: Catalogue,
    partitions: usize,
    memory: u64,
}

/// The task of a worker.
#[derive(Debug, Serialize, Deserialize)]
enum Task {
    /// Computes the exact integers of a plan.
    Run(Box<Run>),
    /// Plans the statements of a plan over empty tables.
    Plan(Box<BoundedPlan>),
    /// Counts rows of public relations over tables of these versions. The relations follow in
    /// separate frames, and each gets an answer.
    Count(BTreeMap<String, Version>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Run {
    plan: BoundedPlan,
    versions: Vec<Version>,
    salt: Salt,
}

impl Request {
    fn new<'a>(
        task: Task,
        datasets: impl IntoIterator<Item = &'a String>,
        catalogue: &Catalogue,
        partitions: usize,
        memory: u64,
    ) -> Result<Self, EngineError> {
        let mut read = Catalogue::default();
        for name in datasets {
            let dataset = relations::dataset(catalogue, name)?;
            read.datasets.insert(name.clone(), dataset.clone());
        }
        Ok(Self {
            task,
            catalogue: read,
            partitions,
            memory,
        })
    }

    /// How many threads of the worker have a deep stack.
    const fn deep_threads(&self) -> usize {
        match self.task {
            Task::Run(_) | Task::Plan(_) => 2,
            // One thread more reads relations.
            Task::Count(_) => 3,
        }
    }

    /// What the limit on data pages allows beyond the memory limit: stacks, which are mostly
    /// unused, and the program itself.
    fn allowance(&self) -> u64 {
        let own = self.deep_threads() * thread::STACK + (128 << 20);
        let workers = datafusion::threads(self.partitions) * datafusion::WORKER_STACK;
        (own + workers) as u64
    }
}

fn encoded(request: &Request) -> Result<Vec<u8>, EngineError> {
    let frame = frame::encode(request).filter(|frame| frame.len() as u64 <= LONGEST_REQUEST);
    frame.ok_or_else(too_large)
}

fn too_large() -> EngineError {
    EngineError::BadPlan {
        reason: "it is too large for a worker process".into(),
    }
}

/// The embedded engine, in worker processes.
#[derive(Debug)]
pub(crate) struct Workers {
    program: WorkerProgram,
    pub(super) engine: DataFusion,
}

impl Workers {
    /// Public rows are counted in this process, unless `engine` has a worker program.
    pub(crate) const fn new(path: PathBuf, limits: QueryLimits, engine: DataFusion) -> Self {
        Self {
            program: WorkerProgram::new(path, limits),
            engine,
        }
    }

    fn request(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        task: Task,
    ) -> Result<Vec<u8>, EngineError> {
        let datasets = plan.datasets.iter().chain(&plan.public);
        let (partitions, memory) = (self.engine.partitions(), self.program.limits.memory);
        encoded(&Request::new(
            task, datasets, catalogue, partitions, memory,
        )?)
    }

    fn run_request(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Vec<u8>, EngineError> {
        let run = Run {
            plan: plan.clone(),
            versions: versions.to_vec(),
            salt,
        };
        self.request(plan, catalogue, Task::Run(Box::new(run)))
    }

    /// Plans a large plan over empty tables, in a worker.
    fn plan_without_rows(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
    ) -> Result<(), EngineError> {
        let request = self.request(plan, catalogue, Task::Plan(Box::new(plan.clone())))?;
        let mut worker = self.program.start(LONGEST_ERROR)?;
        let planned = worker.request(request, COUNTING);
        planned.and_then(|planned| planned).map_err(of_planning)
    }
}

impl Engine for Workers {
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.program.check()?;
        self.run_request(plan, catalogue, &[], Salt::default())?;
        // A plan that is refused for its size is not planned.
        self.check_joins(plan, catalogue)?;
        self.check_limits(plan, catalogue)?;
        match is_large(&plan.size()) {
            true => self.plan_without_rows(plan, catalogue),
            false => Ok(()),
        }
    }

    /// CSV files do not store their number of rows. Lines are counted only if the bound from
    /// their bytes exceeds the limits.
    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let limits = &self.program.limits;
        let bound = self.engine.bound(plan, catalogue, Lines::Unknown)?;
        if bound.check(limits).is_err() {
            let bound = self.engine.bound(plan, catalogue, Lines::Counted)?;
            bound.check(limits)?;
        }
        // The statements of large plans are planned anyway.
        match is_large(&plan.size()) {
            true => Ok(()),
            false => check_statements(plan, catalogue),
        }
    }

    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.engine.check_joins(plan, catalogue)
    }

    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError> {
        self.engine.version(dataset)
    }

    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Execution, EngineError> {
        let request = self.run_request(plan, catalogue, versions, salt)?;
        // The answer is in memory here, twice for a short time.
        let limits = &self.program.limits;
        self.program
            .start(limits.memory / 4)?
            .request(request, limits.time)?
    }
}
