//! The Merkle tree of a stored log at any earlier size. Nodes from [`NODE_LEVEL`] up are stored;
//! nodes below are computed from the entries.

use std::cell::RefCell;

use crate::evidence::{ConsistencyProof, InclusionProof};
use crate::log::merkle::{self, Missing, Nodes, node_hash};
use crate::log::{Digest, leaf_hash};
use crate::store::{NODE_LEVEL, Store, StoreError, as_u64};

/// The number of entries below a stored node.
const BLOCK: u64 = 1 << NODE_LEVEL;

/// The tree over the log of a store.
pub(crate) struct History<'a> {
    store: &'a dyn Store,
    /// The leaves that were read last; proofs need adjacent ones.
    block: RefCell<(u64, Vec<Digest>)>,
}

impl From<Missing> for StoreError {
    fn from(Missing: Missing) -> Self {
        Self::damaged("the log has fewer entries than it says")
    }
}

impl<'a> History<'a> {
    pub(crate) const fn of(store: &'a dyn Store) -> Self {
        Self {
            store,
            block: RefCell::new((0, Vec::new())),
        }
    }

    /// The root of the first `size` entries.
    pub(crate) fn root(&self, size: u64) -> Result<Digest, StoreError> {
        merkle::root(self, size)
    }

    /// A proof that an entry is among the first `size`.
    pub(crate) fn inclusion(&self, index: u64, size: u64) -> Result<InclusionProof, StoreError> {
        merkle::inclusion_proof(self, index, size)
    }

    /// A proof that the first `size` entries begin with the first `before`.
    pub(crate) fn consistency(
        &self,
        before: u64,
        size: u64,
    ) -> Result<ConsistencyProof, StoreError> {
        merkle::consistency_proof(self, before, size)
    }

    /// The hash of an entry, read with the block that contains it.
    fn leaf(&self, index: u64) -> Result<Digest, StoreError> {
        let begin = index - index % BLOCK;
        let place = usize::try_from(index - begin).map_err(|_| Missing)?;
        let mut block = self.block.borrow_mut();
        // A block at the end of the log may have grown since it was read.
        if block.0 != begin || block.1.len() <= place {
            *block = (begin, self.leaves(begin)?);
        }
        Ok(*block.1.get(place).ok_or(Missing)?)
    }

    fn leaves(&self, begin: u64) -> Result<Vec<Digest>, StoreError> {
        let mut leaves = Vec::new();
        while as_u64(leaves.len()) < BLOCK {
            let page = self.store.entries(begin + as_u64(leaves.len()))?;
            if page.is_empty() {
                break;
            }
            leaves.extend(page.iter().map(|entry| leaf_hash(&entry.encode())));
        }
        leaves.truncate(usize::try_from(BLOCK).unwrap_or(usize::MAX));
        Ok(leaves)
    }
}

impl Nodes for History<'_> {
    type Error = StoreError;

    fn node(&self, level: u32, index: u64) -> Result<Digest, StoreError> {
        if level == 0 {
            return self.leaf(index);
        }
        if level >= NODE_LEVEL
            && let Some(hash) = self.store.node(level, index)?
        {
            return Ok(hash);
        }
        let left = self.node(level - 1, index * 2)?;
        let right = self.node(level - 1, index * 2 + 1)?;
        Ok(node_hash(&left, &right))
    }
}
