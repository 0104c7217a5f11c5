//! The scheduler: plans queries and assigns tasks to executors. It reads no rows.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, USER_AGENT};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use ballista_core::serde::protobuf::scheduler_grpc_server::SchedulerGrpcServer;
use ballista_scheduler::SessionBuilder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::create_scheduler;
use ballista_scheduler::scheduler_server::SchedulerServer;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use tonic::Status;
use tonic::service::RoutesBuilder;

use super::super::codec::{LogicalCodec, PhysicalCodec};
use super::super::status::{ClusterStatus, PAGE};
use super::{
    MESSAGE, SILENCE_SECONDS, advertised, listener, may_listen, runtime, scheduler_state, stopped,
};
use crate::engines::ballista::address::Address;
use crate::engines::ballista::error::NodeError;
use crate::engines::ballista::{AGENT, VERSION};

/// How long results are kept for the client. Fetched results are removed immediately.
const RESULTS_SECONDS: u64 = 120;

/// How a scheduler is started.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// The address on which it listens; port 0 is any free port.
    pub listen: Address,
    /// The host under which other nodes reach it, if it is different.
    pub advertise: Option<String>,
    /// Whether it may listen on an address that other machines can reach.
    pub trusted_network: bool,
}

type Server = SchedulerServer<LogicalPlanNode, PhysicalPlanNode>;

/// Runs a scheduler until it is stopped. `ready` receives its address.
///
/// # Errors
///
/// It cannot listen, or stops by itself.
pub fn run_scheduler(options: &Scheduler, ready: impl FnOnce(&Address)) -> Result<(), NodeError> {
    let ip = may_listen(&options.listen, options.trusted_network)?;
    let host = advertised(ip, options.advertise.as_deref())?;
    let listener = listener(ip, options.listen.port())?;
    let port = listener.local_addr().map_err(stopped)?.port();
    listener.set_nonblocking(true).map_err(stopped)?;
    runtime()?.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(stopped)?;
        let config = Arc::new(config(host.clone(), port));
        let cluster = BallistaCluster::new_from_config(&config).await;
        let server: Server = create_scheduler(cluster.map_err(stopped)?, config)
            .await
            .map_err(stopped)?;
        ready(&Address::new(host, port));
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        let routes = routes(server).into_make_service_with_connect_info::<SocketAddr>();
        tokio::select! {
            ended = async { axum::serve(listener, routes).await } => ended.map_err(stopped),
            () = stop_requested() => Ok(()),
        }
    })
}

fn config(host: String, port: u16) -> SchedulerConfig {
    let sessions: SessionBuilder = Arc::new(scheduler_state);
    SchedulerConfig {
        external_host: host,
        bind_port: port,
        override_session_builder: Some(sessions),
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        executor_timeout_seconds: SILENCE_SECONDS,
        expire_dead_executor_interval_seconds: 2,
        no_executors_grace_period_seconds: SILENCE_SECONDS,
        finished_job_data_clean_up_interval_seconds: RESULTS_SECONDS,
        finished_job_state_clean_up_interval_seconds: 2 * RESULTS_SECONDS,
        grpc_server_max_decoding_message_size: MESSAGE,
        grpc_server_max_encoding_message_size: MESSAGE,
        grpc_client_max_message_size: MESSAGE,
        ..SchedulerConfig::default()
    }
}

/// The status page of the cluster, and Ballista's own service for nodes of this version.
fn routes(server: Server) -> axum::Router {
    let size = MESSAGE as usize;
    let service = SchedulerGrpcServer::new(server.clone())
        .max_encoding_message_size(size)
        .max_decoding_message_size(size);
    let mut grpc = RoutesBuilder::default();
    grpc.add_service(service);
    let grpc = grpc
        .routes()
        .into_axum_router()
        .layer(from_fn(same_version));
    let page = axum::Router::new()
        .route(PAGE, get(page))
        .with_state(server);
    page.merge(grpc)
}

/// Refuses requests that do not state this version.
async fn same_version(request: Request, next: Next) -> Response {
    let agent = request.headers().get(USER_AGENT);
    let agent = agent.and_then(|agent| agent.to_str().ok());
    let said = agent.and_then(|agent| agent.split(' ').next());
    if said == Some(AGENT) {
        return next.run(request).await;
    }
    let refusal = format!("this scheduler runs mizan {VERSION} and serves no other version");
    Status::failed_precondition(refusal).into_http()
}

async fn page(State(server): State<Server>) -> Response {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    let known = server.state.executor_manager.get_executors_state().await;
    let alive = known.unwrap_or_default().into_iter();
    let alive = alive.filter(|(_, seen, _)| {
        seen.is_some_and(|seen| now.saturating_sub(seen) < Duration::from_secs(SILENCE_SECONDS))
    });
    let executors = alive.map(|(executor, ..)| executor.specification.vcores);
    let status = ClusterStatus {
        executors: executors.collect(),
    };
    let headers = [(CONTENT_TYPE, "application/json")];
    (headers, status.to_json().to_string()).into_response()
}

/// Waits for Ctrl-C or a termination signal.
async fn stop_requested() {
    let interrupt = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    #[cfg(unix)]
    let terminate = async {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => {
                terminate.recv().await;
            }
            Err(_) => std::future::pending().await,
        }
    };
    #[cfg(not(unix))]
    let terminate = std::future::pending();
    tokio::select! {
        () = interrupt => {}
        () = terminate => {}
    }
}
