//! Noise on the integers, of either kind.

use mizan_core::PrivacyEvent;

use crate::{DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, NoiseError};

/// The noise that an event adds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Noise {
    /// Probabilities fall with the distance.
    Laplace(DiscreteLaplace),
    /// Probabilities fall with its square.
    Gaussian(DiscreteGaussian),
}

impl Noise {
    /// The noise of `discrete-laplace` and `discrete-gaussian`; none for other
    /// events.
    ///
    /// # Errors
    ///
    /// The scale is no fraction of 64-bit integers.
    pub fn of(event: &PrivacyEvent) -> Result<Option<Self>, NoiseError> {
        Ok(match event {
            PrivacyEvent::DiscreteLaplace(event) => Some(Self::Laplace(DiscreteLaplace::new(
                event.scale().try_into()?,
            ))),
            PrivacyEvent::DiscreteGaussian(event) => Some(Self::Gaussian(DiscreteGaussian::new(
                event.sigma().try_into()?,
            ))),
            _ => None,
        })
    }

    /// Its scale, or sigma.
    #[must_use]
    pub const fn scale(&self) -> ExactScale {
        match self {
            Self::Laplace(noise) => noise.scale(),
            Self::Gaussian(noise) => noise.sigma(),
        }
    }

    /// One draw, by the theorem's own algorithm; its time depends on the value.
    ///
    /// # Errors
    ///
    /// There is no randomness, or the value does not fit.
    pub fn draw(&self, entropy: &mut Entropy) -> Result<i128, NoiseError> {
        match self {
            Self::Laplace(noise) => noise.draw(entropy),
            Self::Gaussian(noise) => noise.draw(entropy),
        }
    }

    /// As many draws as there are places, with the same work for every value.
    ///
    /// # Errors
    ///
    /// There is no randomness, or a value does not fit 64 bits; all places are
    /// zero then.
    pub fn fill(&self, entropy: &mut Entropy, places: &mut [i64]) -> Result<(), NoiseError> {
        match self {
            Self::Laplace(noise) => noise.fill(entropy, places),
            Self::Gaussian(noise) => noise.fill(entropy, places),
        }
    }
}
