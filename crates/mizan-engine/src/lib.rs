//! Answers SQL queries with differential privacy: quote, reserve, run, noise, commit, answer.
//!
//! A [`Desk`] is the query service. It has a ledger, a catalogue and an engine. It computes
//! what a query would cost ([`Desk::quote`]) and answers it ([`Desk::query`]). Exact integers
//! never leave this crate.
//!
//! Comments cite the conditions C1 to C10 and the stages S0 to S4 of docs/spec/private-sql.md.

mod audit;
mod engine;
mod engines;
mod exact;
mod kept;
#[cfg(test)]
mod oracle;
mod order;
#[cfg(test)]
mod peers_failures;
mod query_limits;
mod question;
mod release;
mod version;

pub use audit::failure::{FailureAudit, audit_failures};
pub use audit::{SqlAudit, Violation, audit_sql};
#[doc(hidden)]
pub use engine::measure;
pub use engine::{EngineError, Version};
#[cfg(feature = "ballista")]
pub use engines::ballista::{
    Address, Ballista, ClusterStatus, Executor, NodeError, Scheduler, cluster_status, run_executor,
    run_scheduler,
};
pub use engines::by_source::{
    Engines, Inspected, check_columns, check_rows, inspect, is_table, record_files, share_data,
};
pub use engines::datafusion::DataFusion;
pub use engines::fan_out::{FanOutCache, MAX_FAN_OUT};
#[doc(hidden)]
pub use engines::plan_bound::{plan_bound, run_within};
pub use engines::thread::silence_engine_panics;
pub use engines::worker::{WORKER_ARGUMENT, run_worker, this_program};
pub use exact::operator_fallbacks;
pub use kept::Kept;
pub use query_limits::{QueryLimits, bytes_text};
pub use question::{
    Answered, Denied, Desk, FoundBounds, Prices, QuestionError, Quote, Reply, ReservedDelta, Wish,
    reading_delta,
};
pub use release::{
    Accuracy, Answer, AnswerCell, ChoiceReason, NoiseKind, Predicted, RankError, ReleaseError,
};
