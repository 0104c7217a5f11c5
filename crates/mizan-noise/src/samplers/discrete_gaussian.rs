//! Discrete Gaussian noise: `x` with probability proportional to
//! `e^(-x²/2σ²)`.

use num_bigint::BigUint;

use crate::exact::rational::Rational;
use crate::samplers::coins::Coins;
use crate::samplers::discrete_laplace;
use crate::samplers::integer_noise::{self, IntegerNoise};
use crate::{ExactScale, NoiseError};

/// Gaussian noise on the integers, exactly.
///
/// # Guarantee
///
/// `x` has probability `e^(-x²/2σ²)` over the sum of these: no rounding, no
/// truncation.
///
/// ```
/// use mizan_noise::{DiscreteGaussian, Entropy, ExactScale};
/// let noise = DiscreteGaussian::new("20".parse::<ExactScale>()?);
/// let mut drawn = [0; 1000];
/// noise.fill(&mut Entropy::system()?, &mut drawn)?;
/// assert!(drawn.iter().all(|&x| x.abs() < 400));
/// # Ok::<(), mizan_noise::NoiseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiscreteGaussian(pub(crate) IntegerNoise);

impl DiscreteGaussian {
    /// Noise of parameter `sigma`.
    #[must_use]
    pub const fn new(sigma: ExactScale) -> Self {
        Self(IntegerNoise::gaussian(sigma))
    }

    /// The parameter; the standard deviation is slightly below.
    #[must_use]
    pub const fn sigma(&self) -> ExactScale {
        self.0.scale()
    }
}

integer_noise::draws!(DiscreteGaussian);

/// A magnitude and whether it is negative: Laplace noise of scale `⌊σ⌋ + 1`, accepted with a
/// probability that makes it Gaussian.
///
/// # Reference
///
/// Canonne, Kamath, Steinke, arXiv 2004.00010, Algorithm 3.
pub(crate) fn reference(
    coins: &mut (impl Coins + ?Sized),
    sigma: &Rational,
) -> Result<(BigUint, bool), NoiseError> {
    let scale = sigma.floor() + 1u8;
    let rate = Rational::new(1u8, scale.clone());
    let squared = sigma.times(sigma);
    let centre = squared.over_integer(scale);
    loop {
        let (magnitude, negative) = discrete_laplace::reference(coins, &rate)?;
        let distance = Rational::integer(magnitude.clone()).distance(&centre);
        // (|x| - σ²/t)² / 2σ².
        let excess = distance.times(&distance).times(&Rational::new(
            squared.denominator.clone(),
            &squared.numerator * 2u8,
        ));
        if coins.bernoulli_exp(&excess)? {
            return Ok((magnitude, negative));
        }
    }
}
