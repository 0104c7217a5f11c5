//! A ledger in PostgreSQL. One binary, so that the tests share a server.
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
mod crash;
mod ledger;
mod store;
mod tls;
