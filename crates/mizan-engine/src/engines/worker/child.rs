//! The worker process: reads a request from standard input, runs its task under its own limits,
//! writes the answer to standard output, and exits. A worker that counts public rows reads
//! relations and answers each, until the parent ends it.
//!
//! It writes nothing else anywhere: a message could quote a row. Standard input stays open as
//! long as the parent wants the answer; when it closes, the worker exits.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use mizan_sql::{Catalogue, Relation};
use serde::Serialize;

use super::{LONGEST_REQUEST, Request, Run, Task, frame};
use crate::engine::{Engine as _, EngineError};
use crate::engines::datafusion::counting::public_tables;
use crate::engines::datafusion::files::unchanged;
use crate::engines::datafusion::{DataFusion, Tables};
use crate::engines::fan_out::COUNTING;
use crate::engines::thread::{STACK, on_own_thread};
use crate::exact::Execution;
use crate::version::Version;

/// Runs a worker process. The program calls this, and nothing else, when it is started with
/// [`WORKER_ARGUMENT`](super::WORKER_ARGUMENT).
///
/// The exit code is 2 if standard input does not hold exactly one request of this program, or
/// if the memory limit is exceeded.
#[must_use]
pub fn run_worker() -> ExitCode {
    set_up_crash_behaviour();
    // Plans may be deep, and parsing them recurses.
    let done = on_own_thread(|| {
        let request: Request = frame::read(&mut std::io::stdin().lock(), LONGEST_REQUEST)
            .map_err(|_| EngineError::Failed { doing: "reading" })?;
        limit_memory(&request);
        end_beyond(request.memory);
        let (engine, catalogue) = (engine(&request)?, &request.catalogue);
        match &request.task {
            Task::Run(run) => {
                end_with_parent();
                write(&answer(&engine, run, catalogue))
            }
            Task::Plan(plan) => {
                end_with_parent();
                write(&engine.plan_without_rows(plan, catalogue))
            }
            Task::Count(versions) => {
                let relations = following();
                let tables = tables(versions, catalogue);
                for relation in relations {
                    write(&count(&engine, &relation, catalogue, &tables))?;
                }
                Ok(())
            }
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// Writes an answer.
fn write<T: Serialize>(answer: &Result<T, EngineError>) -> Result<(), EngineError> {
    let frame = frame::encode(answer).or_else(|| {
        let failed: Result<T, EngineError> = Err(EngineError::Failed {
            doing: "reading results",
        });
        frame::encode(&failed)
    });
    let frame = frame.ok_or(EngineError::Failed { doing: "writing" })?;
    frame::write(&mut std::io::stdout().lock(), &frame)
        .map_err(|_| EngineError::Failed { doing: "writing" })
}

pub(super) fn engine(request: &Request) -> Result<DataFusion, EngineError> {
    Ok(DataFusion::with_partitions(request.partitions)?.with_memory(request.memory))
}

pub(super) fn answer(
    engine: &DataFusion,
    run: &Run,
    catalogue: &Catalogue,
) -> Result<Execution, EngineError> {
    engine.run(&run.plan, catalogue, &run.versions, run.salt)
}

/// The public tables, if their versions are those that the parent saw.
fn tables(
    versions: &BTreeMap<String, Version>,
    catalogue: &Catalogue,
) -> Result<Tables, EngineError> {
    let (tables, found) = public_tables(versions.keys(), catalogue)?;
    for ((name, version), found) in versions.iter().zip(found.into_values()) {
        unchanged(name, version, Some(found))?;
    }
    Ok(tables)
}

fn count(
    engine: &DataFusion,
    relation: &Relation,
    catalogue: &Catalogue,
    tables: &Result<Tables, EngineError>,
) -> Result<u64, EngineError> {
    let tables = tables.as_ref().map_err(EngineError::clone)?;
    // The parent enforces the time limit.
    engine.count(relation, catalogue, tables, Instant::now() + COUNTING)
}

/// The relations that follow the request. The process exits when standard input closes or
/// contains anything else.
fn following() -> Receiver<Relation> {
    let (found, relations) = channel();
    let read = move || {
        while let Ok(relation) = frame::read(&mut std::io::stdin().lock(), LONGEST_REQUEST) {
            if found.send(relation).is_err() {
                break;
            }
        }
        std::process::exit(2);
    };
    let reader = std::thread::Builder::new().stack_size(STACK);
    if reader.spawn(read).is_err() {
        std::process::exit(2);
    }
    relations
}

/// Disables core files (which would contain private rows) and panic messages (which may quote
/// one), and makes this the first process that the system kills when memory is short.
fn set_up_crash_behaviour() {
    #[cfg(unix)]
    let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    std::panic::set_hook(Box::new(|_| ()));
}

/// The memory of the program itself, beside that of a query.
const PROGRAM: u64 = 64 << 20;

/// The interval at which the used memory is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Ends the worker when it uses more memory than its limit. If the system does not report the
/// used memory, only [`limit_memory`] applies, which is less tight because it counts whole
/// stacks.
fn end_beyond(memory: u64) {
    let most = memory.saturating_add(PROGRAM);
    let watch = move || {
        while let Some(used) = used_memory() {
            if used > most {
                std::process::exit(2);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    };
    if std::thread::Builder::new().spawn(watch).is_err() {
        std::process::exit(2);
    }
}

/// The bytes of heaps and stacks that this process uses.
fn used_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes: u64 = line?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Limits the data pages of the worker: beyond the limit allocations fail, and the worker
/// aborts.
fn limit_memory(request: &Request) {
    let most = request.memory.saturating_add(request.allowance());
    // The limit counts private writable pages: heaps and stacks, but neither mapped files nor
    // reserved address space.
    #[cfg(unix)]
    let _ = rlimit::setrlimit(rlimit::Resource::DATA, most, most);
    #[cfg(not(unix))]
    let _ = most;
}

/// Exits when standard input closes or contains more than one request.
fn end_with_parent() {
    let watch = || {
        let _ = std::io::stdin().lock().read(&mut [0]);
        std::process::exit(2);
    };
    if std::thread::Builder::new().spawn(watch).is_err() {
        std::process::exit(2);
    }
}
