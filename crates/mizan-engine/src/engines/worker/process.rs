//! Worker processes: starting them, requests with a deadline, ending them.

use std::io;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::frame::{self, BadFrame};
use super::{KEPT_VARIABLES, WORKER_ARGUMENT};
use crate::engine::EngineError;
use crate::query_limits::QueryLimits;

/// A program that calls [`run_worker`](super::run_worker) when it is started with
/// [`WORKER_ARGUMENT`], and the limits of each of its workers.
#[derive(Clone, Debug)]
pub(in crate::engines) struct WorkerProgram {
    pub(super) path: PathBuf,
    pub(super) limits: QueryLimits,
}

impl WorkerProgram {
    pub(in crate::engines) const fn new(path: PathBuf, limits: QueryLimits) -> Self {
        Self { path, limits }
    }

    /// Checks that the program exists.
    pub(super) fn check(&self) -> Result<(), EngineError> {
        std::fs::metadata(&self.path)
            .map(drop)
            .map_err(|error| no_worker(&error))
    }

    /// Starts a worker whose answers have at most `longest` bytes. Its standard error is
    /// discarded: a library may print a row before it aborts.
    pub(super) fn start<A: DeserializeOwned + Send + 'static>(
        &self,
        longest: u64,
    ) -> Result<WorkerSession<A>, EngineError> {
        let mut command = Command::new(&self.path);
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
        let mut child = command.spawn().map_err(|error| no_worker(&error))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let running = Running(child);
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(EngineError::Failed { doing: "starting" });
        };
        let (requests, received) = channel();
        let (done, answers) = channel();
        let exchange = move || exchange(stdin, stdout, &received, &done, longest);
        let started = std::thread::Builder::new().spawn(exchange);
        started.map_err(|_| EngineError::Failed { doing: "starting" })?;
        Ok(WorkerSession {
            _running: running,
            requests,
            answers,
        })
    }
}

/// Sends requests and reads answers, until either side ends. Standard input stays open
/// meanwhile.
fn exchange<A: DeserializeOwned>(
    mut stdin: ChildStdin,
    mut stdout: ChildStdout,
    requests: &Receiver<Vec<u8>>,
    answers: &Sender<Result<A, BadFrame>>,
    longest: u64,
) {
    while let Ok(request) = requests.recv() {
        // A worker that ended does not read. Its answer, or the lack of one, decides.
        let _ = frame::write(&mut stdin, &request);
        let answer = frame::read(&mut stdout, longest);
        if answers.send(answer).is_err() {
            return;
        }
    }
}

/// A started worker. Dropping this ends it.
#[derive(Debug)]
pub(super) struct WorkerSession<A> {
    _running: Running,
    requests: Sender<Vec<u8>>,
    answers: Receiver<Result<A, BadFrame>>,
}

impl<A> WorkerSession<A> {
    /// Sends frames and waits for one answer, at most `within`.
    pub(super) fn request(&mut self, frames: Vec<u8>, within: Duration) -> Result<A, EngineError> {
        use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
        // If the thread ended, there is no answer either.
        let _ = self.requests.send(frames);
        match self.answers.recv_timeout(within) {
            Ok(Ok(answer)) => Ok(answer),
            Err(Timeout) => Err(EngineError::DeadlineExceeded {
                seconds: within.as_secs(),
            }),
            // All causes are one error, because the cause could reveal something about rows.
            Ok(Err(BadFrame)) | Err(Disconnected) => Err(EngineError::OutOfMemory),
        }
    }
}

pub(super) fn no_worker(error: &io::Error) -> EngineError {
    EngineError::NoWorker {
        reason: error.kind().to_string(),
    }
}

/// A process. Dropping this ends it.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
