//! An executor: reads files, and stores shuffled rows in its own directory.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ballista_core::registry::BallistaFunctionRegistry;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};

use super::super::codec::{LogicalCodec, PhysicalCodec};
use super::super::status::cluster_status;
use super::work_dir::WorkDir;
use super::{
    FUNCTIONS, HEARTBEAT_SECONDS, MESSAGE, advertised, listener, may_listen, runtime, stopped,
    with_version,
};
use crate::engines::ballista::address::Address;
use crate::engines::ballista::count_min;
use crate::engines::ballista::error::NodeError;

/// How an executor is started.
#[derive(Clone, Debug)]
pub struct Executor {
    /// The address of its scheduler.
    pub scheduler: Address,
    /// The address on which it listens; port 0 is any free port.
    pub listen: Address,
    /// The host under which other nodes reach it, if it is different.
    pub advertise: Option<String>,
    /// Whether it may listen on an address that other machines can reach.
    pub trusted_network: bool,
    /// Where its directory is created.
    pub work_dir: PathBuf,
    /// How many tasks it runs concurrently; 0 for the number of processors.
    pub cores: usize,
}

/// Runs an executor until it is stopped or its scheduler is gone. `ready` receives its address.
///
/// # Errors
///
/// The scheduler cannot be reached or has another version, or a resource cannot be opened.
pub fn run_executor(options: &Executor, ready: impl FnOnce(&Address)) -> Result<(), NodeError> {
    cluster_status(&options.scheduler)?;
    let ip = may_listen(&options.listen, options.trusted_network)?;
    let host = advertised(ip, options.advertise.as_deref())?;
    let work_dir = WorkDir::make(&options.work_dir)?;
    // Ballista binds these ports itself.
    let (port, grpc_port) = ports(ip, options.listen.port())?;
    let mut functions = BallistaFunctionRegistry::default();
    for function in FUNCTIONS.iter() {
        let name = function.name().to_owned();
        functions
            .scalar_functions
            .insert(name, Arc::clone(function));
    }
    for function in count_min::all() {
        let name = function.name().to_owned();
        functions
            .aggregate_functions
            .insert(name, Arc::new(function));
    }
    let config = ExecutorProcessConfig {
        bind_host: Address::new(ip.to_string(), 0).url_host(),
        external_host: Some(host.clone()),
        port,
        grpc_port,
        scheduler_host: options.scheduler.url_host(),
        scheduler_port: options.scheduler.port(),
        vcores: options.cores,
        work_dir: Some(work_dir.path()?.to_owned()),
        // For data that was not removed because the client or the scheduler is gone.
        job_data_ttl_seconds: 3600,
        job_data_clean_up_interval_seconds: 60,
        grpc_max_decoding_message_size: MESSAGE,
        grpc_max_encoding_message_size: MESSAGE,
        executor_heartbeat_interval_seconds: HEARTBEAT_SECONDS,
        // Each query has its own session.
        session_runtime_cache_capacity: 4,
        override_function_registry: Some(Arc::new(functions)),
        override_logical_codec: Some(Arc::new(LogicalCodec::default())),
        override_physical_codec: Some(Arc::new(PhysicalCodec::default())),
        override_create_grpc_client_endpoint: Some(with_version()),
        ..ExecutorProcessConfig::default()
    };
    ready(&Address::new(host, port));
    let ended = runtime()?.block_on(start_executor_process(Arc::new(config)));
    drop(work_dir);
    ended.map_err(stopped)
}

/// The port for rows, and another one for tasks.
fn ports(ip: IpAddr, wanted: u16) -> Result<(u16, u16), NodeError> {
    let rows = listener(ip, wanted)?;
    let tasks = listener(ip, 0)?;
    let port = |listener: &std::net::TcpListener| listener.local_addr().map_err(stopped);
    Ok((port(&rows)?.port(), port(&tasks)?.port()))
}
