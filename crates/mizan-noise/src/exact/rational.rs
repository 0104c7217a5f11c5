//! Exact fractions of big integers, for probabilities and scales.

use num_bigint::BigUint;

/// A non-negative fraction. Not reduced: nothing here compares fractions by
/// their parts.
#[derive(Clone, Debug)]
pub(crate) struct Rational {
    pub(crate) numerator: BigUint,
    /// Never zero.
    pub(crate) denominator: BigUint,
}

impl Rational {
    /// `numerator / denominator`; the denominator must not be zero.
    pub(crate) fn new(numerator: impl Into<BigUint>, denominator: impl Into<BigUint>) -> Self {
        let denominator = denominator.into();
        assert!(denominator > BigUint::ZERO);
        Self {
            numerator: numerator.into(),
            denominator,
        }
    }

    pub(crate) fn integer(value: impl Into<BigUint>) -> Self {
        Self::new(value, 1u8)
    }

    /// A positive double, exactly.
    pub(crate) fn from_f64(value: f64) -> Self {
        assert!(value > 0.0 && value.is_finite());
        let (mantissa, exponent) = crate::exact::scale::dyadic(value);
        let up = u32::try_from(exponent).unwrap_or(0);
        let down = u32::try_from(-exponent).unwrap_or(0);
        Self::new(BigUint::from(mantissa) << up, BigUint::from(1u8) << down)
    }

    /// `⌊log₂⌋` of a positive fraction.
    pub(crate) fn log2_floor(&self) -> i64 {
        let bits = |value: &BigUint| i64::try_from(value.bits()).unwrap_or(i64::MAX);
        // The fraction lies in (2^(guess-1), 2^(guess+1)).
        let guess = bits(&self.numerator) - bits(&self.denominator);
        let up = u64::try_from(guess).unwrap_or(0);
        let down = u64::try_from(-guess).unwrap_or(0);
        if &self.numerator << down >= &self.denominator << up {
            guess
        } else {
            guess - 1
        }
    }

    /// The largest integer below, and what is left: a fraction below one.
    pub(crate) fn split(&self) -> (BigUint, Self) {
        let whole = &self.numerator / &self.denominator;
        let rest = &self.numerator - &whole * &self.denominator;
        (whole, Self::new(rest, self.denominator.clone()))
    }

    pub(crate) fn floor(&self) -> BigUint {
        &self.numerator / &self.denominator
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        Self::new(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }

    pub(crate) fn times_integer(&self, factor: impl Into<BigUint>) -> Self {
        Self::new(&self.numerator * factor.into(), self.denominator.clone())
    }

    pub(crate) fn over_integer(&self, divisor: impl Into<BigUint>) -> Self {
        Self::new(self.numerator.clone(), &self.denominator * divisor.into())
    }

    /// The distance between two fractions.
    pub(crate) fn distance(&self, other: &Self) -> Self {
        let (a, b) = (
            &self.numerator * &other.denominator,
            &other.numerator * &self.denominator,
        );
        Self::new(
            if a > b { a - b } else { b - a },
            &self.denominator * &other.denominator,
        )
    }

    /// `⌊self · 2^bits⌋`.
    pub(crate) fn scaled_down(&self, bits: u64) -> BigUint {
        (&self.numerator << bits) / &self.denominator
    }

    /// `⌈self · 2^bits⌉`.
    pub(crate) fn scaled_up(&self, bits: u64) -> BigUint {
        ceiling(&(&self.numerator << bits), &self.denominator)
    }
}

/// `⌈a / b⌉`.
pub(crate) fn ceiling(a: &BigUint, b: &BigUint) -> BigUint {
    let quotient = a / b;
    if &quotient * b == *a {
        quotient
    } else {
        quotient + 1u8
    }
}
