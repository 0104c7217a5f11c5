//! One mechanism on its worst neighbours: how it answers, and the loss that an
//! answer should have.

use mizan_core::{Epsilon, Sensitivity};
use mizan_noise::{
    DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, ExponentialMechanism, NoiseError,
    RandomizedResponse,
};

use crate::{AuditError, World};

/// Candidates that lose where the first one wins. Two alike reveal ε/2 only,
/// infinitely many ε, of a selection that never happens.
const OTHERS: usize = 16;

/// Answers are summed in 64 bits with noise on them.
const LARGEST_SHIFT: f64 = (1u64 << 53) as f64;

#[derive(Debug)]
pub(crate) enum Part {
    /// The answer is 0, or the sensitivity.
    Laplace { noise: DiscreteLaplace, shift: i64 },
    /// The same; a sensitivity that is not whole moves one coordinate by less.
    Gaussian { noise: DiscreteGaussian, shift: i64 },
    /// The truth is the first answer, or the second.
    Response {
        response: RandomizedResponse,
        loss: f64,
    },
    /// The first candidate is one worse than the others, or one better.
    Selection {
        mechanism: Box<ExponentialMechanism>,
        /// Of the first candidate, and of the others.
        losses: (f64, f64),
    },
}

impl Part {
    pub(crate) fn laplace(event: &mizan_core::DiscreteLaplace) -> Result<Self, AuditError> {
        Ok(Self::Laplace {
            noise: DiscreteLaplace::new(ExactScale::try_from(event.scale())?),
            shift: shift(event.sensitivity())?,
        })
    }

    pub(crate) fn gaussian(event: &mizan_core::DiscreteGaussian) -> Result<Self, AuditError> {
        Ok(Self::Gaussian {
            noise: DiscreteGaussian::new(ExactScale::try_from(event.sigma())?),
            shift: shift(event.sensitivity())?,
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
        // Weights against the others': e^-ε/2 without the person, e^ε/2 with her.
        let (lost, won, others) = (
            (-epsilon.get() / 2.0).exp(),
            (epsilon.get() / 2.0).exp(),
            OTHERS as f64,
        );
        let total = ((lost + others) / (won + others)).ln();
        Ok(Self::Selection {
            mechanism: Box::new(ExponentialMechanism::new(epsilon, 1)?),
            losses: (epsilon.get() + total, total),
        })
    }

    pub(crate) fn is_noise(&self) -> bool {
        matches!(self, Self::Laplace { .. } | Self::Gaussian { .. })
    }

    pub(crate) fn is_pure(&self) -> bool {
        !matches!(self, Self::Gaussian { .. })
    }

    /// In draws of discrete noise, roughly.
    pub(crate) fn work(&self) -> u64 {
        match self {
            // One at a time, each with its own key.
            Self::Selection { .. } => 100,
            _ => 1,
        }
    }

    /// Answers in this world, one for each place.
    pub(crate) fn answers(
        &self,
        world: World,
        entropy: &mut Entropy,
        places: &mut [i64],
    ) -> Result<(), NoiseError> {
        let with = world == World::With;
        match self {
            Self::Laplace { noise, shift } => {
                noise.fill(entropy, places)?;
                moved(places, if with { *shift } else { 0 })
            }
            Self::Gaussian { noise, shift } => {
                noise.fill(entropy, places)?;
                moved(places, if with { *shift } else { 0 })
            }
            Self::Response { response, .. } => {
                let mut answers = vec![u64::from(with); places.len()];
                response.respond(entropy, &mut answers)?;
                for (place, answer) in places.iter_mut().zip(answers) {
                    // Those beyond the second are all alike.
                    *place = i64::try_from(answer.min(2)).unwrap_or(2);
                }
                Ok(())
            }
            Self::Selection { mechanism, .. } => {
                let mut scores = vec![1; OTHERS + 1];
                if let Some(first) = scores.first_mut() {
                    *first = if with { 2 } else { 0 };
                }
                for place in places {
                    let selected = mechanism.select(entropy, &scores)?;
                    *place = i64::from(selected == 0);
                }
                Ok(())
            }
        }
    }

    /// The logarithm of how much likelier an answer should be with the person;
    /// nothing is decided by its last digits.
    pub(crate) fn loss(&self, answer: i64) -> f64 {
        let x = answer as f64;
        match self {
            Self::Laplace { noise, shift } => {
                (x.abs() - (x - *shift as f64).abs()) / noise.scale().approximate()
            }
            Self::Gaussian { noise, shift } => {
                let (sigma, shift) = (noise.sigma().approximate(), *shift as f64);
                (x - shift / 2.0) / sigma * (shift / sigma)
            }
            Self::Response { loss, .. } => match answer {
                0 => -loss,
                1 => *loss,
                _ => 0.0,
            },
            Self::Selection { losses, .. } => {
                if answer == 1 {
                    losses.0
                } else {
                    losses.1
                }
            }
        }
    }
}

/// How far one person moves the answer.
fn shift(sensitivity: Sensitivity) -> Result<i64, NoiseError> {
    let whole = sensitivity.get().floor();
    if whole > LARGEST_SHIFT {
        return Err(NoiseError::Sensitivity {
            sensitivity: sensitivity.get(),
        });
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most 2^53")]
    Ok(whole as i64)
}

fn moved(places: &mut [i64], shift: i64) -> Result<(), NoiseError> {
    for place in places {
        *place = place
            .checked_add(shift)
            .ok_or(NoiseError::Overflow { bits: 64 })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The mean of `e^-loss` with the person is the total probability without
    /// her: one. A wrong loss or a wrong neighbour would move it.
    #[test]
    fn losses_are_those_of_the_answers() {
        let mut entropy = Entropy::system().unwrap();
        for text in [
            "discrete-laplace(2, 3)",
            "discrete-gaussian(3, 2.5)",
            "rr(0.7)",
            "rr(0.4, 5)",
            "exponential(1.5)",
        ] {
            let event: mizan_core::PrivacyEvent = text.parse().unwrap();
            let part = match &event {
                mizan_core::PrivacyEvent::DiscreteLaplace(noise) => Part::laplace(noise).unwrap(),
                mizan_core::PrivacyEvent::DiscreteGaussian(noise) => Part::gaussian(noise).unwrap(),
                mizan_core::PrivacyEvent::RandomizedResponse(response) => Part::response(*response),
                mizan_core::PrivacyEvent::Exponential { epsilon } => {
                    Part::selection(*epsilon).unwrap()
                }
                other => unreachable!("{other}"),
            };
            let mut places = vec![0; 20_000];
            for (world, sign) in [(World::With, -1.0), (World::Without, 1.0)] {
                part.answers(world, &mut entropy, &mut places).unwrap();
                let odds = places
                    .iter()
                    .map(|&answer| (sign * part.loss(answer)).exp());
                let mean = odds.sum::<f64>() / 20_000.0;
                // False alarms: terms of at most e^1.5 and variance e^1.5 - 1 leave
                // with probability 2e-26 (Bernstein), those of the Gaussian are 30
                // standard deviations away. Exchanged worlds have a mean above 1.5.
                assert!((mean - 1.0).abs() < 0.15, "{text}: {mean}");
            }
        }
    }
}
