//! Proofs about a Merkle tree, and how anyone checks them with two hashes in
//! hand (RFC 9162, sections 2.1.3.2 and 2.1.4.2).

use crate::log::Digest;
use crate::log::merkle::node_hash;

/// That a leaf is in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InclusionProof {
    /// How many leaves stand before it.
    pub index: u64,
    /// How many leaves the tree has.
    pub size: u64,
    /// The hashes beside the way up, from the leaf.
    pub path: Vec<Digest>,
}

/// That a tree extends an earlier one: nothing was changed or taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// How many leaves the earlier tree has.
    pub before: u64,
    /// How many leaves the tree has.
    pub size: u64,
    /// The hashes that make up both roots.
    pub path: Vec<Digest>,
}

impl InclusionProof {
    /// Whether `leaf` is where the proof says in the tree with this root.
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
        let mut place = Place {
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
    /// Whether the tree with root `root` extends the one with root `before`.
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
        let mut place = Place {
            index,
            last: self.size - 1,
        };
        while place.index % 2 == 1 {
            place.up();
        }
        let mut path = self.path.iter();
        // An earlier tree that is one full subtree is where the way starts.
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

/// A node on the way up, and the last node of its level.
struct Place {
    index: u64,
    last: u64,
}

/// On which side the neighbour of a node stands.
enum Side {
    Left,
    Right,
}

impl Place {
    /// Where the next hash of the path belongs; None at the root.
    const fn side(&mut self) -> Option<Side> {
        if self.last == 0 {
            return None;
        }
        if self.index.is_multiple_of(2) && self.index < self.last {
            return Some(Side::Right);
        }
        // A last node without neighbour is its own parent.
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
