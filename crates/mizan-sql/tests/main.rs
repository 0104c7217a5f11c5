//! Tests of the planner through its public interface. One binary, as each links DataFusion's planner.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod adversarial;
mod bind;
mod bind_fuzz;
mod canonical;
mod catalogue;
mod common;
mod decoder;
mod expr_public;
mod expr_random;
mod expr_values;
mod limits;
mod reading;
