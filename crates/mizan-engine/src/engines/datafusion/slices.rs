//! Cuts batches by the bytes of their texts, before texts are computed from them.
//!
//! A join repeats a text without copying it: 8,192 rows beside one text of 60 KiB are a few
//! hundred kilobytes of views, but 480 MiB once they are concatenated with anything. So the
//! memory of an expression would depend on one cell. A rule of the physical optimizer finds
//! operators whose expressions compute texts from columns, and cuts their input batches into
//! slices of at most [`SLICE_BYTES`] of text, or one row. Batches of short texts are not cut,
//! and plans that compute no text are unchanged.
//!
//! # Guarantee
//!
//! The texts that the expressions of an operator compute from a slice have at most `copies`
//! times [`SLICE_BYTES`] bytes plus the literals of its rows, or, for a single row, 64 KiB for
//! each computed text (`mizan_sql::TextGrowth`, `LONGEST_COMPUTED_TEXT`). Filters, joins and
//! exchanges combine slices again, by rows: where computed texts pass through one of them, its
//! batches have [`SMALL_BATCH`] rows. The same holds for Parquet texts that share prefixes:
//! decoded, they are as long as computed texts.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::concat;
use datafusion::arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, exec_err};
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode};
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, NestedLoopJoinExecBuilder,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, replace_children_if_necessary,
};
use futures::{StreamExt, TryStreamExt};

use super::parquet::scan::reads_prefixes;
use super::pass_through::pass_through;

/// The most bytes of texts in a slice of several rows.
pub(in crate::engines) const SLICE_BYTES: usize = 1 << 20;

/// The rows of a batch where slices of computed texts are combined.
pub(in crate::engines) const SMALL_BATCH: usize = 16;

/// The rule that cuts batches.
#[derive(Debug)]
pub(super) struct SliceTexts {
    /// The most bytes of texts in a slice of several rows.
    pub(super) bytes: usize,
}

impl PhysicalOptimizerRule for SliceTexts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut gathers = false;
        carries(plan.as_ref(), &mut gathers)?;
        let plan = plan.transform_up(|node| sliced(node, self.bytes, gathers));
        let plan = plan.data()?;
        Ok(match gathers {
            true => Arc::new(SmallBatches { input: plan }),
            false => plan,
        })
    }

    fn name(&self) -> &'static str {
        "slice_texts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

const fn is_text(kind: &DataType) -> bool {
    matches!(
        kind,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// Whether an expression computes a text from others.
fn makes_text(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<bool> {
    let mut found = false;
    expr.apply(|part| {
        let is_given = part.is::<Column>() || part.is::<Literal>();
        found |= !is_given && is_text(&part.data_type(schema)?);
        Ok(match found {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(found)
}

/// The text columns from which expressions compute texts.
fn read<'a>(
    exprs: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
    schema: &Schema,
) -> Result<Vec<usize>> {
    let mut columns = Vec::new();
    for expr in exprs {
        if !makes_text(expr, schema)? {
            continue;
        }
        let places = collect_columns(expr)
            .into_iter()
            .map(|column| column.index());
        columns.extend(places.filter(|place| {
            let field = schema.fields().get(*place);
            field.is_some_and(|field| is_text(field.data_type()))
        }));
    }
    columns.sort_unstable();
    columns.dedup();
    Ok(columns)
}

/// Whether a plan emits computed texts. `gathers` is set where an operator may combine batches
/// of them.
fn carries(plan: &dyn ExecutionPlan, gathers: &mut bool) -> Result<bool> {
    // The decoder computes texts that share prefixes.
    let mut below = reads_prefixes(plan)?;
    *gathers |= below;
    for input in plan.children() {
        below |= carries(input.as_ref(), gathers)?;
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let schema = projection.input().schema();
        for each in projection.expr() {
            let makes = is_text(&each.expr.data_type(&schema)?);
            if makes && (below || makes_text(&each.expr, &schema)?) {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    // The memory of aggregates is part of the plan bound, and they emit texts without copying.
    if plan.is::<AggregateExec>() {
        return Ok(false);
    }
    let schema = plan.schema();
    let carried = below
        && schema
            .fields()
            .iter()
            .any(|field| is_text(field.data_type()));
    let passes = ["CoalescePartitionsExec", "UnionExec", "Capped"].contains(&plan.name());
    *gathers |= below && !passes;
    Ok(carried)
}

/// The same operator over slices, if its expressions compute texts.
fn sliced(
    node: Arc<dyn ExecutionPlan>,
    bytes: usize,
    gathers: bool,
) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        return Ok(match sliced_filter(join.filter(), bytes)? {
            Some(filter) => {
                Transformed::yes(join.builder().with_filter(Some(filter)).build_exec()?)
            }
            None => Transformed::no(node),
        });
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        return Ok(match sliced_filter(join.filter(), bytes)? {
            Some(filter) => {
                let join = NestedLoopJoinExecBuilder::from(join).with_filter(Some(filter));
                Transformed::yes(Arc::new(join.build()?))
            }
            None => Transformed::no(node),
        });
    }
    let columns = if let Some(filter) = node.downcast_ref::<FilterExec>() {
        read([filter.predicate()], &filter.input().schema())?
    } else if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        let exprs = projection.expr().iter().map(|each| &each.expr);
        read(exprs, &projection.input().schema())?
    } else if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        match aggregate.mode().input_mode() {
            AggregateInputMode::Raw => {
                let arguments = aggregate.aggr_expr().iter();
                let mut exprs = aggregate.group_expr().input_exprs();
                exprs.extend(arguments.flat_map(|aggregate| aggregate.expressions()));
                exprs.extend(aggregate.filter_expr().iter().flatten().cloned());
                read(&exprs, &aggregate.input().schema())?
            }
            AggregateInputMode::Partial => Vec::new(),
        }
    } else {
        return Ok(Transformed::no(node));
    };
    let mut node = Transformed::no(node);
    if gathers && let Some(filter) = node.data.downcast_ref::<FilterExec>() {
        let filter = FilterExecBuilder::from(filter).with_batch_size(SMALL_BATCH);
        node = Transformed::yes(Arc::new(filter.build()?));
    }
    if columns.is_empty() {
        return Ok(node);
    }
    let inputs = node.data.children().into_iter();
    let inputs = inputs.map(|input| {
        Arc::new(Sliced {
            input: Arc::clone(input),
            cut: Cut {
                columns: columns.clone(),
                bytes,
            },
        }) as Arc<dyn ExecutionPlan>
    });
    let inputs = inputs.collect();
    let node = replace_children_if_necessary(node.data, inputs)?;
    Ok(Transformed::yes(node))
}

/// The condition of a join over slices, if it computes texts.
fn sliced_filter(filter: Option<&JoinFilter>, bytes: usize) -> Result<Option<JoinFilter>> {
    let Some(filter) = filter else {
        return Ok(None);
    };
    let columns = read([filter.expression()], filter.schema())?;
    if columns.is_empty() {
        return Ok(None);
    }
    let expression = SlicedExpr {
        inner: Arc::clone(filter.expression()),
        cut: Cut { columns, bytes },
    };
    Ok(Some(JoinFilter::new(
        Arc::new(expression),
        filter.column_indices().to_vec(),
        Arc::clone(filter.schema()),
    )))
}

/// How batches are cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cut {
    /// The text columns that count.
    columns: Vec<usize>,
    /// The most bytes of these texts in a slice of several rows.
    bytes: usize,
}

impl Cut {
    /// The slices of a batch.
    fn of(&self, batch: &RecordBatch) -> Result<Vec<Range<usize>>> {
        let rows = batch.num_rows();
        let columns: Vec<&ArrayRef> = self
            .columns
            .iter()
            .map(|place| match batch.columns().get(*place) {
                Some(column) => Ok(column),
                None => exec_err!("no such column of texts"),
            })
            .collect::<Result<_>>()?;
        let bytes = |rows: Range<usize>| {
            let mut columns = columns.iter();
            columns.try_fold(0_usize, |all, column| {
                Ok::<_, DataFusionError>(all.saturating_add(bytes(column, rows.clone())?))
            })
        };
        if rows < 2 || bytes(0..rows)? <= self.bytes {
            return Ok(std::iter::once(0..rows).collect());
        }
        let mut found = Vec::new();
        let (mut start, mut held) = (0, 0_usize);
        for row in 0..rows {
            let here = bytes(row..row + 1)?;
            if row > start && held.saturating_add(here) > self.bytes {
                found.push(start..row);
                (start, held) = (row, 0);
            }
            held = held.saturating_add(here);
        }
        found.push(start..rows);
        Ok(found)
    }
}

/// The bytes of the texts of rows. It is an error if the rows or the texts are missing: counted
/// as no bytes, they would not be cut. The first four bytes of a view are the length.
#[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
fn bytes(array: &ArrayRef, rows: Range<usize>) -> Result<usize> {
    let found = match array.data_type() {
        DataType::Utf8View => {
            let views = array.as_string_view().views().get(rows);
            views.map(|views| views.iter().map(|view| *view as u32 as usize).sum())
        }
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets(), rows),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets(), rows),
        _ => None,
    };
    found.map_or_else(|| exec_err!("no such texts"), Ok)
}

/// The bytes between two offsets.
fn between<O: Copy + Into<i64>>(ends: &[O], rows: Range<usize>) -> Option<usize> {
    let (first, last) = (*ends.get(rows.start)?, *ends.get(rows.end)?);
    usize::try_from(last.into().checked_sub(first.into())?).ok()
}

/// Emits the rows of its input in slices.
#[derive(Debug)]
pub(super) struct Sliced {
    input: Arc<dyn ExecutionPlan>,
    cut: Cut,
}

impl DisplayAs for Sliced {
    fn fmt_as(&self, _: DisplayFormatType, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Sliced")
    }
}

impl Sliced {
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        let cut = self.cut.clone();
        Self { input, cut }
    }
}

impl ExecutionPlan for Sliced {
    pass_through!("Sliced");

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let cut = self.cut.clone();
        let stream = self.input.execute(partition, context)?;
        let schema = stream.schema();
        let stream = stream.and_then(move |batch| {
            let ranges = cut.of(&batch).map(Vec::into_iter);
            let parts = ranges
                .map(|ranges| ranges.map(move |range| Ok(batch.slice(range.start, range.len()))));
            futures::future::ready(parts.map(futures::stream::iter))
        });
        let stream = stream.try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream)))
    }
}

/// Operators below it emit small batches.
#[derive(Debug)]
pub(super) struct SmallBatches {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for SmallBatches {
    fn fmt_as(&self, _: DisplayFormatType, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SmallBatches")
    }
}

impl SmallBatches {
    #[allow(clippy::unused_self, reason = "as other operators")]
    const fn over(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input }
    }
}

impl ExecutionPlan for SmallBatches {
    pass_through!("SmallBatches");

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let config = context.session_config().clone();
        let small = TaskContext::new(
            context.task_id(),
            context.session_id(),
            config.with_batch_size(SMALL_BATCH),
            context.scalar_functions().clone(),
            context.higher_order_functions().clone(),
            context.aggregate_functions().clone(),
            context.window_functions().clone(),
            context.runtime_env(),
        );
        self.input.execute(partition, Arc::new(small))
    }
}

/// An expression that is evaluated slice by slice.
#[derive(Debug, Eq)]
struct SlicedExpr {
    inner: Arc<dyn PhysicalExpr>,
    cut: Cut,
}

impl PartialEq for SlicedExpr {
    fn eq(&self, other: &Self) -> bool {
        self.inner.eq(&other.inner) && self.cut == other.cut
    }
}

impl Hash for SlicedExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.inner.hash(state);
    }
}

impl fmt::Display for SlicedExpr {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "sliced({})", self.inner)
    }
}

impl PhysicalExpr for SlicedExpr {
    fn return_field(&self, schema: &Schema) -> Result<FieldRef> {
        self.inner.return_field(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let ranges = self.cut.of(batch)?;
        if ranges.len() == 1 {
            return self.inner.evaluate(batch);
        }
        let mut parts = Vec::with_capacity(ranges.len());
        for range in ranges {
            let slice = batch.slice(range.start, range.len());
            parts.push(self.inner.evaluate(&slice)?.into_array(slice.num_rows())?);
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&parts)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.inner]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let Some(inner) = children.pop() else {
            return exec_err!("an expression without its part");
        };
        let cut = self.cut.clone();
        Ok(Arc::new(Self { inner, cut }))
    }

    fn fmt_sql(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt_sql(out)
    }
}

#[cfg(test)]
mod tests;
