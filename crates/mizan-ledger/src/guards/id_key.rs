//! The secret key from which the ids of unnamed queries are derived, so that they reveal nothing,
//! and the salts of charges, so that every try under a charge has the same.
//!
//! Such an id is a hash of the query and of the versions of its datasets: sizes and times of
//! private files. If the hash had no key, an analyst who sees an id could test guesses about them.
//! The key is stored in the database of the ledger, so that all machines that share the ledger
//! derive the same ids.

use std::fmt;

use zeroize::Zeroizing;

use crate::log::{Digest, RequestId};

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

    /// The salt of the charge of an id: it decides which rows and groups of a unit are sampled
    /// where it has too many. Every try under one charge has the same salt, so a query that failed
    /// and is repeated does not sample other rows. Another id has another salt.
    ///
    /// # Guarantee
    ///
    /// A derived salt is as good as a fresh one. The sensitivity of a query holds for every fixed
    /// salt, and no amplification by sampling is claimed, so the privacy guarantee does not depend
    /// on it. Its only other purpose is that no unit can arrange its rows for a salt: without the
    /// key the salts of different ids cannot be distinguished from independent random ones. Inputs
    /// have one length, other than that of [`Self::digest`], and a prefix of their own.
    #[must_use]
    pub fn salt(&self, charge: RequestId) -> [u8; 16] {
        let digest = Digest::of(&[b"mizan-salt-1", self.0.as_slice(), charge.as_bytes()]);
        let mut salt = [0; 16];
        for (to, from) in salt.iter_mut().zip(digest.as_bytes()) {
            *to = *from;
        }
        salt
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

    #[test]
    fn a_charge_has_one_salt() {
        let (one, other) = (IdKey::from_bytes([1; 32]), IdKey::from_bytes([2; 32]));
        let id = RequestId::from_bytes([3; 16]);
        assert_eq!(one.salt(id), one.clone().salt(id));
        assert_ne!(one.salt(id), other.salt(id));
        assert_ne!(one.salt(id), one.salt(RequestId::from_bytes([4; 16])));
    }
}
