//! The interface of an engine: it reports the version of a dataset and computes the exact
//! integers of a bounded plan. It adds no noise and does not know the budget.
//!
//! The trait is not exported: exact integers do not leave this crate.

use std::time::{Duration, Instant};

use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use crate::engines::lower_sql::relations;
use crate::exact::Execution;

mod error;

pub use self::error::EngineError;
pub(crate) use self::error::bad;
pub use crate::version::Version;

/// Runs bounded plans.
#[allow(
    unreachable_pub,
    reason = "public types are generic over it, and no other crate can call it"
)]
pub trait Engine {
    /// Checks before the charge that a plan can be run. No private row is read.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.check_joins(plan, catalogue)
    }

    /// Checks the fan-outs of joins with public tables: a part of [`Self::prepare`], for
    /// quotes. Only public rows are counted.
    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError>;

    /// Checks the memory and the time that a plan may take against the limits of a query, if
    /// there are any: a part of [`Self::prepare`], for quotes. No private row is read; the size
    /// class of a dataset counts as public.
    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let _ = (plan, catalogue);
        Ok(())
    }

    /// The version of a dataset, which changes whenever its rows do. Fails if the data cannot
    /// be opened or lack columns of the catalogue. Rows are not read.
    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError>;

    /// The versions of the datasets of a plan, then of its public tables.
    fn versions(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
    ) -> Result<Vec<Version>, EngineError> {
        let names = plan.datasets.iter().chain(&plan.public);
        let version = |name: &String| self.version(relations::dataset(catalogue, name)?);
        names.map(version).collect()
    }

    /// The exact integers of a plan, all from one snapshot.
    ///
    /// `versions` are those of `plan.datasets`, then of `plan.public`. They are compared with
    /// the data before and after the run: if the data change in between, it is not a snapshot
    /// (C9).
    ///
    /// The salt decides which rows and groups of a unit are used where it has too many. Every charge
    /// has its own, derived from a secret, so no unit can arrange its rows to influence the choice.
    /// A query that is repeated under its charge has the same salt, and samples the same rows.
    ///
    /// The result says whether the engine fell back to plain SQL.
    fn run(
        &self,
        plan: &BoundedPlan,
        catalogue: &Catalogue,
        versions: &[Version],
        salt: [u8; 16],
    ) -> Result<Execution, EngineError>;
}

/// How long a plan takes on an engine, for benchmarks. The result is dropped.
///
/// # Errors
///
/// The errors of the engine, or its operators failed.
#[doc(hidden)]
pub fn measure(
    engine: &impl Engine,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
) -> Result<Duration, EngineError> {
    engine.prepare(plan, catalogue)?;
    let versions = engine.versions(plan, catalogue)?;
    let start = Instant::now();
    let execution = engine.run(plan, catalogue, &versions, [7; 16])?;
    let elapsed = start.elapsed();
    execution.without_fallback().map(|_| elapsed)
}

/// Runs a plan as a query is run, for tests.
#[cfg(test)]
pub(crate) fn execute(
    engine: &impl Engine,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
    salt: [u8; 16],
) -> Result<Execution, EngineError> {
    engine.prepare(plan, catalogue)?;
    engine.run(plan, catalogue, &engine.versions(plan, catalogue)?, salt)
}
