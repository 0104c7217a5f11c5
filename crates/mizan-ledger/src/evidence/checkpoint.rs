//! Checkpoints: the signed size and root of a log.
//!
//! Hashes alone do not detect a log whose end was cut off. The holder of a checkpoint, or of a
//! receipt with (size, root), is a witness: every later log must extend it, and a consistency
//! proof shows that it does.

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use crate::log::bytes::{Reader, Writer};
use crate::log::{DecodeError, Digest, LedgerId};

/// The prefix of the signed message, so that no other signature of the same key is valid as a
/// checkpoint.
const CONTEXT: &[u8; 27] = b"mizan ledger checkpoint v1\n";

/// The size and the root of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// The ledger.
    pub ledger: LedgerId,
    /// The number of entries.
    pub size: u64,
    /// The root of the Merkle tree.
    pub root: Digest,
}

impl TreeHead {
    fn message(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.array(CONTEXT);
        self.write(&mut to);
        to.finish()
    }

    fn write(&self, to: &mut Writer) {
        to.array(self.ledger.as_bytes());
        to.u64(self.size);
        to.array(self.root.as_bytes());
    }
}

/// The Ed25519 key of a ledger, which signs checkpoints. Its memory is wiped when dropped.
pub struct CheckpointKey(SigningKey);

impl std::fmt::Debug for CheckpointKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CheckpointKey(..)")
    }
}

impl CheckpointKey {
    /// The key with this seed of 32 random bytes.
    ///
    /// ```
    /// use mizan_ledger::Digest;
    /// use mizan_ledger::evidence::{CheckpointKey, TreeHead};
    /// use mizan_ledger::log::LedgerId;
    /// let key = CheckpointKey::from_seed(&[3; 32]);
    /// let head = TreeHead {
    ///     ledger: LedgerId::from_bytes([1; 16]),
    ///     size: 12,
    ///     root: Digest::of(&[b"root"]),
    /// };
    /// let checkpoint = key.sign(head);
    /// assert!(checkpoint.is_signed_by(&key.public_key()));
    /// ```
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// The public key, which verifies the signatures.
    #[must_use]
    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    /// Signs a tree head.
    #[must_use]
    pub fn sign(&self, head: TreeHead) -> Checkpoint {
        Checkpoint {
            head,
            signature: self.0.sign(&head.message()).to_bytes(),
        }
    }
}

/// A signed [`TreeHead`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The signed size and root.
    pub head: TreeHead,
    /// The Ed25519 signature.
    pub signature: [u8; 64],
}

impl Checkpoint {
    /// Whether the signature is valid under this public key.
    #[must_use]
    pub fn is_signed_by(&self, public_key: &[u8; 32]) -> bool {
        // Strict verification: weak keys and malleable signatures are refused.
        VerifyingKey::from_bytes(public_key).is_ok_and(|key| {
            let signature = Signature::from_bytes(&self.signature);
            key.verify_strict(&self.head.message(), &signature).is_ok()
        })
    }

    /// The canonical bytes: ledger, size, root, signature.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        self.head.write(&mut to);
        to.array(&self.signature);
        to.finish()
    }

    /// Decodes canonical bytes. [`is_signed_by`](Self::is_signed_by) checks the signature.
    ///
    /// # Errors
    ///
    /// There are not exactly 120 bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut from = Reader::new(bytes);
        let head = TreeHead {
            ledger: LedgerId::from_bytes(from.array()?),
            size: from.u64()?,
            root: Digest::from_bytes(from.array()?),
        };
        let signature = from.array()?;
        from.finish()?;
        Ok(Self { head, signature })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_of_one_ledger_one_key_and_one_state() {
        let key = CheckpointKey::from_seed(&[5; 32]);
        let head = TreeHead {
            ledger: LedgerId::from_bytes([1; 16]),
            size: 7,
            root: Digest::of(&[b"x"]),
        };
        let checkpoint = key.sign(head);
        let bytes = checkpoint.encode();
        assert_eq!(bytes.len(), 120);
        assert_eq!(Checkpoint::decode(&bytes), Ok(checkpoint));
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let changed = Checkpoint::decode(&changed).unwrap();
            assert!(!changed.is_signed_by(&key.public_key()), "bit {bit}");
        }
        let other = CheckpointKey::from_seed(&[6; 32]);
        assert!(!checkpoint.is_signed_by(&other.public_key()));
        assert!(!checkpoint.is_signed_by(&[0; 32]));
        assert!(Checkpoint::decode(&bytes[1..]).is_err());
        assert_eq!(format!("{key:?}"), "CheckpointKey(..)");
    }
}
