//! Which rows and groups of a unit count where it has too many: those with the
//! least hash.
//!
//! The hash is keyed by a fresh salt, so nobody can arrange their data by it, and
//! it depends on nothing but the salt and the values, so every engine, with any
//! number of partitions, makes the same choice.

use mizan_sql::Value;
use sha2::{Digest, Sha256};

/// The salt of a release.
pub(crate) type Salt = [u8; 16];

/// Feeds one value at a time into the hash.
pub(crate) struct Hasher(Sha256);

impl Hasher {
    /// Begins with the salt.
    pub(crate) fn new(salt: &Salt) -> Self {
        let mut digest = Sha256::new();
        digest.update(salt);
        Self(digest)
    }

    /// Adds nothing.
    pub(crate) fn null(&mut self) {
        self.0.update([0]);
    }

    /// Adds the bytes of a value; their length keeps values apart.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let [a, b, c, d, e, f, g, h] = (bytes.len() as u64).to_be_bytes();
        self.0.update([1, a, b, c, d, e, f, g, h]);
        self.0.update(bytes);
    }

    /// The first eight bytes, as an integer.
    pub(crate) fn finish(self) -> i64 {
        let digest: [u8; 32] = self.0.finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        i64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

/// The hash of values.
#[cfg_attr(not(test), allow(dead_code, reason = "the oracle's side"))]
pub(crate) fn hash<'a>(salt: &Salt, values: impl IntoIterator<Item = &'a Value>) -> i64 {
    let mut hasher = Hasher::new(salt);
    for value in values {
        match value {
            Value::Null => hasher.null(),
            Value::Boolean(value) => hasher.bytes(&[u8::from(*value)]),
            Value::Integer(value) | Value::Timestamp(value) => hasher.bytes(&value.to_be_bytes()),
            Value::Number(value) => hasher.bytes(&value.to_bits().to_be_bytes()),
            Value::Text(value) => hasher.bytes(value.as_bytes()),
            Value::Date(value) => hasher.bytes(&value.to_be_bytes()),
        }
    }
    hasher.finish()
}
