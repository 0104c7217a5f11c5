//! Answers that never change: what the accountant says about an event is a matter of
//! the request alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// As many are kept; then all are forgotten.
const MOST: usize = 2000;

/// Longer requests and answers are not kept.
const LONGEST_REQUEST: usize = 4 << 10;
const LONGEST_ANSWER: usize = 64 << 10;

/// Answers by their requests. Threads share it.
#[derive(Debug, Default)]
pub(super) struct Pure(Mutex<HashMap<String, Arc<str>>>);

impl Pure {
    pub(super) fn get(&self, key: &str) -> Option<Arc<str>> {
        self.held().get(key).cloned()
    }

    pub(super) fn keep(&self, key: String, told: &Arc<str>) {
        if key.len() > LONGEST_REQUEST || told.len() > LONGEST_ANSWER {
            return;
        }
        let mut all = self.held();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key, Arc::clone(told));
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Arc<str>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded() {
        let pure = Pure::default();
        let told: Arc<str> = "{}".into();
        for number in 0..=MOST {
            pure.keep(number.to_string(), &told);
        }
        assert_eq!(pure.held().len(), 1);
        pure.keep("x".repeat(LONGEST_REQUEST + 1), &told);
        pure.keep("long".to_owned(), &"x".repeat(LONGEST_ANSWER + 1).into());
        assert_eq!(pure.held().len(), 1);
        assert_eq!(pure.get(&MOST.to_string()), Some(told));
    }
}
