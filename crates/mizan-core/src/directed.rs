//! Directed rounding: arithmetic whose name says to which side it rounds.
//!
//! `add_up(a, b)` is at least the real number a + b, `add_down(a, b)` at most.
//! The hardware rounds to nearest, so the true result lies within half a unit
//! in the last place of the computed one and one step outward encloses it.
//! An undefined result (inf - inf, 0 * inf) becomes the whole line: `*_up` returns +inf and `*_down`
//! -inf, so no function returns NaN.

/// The next number above, or +inf for NaN.
#[inline]
pub fn up(x: f64) -> f64 {
    if x.is_nan() {
        f64::INFINITY
    } else {
        x.next_up()
    }
}

/// The next number below, or -inf for NaN.
#[inline]
pub fn down(x: f64) -> f64 {
    if x.is_nan() {
        f64::NEG_INFINITY
    } else {
        x.next_down()
    }
}

/// At least a + b; exact when either is zero, or the sum is.
#[inline]
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // A sum of doubles is zero only if it is exactly zero.
    if a == 0.0 || b == 0.0 || sum == 0.0 {
        sum
    } else {
        up(sum)
    }
}

/// At most a + b; exact when either is zero, or the sum is.
#[inline]
pub fn add_down(a: f64, b: f64) -> f64 {
    -add_up(-a, -b)
}

/// At least a * b; exact when either is zero.
#[inline]
pub fn mul_up(a: f64, b: f64) -> f64 {
    // Without this a cost of exactly zero would become a subnormal.
    if (a == 0.0 && b.is_finite()) || (b == 0.0 && a.is_finite()) {
        0.0
    } else {
        up(a * b)
    }
}

/// At most a * b; exact when either is zero.
#[inline]
pub fn mul_down(a: f64, b: f64) -> f64 {
    -mul_up(-a, b)
}

/// At least a / b; exact when a is zero.
#[inline]
pub fn div_up(a: f64, b: f64) -> f64 {
    if a == 0.0 && b != 0.0 && !b.is_nan() {
        0.0
    } else {
        up(a / b)
    }
}

/// At most a / b; exact when a is zero.
#[inline]
pub fn div_down(a: f64, b: f64) -> f64 {
    -div_up(-a, b)
}

/// Both bounds of a * b, equal where the product is a double.
#[inline]
pub fn mul_both(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    // The fused operation gives the sign of what rounding lost.
    step_by(product, a.mul_add(b, -product)).unwrap_or((mul_down(a, b), mul_up(a, b)))
}

/// Both bounds of a / b, equal where the quotient is a double.
#[inline]
pub fn div_both(a: f64, b: f64) -> (f64, f64) {
    let quotient = a / b;
    // a - quotient * b is a double, and over b it is what rounding lost.
    let lost = (-quotient).mul_add(b, a) * b.signum();
    let known = if a.abs() > EXACT_RESIDUALS {
        step_by(quotient, lost)
    } else {
        None
    };
    known.unwrap_or((div_down(a, b), div_up(a, b)))
}

/// Above this the error of a product or quotient is itself a normal double.
const EXACT_RESIDUALS: f64 = 1e-290;

/// The neighbours that enclose `rounded` + `lost`, if `lost` can be trusted.
#[inline]
fn step_by(rounded: f64, lost: f64) -> Option<(f64, f64)> {
    if !(rounded.abs() > EXACT_RESIDUALS && lost.is_finite()) {
        None
    } else if lost > 0.0 {
        Some((rounded, up(rounded)))
    } else if lost < 0.0 {
        Some((down(rounded), rounded))
    } else {
        Some((rounded, rounded))
    }
}

/// A running sum that stays certified over millions of terms.
///
/// Adding with [`add_up`] alone drifts by one unit in the last place per term.
/// Here the error of every addition is computed exactly (Knuth's two-sum) and
/// only these tiny errors are added with directed rounding.
///
/// ```
/// use mizan_core::directed::DirectedSum;
/// let mut sum = DirectedSum::default();
/// for _ in 0..1_000_000 {
///     sum.add(0.1, 0.1);
/// }
/// // One million times the double 0.1, which is a little more than 1/10.
/// assert!(sum.upper() >= 100_000.0);
/// assert!(sum.upper() < 100_000.0 * (1.0 + 1e-15));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DirectedSum {
    lower: Compensated,
    upper: Compensated,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Compensated {
    sum: f64,
    error: f64,
}

impl Compensated {
    /// Adds `x`, rounding what is lost with `round` (one of `add_up`, `add_down`).
    #[inline]
    fn add(&mut self, x: f64, round: fn(f64, f64) -> f64) {
        let sum = self.sum + x;
        let x_part = sum - self.sum;
        let lost = (self.sum - (sum - x_part)) + (x - x_part);
        self.sum = sum;
        // An overflow leaves `lost` undefined; the sum itself is then infinite.
        if lost.is_finite() {
            self.error = round(self.error, lost);
        }
    }
}

impl DirectedSum {
    /// Adds a number known to lie in [lower, upper].
    #[inline]
    pub fn add(&mut self, lower: f64, upper: f64) {
        self.lower.add(lower, add_down);
        self.upper.add(upper, add_up);
    }

    /// At most the true sum.
    pub fn lower(&self) -> f64 {
        let Compensated { sum, error } = self.lower;
        if sum == f64::INFINITY {
            // Finite lower bounds may have overflowed: the largest double is safe.
            f64::MAX
        } else {
            add_down(sum, error)
        }
    }

    /// At least the true sum.
    pub fn upper(&self) -> f64 {
        add_up(self.upper.sum, self.upper.error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trivial_operations_are_exact() {
        assert_eq!(add_up(0.0, 0.1), 0.1);
        assert_eq!(add_down(0.1, 0.0), 0.1);
        assert_eq!(mul_up(0.0, 0.1), 0.0);
        assert_eq!(div_up(0.0, 3.0), 0.0);
        assert_eq!(mul_both(1.0, 0.1), (0.1, 0.1));
        assert_eq!(mul_both(0.0, 0.1), (0.0, 0.0));
        assert_eq!(div_both(0.1, -1.0), (-0.1, -0.1));
        assert_eq!(div_both(1.0, 8.0), (0.125, 0.125));
    }

    #[test]
    fn rounds_outward() {
        // 0.1 * 0.1 and 1/3 are not doubles: the two directions must differ.
        assert!(mul_down(0.1, 0.1) < mul_up(0.1, 0.1));
        for (lower, upper) in [
            mul_both(0.1, -0.1),
            div_both(1.0, 3.0),
            div_both(-1.0, 3.0),
            div_both(1.0, -3.0),
        ] {
            assert_eq!(lower.next_up(), upper);
        }
        let third = div_both(1.0, 3.0);
        assert!(third.0.mul_add(3.0, -1.0) < 0.0 && third.1.mul_add(3.0, -1.0) > 0.0);
        let third = div_both(1.0, -3.0);
        assert!(third.0.mul_add(-3.0, -1.0) > 0.0 && third.1.mul_add(-3.0, -1.0) < 0.0);
        assert!(div_down(1.0, 3.0) < div_up(1.0, 3.0));
        assert!(add_down(1.0, 1e-30) <= 1.0 && add_up(1.0, 1e-30) > 1.0);
        assert!(mul_up(1e-200, 1e-200) > 0.0);
        assert!(mul_down(1e-200, 1e-200) <= 0.0);
    }

    #[test]
    fn the_undefined_is_the_whole_line() {
        assert_eq!(add_up(f64::INFINITY, f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(
            add_down(f64::INFINITY, f64::NEG_INFINITY),
            f64::NEG_INFINITY
        );
        assert_eq!(mul_up(0.0, f64::INFINITY), f64::INFINITY);
        assert_eq!(div_up(0.0, 0.0), f64::INFINITY);
        assert_eq!(div_down(0.0, 0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn a_long_sum_stays_tight() {
        // 2^-53 added 2^20 times to 1: plain addition would never leave 1.
        let mut sum = DirectedSum::default();
        sum.add(1.0, 1.0);
        for _ in 0..1 << 20 {
            sum.add(f64::EPSILON / 2.0, f64::EPSILON / 2.0);
        }
        let truth = 1.0 + f64::EPSILON / 2.0 * f64::from(1 << 20);
        assert!(sum.lower() <= truth && truth <= sum.upper());
        assert!(sum.upper() - sum.lower() <= 4.0 * f64::EPSILON);
    }

    #[test]
    fn infinite_terms_make_an_infinite_upper_bound() {
        let mut sum = DirectedSum::default();
        sum.add(1.0, 1.0);
        sum.add(f64::MAX, f64::INFINITY);
        sum.add(f64::MAX, f64::MAX);
        assert_eq!(sum.upper(), f64::INFINITY);
        assert_eq!(sum.lower(), f64::MAX);
    }
}
