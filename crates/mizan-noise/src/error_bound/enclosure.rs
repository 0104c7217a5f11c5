//! Enclosures of exact integers and fractions in doubles, and back.

use mizan_core::Interval;
use num_bigint::BigUint;

use crate::NoiseError;
use crate::exact::rational::Rational;

/// `π`: the double is below it.
pub(super) fn pi() -> Interval {
    Interval::new(std::f64::consts::PI, std::f64::consts::PI.next_up())
}

/// The doubles on both sides of an integer.
pub(super) fn of_integer(value: &BigUint) -> Interval {
    let shift = value.bits().saturating_sub(53);
    let unit = i32::try_from(shift).map_or(f64::INFINITY, |shift| 2f64.powi(shift));
    if unit > 1e290 {
        return Interval::new(1e290, f64::INFINITY);
    }
    let top = u64::try_from(&(value >> shift)).unwrap_or(u64::MAX);
    let above = top + u64::from(BigUint::from(top) << shift != *value);
    #[expect(clippy::cast_precision_loss, reason = "at most 2^53")]
    let at = |count: u64| count as f64 * unit;
    Interval::new(at(top), at(above))
}

/// Two doubles around a fraction.
pub(super) fn of_rational(value: &Rational) -> Interval {
    of_integer(&value.numerator) / of_integer(&value.denominator)
}

/// Half-widths above this are refused: what is computed with them must fit 128
/// bits as well.
const LARGEST: f64 = 1.3e33; // 2^110

/// The integer at or above a number, if it is one that we work with.
pub(super) fn rounded_up(value: f64) -> Result<u128, NoiseError> {
    if value < LARGEST {
        let value = value.ceil().max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "an integer in range"
        )]
        Ok(value as u128)
    } else {
        Err(NoiseError::Overflow { bits: 128 })
    }
}

/// A number as large as an integer, about.
pub(super) fn near(value: u128) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "nothing is decided by it")]
    let near = value as f64;
    near
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn integers_are_enclosed_and_small_ones_exact() {
        for value in [0u128, 1, (1 << 53) - 1, 1 << 53, 1 << 100] {
            let enclosure = of_integer(&value.into());
            assert_eq!(enclosure, Interval::from(near(value)));
        }
        for value in [(1u128 << 53) + 1, (1 << 54) + 3, u128::MAX] {
            let enclosure = of_integer(&value.into());
            assert_eq!(enclosure.lower().next_up(), enclosure.upper());
            assert!(enclosure.contains(near(value)));
        }
        let huge = of_integer(&(BigUint::from(1u8) << 2000u32));
        assert!(huge.lower() > 1e289 && huge.upper() == f64::INFINITY);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(rounded_up(-3.5).unwrap(), 0);
        assert_eq!(rounded_up(2.1).unwrap(), 3);
        assert!(rounded_up(1.2e33).is_ok());
        for value in [1.4e33, f64::INFINITY, f64::NAN] {
            let refused = rounded_up(value).unwrap_err();
            assert_eq!(refused, NoiseError::Overflow { bits: 128 }, "{value}");
        }
    }
}
