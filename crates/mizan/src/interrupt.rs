//! Whoever interrupts a question is told what became of its charge. Nothing else is
//! done: what a ledger promises holds wherever a program is stopped.

use mizan_core::Code;

use crate::failure::Failure;
use crate::output::{Output, eprint};

/// From now on Ctrl-C, and being asked to end, are answered.
pub(crate) fn tell_of_charges(output: Output) {
    // Without the thread the program ends without a word, as others do.
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
                "if the question was charged the charge stands (`mizan ledger log` tells), and \
                 asking the same again about the same data goes on under it, for free",
            );
            eprint(&crate::output::failure(&failure, output.format));
            std::process::exit(2);
        }
    });
}

/// Returns when somebody interrupts; None if that cannot be known.
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
