//! The attack of Dinur and Nissim: too many answers that are too accurate give
//! everything away.
//!
//! People have a secret bit each. An attacker asks how many of a random half of
//! them have theirs set, over and over, and gets answers with noise. Least
//! squares then tells the bits, unless the noise is of the order of the root of
//! the number of people.
//!
//! # Reference
//!
//! Dinur and Nissim, *Revealing information while preserving privacy*, 2003.

mod decode;
mod questions;

use std::ops::RangeInclusive;

use mizan_accounting::methods::{self, Method};
use mizan_core::{Count, Delta, Epsilon, PrivacyEvent, Sensitivity, Sigma};
use mizan_noise::{DiscreteGaussian, Entropy, ExactScale};

use crate::AuditError;
use questions::Questions;

/// The δ at which answers are priced.
pub const PRICED_AT: f64 = 1e-6;

/// About so many bits are guessed at each point, so that chance hides little.
const BITS: usize = 2048;

/// The noise over the root of the number of people.
const NOISE: [f64; 13] = [
    0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0,
];

/// The attack at one size of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The parameter of the noise on each answer.
    pub sigma: f64,
    /// The same over the root of the number of people.
    pub noise_over_sqrt_n: f64,
    /// The share of bits that were guessed right; a half is chance.
    pub recovered: f64,
    /// What all the answers cost together at a δ of [`PRICED_AT`].
    pub epsilon: Epsilon,
}

/// So many people, asked about so often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconstruction {
    people: usize,
    queries: usize,
}

impl Reconstruction {
    /// How many people there may be.
    pub const PEOPLE: RangeInclusive<u64> = 8..=2048;

    /// How many queries there may be.
    pub const QUERIES: RangeInclusive<u64> = 1..=65_536;

    /// `people` secret bits, and queries about random subsets of them.
    ///
    /// # Errors
    ///
    /// One of them is not in [`PEOPLE`](Self::PEOPLE) or
    /// [`QUERIES`](Self::QUERIES).
    pub fn new(people: u64, queries: u64) -> Result<Self, AuditError> {
        Ok(Self {
            people: checked("people", people, Self::PEOPLE)?,
            queries: checked("queries", queries, Self::QUERIES)?,
        })
    }

    /// How often the secrets are drawn anew, to average over.
    #[must_use]
    pub fn trials(&self) -> usize {
        (BITS / self.people).clamp(1, 64)
    }

    /// How many times `run` reports progress.
    #[must_use]
    pub fn steps(&self) -> u64 {
        ((self.trials() + 1) * NOISE.len()) as u64
    }

    /// Attacks at each size of noise, the smallest first.
    ///
    /// # Errors
    ///
    /// There is no randomness.
    pub fn run(&self, progress: &mut dyn FnMut()) -> Result<Vec<Point>, AuditError> {
        let root = (self.people as f64).sqrt();
        let mut points = Vec::new();
        for noise_over_sqrt_n in NOISE {
            let sigma = noise_over_sqrt_n * root;
            points.push(Point {
                sigma,
                noise_over_sqrt_n,
                recovered: 0.0,
                epsilon: self.price(sigma),
            });
            progress();
        }
        let samplers = points
            .iter()
            .map(|point| Ok(DiscreteGaussian::new(ExactScale::from_f64(point.sigma)?)))
            .collect::<Result<Vec<_>, AuditError>>()?;
        let mut right = vec![0usize; points.len()];
        let mut entropy = Entropy::system()?;
        for trial in 0..self.trials() {
            let questions = Questions::new(self.people, self.queries, trial as u64);
            for (right, sampler) in right.iter_mut().zip(&samplers) {
                *right += self.attack(&questions, sampler, &mut entropy)?;
                progress();
            }
        }
        let bits = self.people * self.trials();
        for (point, right) in points.iter_mut().zip(right) {
            point.recovered = right as f64 / bits as f64;
        }
        Ok(points)
    }

    /// How many bits are told right from answers with this noise.
    fn attack(
        &self,
        questions: &Questions,
        sampler: &DiscreteGaussian,
        entropy: &mut Entropy,
    ) -> Result<usize, AuditError> {
        let mut noise = vec![0; self.queries];
        sampler.fill(entropy, &mut noise)?;
        let answers: Vec<f64> = questions
            .true_answers()
            .zip(&noise)
            .map(|(truth, &noise)| truth as f64 + noise as f64)
            .collect();
        let guesses = decode::bits(questions, &answers, sampler.sigma().approximate());
        let right = guesses.iter().zip(questions.secrets());
        Ok(right.filter(|(guess, secret)| *guess == secret).count())
    }

    /// All the answers together: a person moves each by at most one.
    fn price(&self, sigma: f64) -> Epsilon {
        let event = || {
            let noise =
                mizan_core::DiscreteGaussian::new(Sigma::new(sigma).ok()?, Sensitivity::ONE);
            Some(PrivacyEvent::Repeat {
                count: Count::new(self.queries as u64).ok()?,
                event: Box::new(PrivacyEvent::DiscreteGaussian(noise.ok()?)),
            })
        };
        event()
            .and_then(|event| {
                let delta = Delta::saturating(PRICED_AT);
                // The tightest by far; the others only where it does not apply.
                let numeric = methods::epsilon_by(Method::Numeric, &event, delta);
                numeric
                    .ok()
                    .or_else(|| methods::epsilon(&event, delta).best())
            })
            .map_or(Epsilon::INFINITE, |bound| bound.upper)
    }
}

fn checked(
    what: &'static str,
    given: u64,
    range: RangeInclusive<u64>,
) -> Result<usize, AuditError> {
    usize::try_from(given)
        .ok()
        .filter(|_| range.contains(&given))
        .ok_or(AuditError::Size {
            what,
            given,
            least: *range.start(),
            most: *range.end(),
        })
}
