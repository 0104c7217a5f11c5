//! The reconstruction attack of Dinur and Nissim: too many answers that are too accurate reveal
//! everything.
//!
//! Each person has a secret bit. The attacker sends many queries for the number of set bits in a
//! random half of the people, and receives noisy answers. Least squares then recovers the bits,
//! unless the noise is of the order of the square root of the number of people.
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

/// The δ at which the cost of the answers is computed.
pub const PRICED_AT: f64 = 1e-6;

/// About this many bits are estimated at each point, so that chance plays little role.
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
    /// The share of correct bits; a half is chance.
    pub recovered: f64,
    /// The ε of all answers together at a δ of [`PRICED_AT`].
    pub epsilon: Epsilon,
}

/// A reconstruction experiment: the number of people and of queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconstruction {
    people: usize,
    queries: usize,
}

impl Reconstruction {
    /// The allowed number of people.
    pub const PEOPLE: RangeInclusive<u64> = 8..=2048;

    /// The allowed number of queries.
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

    /// The number of draws of the secrets that are averaged.
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

    /// The number of bits that are recovered from answers with this noise.
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

    /// The ε of all answers together: each has sensitivity one.
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
