//! Sampling by hash: where a unit has too many rows or groups, those with the smallest hash are
//! used.
//!
//! The hash includes a secret salt, so no unit can arrange its data to influence the choice. It
//! depends on nothing but the salt and the values, so every engine makes the same choice with
//! any number of partitions.

use mizan_sql::Value;
use sha2::{Digest, Sha256};

/// The salt of a charge.
pub(crate) type Salt = [u8; 16];

/// Collects the hashed bytes, one value at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher(Vec<u8>);

impl Hasher {
    /// Starts with the salt.
    pub(crate) fn new(salt: &Salt) -> Self {
        Self(salt.to_vec())
    }

    /// Adds a NULL.
    pub(crate) fn null(&mut self) {
        self.0.push(0);
    }

    /// Adds the bytes of a value after their length, which separates values. The length has
    /// four bytes, like the lengths of texts in engines, so that an id and two short keys fit
    /// into one block of the hash.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.push(1);
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
    }

    /// Adds the values of another hasher.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// The number of bytes so far.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes everything after the first `length` bytes.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// The first eight bytes of the hash, as an integer.
    pub(crate) fn finish(&self) -> i64 {
        let digest: [u8; 32] = Sha256::digest(&self.0).into();
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
