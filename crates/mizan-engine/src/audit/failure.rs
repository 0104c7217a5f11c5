//! The failure audit: queries that try to fail, on neighbouring datasets of which one has
//! worst-case rows of one unit. What the analyst sees must be of the same kind on both.
//!
//! A failure that depends on the rows of one unit is an exact oracle: it carries no noise. So
//! the audit compares the *outcome class*: an answer, a refusal before the charge with its
//! code, or a failure after the charge with its code. Answers are compared with the sensitivity
//! that the plan claims, as in the other audit.

mod files;
mod parquet;
mod queries;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod world;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mizan_core::{Code, ErrorKind, SplitMix64};
use mizan_sql::{BoundedPlan, Catalogue};

pub(crate) use self::files::write;
#[cfg(test)]
pub(crate) use self::parquet::write_plain;
pub(crate) use self::queries::Attack;
pub(crate) use self::world::{Target, World};
use super::dice::Dice;
use super::{Violation, compare};
use crate::engine::{Engine, EngineError, Version};
use crate::engines::datafusion::DataFusion;
use crate::engines::datafusion::caps::Caps;
use crate::exact::{Execution, ExecutionPath};

/// The result of a failure audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureAudit {
    /// How many queries were generated.
    pub queries: u64,
    /// How many queries were refused before they reached an engine.
    pub refused: u64,
    /// How many pairs of neighbouring datasets were compared.
    pub pairs: u64,
    /// How many pairs had an answer on both sides.
    pub answered: u64,
    /// Pairs of which both fail with the same code: after the charge, or before it because of a
    /// defect of the engine. No unit decides that, but it is a defect of Mizan.
    pub failed: Vec<Violation>,
    /// Answers that plain SQL computed because the engine's operators failed. The analyst does
    /// not see this, but it is a defect of Mizan.
    pub fallbacks: Vec<Violation>,
    /// Pairs with different outcomes, or with a difference beyond the claimed sensitivity.
    pub violations: Vec<Violation>,
}

/// Small limits, so that failures are found quickly. A bounded query stays within them: its
/// texts are stored ones, or computed ones below the limit of computed texts.
const CAPS: Caps = Caps {
    text: 128 << 10,
    rows: 500_000,
    slice: 16 << 10,
    made: 3 << 20,
    memory: 256 << 20,
};

/// Compares the outcomes of `pairs` pairs of small datasets, written to `folder`, on the
/// embedded engine with small limits.
///
/// # Errors
///
/// The folder cannot be written to, or the engine cannot be started.
pub fn audit_failures(
    folder: &Path,
    pairs: u64,
    next: &mut dyn FnMut() -> u64,
    progress: impl FnMut(u64),
) -> std::io::Result<FailureAudit> {
    let engine = capped_engine().map_err(std::io::Error::other)?;
    let hunt = Hunt {
        folder: &folder.to_string_lossy(),
        pairs,
        only: None,
    };
    hunt.run(
        next,
        |world, target, queries| on_files(&engine, world, target, queries),
        progress,
    )
}

/// The embedded engine with small limits.
pub(crate) fn capped_engine() -> Result<DataFusion, EngineError> {
    let mut engine = DataFusion::with_partitions(2)?;
    engine.caps = Some(CAPS);
    Ok(engine)
}

/// The outcomes of queries over files.
pub(crate) fn on_files<E: Engine>(
    engine: &E,
    world: &World,
    target: &Target,
    queries: &[AttackQuery],
) -> std::io::Result<Vec<Outcome>> {
    write(world, target)?;
    let outcome = |query: &AttackQuery| observe(engine, &world.catalogue, &query.plan, world.salt);
    Ok(queries.iter().map(outcome).collect())
}

/// What the analyst sees of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answer(Execution),
    /// Refused before the charge, with a code.
    Refused(Code),
    /// Failed after the charge, with a code.
    Failed(Code),
    /// The engine panicked.
    Panicked,
}

impl Outcome {
    /// Whether this outcome is a defect even if it is the same for all datasets.
    fn is_fault(&self) -> bool {
        match self {
            Self::Answer(_) => false,
            Self::Refused(code) => code.kind() == ErrorKind::Internal,
            Self::Failed(_) | Self::Panicked => true,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(_) => write!(out, "an answer"),
            Self::Refused(code) => write!(out, "a refusal before the charge ({code})"),
            Self::Failed(code) => write!(out, "a failure after the charge ({code})"),
            Self::Panicked => write!(out, "a failure after the charge (panic)"),
        }
    }
}

/// A query and its plan.
pub(crate) struct AttackQuery {
    pub(crate) attack: Attack,
    pub(crate) sql: String,
    pub(crate) plan: BoundedPlan,
}

/// Runs a plan as a query is run: the checks before the charge, then the run.
pub(crate) fn observe<E: Engine>(
    engine: &E,
    catalogue: &Catalogue,
    plan: &BoundedPlan,
    salt: [u8; 16],
) -> Outcome {
    let before = || -> Result<Vec<Version>, EngineError> {
        engine.prepare(plan, catalogue)?;
        let names = plan.datasets.iter().chain(&plan.public);
        let datasets = names.filter_map(|name| catalogue.datasets.get(name));
        datasets.map(|dataset| engine.version(dataset)).collect()
    };
    let observed = || match before() {
        Err(error) => Outcome::Refused(error.code()),
        Ok(versions) => match engine.run(plan, catalogue, &versions, salt) {
            Ok(execution) => Outcome::Answer(execution),
            Err(error) => Outcome::Failed(error.code()),
        },
    };
    catch_unwind(AssertUnwindSafe(observed)).unwrap_or(Outcome::Panicked)
}

/// How many queries are generated for each world.
const QUERIES: u64 = 8;

/// The configuration of a failure audit.
pub(crate) struct Hunt<'a> {
    /// Where files are written.
    pub(crate) folder: &'a str,
    /// The least number of pairs to compare.
    pub(crate) pairs: u64,
    /// The only attack to use; None for all.
    pub(crate) only: Option<Attack>,
}

impl Hunt<'_> {
    /// Compares pairs of datasets with a function that runs queries over them.
    pub(crate) fn run(
        &self,
        next: &mut dyn FnMut() -> u64,
        mut run: impl FnMut(&World, &Target, &[AttackQuery]) -> std::io::Result<Vec<Outcome>>,
        mut progress: impl FnMut(u64),
    ) -> std::io::Result<FailureAudit> {
        let mut audit = FailureAudit::default();
        while audit.pairs < self.pairs {
            let (seed, before) = (next(), audit.pairs);
            let mut numbers = SplitMix64::new(seed);
            let mut next = || numbers.word();
            let mut dice = Dice(&mut next);
            let world = World::new(&mut dice, self.folder);
            let target = world.target(&mut dice, true);
            let queries = audit.attack_queries(&mut dice, &world, self.only);
            let with = run(&world, &target, &queries)?;
            let without = run(&world, &Target::new(), &queries)?;
            let worst = dice.one_in(2);
            let other = run(&world, &world.target(&mut dice, worst), &queries)?;
            let outcomes = with.iter().zip(&without).zip(&other);
            for (query, ((with, without), other)) in queries.iter().zip(outcomes) {
                let mut neighbours = Neighbours {
                    audit: &mut audit,
                    seed,
                    query,
                };
                neighbours.fallbacks(&[with, without, other]);
                neighbours.pair(with, without);
                neighbours.pair(with, other);
                // A replacement of rows is a removal and an addition: the claim is tested for
                // each.
                neighbours.claim(with, without);
                neighbours.claim(other, without);
            }
            progress(audit.pairs - before);
        }
        Ok(audit)
    }
}

impl FailureAudit {
    fn attack_queries(
        &mut self,
        dice: &mut Dice<'_>,
        world: &World,
        only: Option<Attack>,
    ) -> Vec<AttackQuery> {
        let mut all = Vec::new();
        for _ in 0..QUERIES {
            let attack = only.unwrap_or_else(|| Attack::any(dice));
            let sql = attack.query(dice, world);
            self.queries += 1;
            match mizan_sql::plan(&sql, &world.catalogue) {
                Ok(mut plan) => {
                    if let Some(clipped) = plan.clipped().filter(|_| dice.one_in(2)) {
                        plan = clipped;
                    }
                    all.push(AttackQuery { attack, sql, plan });
                }
                Err(_) => self.refused += 1,
            }
        }
        all
    }
}

/// The outcomes of one query on neighbouring datasets.
struct Neighbours<'a> {
    audit: &'a mut FailureAudit,
    seed: u64,
    query: &'a AttackQuery,
}

impl Neighbours<'_> {
    fn found(&self, what: impl fmt::Display) -> Violation {
        Violation {
            sql: self.query.sql.clone(),
            what: format!("{}, seed {}: {what}", self.query.attack, self.seed),
        }
    }

    /// Checks that the outcomes of neighbours are of one class.
    fn pair(&mut self, one: &Outcome, other: &Outcome) {
        self.audit.pairs += 1;
        match (one, other) {
            (Outcome::Answer(_), Outcome::Answer(_)) => self.audit.answered += 1,
            (one, other) if one == other => {
                if one.is_fault() {
                    let found = self.found(one);
                    self.audit.failed.push(found);
                }
            }
            (one, other) => {
                let what = format!("{one} with a unit's rows, {other} with others or none");
                let found = self.found(what);
                self.audit.violations.push(found);
            }
        }
    }

    /// Checks that answers with and without the rows of a unit differ by at most the claimed
    /// sensitivity.
    fn claim(&mut self, with: &Outcome, without: &Outcome) {
        let (Outcome::Answer(with), Outcome::Answer(without)) = (with, without) else {
            return;
        };
        if let Err(what) = compare(&self.query.plan, &with.exact, &without.exact) {
            let found = self.found(what);
            self.audit.violations.push(found);
        }
    }

    fn fallbacks(&mut self, outcomes: &[&Outcome]) {
        let is_fallback = |outcome: &&&Outcome| {
            let path = ExecutionPath::Fallback;
            matches!(outcome, Outcome::Answer(execution) if execution.path == path)
        };
        let fallbacks = outcomes.iter().filter(is_fallback).count();
        for _ in 0..fallbacks {
            let found = self.found("the operators failed");
            self.audit.fallbacks.push(found);
        }
    }
}
