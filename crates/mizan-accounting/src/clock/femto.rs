//! Variances as whole numbers of 1e-15.
//!
//! Prices are rounded up and budgets down, so that sums and comparisons of them are exact.

use mizan_core::Interval;
use mizan_core::directed::mul_up;

/// The number of units in a variance of 1.
pub(super) const UNITS: f64 = 1e15;

/// The variance of so many units.
pub(super) fn variance(units: u64) -> Interval {
    const HALF: u32 = 32;
    let part = |bits: u64| Interval::from(f64::from(u32::try_from(bits).unwrap_or(u32::MAX)));
    let (high, low) = (units >> HALF, units & u64::from(u32::MAX));
    (part(high) * 4_294_967_296.0 + part(low)) / UNITS
}

/// The least number of units that is certainly enough for a variance. None if it is beyond `u64`.
pub(super) fn units_up(variance: Interval) -> Option<u64> {
    let upper = variance.upper();
    // `max` would make nothing of a NaN, such as 0 times an infinite count.
    if upper.is_nan() {
        return None;
    }
    let units = mul_up(upper.max(0.0), UNITS).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a whole number below 2^64"
    )]
    (units < 18_446_744_073_709_551_616.0).then_some(units as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_enclose() {
        for units in [0, 1, 3_814_697_265, u64::from(u32::MAX) + 1, u64::MAX] {
            let variance = variance(units);
            assert!(variance.upper() - variance.lower() <= 1e-15 * variance.upper());
            let back = units_up(variance);
            assert!(back.is_none_or(|back| back >= units), "{units} {back:?}");
        }
        assert_eq!(units_up(Interval::from(0.25)), Some(250_000_000_000_001));
        assert_eq!(units_up(Interval::ZERO), Some(0));
        assert_eq!(units_up(Interval::INFINITE), None);
        assert_eq!(units_up(Interval::INFINITE * Interval::ZERO), None);
    }
}
