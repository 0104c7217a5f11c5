//! Small limits on what operators emit, for the failure audit.
//!
//! Real limits are far away: 2^31 bytes of text in a batch, the memory of a machine, the time
//! that an analyst waits. If limits are small, the audit finds a query that the rows of one
//! unit can take past them much sooner. A plan under these limits fails where a join emits too
//! many rows, where a text is too long, where a function computes too much text in one slice,
//! or where aggregates hold too much memory. Queries of analysts run without them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::buffer::Buffer;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, exec_err, resources_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;

use super::pass_through::pass_through;

/// The limits of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// The longest text in a batch, in bytes.
    pub(crate) text: usize,
    /// The most rows of a join.
    pub(crate) rows: usize,
    /// The bytes of text in a slice, and the bytes that a function may compute from it.
    pub(crate) slice: usize,
    pub(crate) made: usize,
    /// The bytes of memory that sorts, joins and aggregates may hold.
    pub(crate) memory: usize,
}

impl PhysicalOptimizerRule for Caps {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let capped = |node: Arc<dyn ExecutionPlan>| {
            let (name, rows) = (node.name(), AtomicUsize::new(0));
            let join = name.contains("Join");
            if !join && !name.contains("Projection") && !name.contains("Aggregate") {
                return Ok(Transformed::no(node));
            }
            let caps = Self {
                rows: if join { self.rows } else { usize::MAX },
                ..*self
            };
            let capped = Capped {
                input: node,
                caps,
                rows: Arc::new(rows),
            };
            Ok(Transformed::yes(Arc::new(capped) as Arc<dyn ExecutionPlan>))
        };
        plan.transform_up(capped).data()
    }

    fn name(&self) -> &'static str {
        "caps"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An operator whose output batches are checked.
#[derive(Debug)]
struct Capped {
    input: Arc<dyn ExecutionPlan>,
    caps: Caps,
    /// How many rows all partitions emitted.
    rows: Arc<AtomicUsize>,
}

impl DisplayAs for Capped {
    fn fmt_as(&self, _: DisplayFormatType, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Capped")
    }
}

impl Capped {
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        Self {
            input,
            caps: self.caps,
            rows: Arc::new(AtomicUsize::new(0)),
        }
    }
}

impl ExecutionPlan for Capped {
    pass_through!("Capped");

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (caps, rows) = (self.caps, Arc::clone(&self.rows));
        let stream = self.input.execute(partition, context)?;
        let schema = stream.schema();
        let stream = stream.map(move |batch| {
            let batch = batch?;
            let before = rows.fetch_add(batch.num_rows(), Ordering::Relaxed);
            if before.saturating_add(batch.num_rows()) > caps.rows {
                return resources_err!("a join has more than {} rows", caps.rows);
            }
            if longest(&batch) > caps.text {
                return resources_err!("a text is longer than {} bytes", caps.text);
            }
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

/// A text function that fails if it computes too much in one slice.
#[derive(Debug, PartialEq, Eq, Hash)]
struct CappedFunction {
    inner: ScalarUDF,
    made: usize,
}

impl Caps {
    /// The same function with this check.
    pub(super) fn function(self, inner: ScalarUDF) -> ScalarUDF {
        let made = self.made;
        ScalarUDF::new_from_impl(CappedFunction { inner, made })
    }
}

impl ScalarUDFImpl for CappedFunction {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let found = self.inner.invoke_with_args(arguments)?;
        let made = match &found {
            ColumnarValue::Array(array) if array.data_type() == &DataType::Utf8View => {
                let blocks = array.as_string_view().data_buffers();
                blocks.iter().map(Buffer::len).sum()
            }
            _ => 0,
        };
        match made > self.made {
            true => resources_err!("{} bytes of text are made at a time", made),
            false => Ok(found),
        }
    }
}

/// The longest text of a batch.
fn longest(batch: &RecordBatch) -> usize {
    let columns = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Utf8View => {
                let lengths = column.as_string_view().iter().flatten().map(str::len);
                lengths.max().unwrap_or(0)
            }
            DataType::Utf8 => {
                let lengths = column.as_string::<i32>().iter().flatten().map(str::len);
                lengths.max().unwrap_or(0)
            }
            _ => 0,
        });
    columns.max().unwrap_or(0)
}
