//! Names for requests, ledgers and what is hashed.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Writes a newtype of bytes that prints as hexadecimal digits.
macro_rules! identifiers {
    ($($(#[$doc:meta])* $Type:ident, $length:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Type([u8; $length]);

        impl $Type {
            /// From its bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $length]) -> Self {
                Self(bytes)
            }

            /// Its bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    )*};
}

identifiers! {
    /// What a client calls a request, 128 bits of its own choice. The same id
    /// with the same body has the same outcome for ever.
    RequestId, 16;

    /// What a ledger is called, 128 bits drawn when it is made, so that a
    /// checkpoint of one ledger says nothing about another.
    LedgerId, 16;

    /// A SHA-256 hash: of a body, of an answer, of a node of the Merkle tree.
    Digest, 32;
}

impl Digest {
    /// The hash of some bytes, given in parts.
    #[must_use]
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_nothing() {
        assert_eq!(
            Digest::of(&[]).to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(Digest::of(&[b"ab", b"c"]), Digest::of(&[b"abc"]));
    }
}
