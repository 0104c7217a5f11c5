//! Round-robin repartition of the rows of files.
//!
//! A file is split where its writer split it, so one partition may have twice as many rows as
//! another, and the larger one determines the time. Here each piece is read by a separate task,
//! and its batches go to all partitions in turn.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning, replace_children_if_necessary};
use datafusion::prelude::DataFrame;

use super::super::slices::{Sliced, SmallBatches};

/// How many pieces of files are read concurrently for each partition: more balance better.
const PIECES: usize = 4;

/// This many pieces in total balance well enough. Each is in memory while it is read.
const ENOUGH: usize = 16;

/// Whether a plan processes each row independently. For other plans the assignment of rows to
/// partitions matters.
pub(super) fn is_by_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) => true,
        LogicalPlan::Projection(_) | LogicalPlan::Filter(_) | LogicalPlan::SubqueryAlias(_) => {
            plan.inputs().into_iter().all(is_by_row)
        }
        _ => false,
    }
}

/// The physical plan of rows that are processed independently, with a round-robin repartition
/// of its scan to the number of partitions.
pub(super) async fn round_robin(rows: DataFrame) -> Result<Arc<dyn ExecutionPlan>> {
    let (mut state, plan) = rows.into_parts();
    let partitions = state.config().target_partitions();
    if partitions == 1 {
        return state.create_physical_plan(&plan).await;
    }
    let pieces = partitions
        .saturating_mul(PIECES)
        .min(partitions.max(ENOUGH));
    state.config_mut().options_mut().execution.target_partitions = pieces;
    let plan = state.create_physical_plan(&plan).await?;
    match has_one_leaf(plan.as_ref()) {
        true => above_leaf(plan, partitions),
        false => Ok(plan),
    }
}

fn has_one_leaf(plan: &dyn ExecutionPlan) -> bool {
    match plan.children().as_slice() {
        [] => true,
        [input] => {
            let by_row = plan.is::<FilterExec>() || plan.is::<ProjectionExec>();
            let by_row = by_row || plan.is::<Sliced>() || plan.is::<SmallBatches>();
            (by_row || is_round_robin(plan)) && has_one_leaf(input.as_ref())
        }
        _ => false,
    }
}

/// Whether it is DataFusion's own round-robin repartition (to the number of pieces); ours
/// replaces it.
fn is_round_robin(plan: &dyn ExecutionPlan) -> bool {
    let repartition = plan.downcast_ref::<RepartitionExec>();
    repartition
        .is_some_and(|dealing| matches!(dealing.partitioning(), Partitioning::RoundRobinBatch(_)))
}

fn above_leaf(plan: Arc<dyn ExecutionPlan>, partitions: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let input = plan.children().first().map(|input| Arc::clone(input));
    match input {
        Some(input) if is_round_robin(plan.as_ref()) => above_leaf(input, partitions),
        Some(input) => {
            let input = above_leaf(input, partitions)?;
            replace_children_if_necessary(plan, vec![input])
        }
        None => {
            let round_robin = Partitioning::RoundRobinBatch(partitions);
            Ok(Arc::new(RepartitionExec::try_new(plan, round_robin)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, RecordBatch};
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::datasource::MemTable;
    use datafusion::physical_plan::ExecutionPlanProperties;
    use datafusion::prelude::{SessionConfig, SessionContext};

    use super::*;

    /// A table of several pieces that cannot be split.
    fn context(partitions: usize, pieces: i64) -> SessionContext {
        let config = SessionConfig::new().with_target_partitions(partitions);
        let context = SessionContext::new_with_config(config);
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
        let batches = (0..pieces).map(|piece| {
            let numbers: Int64Array = (0..10_000).map(|row| Some(row * (piece + 1))).collect();
            let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(numbers)]);
            vec![batch.unwrap()]
        });
        let table = MemTable::try_new(Arc::clone(&schema), batches.collect()).unwrap();
        context.register_table("t", Arc::new(table)).unwrap();
        context
    }

    #[tokio::test]
    async fn there_are_as_many_partitions_as_requested() {
        for partitions in [1, 2, 7, 40] {
            for pieces in [1, 3, 20] {
                let context = context(partitions, pieces);
                let rows = context.sql("SELECT x + 1 AS y FROM t WHERE x IS NOT NULL");
                let rows = rows.await.unwrap();
                assert!(is_by_row(rows.logical_plan()));
                let plan = round_robin(rows).await.unwrap();
                let found = plan.output_partitioning().partition_count();
                let one_by_one = partitions == 1;
                assert!(
                    one_by_one || found == partitions,
                    "{partitions} {pieces} {found}"
                );
                let task = context.task_ctx();
                let batches = datafusion::physical_plan::collect(plan, task)
                    .await
                    .unwrap();
                let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                assert_eq!(i64::try_from(rows).unwrap(), 10_000 * pieces);
            }
        }
    }

    #[tokio::test]
    async fn plans_over_several_rows_are_unchanged() {
        let context = context(2, 3);
        for sql in [
            "SELECT DISTINCT x FROM t",
            "SELECT a.x FROM t AS a JOIN t AS b ON a.x = b.x",
            "SELECT x FROM t UNION ALL SELECT x FROM t",
            "SELECT x FROM t LIMIT 3",
        ] {
            let rows = context.sql(sql).await.unwrap();
            assert!(!is_by_row(rows.logical_plan()), "{sql}");
        }
    }
}
