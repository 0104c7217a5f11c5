//! Tests of ledgers. Those of crashes and of PostgreSQL are binaries of their own.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod adversaries;
mod budgets;
mod clock;
mod clock_adversaries;
mod common;
mod encoding;
mod guard;
mod high_water_mark;
mod merkle;
mod odometer;
mod sqlite;
mod state;
mod stores;
mod unanswered;
mod verify;
