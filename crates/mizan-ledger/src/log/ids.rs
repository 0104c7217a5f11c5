//! Ids of requests and ledgers, and SHA-256 hashes.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256};

/// Defines a newtype of bytes that prints as hexadecimal digits.
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

            /// From its hexadecimal digits; None if the text is anything else.
            #[must_use]
            pub fn from_hex(digits: &str) -> Option<Self> {
                from_hex(digits).map(Self)
            }

            /// Its bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().flat_map(|&byte| hex(byte)).try_for_each(|digit| f.write_char(digit))
            }
        }
    )*};
}

identifiers! {
    /// The id of a request: 128 bits that the client chooses. The same id with the same request
    /// has the same outcome forever (idempotency).
    RequestId, 16;

    /// The id of a ledger: 128 random bits, drawn when it is created, so that a checkpoint of one
    /// ledger is not valid for another.
    LedgerId, 16;

    /// A SHA-256 hash of a request, an answer, or a node of the Merkle tree.
    Digest, 32;
}

/// The two hexadecimal digits of a byte.
pub(crate) fn hex(byte: u8) -> [char; 2] {
    let digit = |half| {
        char::from(if half < 10 {
            b'0' + half
        } else {
            b'a' - 10 + half
        })
    };
    [digit(byte >> 4), digit(byte & 15)]
}

/// N bytes from exactly N pairs of hexadecimal digits.
pub(crate) fn from_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.len() != N || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
    }
    Some(bytes)
}

/// The prefix of the hash of an id that is given as text.
const ID_CONTEXT: &[u8] = b"mizan request id\n";

impl RequestId {
    /// The id of a text. A UUID, or 32 hexadecimal digits, is the id itself. Every other text is
    /// hashed: the id is the first 128 bits of SHA-256(`mizan request id`, a line feed, the
    /// text), so that a text is the same id on every machine.
    ///
    /// ```
    /// use mizan_ledger::RequestId;
    /// let id = RequestId::from_text("01020304-0506-0708-090a-0b0c0d0e0f10");
    /// assert_eq!(id.to_string(), "0102030405060708090a0b0c0d0e0f10");
    /// assert_eq!(RequestId::from_text(&id.to_string()), id);
    /// assert_ne!(RequestId::from_text("report-7"), RequestId::from_text("report-8"));
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        let groups: Vec<&str> = text.split('-').collect();
        let is_uuid = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
        let digits = if is_uuid {
            groups.concat()
        } else {
            text.to_owned()
        };
        Self::from_hex(&digits).unwrap_or_else(|| Self::of(&[ID_CONTEXT, text.as_bytes()]))
    }

    /// The first half of a hash.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let hash = Digest::of(parts);
        Self(*hash.0.first_chunk().unwrap_or(&[0; 16]))
    }
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
