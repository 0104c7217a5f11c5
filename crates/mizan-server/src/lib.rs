//! The HTTP server: queries, budgets and proofs for many analysts who share one ledger.
//!
//! A request is authorized (`access.rs`: route, token, role, rate limit), its body is read
//! (`body.rs`), the service does the work (`service/`), and the result is sent as JSON
//! (`api/`) or as a page (`pages/`, in the languages of `locale/`). `identity/` has tokens
//! and sessions, `problem.rs` errors, `limits.rs` the limits. `serve.rs` listens.
//!
//! Nothing here decides about privacy: costs, filters and noise are the work of the ledger
//! and the engine.

#![allow(
    clippy::result_large_err,
    reason = "a problem is sent once, to a client that waits for it"
)]

mod access;
pub mod api;
mod body;
pub mod identity;
pub mod limits;
pub mod locale;
mod log;
mod metrics;
pub mod pages;
pub mod problem;
pub mod routes;
pub mod serve;
pub mod service;
mod stall_timeout;
mod tls;

pub use serve::{Listen, serve};
pub use service::{Options, Service};
