//! Additive noise on real answers, after rounding to a grid.

use mizan_core::{PrivacyEvent, Scale, Sensitivity, Sigma};

use super::{Mechanism, sum};
use crate::{Entropy, Grid, NoiseError};

/// Rounds real answers to a grid and adds exact noise there.
///
/// The event has scale and sensitivity in steps of the grid, including what rounding adds to the
/// sensitivity: the accountant prices the discrete mechanism, never the continuous one.
///
/// ```
/// use mizan_core::{Scale, Sensitivity};
/// use mizan_noise::{Entropy, Grid, GridMechanism};
/// let grid = Grid::new(-10)?;
/// let mechanism = GridMechanism::laplace(grid, Scale::new(2.0)?, Sensitivity::ONE, 3)?;
/// assert_eq!(mechanism.event().to_string(), "discrete-laplace(2048, 1027)");
/// let mut answer = [0.5, 1e6, -3.25];
/// mechanism.release(&mut Entropy::system()?, &mut answer)?;
/// assert!(answer.iter().all(|value| (value * 1024.0).fract() == 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct GridMechanism {
    grid: Grid,
    dimension: usize,
    mechanism: Mechanism,
}

impl GridMechanism {
    /// Laplace noise of this scale on `dimension` numbers of this L1 sensitivity.
    ///
    /// # Errors
    ///
    /// In steps of the grid, the scale or the sensitivity is out of range.
    pub fn laplace(
        grid: Grid,
        scale: Scale,
        sensitivity: Sensitivity,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        let sensitivity = grid.l1_sensitivity(sensitivity, dimension)?;
        let steps = scale.get() / grid.step();
        let scale = Scale::new(steps).map_err(|_| refused(steps))?;
        let event = mizan_core::DiscreteLaplace::new(scale, sensitivity).map_err(|_| {
            NoiseError::Sensitivity {
                sensitivity: sensitivity.get(),
            }
        })?;
        Self::new(grid, dimension, Mechanism::laplace(event)?)
    }

    /// Gaussian noise of this parameter on `dimension` numbers of this L2 sensitivity.
    ///
    /// # Errors
    ///
    /// In steps of the grid, the parameter or the sensitivity is out of range.
    pub fn gaussian(
        grid: Grid,
        sigma: Sigma,
        sensitivity: Sensitivity,
        dimension: usize,
    ) -> Result<Self, NoiseError> {
        let sensitivity = grid.l2_sensitivity(sensitivity, dimension)?;
        let steps = sigma.get() / grid.step();
        let sigma = Sigma::new(steps).map_err(|_| refused(steps))?;
        let event = mizan_core::DiscreteGaussian::new(sigma, sensitivity).map_err(|_| {
            NoiseError::Sensitivity {
                sensitivity: sensitivity.get(),
            }
        })?;
        Self::new(grid, dimension, Mechanism::gaussian(event)?)
    }

    fn new(grid: Grid, dimension: usize, mechanism: Mechanism) -> Result<Self, NoiseError> {
        if dimension == 0 {
            return Err(NoiseError::Empty { what: "the answer" });
        }
        Ok(Self {
            grid,
            dimension,
            mechanism,
        })
    }

    /// The privacy event of a release.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        self.mechanism.event()
    }

    /// Replaces the answer by the noisy answer, on the grid.
    ///
    /// # Errors
    ///
    /// The answer has another dimension or a value that is not finite, or there is no randomness;
    /// the answer is zero then.
    pub fn release(&self, entropy: &mut Entropy, answer: &mut [f64]) -> Result<(), NoiseError> {
        let released = self.fits(answer).and_then(|()| {
            self.mechanism.by_chunks(entropy, answer, |&value, noise| {
                self.grid.value(sum(self.grid.round(value), noise))
            })
        });
        if released.is_err() {
            answer.fill(0.0);
        }
        released
    }

    fn fits(&self, answer: &[f64]) -> Result<(), NoiseError> {
        if answer.len() != self.dimension {
            return Err(NoiseError::Dimension {
                given: answer.len(),
                expected: self.dimension,
            });
        }
        match answer.iter().position(|value| !value.is_finite()) {
            Some(position) => Err(NoiseError::NotFinite { position }),
            None => Ok(()),
        }
    }
}

fn refused(steps: f64) -> NoiseError {
    NoiseError::Scale {
        scale: format!("{steps}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn mechanism() -> GridMechanism {
        let (scale, one) = (Scale::new(2.0).unwrap(), Sensitivity::ONE);
        GridMechanism::laplace(Grid::new(-10).unwrap(), scale, one, 2).unwrap()
    }

    #[test]
    fn what_cannot_be_released_does_not_leave() {
        let mut entropy = Entropy::seeded(1);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut answer = [41.0, bad];
            let refused = mechanism().release(&mut entropy, &mut answer);
            assert_eq!(refused, Err(NoiseError::NotFinite { position: 1 }));
            assert_eq!(answer, [0.0, 0.0]);
        }
        let mut answer = [41.0];
        assert!(mechanism().release(&mut entropy, &mut answer).is_err());
        assert_eq!(answer, [0.0]);
        let mut answer = [41.0, 42.0];
        assert!(
            mechanism()
                .release(&mut Entropy::failing(), &mut answer)
                .is_err()
        );
        assert_eq!(answer, [0.0, 0.0]);
    }

    #[test]
    fn scales_that_do_not_fit_are_refused() {
        let fine = Grid::new(-900).unwrap();
        let (scale, one) = (Scale::new(2.0).unwrap(), Sensitivity::ONE);
        assert!(GridMechanism::laplace(fine, scale, one, 1).is_err());
        let coarse = Grid::new(900).unwrap();
        assert!(GridMechanism::gaussian(coarse, Sigma::new(2.0).unwrap(), one, 1).is_err());
        assert!(GridMechanism::laplace(Grid::new(0).unwrap(), scale, one, 0).is_err());
    }
}
