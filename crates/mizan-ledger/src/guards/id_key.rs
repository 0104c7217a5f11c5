//! The secret key from which the ids of unnamed queries are derived, so that they reveal nothing.
//!
//! Such an id is a hash of the query and of the versions of its datasets: sizes and times of
//! private files. If the hash had no key, an analyst who sees an id could test guesses about them.
//! The key is stored in the database of the ledger, so that all machines that share the ledger
//! derive the same ids.

use std::fmt;

use zeroize::Zeroizing;

use crate::log::Digest;

/// The key of ids. It is used only inside a hash.
#[derive(Clone)]
pub struct IdKey(Zeroizing<[u8; 32]>);

impl IdKey {
    pub(crate) fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A keyed digest. All inputs have the same length, so the hash with the key as a prefix is a
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
