//! Prices that were worked out before.
//!
//! What a question costs is a matter of its text, the catalogue, and what the account
//! promises: nothing of it changes with what was spent, and nothing is read from
//! data. So a server that is asked the same again and again, by people who move a
//! slider, plans once. What is left of the account is looked up each time.

use std::sync::Arc;

use mizan_ledger::Charge;
use mizan_sql::BoundedPlan;

use crate::kept::Kept;
use crate::release::Recipe;

/// How many bytes of plans are kept, and of prices.
const MOST: usize = 8 << 20;

/// A plan in memory takes about so many times the bytes that it is written down in;
/// 450 plans of 3,500 public keys each took 5 times.
const IN_MEMORY: usize = 8;

/// Plans and prices, by what they depend on. Threads share it.
#[derive(Debug)]
pub struct Prices {
    plans: Kept<BoundedPlan>,
    priced: Kept<Priced>,
}

/// A plan with its noise and its charge.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) plan: BoundedPlan,
    pub(super) recipe: Recipe,
    pub(super) charge: Charge,
}

impl Default for Prices {
    fn default() -> Self {
        Self {
            plans: Kept::new(MOST),
            priced: Kept::new(MOST),
        }
    }
}

impl Prices {
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
        let size = size(&priced.plan) + charge + priced.recipe.bytes().len();
        self.priced.keep(key, priced, size);
    }
}

fn size(plan: &BoundedPlan) -> usize {
    plan.canonical().len().saturating_mul(IN_MEMORY)
}
