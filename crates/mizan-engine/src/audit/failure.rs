//! The hunt for failures: queries aimed at failure, on neighbouring datasets of which one
//! has the worst rows of one unit. What an analyst sees must be of one kind on both.
//!
//! A failure is an exact oracle if rows of one unit decide whether it happens: it carries
//! no noise. So the *outcome class* is compared: an answer, a refusal before the charge
//! with its code, or a failure after it with its code. Answers are held against the
//! sensitivity that the plan claims, as the other audit does.

mod files;
mod queries;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod world;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use mizan_core::Code;
use mizan_sql::{BoundedPlan, Catalogue};

#[cfg(test)]
pub(crate) use self::files::plain_parquet as parquet;
pub(crate) use self::files::write;
pub(crate) use self::queries::Attack;
pub(crate) use self::world::{Target, World};
use super::dice::Dice;
use super::{Violation, compare};
use crate::engine::{Engine, EngineError, Version};
use crate::engines::datafusion::DataFusion;
use crate::engines::datafusion::caps::Caps;
use crate::exact::Exact;

/// What a hunt found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureAudit {
    /// Queries that were asked.
    pub queries: u64,
    /// Queries that were refused before any engine saw them.
    pub refused: u64,
    /// Pairs of neighbouring datasets that were compared.
    pub pairs: u64,
    /// Pairs of which both fail with the same code: after the charge, or because the
    /// engine itself failed before it.
    pub failed: u64,
    /// Pairs with different outcomes, or a difference beyond the claim.
    pub violations: Vec<Violation>,
}

/// Limits that a failure reaches soon. A bounded query stays within them: its texts are
/// stored ones, or computed and below the limit of those.
const CAPS: Caps = Caps {
    text: 128 << 10,
    rows: 500_000,
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
    Answer(Exact),
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
            Self::Refused(code) => *code == EngineError::Failed { doing: "" }.code(),
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
            Ok(execution) => Outcome::Answer(execution.exact),
            Err(error) => Outcome::Failed(error.code()),
        },
    };
    catch_unwind(AssertUnwindSafe(observed)).unwrap_or(Outcome::Panicked)
}

/// How a neighbour differs from the world whose target has the worst rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    /// The target is not in it.
    Without,
    /// The target has other rows.
    Other { worst: bool },
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
            let asked = audit.ask(&mut dice, &world.catalogue, self.only);
            let with = run(&world, &target, &asked)?;
            let worst = dice.one_in(2);
            for neighbour in [Neighbour::Without, Neighbour::Other { worst }] {
                let other = match neighbour {
                    Neighbour::Without => Target::new(),
                    Neighbour::Other { worst } => world.target(&mut dice, worst),
                };
                let other = run(&world, &other, &asked)?;
                for (asked, (with, other)) in asked.iter().zip(with.iter().zip(&other)) {
                    audit.look(seed, asked, neighbour, with, other);
                }
            }
            progress(audit.pairs - before);
        }
        Ok(audit)
    }
}

impl FailureAudit {
    fn ask(
        &mut self,
        dice: &mut Dice<'_>,
        catalogue: &Catalogue,
        only: Option<Attack>,
    ) -> Vec<Asked> {
        let mut all = Vec::new();
        for _ in 0..QUERIES {
            let attack = only.unwrap_or_else(|| Attack::any(dice));
            let sql = attack.query(dice);
            self.queries += 1;
            match mizan_sql::plan(&sql, catalogue) {
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

    fn look(
        &mut self,
        seed: u64,
        asked: &Asked,
        neighbour: Neighbour,
        with: &Outcome,
        other: &Outcome,
    ) {
        self.pairs += 1;
        let what = match (with, other) {
            (Outcome::Answer(with), Outcome::Answer(other)) => match neighbour {
                Neighbour::Without => compare(&asked.plan, with, other).err(),
                // Rows that change are rows that go and rows that come: the claim is
                // about either.
                Neighbour::Other { .. } => None,
            },
            (with, other) if with == other => {
                self.failed += u64::from(with.is_fault());
                None
            }
            (with, other) => Some(format!("{with} with a unit's rows, {other} without them")),
        };
        if let Some(what) = what {
            self.violations.push(Violation {
                sql: asked.sql.clone(),
                what: format!("{}, seed {seed}: {what}", asked.attack),
            });
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
