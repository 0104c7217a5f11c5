//! What the log proves about itself, to whoever asks.

use mizan_ledger::evidence::{ConsistencyProof, InclusionProof, TreeHead};
use mizan_ledger::log::leaf_hash;
use mizan_ledger::{Checkpoint, Digest, Entry, PublicKey};
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::view::{LogJson, log_json};

/// A signed statement of how far the log has come.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CheckpointAnswer {
    /// A line to keep.
    pub checkpoint: String,
    /// Who signed it.
    pub public_key: Option<String>,
    /// The log.
    pub log: LogJson,
}

/// That an entry is in the log (RFC 9162, section 2.1.3).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InclusionAnswer {
    /// How many entries stand before it.
    pub position: u64,
    /// The hash of its canonical bytes, as a leaf of the tree.
    pub leaf: String,
    /// The hashes beside the way up, from the leaf.
    pub path: Vec<String>,
    /// The log that it is in.
    pub log: LogJson,
}

/// That the log extends an earlier one (RFC 9162, section 2.1.4).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConsistencyAnswer {
    /// The earlier log.
    pub before: LogJson,
    /// The hashes that make up both roots.
    pub path: Vec<String>,
    /// The log.
    pub log: LogJson,
}

fn hashes(path: &[Digest]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

impl CheckpointAnswer {
    /// Of a checkpoint.
    #[must_use]
    pub fn of(checkpoint: &Checkpoint, key: Option<PublicKey>) -> Self {
        Self {
            checkpoint: checkpoint.to_string(),
            public_key: key.map(|key| key.to_string()),
            log: log_json(checkpoint.head),
        }
    }
}

impl InclusionAnswer {
    /// Of a proof.
    #[must_use]
    pub fn of(entry: &Entry, proof: &InclusionProof, head: TreeHead) -> Self {
        Self {
            position: proof.index,
            leaf: leaf_hash(&entry.encode()).to_string(),
            path: hashes(&proof.path),
            log: log_json(head),
        }
    }
}

impl ConsistencyAnswer {
    /// Of a proof.
    #[must_use]
    pub fn of(before: TreeHead, proof: &ConsistencyProof, head: TreeHead) -> Self {
        Self {
            before: log_json(before),
            path: hashes(&proof.path),
            log: log_json(head),
        }
    }
}
