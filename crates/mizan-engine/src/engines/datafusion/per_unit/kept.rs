//! Rows that are kept until it is known who has many.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::common::{Result, resources_err};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::super::tally::expected_rows;

/// A text takes about as much: what a view of it does.
const TEXT: usize = 16;

/// Rows of a partition.
#[derive(Debug)]
pub(super) struct Kept {
    batches: Vec<RecordBatch>,
    /// How many more bytes there may be.
    room: usize,
}

impl Kept {
    /// How many bytes each partition of a plan may keep, of so many for all; None if
    /// its rows seem to be too many.
    pub(super) fn room(plan: &dyn ExecutionPlan, most: usize) -> Result<Option<usize>> {
        let Some(rows) = expected_rows(plan)? else {
            return Ok(None);
        };
        let schema = plan.schema();
        let types = schema.fields().iter().map(|field| field.data_type());
        let bytes = types.map(|kind| kind.primitive_width().unwrap_or(TEXT));
        let partitions = plan.output_partitioning().partition_count();
        let fits = rows.saturating_mul(bytes.sum()) <= most;
        Ok(fits.then_some(most / partitions.max(1)))
    }

    /// None yet, and so many bytes at most.
    pub(super) const fn new(room: usize) -> Self {
        Self {
            batches: Vec::new(),
            room,
        }
    }

    /// Keeps rows.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(alone).collect();
        let batch = RecordBatch::try_new(batch.schema(), columns)?;
        let Some(room) = self.room.checked_sub(batch.get_array_memory_size()) else {
            return resources_err!("more rows than are kept");
        };
        self.room = room;
        self.batches.push(batch);
        Ok(())
    }

    /// Both.
    pub(super) fn merged(mut self, other: Self) -> Self {
        self.batches.extend(other.batches);
        self
    }

    /// All of them.
    pub(super) fn into_batches(self) -> Vec<RecordBatch> {
        self.batches
    }
}

/// A column without the rest of the pages that its texts are in.
fn alone(column: &ArrayRef) -> ArrayRef {
    match column.as_string_view_opt() {
        Some(texts) if !texts.data_buffers().is_empty() => Arc::new(texts.gc()),
        _ => Arc::clone(column),
    }
}
