//! What an engine is: it knows the version of a dataset and computes the exact
//! integers of a bounded plan. It adds no noise and knows no budget.
//!
//! The trait is not exported: exact integers are for this crate only.

use std::time::{Duration, Instant};

use mizan_sql::{BoundedPlan, Catalogue, Dataset};

use crate::exact::Execution;

mod error;

pub use self::error::EngineError;
pub use crate::version::Version;

/// Runs bounded plans.
#[allow(
    unreachable_pub,
    reason = "public types are generic over it, and nobody outside can call it"
)]
pub trait Engine {
    /// Whether a plan can be run: asked before it is charged for. No private row is
    /// read.
    fn prepare(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        self.check_joins(plan, catalogue)
    }

    /// Whether joins with public tables stay within their limits: a part of
    /// [`Self::prepare`], for quotes. Public rows alone are counted.
    fn check_joins(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError>;

    /// Whether the memory and the time that a plan may take are within the limits of a
    /// query, if there are any: a part of [`Self::prepare`], for quotes. No private row is
    /// read; the size class of a dataset counts as public.
    fn check_limits(&self, plan: &BoundedPlan, catalogue: &Catalogue) -> Result<(), EngineError> {
        let _ = (plan, catalogue);
        Ok(())
    }

    /// The version of a dataset: changes whenever its rows do. Fails if they
    /// cannot be opened or do not have the catalogue's columns; rows are not read.
    fn version(&self, dataset: &Dataset) -> Result<Version, EngineError>;

    /// The exact integers of a plan, all of one snapshot.
    ///
    /// `versions` are those of `plan.datasets`, then of `plan.public`. They are
    /// compared with the data before and after: what changes while it is read
    /// is no snapshot (C9).
    ///
    /// The salt decides which rows and groups of a unit count where it has too
    /// many. It is fresh for each release, so nobody can arrange their rows by it.
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

/// How long a plan takes on an engine. What it computes stays here: this is for
/// benchmarks.
///
/// # Errors
///
/// As the engine's.
#[doc(hidden)]
pub fn measure(
    engine: &impl Engine,
    plan: &BoundedPlan,
    catalogue: &Catalogue,
) -> Result<Duration, EngineError> {
    engine.prepare(plan, catalogue)?;
    let mut versions = Vec::new();
    for name in plan.datasets.iter().chain(&plan.public) {
        versions.push(engine.version(crate::engines::relations::dataset(catalogue, name)?)?);
    }
    let start = Instant::now();
    engine.run(plan, catalogue, &versions, [7; 16])?;
    Ok(start.elapsed())
}
