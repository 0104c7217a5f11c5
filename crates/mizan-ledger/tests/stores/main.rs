//! Tests that run on every store.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

#[path = "../common/mod.rs"]
mod common;
mod conformance;
mod histories;
