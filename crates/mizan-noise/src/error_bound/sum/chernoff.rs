//! Chernoff's bound of a sum: `P(|X| ≥ M) ≤ 2 E e^(sX) e^(-sM)` for every `s > 0`.

use mizan_core::Interval;

use super::characteristic::Characteristic;
use crate::NoiseError;
use crate::error_bound::enclosure::rounded_up;

/// `s` above this is of no use: half of it overflows no hyperbolic function.
pub(super) const LARGEST_TILT: f64 = 600.0;

/// The smallest `M` that Chernoff's bound finds with `P(|X| ≥ M) ≤ missed`.
pub(super) fn reach(of: &Characteristic, missed: f64) -> Result<u128, NoiseError> {
    rounded_up(bound(of, missed, tilt(of, missed)))
}

/// Chernoff's bound at one `s`: `M ≥ (ln E e^(sX) + ln(2/missed)) / s`.
fn bound(of: &Characteristic, missed: f64, s: f64) -> f64 {
    let logarithm = (Interval::from(2.0) / missed).ln();
    ((of.cumulant(Interval::from(s)) + logarithm) / s).upper()
}

/// About the best `s`.
pub(super) fn tilt(of: &Characteristic, missed: f64) -> f64 {
    let rate = of.smallest_rate();
    // The best for a Gaussian of this variance. For all others it is smaller,
    // by a factor of about ten, or for very narrow noise down to about one.
    let gaussian = (2.0 * (2.0 / missed).ln() / of.variance()).sqrt().ln();
    let most = rate.min(LARGEST_TILT).ln().min(gaussian + 1.0);
    let from = (gaussian - 4.0).min(most - 8.0);
    let s = |x: f64| x.exp().min(rate * (1.0 - 1e-9));
    s(lowest(from, most, |x| bound(of, missed, s(x))))
}

/// About where a function with one minimum has it, by golden section.
pub(super) fn lowest(mut low: f64, mut high: f64, at: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let mut left = high - GOLDEN * (high - low);
    let mut right = low + GOLDEN * (high - low);
    let (mut at_left, mut at_right) = (at(left), at(right));
    for _ in 0..48 {
        // Where both are infinite the minimum is on the left.
        if at_left <= at_right {
            high = right;
            (right, at_right) = (left, at_left);
            left = high - GOLDEN * (high - low);
            at_left = at(left);
        } else {
            low = left;
            (left, at_left) = (right, at_right);
            right = low + GOLDEN * (high - low);
            at_right = at(right);
        }
    }
    if at_left <= at_right { left } else { right }
}
