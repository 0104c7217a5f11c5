//! Inclusion and consistency proofs of a Merkle tree, and their verification from hashes alone
//! (RFC 9162, sections 2.1.3.2 and 2.1.4.2).

use crate::log::Digest;
use crate::log::merkle::node_hash;

/// Proves that a leaf is in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    /// The index of the leaf.
    pub index: u64,
    /// The number of leaves of the tree.
    pub size: u64,
    /// The sibling hashes on the path from the leaf to the root.
    pub path: Vec<Digest>,
}

/// Proves that a tree extends an earlier one: no leaf was changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// The number of leaves of the earlier tree.
    pub before: u64,
    /// The number of leaves of the tree.
    pub size: u64,
    /// The hashes from which both roots follow.
    pub path: Vec<Digest>,
}

impl InclusionProof {
    /// Whether the proof shows that `leaf` is in the tree with this root.
    ///
    /// ```
    /// use mizan_ledger::log::{Tree, leaf_hash};
    /// let mut tree = Tree::default();
    /// for entry in ["a", "b", "c"] {
    ///     tree.push(leaf_hash(entry.as_bytes()));
    /// }
    /// let (root, proof) = (tree.root(3).unwrap(), tree.inclusion_proof(1, 3).unwrap());
    /// assert!(proof.holds(leaf_hash(b"b"), root));
    /// assert!(!proof.holds(leaf_hash(b"a"), root));
    /// ```
    #[must_use]
    pub fn holds(&self, leaf: Digest, root: Digest) -> bool {
        let Some(last) = self.size.checked_sub(1).filter(|&last| self.index <= last) else {
            return false;
        };
        let mut place = PathNode {
            index: self.index,
            last,
        };
        let mut hash = leaf;
        for beside in &self.path {
            match place.side() {
                None => return false,
                Some(Side::Left) => hash = node_hash(beside, &hash),
                Some(Side::Right) => hash = node_hash(&hash, beside),
            }
            place.up();
        }
        place.last == 0 && hash == root
    }
}

impl ConsistencyProof {
    /// Whether the proof shows that the tree with root `root` extends the one with root `before`.
    #[must_use]
    pub fn holds(&self, before: Digest, root: Digest) -> bool {
        if self.before > self.size {
            return false;
        }
        if self.before == self.size {
            return self.path.is_empty() && before == root;
        }
        let Some(index) = self.before.checked_sub(1) else {
            // Every tree extends the empty one.
            return self.path.is_empty() && before == Digest::of(&[]);
        };
        let mut place = PathNode {
            index,
            last: self.size - 1,
        };
        while place.index % 2 == 1 {
            place.up();
        }
        let mut path = self.path.iter();
        // If the earlier tree is one full subtree, the path starts at its root.
        let start = if self.before.is_power_of_two() {
            Some(&before)
        } else {
            path.next()
        };
        let Some(&start) = start else {
            return false;
        };
        let (mut earlier, mut later) = (start, start);
        for beside in path {
            match place.side() {
                None => return false,
                Some(Side::Left) => {
                    earlier = node_hash(beside, &earlier);
                    later = node_hash(beside, &later);
                }
                Some(Side::Right) => later = node_hash(&later, beside),
            }
            place.up();
        }
        place.last == 0 && earlier == before && later == root
    }
}

/// A node on the path to the root, and the last node of its level.
struct PathNode {
    index: u64,
    last: u64,
}

/// On which side of a node its sibling is.
enum Side {
    Left,
    Right,
}

impl PathNode {
    /// Where the next hash of the path belongs; None at the root.
    const fn side(&mut self) -> Option<Side> {
        if self.last == 0 {
            return None;
        }
        if self.index.is_multiple_of(2) && self.index < self.last {
            return Some(Side::Right);
        }
        // A last node without a sibling is its own parent.
        while self.index.is_multiple_of(2) && self.index != 0 {
            self.up();
        }
        Some(Side::Left)
    }

    const fn up(&mut self) {
        self.index /= 2;
        self.last /= 2;
    }
}
