//! The audit: chooses an attack on some runs and counts its hits on others.

use std::ops::RangeInclusive;

use mizan_core::{Delta, Epsilon, Interval};

use crate::attack::{Attack, Feature, Hits};
use crate::choose::{Observed, Prospect};
use crate::clopper_pearson::ClopperPearson;
use crate::{AuditError, Confidence, Histogram, Subject, World};

/// Runs at a time.
const BATCH: u64 = 1 << 14;

/// The most runs for choosing an attack.
const MOST_CHOOSING: u64 = 1 << 20;

/// The number of runs, the confidence and the δ of an audit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    samples: u64,
    confidence: Confidence,
    delta: Delta,
}

impl Plan {
    /// The allowed number of runs on each input: with fewer no bound is useful, and more take hours.
    pub const SAMPLES: RangeInclusive<u64> = 100..=10_000_000_000;

    /// A plan with `samples` runs on each input, and a bound of ε at `delta` with this confidence.
    ///
    /// # Errors
    ///
    /// The number of runs is not one of [`SAMPLES`](Self::SAMPLES).
    pub fn new(samples: u64, confidence: Confidence, delta: Delta) -> Result<Self, AuditError> {
        Self::check(samples, *Self::SAMPLES.end())?;
        Ok(Self {
            samples,
            confidence,
            delta,
        })
    }

    pub(crate) fn check(samples: u64, most: u64) -> Result<(), AuditError> {
        let least = *Self::SAMPLES.start();
        if (least..=most).contains(&samples) {
            Ok(())
        } else {
            Err(AuditError::Samples {
                given: samples,
                least,
                most,
            })
        }
    }

    /// Runs on each input, those for choosing included.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

/// The result of an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    /// The attack that was tried.
    pub attack: Attack,
    /// Its hits.
    pub hits: Hits,
    /// The number of runs on each input.
    pub tried: u64,
    /// A lower bound of ε at the δ of the plan, with its confidence.
    pub lower_bound: Epsilon,
    /// The outputs on which the attack was chosen.
    pub histogram: Histogram,
}

impl Audit {
    /// Whether a claimed ε, at the δ of the plan, is refuted.
    #[must_use]
    pub fn contradicts(&self, claimed: Epsilon) -> bool {
        self.lower_bound > claimed
    }
}

/// Runs a mechanism on two neighbouring inputs and bounds its ε from below.
/// `progress` receives the number of further runs on each input.
///
/// # Guarantee
///
/// If the mechanism is (ε, δ)-differentially private and its runs are
/// independent, `lower_bound` is above ε with probability at most one minus the
/// confidence. For whatever set S the first runs choose, the others are
/// independent of it: P(S) ≤ e^ε Q(S) + δ, both probabilities are bounded by
/// Clopper and Pearson, and each of the two bounds fails with at most half of
/// that probability.
///
/// A run together with another one on a known input, as differences use it, has the same guarantee:
/// the other output does not depend on the person's data.
///
/// # Errors
///
/// The mechanism cannot be run.
pub fn audit(
    subject: &mut impl Subject,
    plan: Plan,
    progress: &mut dyn FnMut(u64),
) -> Result<Audit, AuditError> {
    let choosing = (plan.samples / 2).min(MOST_CHOOSING);
    let tried = plan.samples - choosing;
    let failure = plan.confidence.failure() / 2.0;
    let observed = observe(subject, choosing, progress)?;
    let prospect = Prospect::new(plan.delta.get(), failure);
    let attack = observed.best_attack(&prospect);
    let hits = count(subject, attack, tried, progress)?;
    let bounds = ClopperPearson::new(tried, failure);
    let (betrayed, other) = hits.by(attack.likelier);
    let (p, q) = (
        Interval::from(bounds.lower(betrayed)),
        Interval::from(bounds.upper(other)),
    );
    let proven = ((p - plan.delta.get()).non_negative() / q).ln().lower();
    Ok(Audit {
        attack,
        hits,
        tried,
        lower_bound: Epsilon::saturating(proven.max(0.0)),
        histogram: Histogram::of(&observed.without, &observed.with),
    })
}

fn observe(
    subject: &mut impl Subject,
    runs: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Observed, AuditError> {
    let mut observed = Observed::default();
    let mut outputs = Vec::new();
    for size in batches(runs) {
        outputs.resize(size, 0.0);
        for (world, seen) in [
            (World::Without, &mut observed.reference),
            (World::Without, &mut observed.without),
            (World::With, &mut observed.with),
        ] {
            subject.run(world, &mut outputs)?;
            seen.extend_from_slice(&outputs);
        }
        progress(size as u64);
    }
    Ok(observed)
}

fn count(
    subject: &mut impl Subject,
    attack: Attack,
    runs: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<Hits, AuditError> {
    let mut hits = Hits::default();
    let (mut reference, mut outputs) = (Vec::new(), Vec::new());
    for size in batches(runs) {
        reference.resize(size, 0.0);
        outputs.resize(size, 0.0);
        for (world, hits) in [
            (World::Without, &mut hits.without),
            (World::With, &mut hits.with),
        ] {
            // A fresh one for each input: hits must be independent.
            if attack.feature == Feature::Difference {
                subject.run(World::Without, &mut reference)?;
            }
            subject.run(world, &mut outputs)?;
            let hit = |&(&output, &other): &(&f64, &f64)| {
                attack.region.contains(match attack.feature {
                    Feature::Output => output,
                    Feature::Difference => output - other,
                })
            };
            *hits += outputs.iter().zip(&reference).filter(hit).count() as u64;
        }
        progress(size as u64);
    }
    Ok(hits)
}

/// The sizes of batches that add up to `runs`.
fn batches(runs: u64) -> impl Iterator<Item = usize> {
    let mut left = runs;
    std::iter::from_fn(move || {
        let size = left.min(BATCH);
        left -= size;
        (size > 0).then(|| usize::try_from(size).unwrap_or(0))
    })
}
