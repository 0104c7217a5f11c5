//! What the discrete Laplace and Gaussian distributions share: a scale, the reference sampler, and
//! the envelope of the fast sampler, which is built when it is first used.

use std::sync::OnceLock;

use crate::samplers::decay::Decay;
use crate::samplers::envelope::Envelope;
use crate::samplers::{batch, discrete_gaussian, discrete_laplace};
use crate::{Entropy, ExactScale, NoiseError};

/// Noise on the integers of either distribution.
#[derive(Clone, Debug)]
pub(crate) struct IntegerNoise {
    scale: ExactScale,
    is_gaussian: bool,
    envelope: OnceLock<Box<Envelope>>,
}

impl IntegerNoise {
    pub(crate) const fn laplace(scale: ExactScale) -> Self {
        Self {
            scale,
            is_gaussian: false,
            envelope: OnceLock::new(),
        }
    }

    pub(crate) const fn gaussian(sigma: ExactScale) -> Self {
        Self {
            scale: sigma,
            is_gaussian: true,
            envelope: OnceLock::new(),
        }
    }

    /// The scale, or sigma.
    pub(crate) const fn scale(&self) -> ExactScale {
        self.scale
    }

    pub(crate) fn decay(&self) -> Decay {
        if self.is_gaussian {
            Decay::gaussian(self.scale)
        } else {
            Decay::laplace(self.scale)
        }
    }

    /// One draw by the reference sampler; its time depends on the value.
    pub(crate) fn draw(&self, entropy: &mut Entropy) -> Result<i128, NoiseError> {
        entropy.operation(|entropy| {
            let (magnitude, negative) = if self.is_gaussian {
                discrete_gaussian::reference(entropy, &self.scale.rational())?
            } else {
                discrete_laplace::reference(entropy, &self.scale.reciprocal().rational())?
            };
            Ok(batch::signed(batch::saturated(&magnitude), negative))
        })
    }

    /// Fills a slice with draws, with the same work for every value. If there is no randomness, or
    /// a value does not fit 64 bits, it leaves the slice zero.
    pub(crate) fn fill(&self, entropy: &mut Entropy, places: &mut [i64]) -> Result<(), NoiseError> {
        self.envelope().fill(entropy, places)
    }

    /// The same in 128 bits, without truncation.
    pub(crate) fn fill_wide(
        &self,
        entropy: &mut Entropy,
        places: &mut [i128],
    ) -> Result<(), NoiseError> {
        self.envelope().fill_wide(entropy, places)
    }

    fn envelope(&self) -> &Envelope {
        self.envelope
            .get_or_init(|| Box::new(Envelope::new(self.decay())))
    }
}

/// The public methods of a distribution that draw.
macro_rules! draws {
    ($distribution:ident) => {
        impl $distribution {
            /// One draw by the reference sampler. Its time depends on the value; use
            /// [`fill`](Self::fill) if that matters.
            ///
            /// # Errors
            ///
            /// There is no randomness.
            pub fn draw(&self, entropy: &mut crate::Entropy) -> Result<i128, NoiseError> {
                self.0.draw(entropy)
            }

            /// Fills a slice with draws, tens of millions a second and with the same work for every
            /// value.
            ///
            /// # Errors
            ///
            /// There is no randomness, or a value does not fit 64 bits; the slice is zero then.
            /// Noise so wide that this can happen is truncated when it does not, and must not be
            /// added to answers: [`Mechanism`](crate::Mechanism) draws 128 bits.
            pub fn fill(
                &self,
                entropy: &mut crate::Entropy,
                places: &mut [i64],
            ) -> Result<(), NoiseError> {
                self.0.fill(entropy, places)
            }
        }
    };
}

pub(crate) use draws;
