//! Why a node of a cluster does not start, or stops.

use std::path::PathBuf;

use mizan_core::Code;

use crate::engine::EngineError;

/// Why a node of a cluster does not start, or stops.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// The scheduler cannot be used.
    #[error("{0}")]
    Scheduler(#[from] EngineError),
    /// Other machines could reach it without explicit permission.
    #[error("{host} can be reached from other machines, and nodes have neither passwords nor TLS")]
    Open {
        /// The host on which it would listen.
        host: String,
    },
    /// Other nodes could not reach it under any address.
    #[error("{host} is not an address under which others can reach the node")]
    NoAddress {
        /// The host on which it would listen.
        host: String,
    },
    /// It cannot listen.
    #[error("cannot listen on {place}: {reason}")]
    CannotListen {
        /// The address.
        place: String,
        /// The message of the operating system.
        reason: String,
    },
    /// The directory for shuffled rows cannot be used.
    #[error("the work directory {} cannot be used: {reason}", path.display())]
    WorkDirectory {
        /// The directory.
        path: PathBuf,
        /// The message of the operating system.
        reason: String,
    },
    /// It could not be started, or stopped by itself.
    #[error("the node stopped: {reason}")]
    Stopped {
        /// Why.
        reason: String,
    },
}

impl NodeError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Scheduler(error) => error.code(),
            Self::Open { .. } => Code::MZ1931,
            Self::NoAddress { .. } => Code::MZ1932,
            Self::CannotListen { .. } => Code::MZ1933,
            Self::WorkDirectory { .. } => Code::MZ1934,
            Self::Stopped { .. } => Code::MZ1935,
        }
    }

    /// What the operator can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Scheduler(error) => error.help(),
            Self::Open { .. } => {
                "listen on 127.0.0.1, or add --trusted-network if only nodes and clients of the cluster can reach it"
                    .into()
            }
            Self::NoAddress { .. } => "name the host under which others reach the node with --advertise".into(),
            Self::CannotListen { .. } => "choose another address or port with --listen".into(),
            Self::WorkDirectory { .. } => {
                "name a directory that you may write to with --work-dir".into()
            }
            Self::Stopped { .. } => {
                "start it again when the scheduler runs; it must have the same version".into()
            }
        }
    }
}
