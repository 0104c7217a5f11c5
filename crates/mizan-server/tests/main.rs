//! Tests of the server through its API, its pages and HTTP. One binary, because linking one
//! takes longer than most of the tests.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod answers;
mod arabic;
mod common;
mod limits;
mod openapi;
mod pages;
mod roles;
mod shutdown;
mod tls;
mod tokens;
