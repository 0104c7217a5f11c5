//! A cache with a bound on its bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cache of values by text keys. When it would exceed its bound, it is emptied. Threads share
/// it.
#[derive(Debug)]
pub struct Kept<T: ?Sized> {
    most: usize,
    held: Mutex<Held<T>>,
}

#[derive(Debug)]
struct Held<T: ?Sized> {
    values: HashMap<String, Arc<T>>,
    bytes: usize,
}

/// The bytes of an entry beside its key and its value.
const ENTRY: usize = 128;

/// An entry may take the bound divided by this.
const SHARE: usize = 8;

impl<T: ?Sized> Kept<T> {
    /// An empty cache of at most `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let held = Held {
            values: HashMap::new(),
            bytes: 0,
        };
        Self {
            most,
            held: Mutex::new(held),
        }
    }

    /// The cached value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<T>> {
        self.held().values.get(key).cloned()
    }

    /// Caches a value of about `bytes` bytes, unless it is too large.
    pub fn keep(&self, key: String, value: &Arc<T>, bytes: usize) {
        let bytes = bytes.saturating_add(key.len()).saturating_add(ENTRY);
        if bytes > self.most / SHARE {
            return;
        }
        let mut held = self.held();
        if held.bytes.saturating_add(bytes) > self.most {
            held.values = HashMap::new();
            held.bytes = 0;
        }
        if held.values.insert(key, Arc::clone(value)).is_none() {
            held.bytes += bytes;
        }
    }

    fn held(&self) -> MutexGuard<'_, Held<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_in_bytes() {
        let kept: Kept<str> = Kept::new(100_000);
        let value: Arc<str> = "x".repeat(1000).into();
        for number in 0..1000 {
            kept.keep(number.to_string(), &value, value.len());
            let held = kept.held();
            assert!(held.bytes <= 100_000);
            assert!(held.values.len() * 1000 <= held.bytes);
        }
        assert!(kept.get("999").is_some());
        // Inserting the same key again does not count twice.
        let before = kept.held().bytes;
        kept.keep("999".to_owned(), &value, value.len());
        assert_eq!(kept.held().bytes, before);
        kept.keep("large".to_owned(), &value, 20_000);
        assert!(kept.get("large").is_none());
    }
}
