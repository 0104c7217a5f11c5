//! The hunt for failures: queries aimed at failure, on neighbouring datasets of which one
//! has the worst rows of one unit. What an analyst sees must be of one kind on both.
//!
//! A failure is an exact oracle if rows of one unit decide whether it happens: it carries
//! no noise. So the *outcome class* is compared: an answer, a refusal before the charge
//! with its code, or a failure after it with its code. Answers are held against the
//! sensitivity that the plan claims, as the other audit does.

mod files;
mod parquet;
mod queries;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod world;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mizan_core::{Code, ErrorKind};
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

/// What a hunt found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureAudit {
    /// Queries that were asked.
    pub queries: u64,
    /// Queries that were refused before any engine saw them.
    pub refused: u64,
    /// Pairs of neighbouring datasets that were compared.
    pub pairs: u64,
    /// Pairs of which both have an answer.
    pub answered: u64,
    /// Pairs of which both fail with the same code: after the charge, or because of a fault
    /// of the engine before it. No unit decides that, and it is a fault of Mizan.
    pub failed: Vec<Violation>,
    /// Answers that plain SQL computed because the engine's operators failed. An analyst
    /// does not see that, and it is a fault of Mizan.
    pub fallbacks: Vec<Violation>,
    /// Pairs with different outcomes, or a difference beyond the claim.
    pub violations: Vec<Violation>,
}

/// Limits that a failure reaches soon. A bounded query stays within them: its texts are
/// stored ones, or computed and below the limit of those.
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
        |world, target, asked| on_files(&engine, world, target, asked),
        progress,
    )
}

/// The embedded engine with small limits.
pub(crate) fn capped_engine() -> Result<DataFusion, EngineError> {
    let mut engine = DataFusion::with_partitions(2)?;
    engine.caps = Some(CAPS);
    Ok(engine)
}

/// The outcomes of queries about files.
pub(crate) fn on_files<E: Engine>(
    engine: &E,
    world: &World,
    target: &Target,
    asked: &[Asked],
) -> std::io::Result<Vec<Outcome>> {
    write(world, target)?;
    let outcome = |asked: &Asked| observe(engine, &world.catalogue, &asked.plan, world.salt);
    Ok(asked.iter().map(outcome).collect())
}

/// What an analyst sees of a query.
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
    /// Whether this is not what a query should end in, also if it always does.
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
pub(crate) struct Asked {
    pub(crate) attack: Attack,
    pub(crate) sql: String,
    pub(crate) plan: BoundedPlan,
}

/// Runs a plan as an analyst's query is run: what happens before the charge, and after.
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

/// How many queries are asked about a world.
const QUERIES: u64 = 8;

/// A hunt.
pub(crate) struct Hunt<'a> {
    /// Where files are written to.
    pub(crate) folder: &'a str,
    /// How many pairs are compared, at least.
    pub(crate) pairs: u64,
    /// The only attack, unless it is all.
    pub(crate) only: Option<Attack>,
}

impl Hunt<'_> {
    /// Compares pairs of datasets by anything that runs queries on them.
    pub(crate) fn run(
        &self,
        next: &mut dyn FnMut() -> u64,
        mut run: impl FnMut(&World, &Target, &[Asked]) -> std::io::Result<Vec<Outcome>>,
        mut progress: impl FnMut(u64),
    ) -> std::io::Result<FailureAudit> {
        let mut audit = FailureAudit::default();
        while audit.pairs < self.pairs {
            let (seed, before) = (next(), audit.pairs);
            let mut numbers = split_mix(seed);
            let mut dice = Dice(&mut numbers);
            let world = World::new(&mut dice, self.folder);
            let target = world.target(&mut dice, true);
            let asked = audit.ask(&mut dice, &world, self.only);
            let with = run(&world, &target, &asked)?;
            let without = run(&world, &Target::new(), &asked)?;
            let worst = dice.one_in(2);
            let other = run(&world, &world.target(&mut dice, worst), &asked)?;
            let outcomes = with.iter().zip(&without).zip(&other);
            for (asked, ((with, without), other)) in asked.iter().zip(outcomes) {
                let mut look = Look {
                    audit: &mut audit,
                    seed,
                    asked,
                };
                look.fallbacks(&[with, without, other]);
                look.pair(with, without);
                look.pair(with, other);
                // Rows that change are rows that go and rows that come: the claim is
                // about either.
                look.claim(with, without);
                look.claim(other, without);
            }
            progress(audit.pairs - before);
        }
        Ok(audit)
    }
}

impl FailureAudit {
    fn ask(&mut self, dice: &mut Dice<'_>, world: &World, only: Option<Attack>) -> Vec<Asked> {
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
                    all.push(Asked { attack, sql, plan });
                }
                Err(_) => self.refused += 1,
            }
        }
        all
    }
}

/// The outcomes of one query about neighbouring datasets.
struct Look<'a> {
    audit: &'a mut FailureAudit,
    seed: u64,
    asked: &'a Asked,
}

impl Look<'_> {
    fn found(&self, what: impl fmt::Display) -> Violation {
        Violation {
            sql: self.asked.sql.clone(),
            what: format!("{}, seed {}: {what}", self.asked.attack, self.seed),
        }
    }

    /// Outcomes of neighbours are of one class.
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

    /// Answers with the rows of a unit and without them are within the plan's claim.
    fn claim(&mut self, with: &Outcome, without: &Outcome) {
        let (Outcome::Answer(with), Outcome::Answer(without)) = (with, without) else {
            return;
        };
        if let Err(what) = compare(&self.asked.plan, &with.exact, &without.exact) {
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

/// The numbers of a seed (`SplitMix64`).
pub(crate) fn split_mix(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
