//! The price of pure charges while all charges of an account have been pure, and of the first charge
//! of an account.
//!
//! While the largest losses of all charges add up to T < ε, the likelihood ratio r is within e^±T,
//! so the inequality of a charge is needed only where |e| >= e1 = ε - T. RR ⊗ G_w has at most one
//! crossing with G_v on e >= 0, from above to below (docs/spec/mathematics.md 4.9): it is enough to
//! compare the two at e1,
//!
//! > p δ_w(e1 - ε0) + (1-p) δ_w(e1 + ε0) <= δ_v(e1),   p = 1/(1 + e^(-ε0)).
//!
//! Before the first charge r is 1, and of any mechanism nothing but its profile at ε matters.

use mizan_core::directed::add_down;
use mizan_core::{Epsilon, Interval, PrivacyEvent};

use super::event::pure_parts;
use super::{Price, femto};
use crate::GaussianProfile;

/// More parts than this are not priced one by one.
const MOST_PARTS: u64 = 256;

/// The sum of the largest losses of the parts of an event, apart from the δ of `approximate` parts.
/// None if a part is not pure.
///
/// While the sum T over all charges of an account is below its ε, [`band_price`] may be used.
#[must_use]
pub fn pure_loss(event: &PrivacyEvent) -> Option<Epsilon> {
    let parts = pure_parts(event)?;
    let sum = parts.iter().fold(Interval::ZERO, |sum, part| {
        sum + femto::variance(part.count) * femto::UNITS * part.loss
    });
    Some(Epsilon::saturating(sum.upper()))
}

/// The price of a pure charge in an account in which all charges have been pure, in units of 1e-15,
/// where `left` units are left before it. At most [`Price::taken`]. None if it does not fit.
///
/// `e1` is at most ε - T, where T is the sum of the [largest losses](pure_loss) of all charges
/// before this one.
///
/// # Guarantee
///
/// It holds for this account only, and only as long as its ε stays as it is.
#[must_use]
pub fn band_price(event: &PrivacyEvent, e1: Epsilon, left: u64) -> Option<u64> {
    let parts = pure_parts(event)?;
    let count = parts
        .iter()
        .try_fold(0u64, |sum, part| sum.checked_add(part.count))?;
    if count > MOST_PARTS {
        return Price::of(event).ok()?.taken(left);
    }
    let (mut e1, mut after) = (e1.get(), left);
    for part in parts {
        for _ in 0..part.count {
            let here = (e1 > 0.0).then(|| one(part.loss, e1, after)).flatten();
            let taken = match (here, part.price.taken(after)) {
                (Some(here), Some(anywhere)) => here.min(anywhere),
                (here, anywhere) => here.or(anywhere)?,
            };
            after = after.checked_sub(taken)?;
            e1 = add_down(e1, -part.loss);
        }
    }
    left.checked_sub(after)
}

/// The price of one loss of at most `loss`, matched at `e1`.
fn one(loss: f64, e1: f64, left: u64) -> Option<u64> {
    if loss == 0.0 {
        return Some(0);
    }
    let target = ln_delta(e1, femto::variance(left));
    let holds = |price: u64| {
        let rest = left.checked_sub(price).map(femto::variance);
        rest.is_some_and(|rest| ln_with_response(loss, e1, rest).upper() <= target.lower())
    };
    let whole = femto::variance(left).middle();
    let excess = |price: f64| {
        let rest = Interval::from((whole - price).max(0.0));
        ln_with_response(loss, e1, rest).middle() - target.middle()
    };
    // The price is close to ε0².
    let first = femto::units_up(Interval::from(secant(excess, loss * loss, whole)))?.min(left);
    let mut step = 4.max(first >> 40);
    let mut price = first;
    for _ in 0..64 {
        if holds(price) {
            return Some(price);
        }
        if price == left {
            return None;
        }
        price = price.saturating_add(step).min(left);
        step = step.saturating_mul(2);
    }
    None
}

/// About where a falling function is zero between 0 and `high`; no bound.
fn secant(f: impl Fn(f64) -> f64, guess: f64, high: f64) -> f64 {
    let (mut low, mut high) = (0.0, high);
    let mut here = guess.min(0.9 * high);
    let mut before: Option<(f64, f64)> = None;
    for _ in 0..40 {
        let value = f(here);
        if value > 0.0 {
            low = here;
        } else {
            high = here;
        }
        let next = before
            .map(|(place, at)| here - value * (here - place) / (value - at))
            .filter(|next| *next > low && *next < high);
        before = Some((here, value));
        let next = match next {
            Some(next) => next,
            None if low == 0.0 => 0.9 * here,
            None if value > 0.0 && here * 1.1 < high => 1.1 * here,
            None => 0.5 * (low + high),
        };
        if (next - here).abs() <= 1e-13 * here {
            return next;
        }
        here = next;
    }
    high
}

/// ln δ_v(e) for any real e.
pub(super) fn ln_delta(e: f64, variance: Interval) -> Interval {
    if variance.upper() <= 0.0 {
        return (-Interval::from(e).exp_m1()).non_negative().ln();
    }
    let profile = GaussianProfile::from_square(variance);
    if e >= 0.0 {
        return profile.ln_delta(e);
    }
    // δ(e) = 1 - e^e + e^e δ(-e).
    let other = profile.ln_delta(-e).exp();
    let e = Interval::from(e);
    (-e.exp_m1() + e.exp() * other).ln()
}

/// ln δ of randomized response and Gaussian noise, from above.
pub(super) fn ln_with_response(loss: f64, e1: f64, variance: Interval) -> Interval {
    let point = Interval::from(loss);
    // δ falls, so places are rounded down.
    let near = ln_delta(add_down(e1, -loss), variance) - (-point).exp().ln_1p();
    let far = ln_delta(add_down(e1, loss), variance) - point - (-point).exp().ln_1p();
    if far.upper() == f64::NEG_INFINITY {
        return near;
    }
    near + (far - near).exp().ln_1p()
}
