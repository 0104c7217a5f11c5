//! Answers SQL queries with differential privacy: quote, reserve, run, noise, commit, answer.
//!
//! A [`QueryService`] is the query service. It has a ledger, a catalogue and an engine. It computes
//! what a query would cost ([`QueryService::quote`]) and answers it ([`QueryService::query`]). Exact integers
//! never leave this crate.
//!
//! Comments cite the conditions C1 to C10 and the stages S0 to S4 of docs/spec/private-sql.md.

mod audit;
mod byte_cache;
mod data_file;
mod engine;
mod engines;
mod exact;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod peers_failures;
mod query;
mod query_limits;
mod registration;
mod release;
mod sampling_hash;
mod unit_aggregation;
mod version;

pub use audit::failure::{FailureAudit, audit_failures};
pub use audit::{SqlAudit, Violation, audit_sql};
pub use byte_cache::ByteBoundedCache;
#[doc(hidden)]
pub use engine::measure;
pub use engine::{EngineError, Version};
#[cfg(feature = "ballista")]
pub use engines::ballista::{
    Address, Ballista, ClusterStatus, Executor, NodeError, Scheduler, cluster_status, run_executor,
    run_scheduler,
};
pub use engines::datafusion::DataFusion;
pub use engines::dispatch::{
    EngineSet, Inspected, check_columns, check_rows, inspect, is_table, record_files, share_data,
};
pub use engines::fan_out::{FanOutCache, MAX_FAN_OUT};
#[doc(hidden)]
pub use engines::plan_bound::{plan_bound, run_within};
pub use engines::thread::silence_engine_panics;
pub use engines::worker::{WORKER_ARGUMENT, run_worker, this_program};
pub use exact::operator_fallbacks;
pub use query::{
    Answered, Denied, FoundBounds, NoAnswerReason, PriceCache, QueryError, QueryOutcome,
    QueryService, Quote, ReservedDelta, SpendTarget, reading_delta,
};
pub use query_limits::{QueryLimits, bytes_text};
pub use registration::{RegistrationError, on_other_terms, register};
pub use release::{
    Accuracy, Answer, AnswerCell, ChoiceReason, NoiseKind, Predicted, RankError, ReleaseError,
};
pub use unit_aggregation::UnitAggregation;
