//! The price of any plan that is fixed in advance, by a certificate.
//!
//! The profile of the plan and Gaussian noise, which the numerical accountant brackets, goes into a
//! certificate (`certificate.rs`) with an η > 0 that counts as reserved δ. Beyond a place e_n where
//! δ <= η nothing is left to show: f(s) <= s f(s_n)/s_n <= η s, because f is convex and zero at 0.

use mizan_core::{Delta, Epsilon, Interval, PrivacyEvent};

use super::certificate::Certificate;
use super::{Price, Unpriced, femto, limit};
use crate::PrivacyProfile;

/// A price, and what it takes of the reserved δ.
#[derive(Clone, Debug, PartialEq)]
pub struct Priced {
    /// The price.
    pub price: Price,
    /// The δ that is added to that of other charges which may fail.
    pub eta: Delta,
}

/// A price as far above the least as this is good enough, relative.
const TOLERANCE: f64 = 0.004;

/// The remainders for which prices are computed, in units of the variance with the total variation
/// of the plan.
const LEAST_REMAINDER: f64 = 1.0 / 16.0;
const LARGEST_REMAINDER: f64 = 64.0;

/// No price is larger than what an account can have.
const LARGEST: f64 = 18_446.0;

/// The price of a plan that is fixed in advance, such as a whole training run, as one charge.
///
/// It takes the time of some hundred points of a privacy profile for each remainder, which may be
/// a second. A larger `eta` gives a lower price if the loss has a heavy tail.
///
/// # Errors
///
/// The event has no privacy profile; the error names the part.
pub fn plan_price(event: &PrivacyEvent, eta: Delta) -> Result<Priced, Unpriced> {
    let profile = PrivacyProfile::of(event)?;
    let mut last = None;
    // Prices vary where the remainder is of their size. A price at a remainder serves at all larger
    // ones, and a much smaller remainder has a price out of proportion.
    // The variance with the total variation of the plan.
    let variation = profile.delta(Epsilon::ZERO);
    let scale = variation.map(|variation| {
        let ln = Interval::from(variation.upper.get()).ln();
        femto::variance(limit(Epsilon::ZERO, ln)).upper()
    });
    let price = Price::tabulated(|left| {
        let (scale, w) = (scale?, femto::variance(left).upper());
        if left == 0 || w < scale * LEAST_REMAINDER || w > scale * LARGEST_REMAINDER {
            return None;
        }
        let price = at_remainder(&profile, left, eta, last)?;
        last = Some(price);
        Some(price)
    });
    Ok(Priced { price, eta })
}

/// The price with so much left.
fn at_remainder(
    profile: &PrivacyProfile,
    left: u64,
    eta: Delta,
    guess: Option<u64>,
) -> Option<u64> {
    let remainder = femto::variance(left);
    let with_noise = profile.with_gaussian(remainder);
    let mut sweeps = with_noise.sweeps();
    let profile = |e: f64| {
        sweeps.iter_mut().try_fold(0.0f64, |worst, sweep| {
            Some(worst.max(sweep.delta(e, worst)?.upper))
        })
    };
    least(
        &mut Certificate::new(profile, remainder, eta.get()),
        remainder,
        eta.get(),
        guess,
    )
}

/// A price, in units of 1e-15, close to the least one. The search starts at `guess`.
fn least<P: FnMut(f64) -> Option<f64>>(
    certificate: &mut Certificate<P>,
    remainder: Interval,
    eta: f64,
    guess: Option<u64>,
) -> Option<u64> {
    let last = last_place(certificate, remainder, eta)?;
    let start = match guess {
        Some(guess) => femto::variance(guess).middle(),
        None => start(certificate, remainder)?,
    };
    let (mut failing, mut holding) = (0.0, start);
    while !certificate.holds(holding, last) {
        failing = holding;
        holding *= 1.5;
        if holding > LARGEST {
            return None;
        }
    }
    while holding > failing * (1.0 + TOLERANCE) && holding * femto::UNITS > 1.0 {
        let middle = if failing == 0.0 {
            holding / 1.5
        } else {
            (failing * holding).sqrt()
        };
        if certificate.holds(middle, last) {
            holding = middle;
        } else {
            failing = middle;
        }
    }
    femto::units_up(Interval::from(holding))
}

/// A place where δ is at most η.
fn last_place<P: FnMut(f64) -> Option<f64>>(
    certificate: &mut Certificate<P>,
    remainder: Interval,
    eta: f64,
) -> Option<f64> {
    let mut e = remainder.sqrt().upper().max(1e-3);
    for _ in 0..40 {
        if certificate.delta(e)? <= eta {
            return Some(e);
        }
        e *= 1.25;
    }
    None
}

/// About the variance that covers the total variation; a start only.
fn start<P: FnMut(f64) -> Option<f64>>(
    certificate: &mut Certificate<P>,
    remainder: Interval,
) -> Option<f64> {
    let variation = certificate.delta(0.0)?;
    let whole = variation * variation * std::f64::consts::TAU;
    Some((whole - remainder.middle()).max(1e-3 * whole))
}
