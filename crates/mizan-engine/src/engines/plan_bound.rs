//! A bound on the memory of a plan, and an estimate of its time, from public quantities alone.
//! Both are compared with the limits of a query before the charge.
//!
//! Without this, an analyst could learn an exact number by comparing it with the memory limit:
//! `MAX(note || '<2,000 x>')` holds 2 KB for each unit. Public are the plan, the catalogue, the
//! fan-outs of joins with public tables and the size class of each dataset ([`SizeClass`]), with
//! the decoded bytes of the texts that the plan reads ([`TextClass`]). So
//! neighbouring datasets of one size class have the same bound, and either both are refused or
//! neither is.
//!
//! # The parts of the bound
//!
//! - [`BASE`], for the program and its plan;
//! - each scan: what it decodes at a time;
//! - batches between operators, with everything that expressions compute from a slice of them
//!   (`datafusion/slices.rs`);
//! - the state of each operator of the relation (`rows.rs`): the build side of a join, groups
//!   and their states, the rows that a row limit ranks;
//! - the state of the largest statement (`statements.rs`): pairs of a unit and a group, the
//!   rows of distinct counts and histograms, and the result.
//!
//! Texts that operators hold are counted with each repetition by joins: as often as a private
//! row matches public rows, or rows of its unit. An aggregate holds each of its texts once: a
//! join adds no values to a column, and the greatest text of a unit is stored in one row.
//!
//! Sizes are numbers of rows times bytes per row. The bytes per row were read from the source
//! of the operators and then compared with the peak memory of processes that run queries
//! (`examples/bench_bounds.rs`).
//!
//! # Assumptions
//!
//! The memory and the time both rest on these. The rows of one unit can break the first and the
//! third.
//!
//! - A join of two private relations has at most [`PRIVATE_JOIN_GROWTH`] times the rows of the
//!   largest dataset in it. Units may have more; SECURITY.md says so.
//! - Keys of groups that are texts of several tables have at most [`KEY_TEXT`] bytes on
//!   average, or as many as are stored.
//! - Rows with stored texts are repeated by joins of private relations as often as an average
//!   row. This is not assumed for texts computed from them.
//! - A row of a CSV file has a field for every name of the header.

mod bytes;
mod rows;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use mizan_sql::{BoundedPlan, Catalogue, Expr};

use self::rows::Walk;
use super::datafusion::DataFusion;
use super::datafusion::sizes::Lines;
use super::fan_out::Count;
use super::size_class::{SizeClass, TextClass};
use crate::engine::{Engine as _, EngineError};
use crate::exact::ExecutionPath;
use crate::query_limits::QueryLimits;
use crate::unit_aggregation::UnitAggregation;

/// The memory of a worker without data: its session, its threads, a plan of usual size.
const BASE: u64 = 24 << 20;

/// The most rows of a batch.
const BATCH_ROWS: u64 = 8192;

/// How many batches of a stream are between operators at a time.
const BATCHES: u64 = 3;

/// How many pieces of Parquet files are read concurrently.
const PIECES: u64 = 16;

/// The assumed rows of a join of private relations, for each row of the largest private dataset
/// in it.
const PRIVATE_JOIN_GROWTH: u64 = 4;

/// The assumed average bytes of a text in the key of a group, where the keys of groups come
/// from several tables.
const KEY_TEXT: u64 = 32;

/// The time to allocate and fill a byte of memory, in nanoseconds.
const TOUCHED: u64 = 2;

/// Finds the class of the texts of a column: of a dataset, by its position in the catalogue.
pub(crate) type Texts<'a> = dyn FnMut(&str, usize) -> Result<TextClass, EngineError> + 'a;

/// The settings of the engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The number of partitions.
    pub(crate) partitions: u64,
    /// How many bytes of rows are buffered until the heavy units are known.
    pub(crate) keeps: u64,
    /// Whether the lengths of public texts are counted where a join repeats them.
    pub(crate) counts_texts: bool,
}

/// The resources of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanBound {
    /// The bound on memory, in bytes.
    pub(crate) memory: u64,
    /// The estimated time on one processor, in nanoseconds.
    pub(crate) nanoseconds: u64,
}

impl PlanBound {
    /// The bound of a plan. `texts` finds the class of the texts of a column, `count` counts
    /// public rows.
    pub(crate) fn of(
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        sizes: &BTreeMap<String, Arc<SizeClass>>,
        setting: Setting,
        texts: &mut Texts<'_>,
        count: &mut Count<'_>,
    ) -> Result<Self, EngineError> {
        let keys = plan.keys.iter().map(|key| &key.expression);
        let statistics = plan.statistics.iter();
        let measured = statistics.filter_map(|one| one.measure.argument());
        let mut read: BTreeSet<usize> = keys.chain(measured).flat_map(Expr::columns).collect();
        read.extend(&plan.relation.unit);
        let mut walk = Walk::new(catalogue, sizes, texts, count, setting);
        let rows = walk.relation(&plan.relation, &read)?;
        let state = statements::state(&UnitAggregation::of(plan)?, &rows, setting)?;
        let size = plan.size();
        let memory = [BASE, walk.scans, walk.batches(plan), walk.held, state.held];
        let memory = memory.into_iter().fold(0, u64::saturating_add);
        let held = walk.held.saturating_add(state.held);
        let per_statement = walk
            .nanoseconds(&size)
            .saturating_add(state.nanoseconds)
            .saturating_add(held.saturating_mul(TOUCHED));
        Ok(Self {
            // The answer of a worker may take a quarter of its memory.
            memory: memory.max(state.answer.saturating_mul(4)),
            nanoseconds: per_statement.saturating_mul(size.statements.max(1)),
        })
    }

    /// Refuses a plan that may exceed its limits.
    pub(crate) fn check(&self, limits: &QueryLimits) -> Result<(), EngineError> {
        if self.memory > limits.memory {
            return Err(EngineError::MayExceedMemory {
                bytes: self.memory,
                limit: limits.memory,
            });
        }
        let seconds = self.nanoseconds.div_ceil(1_000_000_000);
        if seconds > limits.time.as_secs().max(1) {
            return Err(EngineError::MayExceedTime {
                seconds,
                limit: limits.time.as_secs(),
            });
        }
        Ok(())
    }
}

/// The bounds on bytes and time of a plan on an engine: for benchmarks.
///
/// # Errors
///
/// The data cannot be opened.
#[doc(hidden)]
pub fn plan_bound(
    engine: &DataFusion,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
) -> Result<(u64, Duration), EngineError> {
    let bound = engine.bound(plan, catalogue, Lines::Counted)?;
    Ok((bound.memory, Duration::from_nanos(bound.nanoseconds)))
}

/// Runs a plan under a memory limit, and returns whether the engine's own operators computed
/// it: for benchmarks. The result is dropped.
///
/// # Errors
///
/// The errors of the engine.
#[doc(hidden)]
pub fn run_within(
    engine: &DataFusion,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    memory: u64,
) -> Result<bool, EngineError> {
    let engine = engine.clone().with_memory(memory);
    let versions = engine.versions(plan, catalogue)?;
    let execution = engine.run(plan, catalogue, &versions, [0; 16])?;
    Ok(execution.path() == ExecutionPath::Operators)
}
