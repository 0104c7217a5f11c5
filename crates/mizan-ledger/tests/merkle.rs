//! The Merkle tree against known roots, its definition, and forged proofs.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test may panic"
)]

use mizan_ledger::Digest;
use mizan_ledger::log::{Frontier, Tree, leaf_hash};

/// The eight entries and roots that implementations of RFC 6962 share.
const KNOWN: [(&[u8], &str); 8] = [
    (
        b"",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    ),
    (
        b"\x00",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    ),
    (
        b"\x10",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    ),
    (
        b"\x20\x21",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ),
    (
        b"\x30\x31",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    ),
    (
        b"\x40\x41\x42\x43",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    ),
    (
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    ),
    (
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ),
];

#[test]
fn the_known_roots() {
    let (mut frontier, mut tree) = (Frontier::default(), Tree::default());
    assert_eq!(frontier.root(), Digest::of(&[]));
    for (size, (entry, root)) in (1..).zip(KNOWN) {
        frontier.push(leaf_hash(entry));
        tree.push(leaf_hash(entry));
        assert_eq!(frontier.root().to_string(), root);
        assert_eq!(tree.root(size).unwrap().to_string(), root);
    }
}

/// RFC 6962, section 2.1, word for word.
fn by_definition(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(&[]),
        [leaf] => *leaf,
        _ => {
            let mut k = 1;
            while 2 * k < leaves.len() {
                k *= 2;
            }
            let (left, right) = leaves.split_at(k);
            let (left, right) = (by_definition(left), by_definition(right));
            Digest::of(&[&[1], left.as_bytes(), right.as_bytes()])
        }
    }
}

fn leaves(count: u8) -> Vec<Digest> {
    (0..count).map(|byte| leaf_hash(&[byte])).collect()
}

#[test]
fn roots_and_proofs_of_every_tree_up_to_70() {
    let leaves = leaves(70);
    let (mut frontier, mut tree) = (Frontier::default(), Tree::default());
    let mut roots = vec![frontier.root()];
    for (index, &leaf) in leaves.iter().enumerate() {
        frontier.push(leaf);
        tree.push(leaf);
        roots.push(frontier.root());
        assert_eq!(frontier.root(), by_definition(&leaves[..=index]));
    }
    for size in 0..=70_u64 {
        let root = roots[size as usize];
        assert_eq!(tree.root(size), Some(root));
        for index in 0..size {
            let proof = tree.inclusion_proof(index, size).unwrap();
            assert!(proof.path.len() <= 7);
            for (other, &leaf) in leaves.iter().enumerate() {
                assert_eq!(proof.holds(leaf, root), other as u64 == index);
            }
        }
        for before in 0..=size {
            let proof = tree.consistency_proof(before, size).unwrap();
            for (other, &earlier) in roots.iter().enumerate() {
                let same = other as u64 == before;
                assert_eq!(proof.holds(earlier, root), same, "{before} {size} {other}");
            }
        }
        assert_eq!(tree.inclusion_proof(size, size), None);
    }
    assert_eq!((tree.root(71), tree.consistency_proof(3, 71)), (None, None));
    assert_eq!(tree.consistency_proof(4, 3), None);
}

#[test]
fn forged_proofs_do_not_hold() {
    let mut tree = Tree::default();
    leaves(70).into_iter().for_each(|leaf| tree.push(leaf));
    let wrong = leaf_hash(b"wrong");
    for (before, size) in [(1, 2), (3, 7), (4, 7), (6, 8), (8, 70), (33, 70), (64, 65)] {
        let (earlier, root) = (tree.root(before).unwrap(), tree.root(size).unwrap());
        let proof = tree.consistency_proof(before, size).unwrap();
        assert!(!proof.holds(wrong, root) && !proof.holds(earlier, wrong));
        for place in 0..proof.path.len() {
            let mut forged = proof.clone();
            forged.path[place] = wrong;
            assert!(!forged.holds(earlier, root));
            forged.path.remove(place);
            assert!(!forged.holds(earlier, root));
        }
        let mut forged = proof.clone();
        forged.path.push(wrong);
        assert!(!forged.holds(earlier, root));
        for size in 0..=71 {
            let mut forged = proof.clone();
            forged.size = size;
            let _ = forged.holds(earlier, root);
            forged.before = size;
            let _ = forged.holds(earlier, root);
        }
        let inclusion = tree.inclusion_proof(before, size).unwrap();
        let leaf = leaf_hash(&[before as u8]);
        assert!(inclusion.holds(leaf, root));
        for place in 0..inclusion.path.len() {
            let mut forged = inclusion.clone();
            forged.path.remove(place);
            assert!(!forged.holds(leaf, root));
        }
        let mut forged = inclusion;
        forged.path.push(wrong);
        assert!(!forged.holds(leaf, root));
    }
}
