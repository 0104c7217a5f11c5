//! A process of its own for each query over files, with a memory limit and a time limit.
//!
//! The program starts itself again and hands over the plan ([`Request`]); the worker
//! (`child.rs`) computes an [`Execution`] and ends. Whatever becomes of it, also an abort for
//! want of memory, is an error here and nothing more. Execution integers cross this pipe
//! only, in the frames of `frame.rs`.
//!
//! A worker has none of the parent's environment, so it has no passwords. It has its own
//! process group, so that a Ctrl-C reaches the parent alone; it ends when the parent
//! does, because its standard input closes then.

mod child;
mod frame;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};

use mizan_sql::{BoundedPlan, Catalogue, Dataset};
use serde::{Deserialize, Serialize};

pub use self::child::run_worker;
use super::datafusion::sizes::Lines;
use super::datafusion::{self, DataFusion};
use super::{relations, thread};
use crate::engine::{Engine, EngineError};
use crate::exact::Execution;
use crate::order::Salt;
use crate::query_limits::QueryLimits;
use crate::version::Version;

/// The only argument of the program when it is a worker.
pub const WORKER_ARGUMENT: &str = "run-plan";

/// The longest request, in bytes.
const LONGEST_REQUEST: u64 = 256 << 20;

/// Variables that a worker keeps: where the system finds libraries of the program.
const KEPT_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

/// This program, which can be started again as a worker.
///
/// # Errors
///
/// The system does not say where it is.
pub fn this_program() -> Result<PathBuf, EngineError> {
    // The same program even if another was installed in its place since.
    let running = PathBuf::from("/proc/self/exe");
    if cfg!(target_os = "linux") && running.exists() {
        return Ok(running);
    }
    std::env::current_exe().map_err(|error| no_worker(&error))
}

/// What a worker is told.
#[derive(Debug, Serialize, Deserialize)]
struct Request {
    plan: BoundedPlan,
    /// The datasets that the plan reads, and no others.
    catalogue: Catalogue,
    versions: Vec<Version>,
    salt: Salt,
    partitions: usize,
    memory: u64,
}

/// Address space beside the memory limit: stacks, which are mostly untouched, and what
/// the program itself needs.
fn allowance(partitions: usize) -> u64 {
    let own = 2 * thread::STACK + (128 << 20);
    let workers = datafusion::threads(partitions) * datafusion::WORKER_STACK;
    (own + workers) as u64
}

/// The embedded engine, in worker processes.
#[derive(Debug)]
pub(crate) struct Workers {
    /// The program that calls [`run_worker`] when it is told [`WORKER_ARGUMENT`].
    program: PathBuf,
    limits: QueryLimits,
    pub(super) engine: DataFusion,
}

impl Workers {
    pub(crate) const fn new(program: PathBuf, limits: QueryLimits, engine: DataFusion) -> Self {
        Self {
            program,
            limits,
            engine,
        }
    }

    /// Starts a worker. Nothing of its standard error is kept: a library's last words
    /// may quote a row.
    fn start(&self) -> Result<Running, EngineError> {
        let mut command = Command::new(&self.program);
        command
            .arg(WORKER_ARGUMENT)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        for name in KEPT_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        #[cfg(unix)]
        command.arg0("mizan").process_group(0);
        let child = command.spawn().map_err(|error| no_worker(&error))?;
        Ok(Running(child))
    }

    fn request(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: Salt,
    ) -> Result<Vec<u8>, EngineError> {
        let mut read = Catalogue::default();
        for name in plan.datasets.iter().chain(&plan.public) {
            let dataset = relations::dataset(catalogue, name)?;
            read.datasets.insert(name.clone(), dataset.clone());
        }
        let request = Request {
            plan: plan.clone(),
            catalogue: read,
            versions: versions.to_vec(),
            salt,
            partitions: self.engine.partitions(),
            memory: self.limits.memory,
        };
        let frame = frame::encode(&request).filter(|frame| frame.len() as u64 <= LONGEST_REQUEST);
        frame.ok_or_else(|| EngineError::BadPlan {
            reason: "it is too large for a worker process".into(),
        })
    }

    /// Sends the request and waits for the answer, no longer than the time limit.
    fn ask(&self, request: &[u8]) -> Result<Execution, EngineError> {
        let mut running = self.start()?;
        let (stdin, stdout) = (running.0.stdin.take(), running.0.stdout.take());
        let (Some(mut stdin), Some(mut stdout)) = (stdin, stdout) else {
            return Err(EngineError::Failed { doing: "starting" });
        };
        // The answer is in memory here, twice for a moment.
        let longest = self.limits.memory / 4;
        let (done, answer) = sync_channel(1);
        std::thread::scope(|scope| {
            let talk = move || {
                let answer = exchange(&mut stdin, &mut stdout, request, longest);
                // The receiver is gone after the time limit.
                let _ = done.send(answer);
                // Standard input stays open until there is an answer.
                drop(stdin);
            };
            let started = std::thread::Builder::new().spawn_scoped(scope, talk);
            started.map_err(|_| EngineError::Failed { doing: "starting" })?;
            let answer = match answer.recv_timeout(self.limits.time) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => Err(EngineError::DeadlineExceeded {
                    seconds: self.limits.time.as_secs(),
                }),
                Err(RecvTimeoutError::Disconnected) => Err(EngineError::OutOfMemory),
            };
            // Closes its ends of the pipes, so the thread above ends too.
            running.end();
            answer
        })
    }
}

/// Sends a request and reads what is answered.
fn exchange(
    stdin: &mut ChildStdin,
    stdout: &mut impl Read,
    request: &[u8],
    longest: u64,
) -> Result<Execution, EngineError> {
    // A worker that ended does not read: what it says, or does not, is all there is.
    let _ = frame::write(stdin, request);
    let answer: Result<Result<Execution, EngineError>, _> = frame::read_only(stdout, longest);
    answer.unwrap_or(Err(EngineError::OutOfMemory))
}

fn no_worker(error: &io::Error) -> EngineError {
    EngineError::NoWorker {
        reason: error.kind().to_string(),
    }
}

/// A worker that is ended with this value.
#[derive(Debug)]
struct Running(Child);

impl Running {
    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

impl Engine for Workers {
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        std::fs::metadata(&self.program).map_err(|error| no_worker(&error))?;
        self.request(plan, catalogue, &[], Salt::default())?;
        // What is refused for its size is not planned.
        self.check_joins(plan, catalogue)?;
        self.check_limits(plan, catalogue)?;
        self.engine.prepare(plan, catalogue)
    }

    /// CSV files do not say how many rows they have: their lines are counted only if the
    /// bytes alone would not do.
    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let bound = self.engine.bound(plan, catalogue, Lines::Unknown)?;
        if bound.check(&self.limits).is_ok() {
            return Ok(());
        }
        let bound = self.engine.bound(plan, catalogue, Lines::Counted)?;
        bound.check(&self.limits)
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
        self.ask(&self.request(plan, catalogue, versions, salt)?)
    }
}
