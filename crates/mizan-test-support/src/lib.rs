//! What the tests of several crates share. Crates use it as a dev-dependency only, so that no
//! program contains it.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

#[cfg(feature = "sql")]
pub mod catalogues;
#[cfg(feature = "sql")]
pub mod families;
pub mod http;
pub mod mutants;
#[cfg(feature = "postgres")]
pub mod postgres_server;

/// Whether this is the long run, which `scripts/test --long` asks for through the variable that
/// proptest reads.
#[must_use]
pub fn long_run() -> bool {
    let cases = std::env::var("PROPTEST_CASES");
    cases.is_ok_and(|cases| cases.parse().is_ok_and(|cases: u32| cases >= 10_000))
}

/// The number of cases of a test: `quick`, and `times` as many in a long run.
#[must_use]
pub fn cases(quick: u64, times: u64) -> u64 {
    if long_run() { times * quick } else { quick }
}
