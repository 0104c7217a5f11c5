//! A thread of its own for each piece of work of an engine, so that it may be called
//! from anywhere: deep questions are deep recursions, and some libraries must not be
//! used within another's runtime.

use crate::engine::EngineError;

const STACK: usize = 256 << 20;

/// Does something on a thread of its own.
pub(crate) fn on_own_thread<T: Send>(
    work: impl FnOnce() -> Result<T, EngineError> + Send,
) -> Result<T, EngineError> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|_| EngineError::Failed { doing: "starting" })?
            .join()
            .unwrap_or(Err(EngineError::Failed { doing: "running" }))
    })
}
