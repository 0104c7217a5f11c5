//! Scales as exact fractions.

use std::fmt;
use std::str::FromStr;

use mizan_core::{Round, Scale, Sigma, parse_decimal};

use crate::NoiseError;
use crate::exact::rational::Rational;

/// A positive scale: a fraction of two 64-bit integers.
///
/// Every double from 2⁻¹¹ to 2⁶⁴ is such a fraction, so the sampler draws with exactly the scale
/// that the accountant used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactScale {
    numerator: u64,
    denominator: u64,
}

impl ExactScale {
    /// `numerator / denominator`.
    ///
    /// # Errors
    ///
    /// One of them is zero.
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, NoiseError> {
        if numerator == 0 || denominator == 0 {
            return Err(NoiseError::Scale {
                scale: format!("{numerator}/{denominator}"),
            });
        }
        // Reduced, so that equal scales are equal.
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest > 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Ok(Self {
            numerator: numerator / divisor,
            denominator: denominator / divisor,
        })
    }

    /// The value of a double, exactly.
    ///
    /// # Errors
    ///
    /// It is not positive, or not a fraction of 64-bit integers: below 2⁻¹¹
    /// with 53 significant bits, or 2⁶⁴ and above.
    pub fn from_f64(value: f64) -> Result<Self, NoiseError> {
        let refused = || NoiseError::Scale {
            scale: format!("{value}"),
        };
        if !(value.is_finite() && value > 0.0) {
            return Err(refused());
        }
        let (mantissa, exponent) = dyadic(value);
        let (numerator, denominator) = if exponent >= 0 {
            (shifted(mantissa, exponent), Some(1))
        } else {
            (Some(mantissa), shifted(1, -exponent))
        };
        match (numerator, denominator) {
            (Some(numerator), Some(denominator)) => Self::new(numerator, denominator),
            _ => Err(refused()),
        }
    }

    /// The nearest double, for display.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nothing is decided by it")]
    pub fn approximate(&self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The reciprocal.
    pub(crate) fn reciprocal(self) -> Self {
        Self {
            numerator: self.denominator,
            denominator: self.numerator,
        }
    }

    pub(crate) fn rational(self) -> Rational {
        Rational::new(self.numerator, self.denominator)
    }
}

impl TryFrom<Scale> for ExactScale {
    type Error = NoiseError;

    fn try_from(scale: Scale) -> Result<Self, NoiseError> {
        Self::from_f64(scale.get())
    }
}

impl TryFrom<Sigma> for ExactScale {
    type Error = NoiseError;

    fn try_from(sigma: Sigma) -> Result<Self, NoiseError> {
        Self::from_f64(sigma.get())
    }
}

/// Parses `3/2`, or a decimal with the rounding of events: to the double below.
impl FromStr for ExactScale {
    type Err = NoiseError;

    fn from_str(text: &str) -> Result<Self, NoiseError> {
        let refused = || NoiseError::Scale {
            scale: text.chars().take(40).collect(),
        };
        if let Some((numerator, denominator)) = text.split_once('/') {
            let part = |text: &str| text.trim().parse().map_err(|_| refused());
            return Self::new(part(numerator)?, part(denominator)?).map_err(|_| refused());
        }
        let value = parse_decimal(text.trim(), Round::Down).map_err(|_| refused())?;
        Self::from_f64(value).map_err(|_| refused())
    }
}

impl fmt::Display for ExactScale {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.approximate())
    }
}

/// A positive double as `mantissa · 2^exponent` with an odd mantissa.
pub(crate) fn dyadic(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let biased = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let (mantissa, exponent) = if biased == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, biased - 1075)
    };
    let zeros = mantissa.trailing_zeros().min(63);
    (
        mantissa >> zeros,
        exponent + i32::try_from(zeros).unwrap_or(0),
    )
}

/// `value · 2^shift` if it fits.
fn shifted(value: u64, shift: i32) -> Option<u64> {
    let shift = u32::try_from(shift).ok()?;
    (shift <= value.leading_zeros() && shift < 64).then(|| value << shift)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn doubles_are_fractions() {
        for value in [1.0, 0.1, 1e-3, 2.0_f64.powi(-11), 1e12, 3.5, 1.8e19] {
            let scale = ExactScale::from_f64(value).unwrap();
            assert_eq!(scale.approximate(), value);
        }
        assert_eq!(
            ExactScale::from_f64(0.375).unwrap(),
            ExactScale::new(3, 8).unwrap()
        );
    }

    #[test]
    fn what_is_no_scale() {
        for value in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e-5, 1.9e19] {
            assert!(ExactScale::from_f64(value).is_err(), "{value}");
        }
        for text in [
            "", "pi", "sqrt(2)", "0", "-1", "1/0", "0/1", "1/-2", "1e400", "½", "1/2/3",
        ] {
            let error = text.parse::<ExactScale>().unwrap_err();
            assert_eq!(error.code(), "MZ1602", "{text}");
        }
        assert!("1.5".parse::<ExactScale>().is_ok() && "3 / 2".parse::<ExactScale>().is_ok());
    }

    #[test]
    fn logarithms() {
        for (numerator, denominator, log) in [
            (1, 1, 0),
            (3, 2, 0),
            (2, 3, -1),
            (1, u64::MAX, -64),
            (u64::MAX, 1, 63),
            (4, 1, 2),
            (7, 8, -1),
        ] {
            let scale = ExactScale::new(numerator, denominator).unwrap();
            assert_eq!(
                scale.rational().log2_floor(),
                log,
                "{numerator}/{denominator}"
            );
        }
    }
}
