//! Tests of the command line. One binary, because linking one takes longer than most of the tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod audit;
mod bad_input;
mod book;
mod calibrate;
mod cli;
mod clipping;
mod cluster;
mod common;
mod define;
mod figures;
mod guarantees;
mod ledger;
mod mutants;
mod noise;
mod one_outcome;
mod peers_failures;
mod postgres;
mod postgres_faults;
mod profile;
mod server;
mod shared_budget;
mod small_groups;
mod sql;
mod sql_stopped;
mod stored;
mod workers;
