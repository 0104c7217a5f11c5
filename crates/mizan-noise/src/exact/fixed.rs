//! Fixed-point arithmetic in 64 bits: enclosures of `e^-y`.

use num_bigint::BigUint;

use crate::exact::rational::Rational;

/// The largest `y` that [`exp_neg`] takes, in units of 2⁻⁶⁴. The bins are so
/// narrow that theirs are below: `2^-5` for Laplace, `2^-7 · 9.43` for Gaussian.
const LARGEST: u64 = u64::MAX / 13;

/// How far [`exp_neg`] may be off, in units of 2⁻⁶⁴: `y^5/5!` is below 2.25e-8,
/// and beside that what was rounded is nothing.
///
/// The same for every `y`, though small ones are known better: so the chance
/// that a comparison remains open, 2⁻²⁴, says nothing about the value.
pub(crate) const EXP_SLACK: u64 = 1 << 39;

/// `e^-y` in units of 2⁻⁶⁴, for `y` in the same units; off by less than
/// [`EXP_SLACK`].
#[inline]
pub(crate) fn exp_neg(y: u64) -> u64 {
    assert!(y <= LARGEST + LARGEST / 64);
    const ONE: u64 = 1 << 63;
    // 1 - y (1 - y/2 (1 - y/3 (1 - y/4))) in units of 2^-63.
    let mut sum = ONE;
    sum = ONE - high(high(y, sum), u64::MAX / 4);
    sum = ONE - high(high(y, sum), u64::MAX / 3);
    sum = ONE - (high(y, sum) >> 1);
    sum = ONE - high(y, sum);
    // One does not fit 64 bits.
    (sum - 1) << 1
}

/// The upper half of a product.
#[inline]
fn high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Multiplies integers by a fraction, to units of 2⁻⁶⁴.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    /// The fraction is between `mantissa` and `mantissa + 1` times a power of
    /// two; at least 2⁶³.
    mantissa: u64,
    /// Bits of the integer that come before the first 64.
    dropped: u32,
    /// From the product of both to the result.
    shift: u32,
}

/// How much larger the product may be than [`Factor::times`] says, in units of
/// 2⁻⁶⁴.
///
/// The result is below 2⁶², so an integer of 64 bits times `mantissa ≥ 2⁶³` is
/// shifted by at least as many bits as the integer has. One more in the
/// mantissa, or in the integer where bits were dropped, is then worth less than
/// one unit each, and rounding down another.
pub(crate) const FACTOR_SLACK: u64 = 3;

impl Factor {
    /// For integers of at most `largest`, whose product is below a quarter.
    pub(crate) fn new(factor: &Rational, largest: &BigUint) -> Self {
        // 64 bits of the fraction, wherever they begin.
        let magnitude = |value: &BigUint| i64::try_from(value.bits()).unwrap_or(i64::MAX);
        let at = |places: i64| {
            let up = u64::try_from(places).unwrap_or(0);
            let down = u64::try_from(-places).unwrap_or(0);
            (&factor.numerator << up) / (&factor.denominator << down)
        };
        let guess = 64 - magnitude(&factor.numerator) + magnitude(&factor.denominator);
        let places = if at(guess).bits() > 64 {
            guess - 1
        } else {
            guess
        };
        let dropped = u32::try_from(magnitude(largest) - 64).unwrap_or(0);
        // fraction · integer = mantissa · 2^-places · (integer / 2^dropped) · 2^dropped,
        // times 2^64. Where nothing is ever multiplied it may be negative.
        let shift = u32::try_from(places - 64 - i64::from(dropped)).unwrap_or(0);
        Self {
            mantissa: u64::try_from(&at(places)).unwrap_or(u64::MAX),
            dropped,
            shift: shift.min(127),
        }
    }

    /// The product in units of 2⁻⁶⁴, at least; at most [`FACTOR_SLACK`] more.
    #[inline]
    pub(crate) fn times(self, value: u128) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "64 bits are left")]
        let value = (value >> self.dropped) as u64;
        #[expect(clippy::cast_possible_truncation, reason = "below a quarter")]
        let product = ((u128::from(value) * u128::from(self.mantissa)) >> self.shift) as u64;
        product
    }
}

/// `a · b` of fractions in units of 2⁻¹²⁷, at most one each: rounded up, by at
/// most three units.
pub(crate) fn times_up(a: u128, b: u128) -> u128 {
    const MASK: u128 = (1 << 64) - 1;
    assert!(a <= 1 << 127 && b <= 1 << 127);
    let (a1, a0, b1, b0) = (a >> 64, a & MASK, b >> 64, b & MASK);
    // At most 2 · 2^63 (2^64 - 1) + 2^64: it fits.
    let middle = a1 * b0 + a0 * b1 + ((a0 * b0) >> 64);
    let high = a1 * b1 + (middle >> 64);
    ((high << 1) + 2).min(1 << 127)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Within its slack of the enclosure by big integers, over the whole range.
    #[test]
    fn the_exponential_is_within_its_slack() {
        for step in 0..=1000u64 {
            let y = LARGEST / 1000 * step;
            let found = BigUint::from(exp_neg(y));
            let exact = Rational::new(y, BigUint::from(1u8) << 64u32);
            let (low, high) = crate::exact::exponential::exp_neg(&exact, 64);
            assert!(
                &found + EXP_SLACK >= high && found <= low + EXP_SLACK,
                "{y}"
            );
        }
    }

    #[test]
    fn factors_are_within_their_slack() {
        for (numerator, denominator) in [(1u64, 3u64), (7, u64::MAX), (u64::MAX, 5), (1, 1 << 40)] {
            let factor = Rational::new(numerator, denominator).over_integer(1u64 << 50);
            // As large as the product allows.
            let largest =
                Rational::new(factor.denominator.clone(), &factor.numerator * 4u8).floor();
            let made = Factor::new(&factor, &largest);
            for part in [1u8, 2, 3, 100, 255] {
                let value = u128::try_from(&(&largest / part)).unwrap();
                let exact = factor.times_integer(value);
                let found = BigUint::from(made.times(value));
                assert!(
                    found <= exact.scaled_down(64),
                    "{numerator}/{denominator} / {part}"
                );
                assert!(found + FACTOR_SLACK >= exact.scaled_up(64));
            }
        }
    }

    #[test]
    fn products_are_rounded_up() {
        let half = 1u128 << 126;
        let odd = 0x5555_5555_5555_5555_5555_5555_5555_5555_u128;
        for (a, b) in [
            (half, half),
            (odd, half),
            (odd, odd),
            (1 << 127, odd),
            (1 << 127, 1 << 127),
            (0, odd),
            (1, 1),
        ] {
            let exact = BigUint::from(a) * b;
            let found = BigUint::from(times_up(a, b)) << 127u32;
            assert!(found >= exact, "{a} {b}");
            assert!(found <= exact + (BigUint::from(3u8) << 127u32), "{a} {b}");
        }
    }
}
