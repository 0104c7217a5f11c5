//! Everything that a cluster does with a statement before a row is read, executed here first:
//! what it could not plan, split into stages or send is refused before the charge.

use ballista_core::JobId;
use ballista_scheduler::planner::{DefaultDistributedPlanner, DistributedPlanner as _};
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::logical_plan::AsLogicalPlan as _;
use datafusion_proto::physical_plan::AsExecutionPlan as _;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};

use super::codec::{LogicalCodec, PhysicalCodec};
use super::nodes::scheduler_state;

/// Plans a statement like the scheduler, and serializes its stages without sending them.
pub(super) async fn rehearse(plan: &LogicalPlan, config: SessionConfig) -> Result<()> {
    // Schedulers switch that off.
    let state = scheduler_state(config.with_round_robin_repartition(false))?;
    let context = state.task_ctx();
    let codec = LogicalCodec::default();
    let mut sent = Vec::new();
    LogicalPlanNode::try_from_logical_plan(plan, &codec)?.try_encode(&mut sent)?;
    let received = LogicalPlanNode::try_decode(&sent)?;
    let received = received.try_into_logical_plan(&context, &codec)?;
    let planned = state.create_physical_plan(&received).await?;
    let stages = DefaultDistributedPlanner::new()
        .plan_query_stages(&JobId::from("rehearsal"), planned, state.config_options())
        .map_err(|error| DataFusionError::External(Box::new(error)))?;
    let codec = PhysicalCodec::default();
    for stage in stages {
        let mut sent = Vec::new();
        PhysicalPlanNode::try_from_physical_plan(stage, &codec)?.try_encode(&mut sent)?;
        PhysicalPlanNode::try_decode(&sent)?.try_into_physical_plan(&context, &codec)?;
    }
    Ok(())
}
