//! Finding a good place to evaluate a bound.
//!
//! Whatever place is found, the value there is a bound in its own right, so a
//! search that stops early or on a kink costs tightness, never soundness.

/// A place and the value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Minimum {
    pub(crate) place: f64,
    pub(crate) value: f64,
}

impl Minimum {
    /// The smaller value; infinite and undefined values lose.
    pub(crate) fn or(self, other: Self) -> Self {
        if other.value < self.value || self.value.is_nan() {
            other
        } else {
            self
        }
    }
}

/// Golden-section search of a function with a single valley on [low, high].
pub(crate) fn golden_section((low, high): (f64, f64), mut f: impl FnMut(f64) -> f64) -> Minimum {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let mut at = |place: f64| Minimum {
        place,
        value: f(place),
    };
    let (mut low, mut high) = (low, high);
    let mut left = at(high - GOLDEN * (high - low));
    let mut right = at(low + GOLDEN * (high - low));
    let mut best = left.or(right);
    // 45 steps shrink the range by 4e-10: at a smooth minimum the value then
    // agrees to the last digits.
    for _ in 0..45 {
        // Where both are infinite the valley may be on either side; curves of
        // reported points are infinite on the right, so go left.
        if left.value <= right.value {
            high = right.place;
            right = left;
            left = at(high - GOLDEN * (high - low));
            best = best.or(left);
        } else {
            low = left.place;
            left = right;
            right = at(low + GOLDEN * (high - low));
            best = best.or(right);
        }
    }
    best
}

/// The smallest double in [low, high] that satisfies `holds`, which is taken to
/// hold from somewhere on. None if it does not hold at `high`.
pub(crate) fn first_that_holds(low: f64, high: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    if holds(low) {
        return Some(low);
    }
    if !holds(high) {
        return None;
    }
    // Non-negative doubles are ordered as their bits.
    let (mut low, mut high) = (low.max(0.0).to_bits(), high.to_bits());
    while high.saturating_sub(low) > 1 {
        let middle = low + (high - low) / 2;
        if holds(f64::from_bits(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(f64::from_bits(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_smooth_minimum() {
        let found = golden_section((-30.0, 40.0), |x| (x - 3.25).powi(2) + 1.0);
        assert!((found.place - 3.25).abs() < 1e-6);
        assert!((found.value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn finds_a_minimum_beside_infinity() {
        let found = golden_section((-30.0, 40.0), |x| if x > 2.0 { f64::INFINITY } else { -x });
        assert!((found.place - 2.0).abs() < 1e-6);
    }
}
