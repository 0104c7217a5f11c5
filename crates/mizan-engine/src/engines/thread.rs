//! A separate thread with a deep stack for each task of an engine, so that it may be called
//! from anywhere: nested queries recurse deeply, and some libraries must not run within the
//! runtime of another.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::engine::EngineError;

/// The stack of each thread.
pub(super) const STACK: usize = 256 << 20;

/// The name of threads that run an engine. A panic there is caught and becomes an error, and
/// its message, which may quote a value, is not printed.
pub(crate) const QUIET: &str = "mizan-engine";

thread_local! {
    /// Whether [`caught`] handles a panic of this thread.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on this thread; None if it panics. After that, nothing that the work modified
/// may be used.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    let before = CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    CAUGHT.set(before);
    done.ok()
}

/// Stops panics of engine threads from printing messages. Other threads are not affected. A
/// program that answers queries calls this once, when it starts.
pub fn silence_engine_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let quiet = CAUGHT.get() || std::thread::current().name() == Some(QUIET);
            if !quiet {
                shown(panic);
            }
        }));
    });
}

/// Runs `work` on a separate thread.
pub(crate) fn on_own_thread<T: Send>(
    work: impl FnOnce() -> Result<T, EngineError> + Send,
) -> Result<T, EngineError> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name(QUIET.to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|_| EngineError::Failed { doing: "starting" })?
            .join()
            .unwrap_or(Err(EngineError::Failed { doing: "running" }))
    })
}

/// The same with a time limit: after it the thread is abandoned, and the error is `late`. A
/// server may not enforce its own timeouts.
pub(crate) fn on_own_thread_within<T: Send + 'static>(
    most: Duration,
    late: EngineError,
    work: impl FnOnce() -> Result<T, EngineError> + Send + 'static,
) -> Result<T, EngineError> {
    let (done, result) = sync_channel(1);
    let work = move || {
        // The receiver may have given up.
        let _ = done.send(work());
    };
    let thread = std::thread::Builder::new().name(QUIET.to_owned());
    let started = thread.stack_size(STACK).spawn(work);
    started.map_err(|_| EngineError::Failed { doing: "starting" })?;
    match result.recv_timeout(most) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => Err(late),
        Err(RecvTimeoutError::Disconnected) => Err(EngineError::Failed { doing: "running" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_thread_is_abandoned() {
        let short = Duration::from_millis(20);
        let within = |most: Duration, work: fn() -> Result<u8, EngineError>| {
            on_own_thread_within(most, EngineError::Disconnected, work)
        };
        let slow = || {
            std::thread::park();
            Ok(1)
        };
        assert_eq!(within(short, slow), Err(EngineError::Disconnected));
        let long = Duration::from_secs(600);
        assert_eq!(within(long, || Ok(1)), Ok(1));
        let falls = || std::panic::panic_any("as planned");
        let failed = EngineError::Failed { doing: "running" };
        assert_eq!(within(long, falls), Err(failed));
    }
}
