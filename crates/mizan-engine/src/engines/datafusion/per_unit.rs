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
use crate::sampling_hash::Salt;
use crate::unit_aggregation::UnitAggregation;

/// The operator for the sums of an aggregation.
///
/// Result rows are keys, the number of units (or a number that is zero exactly if there are
/// none), totals.
pub(super) struct SumsOperator<'a> {
    pub(super) context: &'a SessionContext,
    pub(super) aggregation: &'a UnitAggregation,
    pub(super) salt: &'a Salt,
}

impl SumsOperator<'_> {
    /// Bounds all units one by one, given the rows in groups.
    pub(super) async fn bounding_all(&self, rows: &Rows) -> Result<Vec<Vec<Value>>> {
        let empty = || UnitGroupTotals::new(&rows.schema(), self.aggregation);
        let whole = whole(self.context, rows, empty).await?;
        result(whole.map(|whole| whole.sums(self.aggregation, self.salt)))
    }

    /// Bounds only the units that may have more than `light_rows` rows by a sketch, given the
    /// rows in any group. None if the groups cannot be indexed.
    pub(super) async fn bounding_heavy(
        &self,
        rows: &Rows,
        light_rows: u64,
        sketch: &CountMin,
    ) -> Result<Option<Vec<Vec<Value>>>> {
        let Some(groups) = self.public_groups()? else {
            return Ok(None);
        };
        let heavy = sketch.more_than(light_rows).map(Arc::new);
        let empty = || {
            let known = HeavyUnitState::Known(heavy.clone());
            GroupTotals::new(&rows.schema(), self.aggregation, groups.clone(), known)
        };
        let whole = whole(self.context, rows, empty).await?;
        result(whole.map(|whole| whole.sums(self.aggregation, self.salt))).map(Some)
    }

    /// The same with a count in the same pass. None if `keeps` bytes do not suffice to buffer
    /// all rows until the heavy units are known, either.
    pub(super) async fn bounding_counted(
        &self,
        rows: &Rows,
        light_rows: u64,
        keeps: usize,
    ) -> Result<Option<Vec<Vec<Value>>>> {
        let Some(groups) = self.public_groups()? else {
            return Ok(None);
        };
        let schema = numbered(&rows.schema(), self.aggregation);
        let Some(free_bytes) = RowBuffer::free_bytes(rows.as_ref(), &schema, keeps)? else {
            return Ok(None);
        };
        let empty = || {
            let counting = HeavyUnitState::Counting(
                CountMin::for_plan(rows.as_ref())?,
                RowBuffer::new(Arc::clone(&free_bytes)),
            );
            GroupTotals::new(&rows.schema(), self.aggregation, groups.clone(), counting)
        };
        let mut parts = match parts_of(self.context, rows, empty).await {
            Ok(parts) => parts,
            // There were more rows than estimated.
            Err(DataFusionError::ResourcesExhausted(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let sketches = parts.iter_mut().map(GroupTotals::take_sketch);
        let sketches = sketches.collect::<Result<Vec<CountMin>>>()?;
        let heavy = merged(sketches)?.and_then(|sketch| sketch.more_than(light_rows));
        let heavy = heavy.map(Arc::new);
        let parts = parts.into_iter().map(|part| {
            let heavy = heavy.clone();
            async move { part.with_heavy_units(heavy.as_deref()) }
        });
        let whole = merged(all_at_once(parts).await?)?;
        result(whole.map(|whole| whole.sums(self.aggregation, self.salt))).map(Some)
    }

    fn public_groups(&self) -> Result<Option<PublicGroups>> {
        let keys = self.aggregation.keys.len();
        PublicGroups::new(keys, self.aggregation.public_groups())
    }
}

/// The result rows; a plan without partitions has none.
fn result(sums: Option<Result<Sums>>) -> Result<Vec<Vec<Value>>> {
    sums.map_or(Ok(Vec::new()), |sums| sums?.rows())
}

/// The plan of rows.
pub(super) type Rows = Arc<dyn ExecutionPlan>;

/// A partial result over rows.
pub(super) trait PartialResult: Send + Sized + 'static {
    /// Adds rows.
    fn add(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Combines two partial results.
    fn merged(self, other: Self) -> Result<Self>;
}

/// Plans a query of rows, whose assignment to partitions does not matter.
pub(super) async fn plan_rows(context: &SessionContext, rows: &str) -> Result<Rows> {
    let rows = context.sql(rows).await?;
    match is_by_row(rows.logical_plan()) {
        true => round_robin(rows).await,
        false => rows.create_physical_plan().await,
    }
}

/// The combined result of all partitions; None if there are no partitions.
pub(super) async fn whole<P: PartialResult>(
    context: &SessionContext,
    rows: &Rows,
    empty: impl Fn() -> Result<P>,
) -> Result<Option<P>> {
    merged(parts_of(context, rows, empty).await?)
}

async fn parts_of<P: PartialResult>(
    context: &SessionContext,
    rows: &Rows,
    empty: impl Fn() -> Result<P>,
) -> Result<Vec<P>> {
    let mut parts = Vec::new();
    for partition in 0..rows.output_partitioning().partition_count() {
        let mut stream = rows.execute(partition, context.task_ctx())?;
        let mut part = empty()?;
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
fn merged<P: PartialResult>(parts: Vec<P>) -> Result<Option<P>> {
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
