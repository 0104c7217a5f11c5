//! A session with a cluster: statements go to its scheduler, results come from its executors.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ballista_core::JobId;
use ballista_core::config::{
    BALLISTA_CLIENT_GRPC_HTTP2_KEEPALIVE_INTERVAL_SECONDS,
    BALLISTA_SCHEDULER_SHARE_FILE_STATISTICS_CACHE,
};
use ballista_core::execution_plans::DistributedQueryExec;
use ballista_core::extension::{SessionConfigExt as _, SessionStateExt as _};
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{CancelJobParams, CleanJobDataParams};
use datafusion::arrow::array::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::optimizer::Optimizer;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::LogicalPlanNode;
use futures::StreamExt as _;
use tonic::transport::{Channel, Endpoint};

use super::address::Address;
use super::codec::{LogicalCodec, PhysicalCodec};
use super::nodes::{scalar_functions, with_version};
use super::rehearsal::rehearse;
use super::{AGENT, count_min};
use crate::engine::EngineError;
use crate::engines::datafusion::failed;

/// The longest message from a scheduler or an executor.
const MESSAGE: usize = 1 << 28;

/// The keep-alive interval of a connection.
const SILENCE_SECONDS: u64 = 5;

/// Optimizer rules that detect parts of a plan without rows, whatever the data. Serialization
/// loses the column names of such parts, so the schedulers apply these rules themselves.
const MAKE_NOTHING: [&str; 4] = [
    "eliminate_filter",
    "eliminate_join",
    "eliminate_limit",
    "propagate_empty_relation",
];

/// The time limit for cleaning up.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(5);

/// A session with a cluster.
pub(super) struct Session {
    scheduler: Address,
    context: SessionContext,
    /// The number of partitions.
    pub(super) partitions: usize,
    /// Jobs that may have data left on executors.
    jobs: Mutex<Vec<JobId>>,
}

impl Session {
    /// A session with this number of partitions. Nothing is sent yet.
    pub(super) fn new(scheduler: &Address, partitions: usize) -> Result<Self> {
        let mut config = SessionConfig::new_with_ballista()
            .with_target_partitions(partitions.max(1))
            .with_information_schema(false)
            .with_ballista_logical_extension_codec(Arc::new(LogicalCodec::default()))
            .with_ballista_physical_extension_codec(Arc::new(PhysicalCodec::default()))
            .with_ballista_override_create_grpc_client_endpoint(with_version())
            .with_ballista_grpc_client_max_message_size(MESSAGE)
            // Adaptive plans depend on rows, and some of them never end: in Ballista 55.0 an
            // empty stage may be planned again forever.
            .with_ballista_adaptive_query_planner(false)
            .set_u64(
                BALLISTA_CLIENT_GRPC_HTTP2_KEEPALIVE_INTERVAL_SECONDS,
                SILENCE_SECONDS,
            )
            // Rows are joined by unit and further columns. Sort-merge joins by several columns
            // take four times as long as hash joins (docs/benchmarks-history.md). With hash
            // joins, the smaller side must fit into the memory of executors.
            .set_bool("datafusion.optimizer.prefer_hash_join", true)
            // That cache may not notice that a file was rewritten.
            .set_bool(BALLISTA_SCHEDULER_SHARE_FILE_STATISTICS_CACHE, false);
        config.options_mut().sql_parser.recursion_limit =
            datafusion::config::ConfigNonZeroUsize::try_new(100_000)?;
        let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
        let runtime = RuntimeEnvBuilder::new()
            .with_disk_manager_builder(disk)
            .build_arc()?;
        let mut rules = Optimizer::default().rules;
        rules.retain(|rule| !MAKE_NOTHING.contains(&rule.name()));
        let state = SessionStateBuilder::new()
            .with_default_features()
            .with_optimizer_rules(rules)
            .with_config(config)
            .with_runtime_env(runtime)
            .build()
            .upgrade_for_ballista(scheduler.url())?;
        let context = SessionContext::new_with_state(state);
        for function in scalar_functions() {
            context.register_udf(function);
        }
        for function in count_min::all() {
            context.register_udaf(function);
        }
        Ok(Self {
            scheduler: scheduler.clone(),
            context,
            partitions,
            jobs: Mutex::default(),
        })
    }

    /// Registers a table.
    pub(super) fn register(&self, name: &str, table: Arc<dyn TableProvider>) -> Result<()> {
        self.context.register_table(name, table)?;
        Ok(())
    }

    /// Checks that a statement can be planned, sent and parsed. Nothing is sent.
    pub(super) async fn plan(&self, text: &str) -> std::result::Result<(), EngineError> {
        let rehearsed = async {
            let plan = self.context.sql(text).await?.into_optimized_plan()?;
            rehearse(&plan, self.context.copied_config()).await
        };
        rehearsed.await.map_err(|error| {
            let _ = failed("planning")(error);
            EngineError::NotOnCluster
        })
    }

    /// Calls `each` for each batch of a statement's result.
    pub(super) async fn run(
        &self,
        text: &str,
        mut each: impl FnMut(&RecordBatch) -> std::result::Result<(), EngineError>,
    ) -> std::result::Result<(), EngineError> {
        let planned = self.context.sql(text).await.map_err(failed("planning"))?;
        let plan = planned.create_physical_plan().await;
        let plan = plan.map_err(failed("planning"))?;
        let query = Arc::clone(&plan);
        let stream = execute_stream(plan, self.context.task_ctx());
        let mut stream = stream.map_err(failed("planning"))?;
        let mut found = Ok(());
        while let Some(batch) = stream.next().await {
            found = match batch {
                Ok(batch) => each(&batch),
                Err(error) => {
                    let _ = failed("running")(error);
                    Err(EngineError::ClusterFailed)
                }
            };
            if found.is_err() {
                break;
            }
        }
        let job = query
            .downcast_ref::<DistributedQueryExec<LogicalPlanNode>>()
            .and_then(DistributedQueryExec::job_id);
        self.jobs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(job);
        found
    }

    /// Tells executors to stop abandoned jobs and to remove their data. If they cannot be
    /// reached, they do so themselves after some time.
    pub(super) async fn tidy_up(&self) {
        let jobs = std::mem::take(&mut *self.jobs.lock().unwrap_or_else(PoisonError::into_inner));
        if !jobs.is_empty() {
            let _ = tokio::time::timeout(CLEANUP_TIMEOUT, tidy_up(&self.scheduler, jobs)).await;
        }
    }
}

async fn tidy_up(
    scheduler: &Address,
    jobs: Vec<JobId>,
) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let endpoint = Endpoint::from_shared(scheduler.url())?.user_agent(AGENT)?;
    let channel: Channel = endpoint.connect().await?;
    let mut scheduler = SchedulerGrpcClient::new(channel);
    for job in jobs {
        let job_id: String = job.into();
        // This does not affect a finished job.
        let cancel = CancelJobParams {
            job_id: job_id.clone(),
        };
        let _ = scheduler.cancel_job(cancel).await;
        let clean = CleanJobDataParams {
            job_id,
            remove_stage_ids: Vec::new(),
        };
        let _ = scheduler.clean_job_data(clean).await;
    }
    Ok(())
}
