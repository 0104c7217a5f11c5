//! Constant texts of errors, deserialized from the answer of a worker process.
//!
//! A worker runs the same program, so there are only a few such texts. Each is leaked once.
//! Beyond [`MOST`] texts, one common text replaces further ones.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// A constant text. (An alias, because serde would borrow a plain `&str` from its input.)
pub(super) type FixedText = &'static str;

/// The most texts that are leaked.
const MOST: usize = 256;

/// The longest text that is leaked.
const LONGEST: usize = 200;

static TEXTS: Mutex<BTreeSet<FixedText>> = Mutex::new(BTreeSet::new());

/// Deserializes a constant text.
pub(super) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<FixedText, D::Error> {
    Ok(interned(String::deserialize(from)?))
}

fn interned(text: String) -> FixedText {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(text.as_str()) {
        return known;
    }
    if texts.len() >= MOST || text.len() > LONGEST {
        return "working";
    }
    let fixed: FixedText = String::leak(text);
    texts.insert(fixed);
    fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_stored_once() {
        let (one, other) = (interned("running".into()), interned("running".into()));
        assert_eq!(one, "running");
        assert!(std::ptr::eq(one, other));
        assert_eq!(interned("x".repeat(LONGEST + 1)), "working");
    }
}
