//! Crash tests of a ledger in a file. One binary, because linking one takes longer than most of the
//! tests.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod files;
#[cfg(target_os = "linux")]
mod inject;
mod kill;
mod processes;
mod soak;
