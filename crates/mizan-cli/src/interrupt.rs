//! An interrupted query says what became of its charge. Nothing else is done: the
//! ledger's guarantees hold wherever the process stops.

use mizan_core::Code;

use crate::failure::Failure;
use crate::output::{Output, eprint};

/// Handles SIGINT and SIGTERM from now on.
pub(crate) fn tell_of_charges(output: Output) {
    // Without the thread the process ends without this message.
    let _ = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let Ok(runtime) = runtime else {
            return;
        };
        if runtime.block_on(interrupted()).is_some() {
            let failure = Failure::new(
                Code::MZ0007,
                "interrupted",
                "if the query was charged, the charge stands (see `mizan ledger log`); the same \
                 query on the same data continues under it at no further cost",
            );
            eprint(&crate::output::failure(&failure, output.format));
            std::process::exit(2);
        }
    });
}

/// Returns at the first signal; None if signals cannot be received.
async fn interrupted() -> Option<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut ended = signal(SignalKind::terminate()).ok()?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.ok(),
            ended = ended.recv() => ended,
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.ok()
}
