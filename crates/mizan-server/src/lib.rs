//! The HTTP door to Mizan: many analysts, one budget.
//!
//! A request passes the door (`access.rs`: which address, who, may they, too much?),
//! is read (`body.rs`), asks the service (`service/`), and becomes JSON (`api/`) or a
//! page (`pages/`, in the languages of `locale/`). Who somebody is comes from `identity/`, errors are `problem.rs`,
//! limits `limits.rs`. `serve.rs` listens.
//!
//! Nothing here decides about privacy: prices, filters and noise are the ledger's
//! and the engine's.

#![allow(
    clippy::result_large_err,
    reason = "a problem is told once, to a client that waits for it"
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
