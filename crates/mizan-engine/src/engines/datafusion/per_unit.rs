//! S1 to S4 of sums as an operator.
//!
//! In SQL, rows are grouped by unit and keys, with an exchange in between, and then by keys.
//! Here each partition numbers its units and its groups and adds up in flat memory; partitions
//! are merged once at the end. All numbers are integers, so the assignment of rows to
//! partitions does not matter.
//!
//! Light units have so few rows that no contribution bound can affect them. If the heavy units
//! are known, all rows are added up by group, and only the rows of heavy units also by unit and
//! group; what bounding changes is then subtracted. Heavy units are found by a count
//! beforehand, or in the same pass if all rows can be buffered until then.

mod cap;
mod clip;
mod compact;
mod group_totals;
mod numbers;
mod public_groups;
mod round_robin;
mod row_buffer;
mod slots;
mod sums;
#[cfg(test)]
mod tests;
mod totals;
mod unit_group_totals;

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::common::{Result, exec_err};
use datafusion::error::DataFusionError;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;
use mizan_sql::Value;
use tokio::task::JoinSet;

use self::group_totals::{GroupTotals, HeavyUnitState, numbered};
use self::public_groups::PublicGroups;
use self::round_robin::{is_by_row, round_robin};
use self::row_buffer::RowBuffer;
use self::sums::Sums;
use self::unit_group_totals::UnitGroupTotals;
use super::count_min::CountMin;
use crate::engines::statement::{LightUnits, PerUnit};
use crate::sampling_hash::Salt;

/// The result rows of a statement: keys, the number of units (or a number that is zero exactly
/// if there are none), totals. If the rows of units were counted, only heavy units are bounded
/// one by one.
pub(super) async fn per_unit(
    context: &SessionContext,
    spec: &PerUnit,
    counted: Option<CountedUnits<'_>>,
    salt: &Salt,
) -> Result<Vec<Vec<Value>>> {
    if let Some(CountedUnits { light, sketch }) = counted
        && let Some(groups) = PublicGroups::new(spec.keys, &light.groups)?
    {
        let heavy = sketch.more_than(light.max_rows).map(Arc::new);
        let empty = |plan: &dyn ExecutionPlan| {
            let schema = plan.schema();
            GroupTotals::new(
                &schema,
                spec,
                groups.clone(),
                HeavyUnitState::Known(heavy.clone()),
            )
        };
        let whole = whole(context, &light.ungrouped_sql, empty).await?;
        return rows(whole.map(|whole| whole.sums(spec, light, salt)));
    }
    let empty = |plan: &dyn ExecutionPlan| UnitGroupTotals::new(&plan.schema(), spec);
    let whole = whole(context, &spec.rows_sql, empty).await?;
    rows(whole.map(|whole| whole.sums(spec, salt)))
}

/// The result rows; a plan without partitions has none.
fn rows(sums: Option<Result<Sums>>) -> Result<Vec<Vec<Value>>> {
    sums.map_or(Ok(Vec::new()), |sums| sums?.rows())
}

/// The same in one pass, if `keeps` bytes suffice to buffer all rows until the heavy units are
/// known. None otherwise.
pub(super) async fn per_unit_at_once(
    context: &SessionContext,
    spec: &PerUnit,
    light: &LightUnits,
    keeps: usize,
    salt: &Salt,
) -> Result<Option<Vec<Vec<Value>>>> {
    let Some(groups) = PublicGroups::new(spec.keys, &light.groups)? else {
        return Ok(None);
    };
    let plan = physical(context, &light.ungrouped_sql).await?;
    let schema = numbered(&plan.schema(), spec);
    let Some(free_bytes) = RowBuffer::free_bytes(plan.as_ref(), &schema, keeps)? else {
        return Ok(None);
    };
    let empty = |plan: &dyn ExecutionPlan| {
        let counting = HeavyUnitState::Counting(
            CountMin::for_plan(plan)?,
            RowBuffer::new(Arc::clone(&free_bytes)),
        );
        GroupTotals::new(&plan.schema(), spec, groups.clone(), counting)
    };
    let mut parts = match parts_of(context, &plan, empty).await {
        Ok(parts) => parts,
        // There were more rows than estimated.
        Err(DataFusionError::ResourcesExhausted(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let sketches = parts.iter_mut().map(GroupTotals::take_sketch);
    let sketches = sketches.collect::<Result<Vec<CountMin>>>()?;
    let heavy = merged(sketches)?.and_then(|sketch| sketch.more_than(light.max_rows));
    let heavy = heavy.map(Arc::new);
    let parts = parts.into_iter().map(|part| {
        let heavy = heavy.clone();
        async move { part.with_heavy_units(heavy.as_deref()) }
    });
    let whole = merged(all_at_once(parts).await?)?;
    rows(whole.map(|whole| whole.sums(spec, light, salt))).map(Some)
}

/// The row counts from which heavy units follow.
#[derive(Clone, Copy)]
pub(super) struct CountedUnits<'a> {
    /// The limit of light units.
    pub(super) light: &'a LightUnits,
    /// The sketch of their dataset.
    pub(super) sketch: &'a CountMin,
}

/// A partial result over rows.
pub(super) trait Part: Send + Sized + 'static {
    /// Adds rows.
    fn add(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Combines two partial results.
    fn merged(self, other: Self) -> Result<Self>;
}

async fn physical(context: &SessionContext, rows: &str) -> Result<Arc<dyn ExecutionPlan>> {
    let rows = context.sql(rows).await?;
    match is_by_row(rows.logical_plan()) {
        true => round_robin(rows).await,
        false => rows.create_physical_plan().await,
    }
}

/// The combined result of all partitions; None if there are no partitions.
pub(super) async fn whole<P: Part>(
    context: &SessionContext,
    rows: &str,
    empty: impl Fn(&dyn ExecutionPlan) -> Result<P>,
) -> Result<Option<P>> {
    merged(parts_of(context, &physical(context, rows).await?, empty).await?)
}

async fn parts_of<P: Part>(
    context: &SessionContext,
    rows: &Arc<dyn ExecutionPlan>,
    empty: impl Fn(&dyn ExecutionPlan) -> Result<P>,
) -> Result<Vec<P>> {
    let mut parts = Vec::new();
    for partition in 0..rows.output_partitioning().partition_count() {
        let mut stream = rows.execute(partition, context.task_ctx())?;
        let mut part = empty(rows.as_ref())?;
        parts.push(async move {
            while let Some(batch) = stream.try_next().await? {
                part.add(&batch)?;
            }
            Ok(part)
        });
    }
    all_at_once(parts).await
}

/// The results of concurrent tasks, in any order.
async fn all_at_once<T: Send + 'static>(
    tasks: impl IntoIterator<Item = impl Future<Output = Result<T>> + Send + 'static>,
) -> Result<Vec<T>> {
    let mut running: JoinSet<Result<T>> = tasks.into_iter().collect();
    let mut done = Vec::with_capacity(running.len());
    while let Some(result) = running.join_next().await {
        done.push(result.map_err(|error| DataFusionError::External(error.into()))??);
    }
    Ok(done)
}

/// Combines all partial results; None if there are none.
fn merged<P: Part>(parts: Vec<P>) -> Result<Option<P>> {
    let mut parts = parts.into_iter();
    let first = parts.next();
    first
        .map(|first| parts.try_fold(first, P::merged))
        .transpose()
}

fn small(place: usize) -> Result<u32> {
    match u32::try_from(place) {
        Ok(place) => Ok(place),
        Err(_) => exec_err!("too many units"),
    }
}

/// Some columns of a batch. It is an error if they are missing: without the columns of its
/// unit a row would count for other units.
fn columns(batch: &RecordBatch, range: Range<usize>) -> Result<&[ArrayRef]> {
    match batch.columns().get(range) {
        Some(columns) => Ok(columns),
        None => unexpected(),
    }
}

/// The columns of a batch from a position on.
fn columns_from(batch: &RecordBatch, place: usize) -> Result<&[ArrayRef]> {
    columns(batch, place..batch.num_columns())
}

/// The error for a plan or rows that violate an invariant.
fn unexpected<T>() -> Result<T> {
    exec_err!("rows are not as planned")
}
