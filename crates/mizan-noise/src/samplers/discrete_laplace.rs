//! Discrete Laplace noise: `x` with probability proportional to `e^(-|x|/scale)`.

use num_bigint::BigUint;

use crate::exact::rational::Rational;
use crate::samplers::coins::Coins;
use crate::samplers::integer_noise::{self, IntegerNoise};
use crate::{ExactScale, NoiseError};

/// Two-sided geometric noise on the integers, exactly.
///
/// # Guarantee
///
/// `x` has probability `(1 - r)/(1 + r) · r^|x|` with `r = e^(-1/scale)`: no
/// rounding, no truncation.
///
/// ```
/// use mizan_noise::{DiscreteLaplace, Entropy, ExactScale};
/// let noise = DiscreteLaplace::new("2.5".parse::<ExactScale>()?);
/// let mut drawn = [0; 1000];
/// noise.fill(&mut Entropy::system()?, &mut drawn)?;
/// assert!(drawn.iter().any(|&x| x > 0) && drawn.iter().any(|&x| x < 0));
/// # Ok::<(), mizan_noise::NoiseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteLaplace(pub(crate) IntegerNoise);

impl DiscreteLaplace {
    /// Noise of this scale.
    #[must_use]
    pub const fn new(scale: ExactScale) -> Self {
        Self(IntegerNoise::laplace(scale))
    }

    /// The scale.
    #[must_use]
    pub const fn scale(&self) -> ExactScale {
        self.0.scale()
    }
}

integer_noise::draws!(DiscreteLaplace);

/// A magnitude and whether it is negative, for ratio `e^-rate`: a geometric draw with a sign,
/// repeated if it is a negative zero.
///
/// # Reference
///
/// Canonne, Kamath, Steinke, arXiv 2004.00010, Algorithm 2.
pub(crate) fn reference(
    coins: &mut (impl Coins + ?Sized),
    rate: &Rational,
) -> Result<(BigUint, bool), NoiseError> {
    loop {
        let negative = coins.bit()?;
        let magnitude = coins.geometric(rate)?;
        if !(negative && magnitude == BigUint::ZERO) {
            return Ok((magnitude, negative));
        }
    }
}
