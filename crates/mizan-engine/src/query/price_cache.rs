//! A cache of plans and prices.
//!
//! What a query costs depends on its text, the catalogue and the target of the account. It does
//! not depend on what was spent, and no data is read. So a server plans a query once, although
//! analysts request many quotes of it while they move a slider. What is left of the account is
//! read each time.

use std::sync::Arc;

use mizan_ledger::Charge;
use mizan_sql::BoundedPlan;

use crate::byte_cache::ByteBoundedCache;
use crate::release::NoisePlan;

/// How many bytes the cache holds, of plans and of prices each.
const MOST: usize = 8 << 20;

/// A plan in memory takes about this many times its bytes in JSON. Measured: 450 plans of 3,500
/// public keys each took 5 times.
const IN_MEMORY: usize = 8;

/// Plans and prices by what they depend on. Threads share the cache.
#[derive(Debug)]
pub struct PriceCache {
    plans: ByteBoundedCache<BoundedPlan>,
    priced: ByteBoundedCache<Priced>,
}

/// A plan with its noise plan and its charge.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) plan: BoundedPlan,
    pub(super) noise_plan: NoisePlan,
    pub(super) charge: Charge,
}

impl Default for PriceCache {
    fn default() -> Self {
        Self {
            plans: ByteBoundedCache::new(MOST),
            priced: ByteBoundedCache::new(MOST),
        }
    }
}

impl PriceCache {
    pub(super) fn plan(&self, key: &str) -> Option<Arc<BoundedPlan>> {
        self.plans.get(key)
    }

    pub(super) fn keep_plan(&self, key: String, plan: &Arc<BoundedPlan>) {
        self.plans.keep(key, plan, size(plan));
    }

    pub(super) fn priced(&self, key: &str) -> Option<Arc<Priced>> {
        self.priced.get(key)
    }

    pub(super) fn keep_priced(&self, key: String, priced: &Arc<Priced>) {
        let charge = 8 * priced.charge.cost.amounts().len() + priced.charge.event.len();
        let size = size(&priced.plan) + charge + priced.noise_plan.bytes().len();
        self.priced.keep(key, priced, size);
    }
}

fn size(plan: &BoundedPlan) -> usize {
    plan.canonical().len().saturating_mul(IN_MEMORY)
}
