//! The Merkle tree over the entries of a log (RFC 6962, section 2.1; RFC 9162
//! for checking proofs).
//!
//! A leaf is SHA-256(00 entry), a node SHA-256(01 left right); the left child of a node covers
//! the largest power of two of leaves. [`Frontier`] computes the root after every entry with a
//! few hashes and at most 2 kB. [`Tree`] keeps all nodes and makes proofs, which
//! `evidence/proof.rs` checks.

use crate::evidence::{ConsistencyProof, InclusionProof};
use crate::log::Digest;

/// The hash of an entry as a leaf.
#[must_use]
pub fn leaf_hash(entry: &[u8]) -> Digest {
    Digest::of(&[&[0], entry])
}

/// The hash of two subtrees.
pub(crate) fn node_hash(left: &Digest, right: &Digest) -> Digest {
    Digest::of(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// The root of an append-only tree, without its leaves.
///
/// ```
/// use mizan_ledger::log::{Frontier, leaf_hash};
/// let mut frontier = Frontier::default();
/// frontier.push(leaf_hash(b""));
/// assert_eq!(
///     frontier.root().to_string(),
///     "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// The full subtrees, largest first: one for each bit of the size.
    full: Vec<Digest>,
}

impl Frontier {
    /// Appends a leaf.
    pub fn push(&mut self, leaf: Digest) {
        self.push_from(leaf, u32::MAX);
    }

    /// Appends a leaf. Returns the nodes that it completes, from level `lowest` on: the level,
    /// the index on that level, and the hash.
    pub(crate) fn push_from(&mut self, leaf: Digest, lowest: u32) -> Vec<(u32, u64, Digest)> {
        let mut complete = Vec::new();
        let mut hash = leaf;
        // Like the carries when one is added to the size in binary.
        for level in 1..=self.size.trailing_ones() {
            if let Some(left) = self.full.pop() {
                hash = node_hash(&left, &hash);
                if level >= lowest {
                    complete.push((level, self.size >> level, hash));
                }
            }
        }
        self.full.push(hash);
        self.size += 1;
        complete
    }

    /// A stored frontier; None if a tree of this size has another number of full subtrees.
    #[must_use]
    pub fn from_raw(size: u64, full: Vec<Digest>) -> Option<Self> {
        (u32::try_from(full.len()) == Ok(size.count_ones())).then_some(Self { size, full })
    }

    /// The full subtrees in their stored order, largest first.
    #[must_use]
    pub fn full(&self) -> &[Digest] {
        &self.full
    }

    /// How many leaves there are.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The root. The root of an empty tree is the hash of the empty string.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut full = self.full.iter().rev();
        let Some(&smallest) = full.next() else {
            return Digest::of(&[]);
        };
        full.fold(smallest, |right, left| node_hash(left, &right))
    }
}

/// A tree with all its full nodes, for proofs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// For each level, from the leaves up, the full nodes from left to right.
    levels: Vec<Vec<Digest>>,
}

impl Tree {
    /// Appends a leaf.
    pub fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        let mut level = 0;
        loop {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let Some(nodes) = self.levels.get_mut(level) else {
                return;
            };
            nodes.push(hash);
            match nodes.as_slice() {
                [.., left, right] if nodes.len() % 2 == 0 => hash = node_hash(left, right),
                _ => return,
            }
            level += 1;
        }
    }

    /// How many leaves there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        let leaves = self.levels.first().map_or(0, Vec::len);
        u64::try_from(leaves).unwrap_or(u64::MAX)
    }

    /// The root of the first `size` leaves; None if there are fewer.
    #[must_use]
    pub fn root(&self, size: u64) -> Option<Digest> {
        root(self, size).ok()
    }

    /// A proof that the leaf at `index` is in the tree of the first `size` leaves; None if there
    /// are fewer.
    #[must_use]
    pub fn inclusion_proof(&self, index: u64, size: u64) -> Option<InclusionProof> {
        inclusion_proof(self, index, size).ok()
    }

    /// A proof that the tree of the first `size` leaves extends that of the first `before`; None
    /// if there are fewer.
    #[must_use]
    pub fn consistency_proof(&self, before: u64, size: u64) -> Option<ConsistencyProof> {
        consistency_proof(self, before, size).ok()
    }
}

impl Nodes for Tree {
    type Error = Missing;

    fn node(&self, level: u32, index: u64) -> Result<Digest, Missing> {
        let level = usize::try_from(level).map_err(|_| Missing)?;
        let index = usize::try_from(index).map_err(|_| Missing)?;
        let nodes = self.levels.get(level).ok_or(Missing)?;
        nodes.get(index).copied().ok_or(Missing)
    }
}

/// A node does not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing;

/// Where the full nodes of a tree come from: a [`Tree`] or a store.
pub(crate) trait Nodes {
    /// Why a node cannot be read.
    type Error: From<Missing>;

    /// The hash of the full node at an index of a level; the leaves are level 0.
    fn node(&self, level: u32, index: u64) -> Result<Digest, Self::Error>;
}

/// The root of the first `size` leaves.
pub(crate) fn root<N: Nodes>(nodes: &N, size: u64) -> Result<Digest, N::Error> {
    if size == 0 {
        return Ok(Digest::of(&[]));
    }
    subtree(nodes, 0, size)
}

/// A proof that a leaf is in the tree of the first `size` leaves (RFC 6962, section 2.1.1, from
/// the root down).
pub(crate) fn inclusion_proof<N: Nodes>(
    nodes: &N,
    index: u64,
    size: u64,
) -> Result<InclusionProof, N::Error> {
    if index >= size {
        return Err(Missing.into());
    }
    // The path alone might not read the last leaf.
    nodes.node(0, size - 1)?;
    let (mut begin, mut end) = (0, size);
    let mut path = Vec::new();
    while end - begin > 1 {
        let middle = begin + left_size(end - begin);
        if index < middle {
            path.push(subtree(nodes, middle, end)?);
            end = middle;
        } else {
            path.push(subtree(nodes, begin, middle)?);
            begin = middle;
        }
    }
    path.reverse();
    Ok(InclusionProof { index, size, path })
}

/// A proof that the tree of the first `size` leaves extends that of the first `before` (RFC 6962,
/// section 2.1.2, from the root down).
pub(crate) fn consistency_proof<N: Nodes>(
    nodes: &N,
    before: u64,
    size: u64,
) -> Result<ConsistencyProof, N::Error> {
    if before > size {
        return Err(Missing.into());
    }
    if let Some(last) = size.checked_sub(1) {
        nodes.node(0, last)?;
    }
    let mut path = Vec::new();
    if before > 0 && before < size {
        let (mut begin, mut end) = (0, size);
        while end != before {
            let middle = begin + left_size(end - begin);
            if before <= middle {
                path.push(subtree(nodes, middle, end)?);
                end = middle;
            } else {
                path.push(subtree(nodes, begin, middle)?);
                begin = middle;
            }
        }
        // The verifier knows the root of the whole earlier tree.
        if begin > 0 {
            path.push(subtree(nodes, begin, end)?);
        }
        path.reverse();
    }
    Ok(ConsistencyProof { before, size, path })
}

/// The hash over the leaves from `begin` to before `end`, where `begin` is a
/// multiple of the smallest power of two not below their number.
fn subtree<N: Nodes>(nodes: &N, begin: u64, end: u64) -> Result<Digest, N::Error> {
    let mut parts = Vec::new();
    let mut begin = begin;
    while begin < end {
        let level = (end - begin).ilog2();
        parts.push(nodes.node(level, begin >> level)?);
        begin += 1 << level;
    }
    let mut parts = parts.iter().rev();
    let smallest = *parts.next().ok_or(Missing)?;
    Ok(parts.fold(smallest, |right, left| node_hash(left, &right)))
}

/// The largest power of two below `size`, which is above one.
const fn left_size(size: u64) -> u64 {
    1 << (size - 1).ilog2()
}
