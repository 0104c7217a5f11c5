//! The nodes of a cluster: Ballista's scheduler and executors with our functions, our readers
//! and our version, as parts of this program.
//!
//! A scheduler answers only nodes and clients of its own version, which they send in every
//! request. Nodes have no passwords: everyone who can reach a node can read rows.

mod executor;
mod scheduler;
mod work_dir;

use std::net::{IpAddr, TcpListener, ToSocketAddrs as _};
use std::sync::{Arc, LazyLock};

use ballista_core::extension::EndpointOverrideFn;
use ballista_core::utils::default_session_builder;
use datafusion::common::Result as Planned;
use datafusion::execution::{FunctionRegistry as _, SessionState};
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionConfig;
use tokio::runtime::Runtime;

use super::address::Address;
use super::error::NodeError;
use super::{AGENT, WORKER_STACK, count_min, probe};
use crate::engines::datafusion::functions;

pub use self::executor::{Executor, run_executor};
pub use self::scheduler::{Scheduler, run_scheduler};

/// The longest message between nodes.
const MESSAGE: u32 = 1 << 28;

/// The heartbeat interval of executors, and the time after which a silent one is removed.
const HEARTBEAT_SECONDS: u64 = 3;
const SILENCE_SECONDS: u64 = 15;

/// Our functions.
static FUNCTIONS: LazyLock<Vec<Arc<ScalarUDF>>> =
    LazyLock::new(|| scalar_functions().map(Arc::new).collect());

/// Our scalar functions, which clients and all nodes have.
pub(super) fn scalar_functions() -> impl Iterator<Item = ScalarUDF> {
    functions::all().into_iter().chain([probe::function()])
}

/// How a scheduler plans: like Ballista, with our functions.
pub(super) fn scheduler_state(config: SessionConfig) -> Planned<SessionState> {
    let mut state = default_session_builder(config)?;
    for function in FUNCTIONS.iter() {
        state.register_udf(Arc::clone(function))?;
    }
    for function in count_min::all() {
        state.register_udaf(Arc::new(function))?;
    }
    Ok(state)
}

/// Sends our version in every request.
pub(super) fn with_version() -> EndpointOverrideFn {
    Arc::new(|endpoint| Ok(endpoint.user_agent(AGENT)?))
}

/// The address on which a node may listen.
fn may_listen(listen: &Address, trusted_network: bool) -> Result<IpAddr, NodeError> {
    let host = listen.host().to_owned();
    let found = (listen.host(), listen.port()).to_socket_addrs();
    let found = found.ok().and_then(|mut found| found.next());
    let Some(found) = found else {
        let (place, reason) = (listen.to_string(), "there is no such host".to_owned());
        return Err(NodeError::CannotListen { place, reason });
    };
    if !trusted_network && !found.ip().is_loopback() {
        return Err(NodeError::Open { host });
    }
    Ok(found.ip())
}

/// The host under which other nodes reach a node.
fn advertised(ip: IpAddr, named: Option<&str>) -> Result<String, NodeError> {
    match named {
        Some(name) => Ok(Address::new(name, 0).url_host()),
        None if ip.is_unspecified() => Err(NodeError::NoAddress {
            host: ip.to_string(),
        }),
        None => Ok(Address::new(ip.to_string(), 0).url_host()),
    }
}

/// A listener; port 0 is any free port.
fn listener(ip: IpAddr, port: u16) -> Result<TcpListener, NodeError> {
    TcpListener::bind((ip, port)).map_err(|error| NodeError::CannotListen {
        place: Address::new(ip.to_string(), port).to_string(),
        reason: error.kind().to_string(),
    })
}

fn runtime() -> Result<Runtime, NodeError> {
    tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(WORKER_STACK)
        .enable_all()
        .build()
        .map_err(stopped)
}

fn stopped(error: impl ToString) -> NodeError {
    let reason = error.to_string();
    let line = reason.lines().next().unwrap_or_default();
    NodeError::Stopped {
        reason: line.chars().take(300).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_listen_to_other_machines_only_with_permission() {
        let listen = |text: &str, trusted| may_listen(&text.parse().unwrap(), trusted);
        assert!(listen("127.0.0.1:0", false).is_ok());
        assert_eq!(listen("0.0.0.0:0", false).unwrap_err().code(), "MZ1931");
        let all = listen("0.0.0.0:0", true).unwrap();
        assert_eq!(advertised(all, None).unwrap_err().code(), "MZ1932");
        assert_eq!(
            advertised(all, Some("a.example.org")).unwrap(),
            "a.example.org"
        );
        let six: IpAddr = "::1".parse().unwrap();
        assert_eq!(advertised(six, None).unwrap(), "[::1]");
    }

    #[test]
    fn a_port_in_use_is_an_error() {
        let taken = listener("127.0.0.1".parse().unwrap(), 0).unwrap();
        let address = taken.local_addr().unwrap();
        let error = listener(address.ip(), address.port()).unwrap_err();
        assert_eq!(error.code(), "MZ1933");
    }
}
