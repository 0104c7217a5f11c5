//! Prices that were worked out before.
//!
//! What a question costs is a matter of its text, the catalogue, and what the account
//! promises: nothing of it changes with what was spent, and nothing is read from
//! data. So a server that is asked the same again and again, by people who move a
//! slider, plans once. What is left of the account is looked up each time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mizan_ledger::Charge;
use mizan_sql::BoundedPlan;

use crate::release::Recipe;

/// As many are kept; then all are forgotten.
const MOST: usize = 2000;

/// Longer questions are not kept.
const LONGEST: usize = 16 << 10;

/// Plans and prices, by what they depend on. Threads share it.
#[derive(Debug, Default)]
pub struct Prices {
    plans: Mutex<HashMap<String, Arc<BoundedPlan>>>,
    priced: Mutex<HashMap<String, Arc<Priced>>>,
}

/// A plan with its noise and its charge.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) plan: BoundedPlan,
    pub(super) recipe: Recipe,
    pub(super) charge: Charge,
}

impl Prices {
    pub(super) fn plan(&self, key: &str) -> Option<Arc<BoundedPlan>> {
        held(&self.plans).get(key).cloned()
    }

    pub(super) fn keep_plan(&self, key: String, plan: &Arc<BoundedPlan>) {
        keep(&self.plans, key, plan);
    }

    pub(super) fn priced(&self, key: &str) -> Option<Arc<Priced>> {
        held(&self.priced).get(key).cloned()
    }

    pub(super) fn keep_priced(&self, key: String, priced: &Arc<Priced>) {
        keep(&self.priced, key, priced);
    }
}

fn keep<T>(map: &Mutex<HashMap<String, Arc<T>>>, key: String, value: &Arc<T>) {
    if key.len() > LONGEST {
        return;
    }
    let mut map = held(map);
    if map.len() >= MOST {
        map.clear();
    }
    map.insert(key, Arc::clone(value));
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
