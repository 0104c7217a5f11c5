//! Audits the mechanisms of an event, with the samplers that release.

use mizan_core::{Delta, PrivacyEvent};
use mizan_noise::Entropy;

use crate::error::NotSampled;
use crate::part::Part;
use crate::{AuditError, Confidence, Plan, Subject, World};

/// The most draws in one run.
const MOST_DRAWS: u64 = 10_000;

/// The most different mechanisms: each has its own table.
const MOST_KINDS: usize = 64;

/// The number of draws of an audit that takes about a second.
const USUAL_WORK: u64 = 20_000_000;

/// Draws that take about an hour.
const MOST_WORK: u64 = 20_000_000_000;

/// Sums of losses are rounded to one over this.
const ROUNDING: f64 = (1u64 << 32) as f64;

/// The mechanisms of an event as a subject of an audit, on the worst known neighbours.
///
/// The output of a single mechanism is the answer itself. Otherwise it is the privacy loss of all
/// mechanisms together according to the claim: the best statistic of an attacker who trusts the
/// claim.
#[derive(Debug)]
pub struct Released {
    parts: Vec<(u64, Part)>,
    /// Whether the output is the answer itself.
    plain: bool,
    entropy: Entropy,
}

impl Released {
    /// The mechanisms of an event.
    ///
    /// # Errors
    ///
    /// This version has no sampler for a part, or there is no randomness.
    pub fn of(event: &PrivacyEvent) -> Result<Self, AuditError> {
        let mut kinds: Vec<(u64, &PrivacyEvent)> = Vec::new();
        let mut waiting = vec![(1u64, event)];
        while let Some((count, event)) = waiting.pop() {
            match event {
                PrivacyEvent::Compose(events) => {
                    waiting.extend(events.iter().rev().map(|event| (count, event)));
                }
                PrivacyEvent::Repeat {
                    count: times,
                    event,
                } => waiting.push((count.saturating_mul(times.get()), event)),
                mechanism => match kinds.iter_mut().find(|(_, kind)| *kind == mechanism) {
                    Some((counted, _)) => *counted = counted.saturating_add(count),
                    None => kinds.push((count, mechanism)),
                },
            }
            if kinds.len() > MOST_KINDS {
                return Err(AuditError::TooManyKinds { most: MOST_KINDS });
            }
        }
        // Report what cannot be sampled before the size of the rest.
        let parts: Vec<(u64, Part)> = kinds
            .into_iter()
            .map(|(count, kind)| Ok((count, part(kind)?)))
            .collect::<Result<_, AuditError>>()?;
        let draws = parts
            .iter()
            .fold(0u64, |sum, (count, _)| sum.saturating_add(*count));
        if draws > MOST_DRAWS {
            return Err(AuditError::TooManyDraws {
                draws,
                most: MOST_DRAWS,
            });
        }
        let plain = matches!(parts.as_slice(), [(1, part)] if part.is_number());
        Ok(Self {
            parts,
            plain,
            entropy: Entropy::system()?,
        })
    }

    /// Whether the loss is bounded, so that the claim is pure ε-DP.
    #[must_use]
    pub fn is_pure(&self) -> bool {
        self.parts.iter().all(|(_, part)| part.is_pure())
    }

    /// Whether an output is the answer; otherwise it is a privacy loss.
    #[must_use]
    pub fn tells_answers(&self) -> bool {
        self.plain
    }

    /// The number of runs on each input that takes about a second.
    #[must_use]
    pub fn usual_samples(&self) -> u64 {
        (USUAL_WORK / self.work()).clamp(1_000, 10_000_000)
    }

    /// A plan for an audit of this.
    ///
    /// # Errors
    ///
    /// The number of runs is out of range.
    pub fn plan(
        &self,
        samples: u64,
        confidence: Confidence,
        delta: Delta,
    ) -> Result<Plan, AuditError> {
        Plan::check(samples, (MOST_WORK / self.work()).min(*Plan::SAMPLES.end()))?;
        Plan::new(samples, confidence, delta)
    }

    /// The time of a run, in draws of discrete noise.
    fn work(&self) -> u64 {
        let work = |(count, part): &(u64, Part)| count.saturating_mul(part.work());
        self.parts.iter().map(work).fold(1, u64::saturating_add)
    }
}

impl Subject for Released {
    fn run(&mut self, world: World, outputs: &mut [f64]) -> Result<(), AuditError> {
        outputs.fill(0.0);
        for (count, part) in &self.parts {
            for _ in 0..*count {
                part.run(world, &mut self.entropy, self.plain, outputs)?;
            }
        }
        if !self.plain {
            // Sums of the same losses are the same, in whatever order.
            for output in outputs {
                *output = (*output * ROUNDING).round() / ROUNDING;
            }
        }
        Ok(())
    }
}

fn part(event: &PrivacyEvent) -> Result<Part, AuditError> {
    let reason = match event {
        PrivacyEvent::DiscreteLaplace(noise) => return Part::laplace(noise),
        PrivacyEvent::DiscreteGaussian(noise) => return Part::gaussian(noise),
        PrivacyEvent::RandomizedResponse(response) => return Ok(Part::response(*response)),
        PrivacyEvent::Exponential { epsilon } => return Part::selection(*epsilon),
        PrivacyEvent::Gaussian { .. }
        | PrivacyEvent::Laplace { .. }
        | PrivacyEvent::Tree { .. }
        | PrivacyEvent::Matrix { .. } => NotSampled::Continuous,
        PrivacyEvent::Poisson { .. }
        | PrivacyEvent::WithoutReplacement(_)
        | PrivacyEvent::Shuffle { .. }
        | PrivacyEvent::Group { .. } => NotSampled::People,
        _ => NotSampled::Guarantee,
    };
    let event: String = match event {
        // Their text may be megabytes.
        PrivacyEvent::Finite(_) => "finite(…)".to_owned(),
        event => event.to_string().chars().take(60).collect(),
    };
    Err(AuditError::NotSampled { event, reason })
}
