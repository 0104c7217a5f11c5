//! Texts of errors that are written in the program, read back from a worker process.
//!
//! A worker is the same program, so there are only a few such texts. Each is stored
//! once and for all; beyond [`MOST`] of them one common text stands for the others.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// A text that is written in the program. (An alias: serde would borrow a plain
/// reference from what it reads.)
pub(super) type FixedText = &'static str;

/// The most different texts that are stored.
const MOST: usize = 256;

/// The longest text that is stored.
const LONGEST: usize = 200;

static TEXTS: Mutex<BTreeSet<FixedText>> = Mutex::new(BTreeSet::new());

/// Reads a fixed text.
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
