//! The variance of a budget.

use mizan_core::{Delta, Epsilon, Interval};

use super::femto;
use crate::GaussianProfile;

/// The largest variance, in units of 1e-15, whose δ at `epsilon` is certainly at most δ. At most one
/// less than `u64::MAX`, which is a variance of 18,446.
///
/// `ln_delta` encloses ln δ; its lower end counts.
///
/// ```
/// use mizan_accounting::clock::limit;
/// use mizan_core::{Delta, Epsilon, Interval};
///
/// let ln_delta = Interval::from(1e-6).ln();
/// let v = limit(Epsilon::new(1.0)?, ln_delta);
/// // A variance of 0.0560289...
/// assert_eq!(v / 1_000_000_000, 56_028);
/// # Ok::<(), mizan_core::UnitError>(())
/// ```
#[must_use]
pub fn limit(epsilon: Epsilon, ln_delta: Interval) -> u64 {
    let fits = |units: u64| {
        let profile = GaussianProfile::from_square(femto::variance(units));
        profile.ln_delta(epsilon.get()).upper() <= ln_delta.lower()
    };
    // No variance has no δ.
    let (mut fitting, mut beyond) = (0u64, u64::MAX);
    if fits(beyond - 1) {
        return beyond - 1;
    }
    while beyond - fitting > 1 {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    fitting
}

/// The ε of a variance in units of 1e-15 at δ, from above.
///
/// ```
/// use mizan_accounting::clock::variance_epsilon;
/// use mizan_core::Delta;
///
/// let epsilon = variance_epsilon(56_028_900_000_000, Delta::new(1e-6)?).get();
/// assert!((0.999_999..1.0).contains(&epsilon), "{epsilon}");
/// # Ok::<(), mizan_core::UnitError>(())
/// ```
#[must_use]
pub fn variance_epsilon(units: u64, delta: Delta) -> Epsilon {
    let profile = GaussianProfile::from_square(femto::variance(units));
    profile.epsilon(delta).upper
}
