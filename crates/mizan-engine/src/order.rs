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

/// Gathers what is hashed, one value at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hasher(Vec<u8>);

impl Hasher {
    /// Begins with the salt.
    pub(crate) fn new(salt: &Salt) -> Self {
        Self(salt.to_vec())
    }

    /// Adds nothing.
    pub(crate) fn null(&mut self) {
        self.0.push(0);
    }

    /// Adds the bytes of a value; their length keeps values apart. It has four
    /// bytes, as the lengths of texts in engines have, so that an id and two short
    /// keys are hashed as one block.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.push(1);
        self.0.extend(length.to_be_bytes());
        self.0.extend(bytes);
    }

    /// Adds the values of another.
    pub(crate) fn append(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// How much there is.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes back what was added since there was so much.
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
