//! A cache with a bound on its bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A cache of values by text keys. When it would exceed its bound, it is emptied. Threads share
/// it.
#[derive(Debug)]
pub struct ByteBoundedCache<T: ?Sized> {
    most: usize,
    contents: Mutex<CacheContents<T>>,
}

#[derive(Debug)]
struct CacheContents<T: ?Sized> {
    values: HashMap<String, Arc<T>>,
    bytes: usize,
}

/// The bytes of an entry beside its key and its value.
const ENTRY: usize = 128;

/// An entry may take the bound divided by this.
const SHARE: usize = 8;

impl<T: ?Sized> ByteBoundedCache<T> {
    /// An empty cache of at most `most` bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let contents = CacheContents {
            values: HashMap::new(),
            bytes: 0,
        };
        Self {
            most,
            contents: Mutex::new(contents),
        }
    }

    /// The cached value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Arc<T>> {
        self.contents().values.get(key).cloned()
    }

    /// Caches a value of about `bytes` bytes, unless it is too large.
    pub fn keep(&self, key: String, value: &Arc<T>, bytes: usize) {
        let bytes = bytes.saturating_add(key.len()).saturating_add(ENTRY);
        if bytes > self.most / SHARE {
            return;
        }
        let mut contents = self.contents();
        if contents.bytes.saturating_add(bytes) > self.most {
            contents.values = HashMap::new();
            contents.bytes = 0;
        }
        if contents.values.insert(key, Arc::clone(value)).is_none() {
            contents.bytes += bytes;
        }
    }

    fn contents(&self) -> MutexGuard<'_, CacheContents<T>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_in_bytes() {
        let cache: ByteBoundedCache<str> = ByteBoundedCache::new(100_000);
        let value: Arc<str> = "x".repeat(1000).into();
        for number in 0..1000 {
            cache.keep(number.to_string(), &value, value.len());
            let contents = cache.contents();
            assert!(contents.bytes <= 100_000);
            assert!(contents.values.len() * 1000 <= contents.bytes);
        }
        assert!(cache.get("999").is_some());
        // Inserting the same key again does not count twice.
        let before = cache.contents().bytes;
        cache.keep("999".to_owned(), &value, value.len());
        assert_eq!(cache.contents().bytes, before);
        cache.keep("large".to_owned(), &value, 20_000);
        assert!(cache.get("large").is_none());
    }
}
