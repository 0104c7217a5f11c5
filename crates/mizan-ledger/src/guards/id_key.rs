//! The secret of a ledger from which ids are derived that tell nothing.
//!
//! The id of a query without a name is a hash of what it releases, and of the versions
//! of its datasets: sizes and times of private files. An analyst who sees an id could
//! test guesses about them if the hash had no key. The key is in the ledger's database,
//! so that all machines which share the ledger derive the same ids.

use std::fmt;

use zeroize::Zeroizing;

use crate::log::Digest;

/// The key of ids. It never leaves but through a hash.
#[derive(Clone)]
pub struct IdKey(Zeroizing<[u8; 32]>);

impl IdKey {
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A digest under the key: without the key it cannot be computed from what it is
    /// of. All parts have one length, so the hash with the key before them is a
    /// pseudorandom function.
    #[must_use]
    pub fn digest(&self, of: &Digest) -> Digest {
        Digest::of(&[b"mizan-id-key-1", self.0.as_slice(), of.as_bytes()])
    }
}

impl fmt::Debug for IdKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_the_key_and_shows_nothing_of_it() {
        let (one, other) = (IdKey::from_bytes([1; 32]), IdKey::from_bytes([2; 32]));
        let of = Digest::of(&[b"x"]);
        assert_eq!(one.digest(&of), one.clone().digest(&of));
        assert_ne!(one.digest(&of), other.digest(&of));
        assert_ne!(one.digest(&of), one.digest(&Digest::of(&[b"y"])));
        assert_eq!(format!("{one:?}"), "IdKey");
    }
}
