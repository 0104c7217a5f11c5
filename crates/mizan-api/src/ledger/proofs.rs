//! Checkpoints and proofs of the log, for auditors.

use mizan_ledger::evidence::{ConsistencyProof, InclusionProof, TreeHead};
use mizan_ledger::log::leaf_hash;
use mizan_ledger::{Checkpoint, Digest, Entry, PublicKey};
use serde::Serialize;
use utoipa::ToSchema;

use crate::budget::view::{LogJson, log_json};

/// A checkpoint: size and root of the log, signed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CheckpointAnswer {
    /// The checkpoint as a line of text.
    pub checkpoint: String,
    /// The public key of the signature.
    pub public_key: Option<String>,
    /// Size and root of the log.
    pub log: LogJson,
}

/// A proof that an entry is in the log (RFC 9162, section 2.1.3).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InclusionAnswer {
    /// The position of the entry.
    pub position: u64,
    /// The hash of the entry's canonical bytes, as a leaf of the tree.
    pub leaf: String,
    /// The sibling hashes on the way from the leaf to the root.
    pub path: Vec<String>,
    /// Size and root of the log that contains it.
    pub log: LogJson,
}

/// A proof that the log extends an earlier one (RFC 9162, section 2.1.4).
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConsistencyAnswer {
    /// Size and root of the earlier log.
    pub before: LogJson,
    /// The hashes from which both roots follow.
    pub path: Vec<String>,
    /// Size and root of the log.
    pub log: LogJson,
}

fn hashes(path: &[Digest]) -> Vec<String> {
    path.iter().map(ToString::to_string).collect()
}

impl CheckpointAnswer {
    /// The JSON form of a checkpoint.
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
    /// The JSON form of an inclusion proof.
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
    /// The JSON form of a consistency proof.
    #[must_use]
    pub fn of(before: TreeHead, proof: &ConsistencyProof, head: TreeHead) -> Self {
        Self {
            before: log_json(before),
            path: hashes(&proof.path),
            log: log_json(head),
        }
    }
}
