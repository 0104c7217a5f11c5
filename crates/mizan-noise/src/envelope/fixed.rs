//! Integers as fractions: `e^-y` from both sides in 64-bit arithmetic.

use num_bigint::BigUint;

use crate::rational::Rational;

/// The largest `y` that [`exp_neg`] takes, in units of 2⁻⁶⁴: a tenth.
pub(super) const LARGEST: u64 = u64::MAX / 10;

/// How far [`exp_neg`] may be off, in units of 2⁻⁶⁴: four roundings of 2⁻⁶³ in
/// the last two terms, and less than 2⁻⁶⁸ for the terms left out.
const SLACK: u64 = 16;

/// `2^64 / j` for the terms of the series.
const RECIPROCALS: [u64; 11] = {
    let mut reciprocals = [u64::MAX; 11];
    let mut j = 1;
    while j < 11 {
        reciprocals[j] = u64::MAX / (j as u64 + 1);
        j += 1;
    }
    reciprocals
};

/// `e^-y` in units of 2⁻⁶⁴, at least and at most, for `y` in the same units.
#[inline]
pub(super) fn exp_neg(y: u64) -> (u64, u64) {
    debug_assert!(y <= LARGEST);
    const ONE: u64 = 1 << 63;
    // 1 - y (1 - y/2 (1 - y/3 (...))) in units of 2^-63.
    let mut sum = ONE;
    for &reciprocal in RECIPROCALS.iter().rev() {
        sum = ONE - high(high(y, sum), reciprocal);
    }
    // Two and not one less: 2^64 does not fit.
    let doubled = (sum - 1) << 1;
    (doubled.saturating_sub(SLACK), doubled.saturating_add(SLACK))
}

/// The upper half of a product.
#[inline]
fn high(a: u64, b: u64) -> u64 {
    #[expect(clippy::cast_possible_truncation, reason = "the upper half of 128 bits")]
    let high = ((u128::from(a) * u128::from(b)) >> 64) as u64;
    high
}

/// A positive fraction as a normalised 64-bit factor: multiplies integers to
/// 64-bit fractions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factor {
    /// At least 2⁶³.
    mantissa: u64,
    /// The factor lies between `mantissa` and `mantissa + 1` times
    /// 2^-(64 + shift).
    shift: i64,
}

impl Factor {
    pub(super) fn new(factor: &Rational) -> Self {
        // 64 bits of numerator / denominator, wherever they begin.
        let magnitude = |value: &BigUint| i64::try_from(value.bits()).unwrap_or(i64::MAX);
        let mut places = 64 - magnitude(&factor.numerator) + magnitude(&factor.denominator);
        let at = |places: i64| {
            let up = u64::try_from(places).unwrap_or(0);
            let down = u64::try_from(-places).unwrap_or(0);
            (&factor.numerator << up) / (&factor.denominator << down)
        };
        let mut mantissa = at(places);
        while mantissa.bits() > 64 {
            places -= 1;
            mantissa = at(places);
        }
        Self {
            mantissa: u64::try_from(&mantissa).unwrap_or(u64::MAX),
            shift: places - 64,
        }
    }

    /// `factor · value` in units of 2⁻⁶⁴, at least and at most. The product must
    /// be below one half.
    #[inline]
    pub(super) fn times(self, value: u128) -> (u64, u64) {
        // value = (top + less than one) · 2^dropped.
        let dropped = 64u32.saturating_sub(value.leading_zeros());
        #[expect(clippy::cast_possible_truncation, reason = "shifted to 64 bits")]
        let top = (value >> dropped) as u64;
        let product = u128::from(top) * u128::from(self.mantissa);
        let off = if value == 0 {
            0
        } else {
            u128::from(top) + u128::from(self.mantissa) + 1
        };
        let right = u32::try_from(self.shift - i64::from(dropped)).unwrap_or(0);
        let low = product.checked_shr(right).unwrap_or(0);
        let off = off.checked_shr(right).unwrap_or(0) + 2;
        #[expect(clippy::cast_possible_truncation, reason = "below one half")]
        let (low, off) = (low as u64, off as u64);
        (low, low.saturating_add(off))
    }
}

/// `a · b` of fractions in units of 2⁻¹²⁷, at most one each: rounded up, by at
/// most three units.
pub(super) fn times_up(a: u128, b: u128) -> u128 {
    const MASK: u128 = (1 << 64) - 1;
    debug_assert!(a <= 1 << 127 && b <= 1 << 127);
    let (a1, a0, b1, b0) = (a >> 64, a & MASK, b >> 64, b & MASK);
    // At most 2 · 2^63 (2^64 - 1) + 2^64: it fits.
    let middle = a1 * b0 + a0 * b1 + ((a0 * b0) >> 64);
    let high = a1 * b1 + (middle >> 64);
    ((high << 1) + 2).min(1 << 127)
}
