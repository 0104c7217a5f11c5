//! The worker process: reads one plan from standard input, computes its exact integers
//! under limits of its own, writes them to standard output, and ends.
//!
//! It writes nothing else anywhere: a message could quote a row. Standard input stays
//! open as long as the parent wants the answer; when it closes, the worker ends.

use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use super::{LONGEST_REQUEST, Request, allowance, frame};
use crate::engine::{Engine as _, EngineError};
use crate::engines::datafusion::DataFusion;
use crate::engines::thread::on_own_thread;
use crate::exact::Execution;

/// What a worker process does. The program calls it, and nothing else, when it is
/// started with [`WORKER_ARGUMENT`](super::WORKER_ARGUMENT).
///
/// Exits with 2 if standard input does not hold exactly one request of this program.
#[must_use]
pub fn run_worker() -> ExitCode {
    be_expendable();
    // Plans may be deep, and so is reading them.
    let done = on_own_thread(|| {
        let request: Request = frame::read(&mut std::io::stdin().lock(), LONGEST_REQUEST)
            .map_err(|_| EngineError::Failed { doing: "reading" })?;
        end_with_parent();
        limit_memory(&request);
        end_beyond(request.memory);
        let frame = frame::encode(&answer(&request)).or_else(|| {
            let failed: Result<Execution, EngineError> = Err(EngineError::Failed {
                doing: "reading results",
            });
            frame::encode(&failed)
        });
        let frame = frame.ok_or(EngineError::Failed { doing: "writing" })?;
        frame::write(&mut std::io::stdout().lock(), &frame)
            .map_err(|_| EngineError::Failed { doing: "writing" })
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

pub(super) fn answer(request: &Request) -> Result<Execution, EngineError> {
    let engine = DataFusion::with_partitions(request.partitions)?.with_memory(request.memory);
    let Request {
        plan,
        catalogue,
        versions,
        salt,
        ..
    } = request;
    engine.run(plan, catalogue, versions, *salt)
}

/// No core file (it would hold private rows), no message of a panic (it may quote one),
/// and the first process that the system ends when memory is short.
fn be_expendable() {
    #[cfg(unix)]
    let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    std::panic::set_hook(Box::new(|_| ()));
}

/// What the program itself holds, beside the memory of a query.
const PROGRAM: u64 = 64 << 20;

/// How often the memory that is really used is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Ends the worker when it uses more memory than its limit. Where the system does not
/// say how much that is, the limit of [`limit_memory`] is all there is: it counts stacks
/// as a whole, so it is less tight.
fn end_beyond(memory: u64) {
    let most = memory.saturating_add(PROGRAM);
    let watch = move || {
        while let Some(used) = used_memory() {
            if used > most {
                std::process::exit(2);
            }
            std::thread::sleep(LOOK);
        }
    };
    if std::thread::Builder::new().spawn(watch).is_err() {
        std::process::exit(2);
    }
}

/// How many bytes of heaps and stacks this process really uses.
fn used_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes: u64 = line?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// Beyond this much address space the worker gets no more memory, and aborts.
fn limit_memory(request: &Request) {
    let most = request.memory.saturating_add(allowance(request.partitions));
    // What counts are private writable pages: heaps and stacks, not files that are
    // mapped, nor what an allocator only sets aside.
    #[cfg(unix)]
    let _ = rlimit::setrlimit(rlimit::Resource::DATA, most, most);
    #[cfg(not(unix))]
    let _ = most;
}

/// Ends this process when standard input closes, or says more than one request.
fn end_with_parent() {
    let watch = || {
        let _ = std::io::stdin().lock().read(&mut [0]);
        std::process::exit(2);
    };
    if std::thread::Builder::new().spawn(watch).is_err() {
        std::process::exit(2);
    }
}
