//! One mechanism on worst-case neighbours: its outputs, and the privacy loss of each output.

use mizan_core::{Epsilon, Sensitivity};
use mizan_noise::{Entropy, ExponentialMechanism, Mechanism, NoiseError, RandomizedResponse};

use crate::{AuditError, World};

/// Candidates that lose where the first one wins. Two alike reveal ε/2 only,
/// infinitely many ε, of a selection that never happens.
const OTHERS: usize = 16;

/// Every non-negative integer is a sum of this many squares (Lagrange).
const SQUARES: usize = 4;

#[derive(Debug)]
pub(crate) enum Part {
    /// The answer is 0, or it is this much in each coordinate.
    Laplace {
        mechanism: Mechanism,
        shift: i64,
        scale: f64,
    },
    /// The same.
    Gaussian {
        mechanism: Mechanism,
        shifts: Vec<i64>,
        sigma: f64,
    },
    /// The truth is the first answer, or the second.
    Response {
        response: RandomizedResponse,
        loss: f64,
    },
    /// The first candidate is one worse than the others, or one better: all
    /// scores move by one.
    Selection {
        mechanism: Box<ExponentialMechanism>,
        /// Of the first candidate, and of the others.
        losses: (f64, f64),
    },
}

impl Part {
    pub(crate) fn laplace(event: &mizan_core::DiscreteLaplace) -> Result<Self, AuditError> {
        Ok(Self::Laplace {
            mechanism: Mechanism::laplace(*event)?,
            shift: integer(event.sensitivity().get()),
            scale: event.scale().get(),
        })
    }

    pub(crate) fn gaussian(event: &mizan_core::DiscreteGaussian) -> Result<Self, AuditError> {
        Ok(Self::Gaussian {
            mechanism: Mechanism::gaussian(*event)?,
            shifts: shifts(event.sensitivity()),
            sigma: event.sigma().get(),
        })
    }

    pub(crate) fn response(event: mizan_core::RandomizedResponse) -> Self {
        let (p, others) = (event.p().get(), event.categories().as_f64() - 1.0);
        Self::Response {
            response: RandomizedResponse::new(event),
            loss: (p * others / (1.0 - p)).ln(),
        }
    }

    pub(crate) fn selection(epsilon: Epsilon) -> Result<Self, AuditError> {
        // The weight of who is worse by one beside who is better, and the
        // logarithms of the totals with and without the person.
        let (half, others) = (epsilon.get() / 2.0, OTHERS as f64);
        let weight = (-half).exp();
        let totals = (weight + others).ln() - (others * weight).ln_1p();
        Ok(Self::Selection {
            mechanism: Box::new(ExponentialMechanism::new(epsilon, 1)?),
            losses: (half + totals, totals - half),
        })
    }

    /// Whether an answer is a single number, which is then the output.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Gaussian { shifts, .. } => shifts.len() == 1,
            _ => true,
        }
    }

    pub(crate) fn is_pure(&self) -> bool {
        !matches!(self, Self::Gaussian { .. })
    }

    /// In draws of discrete noise, roughly.
    pub(crate) fn work(&self) -> u64 {
        match self {
            // One at a time, each with its own key.
            Self::Selection { .. } => 300,
            Self::Gaussian { shifts, .. } => u64::try_from(shifts.len()).unwrap_or(1),
            _ => 1,
        }
    }

    /// Runs once for each place, and adds the answer or its loss there.
    pub(crate) fn run(
        &self,
        world: World,
        entropy: &mut Entropy,
        tells_answers: bool,
        outputs: &mut [f64],
    ) -> Result<(), NoiseError> {
        let with = world == World::With;
        let mut answers = vec![0; outputs.len()];
        let mut add = |answers: &[i64], loss: &dyn Fn(i64) -> f64| {
            for (output, &answer) in outputs.iter_mut().zip(answers) {
                *output += if tells_answers {
                    answer as f64
                } else {
                    loss(answer)
                };
            }
        };
        match self {
            Self::Laplace {
                mechanism,
                shift,
                scale,
            } => {
                answers.fill(if with { *shift } else { 0 });
                mechanism.release(entropy, &mut answers)?;
                let shift = *shift as f64;
                add(&answers, &|x| {
                    ((x as f64).abs() - (x as f64 - shift).abs()) / scale
                });
            }
            Self::Gaussian {
                mechanism,
                shifts,
                sigma,
            } => {
                for &shift in shifts {
                    answers.fill(if with { shift } else { 0 });
                    mechanism.release(entropy, &mut answers)?;
                    let shift = shift as f64;
                    add(&answers, &|x| {
                        (x as f64 - shift / 2.0) / sigma * (shift / sigma)
                    });
                }
            }
            Self::Response { response, loss } => {
                let mut responses = vec![u64::from(with); answers.len()];
                response.respond(entropy, &mut responses)?;
                for (answer, response) in answers.iter_mut().zip(responses) {
                    // Those beyond the second are all alike.
                    *answer = i64::try_from(response.min(2)).unwrap_or(2);
                }
                add(&answers, &|answer| match answer {
                    0 => -loss,
                    1 => *loss,
                    _ => 0.0,
                });
            }
            Self::Selection { mechanism, losses } => {
                let mut scores = [i64::from(!with); OTHERS + 1];
                if let Some(first) = scores.first_mut() {
                    *first = i64::from(with);
                }
                for answer in &mut answers {
                    let selected = mechanism.select(entropy, &scores)?;
                    *answer = i64::from(selected == 0);
                }
                add(&answers, &|answer| {
                    if answer == 1 { losses.0 } else { losses.1 }
                });
            }
        }
        Ok(())
    }
}

/// A vector of integers as far from zero as the sensitivity allows, or nearly:
/// the largest square that fits, and so on with what is left.
fn shifts(sensitivity: Sensitivity) -> Vec<i64> {
    let whole = sensitivity.get().floor();
    // Beyond, squares are not exact, and one coordinate is as good.
    if whole == sensitivity.get() || whole > f64::from(1 << 26) {
        return vec![integer(whole)];
    }
    let mut left = (sensitivity.get() * sensitivity.get()).floor();
    let mut shifts = Vec::new();
    while left >= 1.0 && shifts.len() < SQUARES {
        let root = left.sqrt().floor();
        shifts.push(integer(root));
        left -= root * root;
    }
    shifts
}

/// Sensitivities are below 2^63, or no mechanism was made of them.
#[expect(clippy::cast_possible_truncation, reason = "below 2^63")]
fn integer(whole: f64) -> i64 {
    whole as i64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn part(text: &str) -> Part {
        match &text.parse().unwrap() {
            mizan_core::PrivacyEvent::DiscreteLaplace(noise) => Part::laplace(noise).unwrap(),
            mizan_core::PrivacyEvent::DiscreteGaussian(noise) => Part::gaussian(noise).unwrap(),
            mizan_core::PrivacyEvent::RandomizedResponse(response) => Part::response(*response),
            mizan_core::PrivacyEvent::Exponential { epsilon } => Part::selection(*epsilon).unwrap(),
            other => unreachable!("{other}"),
        }
    }

    /// The mean of `e^-loss` with the person is the total probability without
    /// her: one. A wrong loss or a wrong neighbour would move it.
    #[test]
    fn losses_are_those_of_the_answers() {
        let mut entropy = Entropy::system().unwrap();
        for text in [
            "discrete-laplace(2, 3)",
            "discrete-gaussian(3, 2.5)",
            "discrete-gaussian(2, 1.7320508)",
            "rr(0.7)",
            "rr(0.4, 5)",
            "exponential(1.5)",
        ] {
            for (world, sign) in [(World::With, -1.0), (World::Without, 1.0)] {
                let mut losses = vec![0.0; 20_000];
                part(text)
                    .run(world, &mut entropy, false, &mut losses)
                    .unwrap();
                let odds = losses.iter().map(|loss| (sign * loss).exp());
                let mean = odds.sum::<f64>() / 20_000.0;
                // False alarms: terms of at most e^1.5 and variance e^1.5 - 1 leave
                // with probability 2e-26 (Bernstein), those of the Gaussian are 20
                // standard deviations away. Exchanged worlds have a mean above 1.5.
                assert!((mean - 1.0).abs() < 0.15, "{text}: {mean}");
            }
        }
    }

    #[test]
    fn gaussian_neighbours_use_what_the_norm_allows() {
        for (sensitivity, expected) in [
            (1.0, vec![1]),
            (3.0, vec![3]),
            (1.7320508, vec![1, 1]),
            (1.7320509, vec![1, 1, 1]),
            (2.5, vec![2, 1, 1]),
            (1e9 + 0.5, vec![1_000_000_000]),
        ] {
            assert_eq!(shifts(Sensitivity::new(sensitivity).unwrap()), expected);
        }
    }

    /// Of any ε losses are finite, or the audit would be blind.
    #[test]
    fn losses_of_selections_are_finite() {
        for epsilon in [1e-300, 1.0, 1e3, 1e10, 1e300] {
            let Part::Selection { losses, .. } = part(&format!("exponential({epsilon:e})")) else {
                unreachable!()
            };
            assert!(losses.0.is_finite() && losses.1.is_finite());
            let apart = losses.0 - losses.1;
            assert!(
                (apart - epsilon).abs() <= 1e-9 * epsilon + 1e-15,
                "{losses:?}"
            );
        }
    }
}
