//! The decay `g` of a symmetric distribution on the integers, whose probabilities are proportional
//! to `e^-g(|x|)`.

use num_bigint::BigUint;

use crate::ExactScale;
use crate::exact::rational::Rational;

/// `g(x) = rate · x`, or `rate · x²`.
#[derive(Clone, Debug)]
pub(crate) struct Decay {
    pub(crate) rate: Rational,
    pub(crate) squared: bool,
}

impl Decay {
    /// `g(x) = x / scale`.
    pub(crate) fn laplace(scale: ExactScale) -> Self {
        Self {
            rate: scale.reciprocal().rational(),
            squared: false,
        }
    }

    /// `g(x) = x² / 2σ²`.
    pub(crate) fn gaussian(sigma: ExactScale) -> Self {
        let reciprocal = sigma.reciprocal().rational();
        Self {
            rate: reciprocal.times(&reciprocal).over_integer(2u8),
            squared: true,
        }
    }

    /// `⌊log₂⌋` of the scale.
    pub(crate) fn log2_scale(&self) -> i64 {
        let Rational {
            numerator,
            denominator,
        } = self.rate.clone();
        if self.squared {
            // Of σ² = 1 / 2 rate, halved.
            let log2 = Rational::new(denominator, numerator * 2u8).log2_floor();
            log2.div_euclid(2)
        } else {
            Rational::new(denominator, numerator).log2_floor()
        }
    }

    /// `g(x)`.
    pub(crate) fn exponent(&self, x: &BigUint) -> Rational {
        self.between(&BigUint::ZERO, x)
    }

    /// How many times the rate lies between `from` and `from + beyond`.
    #[inline]
    pub(crate) fn steps(&self, from: u128, beyond: u128) -> u128 {
        if self.squared {
            beyond * (beyond + 2 * from)
        } else {
            beyond
        }
    }

    /// `g(from + beyond) - g(from)`.
    pub(crate) fn between(&self, from: &BigUint, beyond: &BigUint) -> Rational {
        let steps = if self.squared {
            beyond * (beyond + from * 2u8)
        } else {
            beyond.clone()
        };
        self.rate.times_integer(steps)
    }
}
