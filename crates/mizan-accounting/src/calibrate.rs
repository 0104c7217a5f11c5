//! Calibration: the noise that a target (ε, δ) needs, or the largest value of another parameter that
//! it allows.
//!
//! [`solve`] solves for any one parameter, with the accountant itself; [`gaussian`] compares the
//! exact noise with the classical rule.

mod axis;
mod search;
mod solve;

pub use solve::{Calibration, CalibrationError, solve};

use mizan_core::{Delta, Epsilon, Interval, PrivacyEvent, Sensitivity, Sigma};

use crate::methods::{self, Method};
use crate::minimize::first_that_holds;

/// The noise of a Gaussian mechanism for a given (ε, δ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianCalibration {
    /// A double that is certified to suffice, close to the smallest one.
    pub exact: Sigma,
    /// √(2 ln(1.25/δ)) Δ/ε, rounded up: the textbook rule, which is proven for
    /// ε < 1 only and is None elsewhere (Dwork and Roth 2014, Theorem A.1).
    pub classical: Option<Sigma>,
}

/// Calibrates Gaussian noise, exactly and by the classical rule.
///
/// None if no noise that a double can hold is enough, or δ is 0 or 1.
///
/// ```
/// use mizan_accounting::calibrate;
/// use mizan_core::{Delta, Epsilon, Sensitivity};
///
/// let sigma = calibrate::gaussian(Epsilon::new(0.5)?, Delta::new(1e-6)?, Sensitivity::ONE).expect("possible");
/// assert!((sigma.exact.get() - 8.0576).abs() < 1e-4);
/// assert!((sigma.classical.expect("below 1").get() - 10.5977).abs() < 1e-4);
/// # Ok::<(), mizan_core::UnitError>(())
/// ```
pub fn gaussian(
    epsilon: Epsilon,
    delta: Delta,
    sensitivity: Sensitivity,
) -> Option<GaussianCalibration> {
    if delta.get() <= 0.0 || delta.get() >= 1.0 {
        return None;
    }
    // The same computation as the accountant, so that both agree.
    let enough = |sigma: f64| {
        Sigma::new(sigma).is_ok_and(|sigma| {
            let event = PrivacyEvent::Gaussian { sigma, sensitivity };
            let account = methods::epsilon_by(Method::GaussianExact, &event, delta);
            account.is_ok_and(|account| account.upper <= epsilon)
        })
    };
    // Typed back as a decimal the value may lose a unit, and around the edge
    // rounding decides: a few units more are enough for sure.
    let mut exact = first_that_holds(f64::MIN_POSITIVE, 1e300, enough)?;
    for _ in 0..200 {
        if (0..3)
            .scan(exact, |sigma, _| {
                *sigma = sigma.next_down();
                Some(*sigma)
            })
            .all(enough)
        {
            break;
        }
        exact = exact.next_up();
    }
    let below_one = epsilon.get() < 1.0 && epsilon.get() > 0.0;
    let factor = ((Interval::from(1.25) / delta.get()).ln() * 2.0).sqrt();
    let classical = factor * sensitivity.get() / epsilon.get();
    Some(GaussianCalibration {
        exact: Sigma::new(exact).ok()?,
        classical: if below_one {
            Sigma::new(classical.upper()).ok()
        } else {
            None
        },
    })
}
