//! A buffer of rows until the heavy units are known.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::{Result, resources_err};
use datafusion::physical_plan::ExecutionPlan;

use super::super::count_min::expected_rows;

/// The bytes of a text: those of its view.
const TEXT: usize = 16;

/// How many more bytes all partitions together may buffer.
pub(super) type FreeBytes = Arc<AtomicUsize>;

/// The buffered rows of a partition.
#[derive(Debug)]
pub(super) struct RowBuffer {
    batches: Vec<RecordBatch>,
    free_bytes: FreeBytes,
}

impl RowBuffer {
    /// The room of `keeps` bytes, if the estimated rows of a plan fit in this schema.
    pub(super) fn free_bytes(
        plan: &dyn ExecutionPlan,
        schema: &Schema,
        most: usize,
    ) -> Result<Option<FreeBytes>> {
        let Some(rows) = expected_rows(plan)? else {
            return Ok(None);
        };
        let types = schema.fields().iter().map(|field| field.data_type());
        let bytes = types.map(|kind| kind.primitive_width().unwrap_or(TEXT));
        let fits = rows.saturating_mul(bytes.sum()) <= most;
        Ok(fits.then(|| Arc::new(AtomicUsize::new(most))))
    }

    /// An empty buffer.
    pub(super) const fn new(free_bytes: FreeBytes) -> Self {
        Self {
            batches: Vec::new(),
            free_bytes,
        }
    }

    /// Appends rows.
    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = batch.columns().iter().map(alone).collect();
        let batch = RecordBatch::try_new(batch.schema(), columns)?;
        let bytes = batch.get_array_memory_size();
        let left = |free_bytes: usize| free_bytes.checked_sub(bytes);
        if self
            .free_bytes
            .fetch_update(Relaxed, Relaxed, left)
            .is_err()
        {
            return resources_err!("more rows than are kept");
        }
        self.batches.push(batch);
        Ok(())
    }

    /// All buffered rows.
    pub(super) fn into_batches(self) -> Vec<RecordBatch> {
        self.batches
    }
}

/// A column without the rest of the pages that its texts refer to.
fn alone(column: &ArrayRef) -> ArrayRef {
    match column.as_string_view_opt() {
        Some(texts) if !texts.data_buffers().is_empty() => Arc::new(texts.gc()),
        _ => Arc::clone(column),
    }
}
