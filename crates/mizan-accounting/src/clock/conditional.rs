//! Prices that hold in one state of one account only.
//!
//! While the largest losses of all charges of an account add up to T < ε, its likelihood ratio r is
//! within e^±T. So the inequality of a charge is needed only where |e| >= e1 = ε - T.
//!
//! - Nothing was charged yet, T = 0: of any mechanism only its profile at ε matters.
//! - The charge consists of pure parts and Laplace noise: RR ⊗ G_w, and the same with Laplace noise,
//!   has at most one crossing with G_v on e >= 0, from above to below (docs/spec/mathematics.md 4.9),
//!   so it is enough to compare the two at e1,
//!
//! > p δ_w(e1 - ε0) + (1-p) δ_w(e1 + ε0) <= δ_v(e1),   p = 1/(1 + e^(-ε0)),
//!
//!   or for Laplace noise, with a = (e1 - ε0)/√w, b = (e1 + ε0)/√w, h = √w/2 and Mills' ratio M,
//!
//! > e^((e1 - ε0)/2 - w/8) (φ(a) (M(a - h) - M(a)) + φ(b) (M(b) - M(b + h))) <= δ_v(e1).
//!
//! Unlike a [`Price`](super::Price), such a price does not hold at a larger remainder: the noise that is then added
//! mixes in values of e below e1. It holds as long as the account stays as if all its charges had been
//! made with this remainder: nothing is given back, and ε stays as it is.

use mizan_core::directed::add_down;
use mizan_core::{Epsilon, Interval, PrivacyEvent};

use super::event::{has_symmetric_part, is_amplified, symmetric_parts};
use super::range::{ln_delta, ln_with_response};
use super::symmetric::{Symmetric, ln_root_two_pi};
use super::{Price, femto};
use crate::PrivacyProfile;
use crate::convert::mills;

/// More parts than this are not priced one by one.
const MOST_PARTS: u64 = 256;

/// The price of a charge in an account with the target `epsilon`, where `left` units of 1e-15 are left
/// before the charge, and the largest losses of all charges before it add up to at most `losses`. None
/// if it is not known or does not fit.
///
/// It may be larger than [`Price::taken`](super::Price::taken). A charge that is not pure has such a
/// price only if `losses` is 0.
#[must_use]
pub fn conditional_price(
    event: &PrivacyEvent,
    epsilon: Epsilon,
    losses: Epsilon,
    left: u64,
) -> Option<u64> {
    let e1 = add_down(epsilon.get(), -losses.get());
    if e1 <= 0.0 {
        return None;
    }
    match symmetric_parts(event) {
        Some(parts) => {
            let count = parts
                .iter()
                .try_fold(0u64, |sum, (_, _, count)| sum.checked_add(*count))?;
            // A band is of use while the budget is spent on few releases.
            if count > MOST_PARTS {
                return None;
            }
            let (mut e1, mut after) = (e1, left);
            for (mechanism, loss, count) in parts {
                for _ in 0..count {
                    after = after.checked_sub(in_band(mechanism, loss, e1, after)?)?;
                    e1 = add_down(e1, -loss);
                }
            }
            left.checked_sub(after)
        }
        None if losses == Epsilon::ZERO && gains_as_first(event, left) => {
            opening_price(event, epsilon, left)
        }
        None => None,
    }
}

/// Whether `price` units of 1e-15 certainly pay for a charge in this state. A charge of one mechanism,
/// and a first charge, is compared at this price, so that a price stays valid if a later version of
/// the search finds another one.
#[must_use]
pub fn conditional_price_holds(
    event: &PrivacyEvent,
    epsilon: Epsilon,
    losses: Epsilon,
    left: u64,
    price: u64,
) -> bool {
    match symmetric_parts(event).as_deref() {
        Some(&[(mechanism, loss, 1)]) => {
            let e1 = add_down(epsilon.get(), -losses.get());
            loss == 0.0 || e1 > 0.0 && holds_in_band(mechanism, loss, e1, left, price)
        }
        None if losses == Epsilon::ZERO => opening_price_holds(event, epsilon, left, price),
        _ => conditional_price(event, epsilon, losses, left).is_some_and(|least| least <= price),
    }
}

/// Whether an event that is not pure may cost less as a first charge than later. Gaussian noise costs
/// the same.
#[must_use]
pub fn may_open(event: &PrivacyEvent) -> bool {
    is_amplified(event) || has_symmetric_part(event)
}

/// Whether a first charge is large enough for its own price to be worth the computation.
fn gains_as_first(event: &PrivacyEvent, left: u64) -> bool {
    const LEAST_PART: u64 = 64;
    let is_large = || {
        let price = Price::of(event).ok().and_then(|price| price.taken(left));
        price.is_none_or(|price| price > left / LEAST_PART)
    };
    is_amplified(event) || has_symmetric_part(event) && is_large()
}

/// The price of a mechanism with a loss of at most `loss`, compared at `e1`.
fn in_band(mechanism: Symmetric, loss: f64, e1: f64, left: u64) -> Option<u64> {
    if loss == 0.0 {
        return Some(0);
    }
    if e1 <= 0.0 {
        return None;
    }
    let target = ln_delta(e1, femto::variance(left));
    let holds = |price| holds_in_band(mechanism, loss, e1, left, price);
    let whole = femto::variance(left).middle();
    let excess = |price: f64| {
        let rest = Interval::from((whole - price).max(0.0));
        ln_with(mechanism, loss, e1, rest).middle() - target.middle()
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

/// The inequality of such a charge at `e1`.
fn holds_in_band(mechanism: Symmetric, loss: f64, e1: f64, left: u64, price: u64) -> bool {
    let target = ln_delta(e1, femto::variance(left));
    let rest = left.checked_sub(price).map(femto::variance);
    rest.is_some_and(|rest| ln_with(mechanism, loss, e1, rest).upper() <= target.lower())
}

/// ln δ of a mechanism and Gaussian noise at e1, from above.
fn ln_with(mechanism: Symmetric, loss: f64, e1: f64, variance: Interval) -> Interval {
    let laplace = match mechanism {
        Symmetric::Response => None,
        Symmetric::Laplace => ln_with_laplace(loss, e1, variance),
    };
    // Randomized response dominates Laplace noise.
    laplace.unwrap_or_else(|| ln_with_response(loss, e1, variance))
}

/// The same of Laplace noise. None where Mills' ratio is of no use.
fn ln_with_laplace(loss: f64, e1: f64, variance: Interval) -> Option<Interval> {
    let (place, root) = (Interval::from(e1), variance.sqrt());
    let half = root * 0.5;
    let (near, far) = ((place - loss) / root, (place + loss) / root);
    // Above it Mills' ratio is no larger than at -1.
    let is_of_use = (near - half).lower() >= -1.0;
    if !is_of_use {
        return None;
    }
    // With φ(0) taken out, and b² - a² = 4 ε0 e1/w.
    let first = mills(near - half) - mills(near);
    let second = mills(far) - mills(far + half);
    let fall = (place * loss * -2.0 / variance).exp();
    let sum = (first + fall * second).non_negative();
    let exponent = (place - loss) * 0.5 - variance * 0.125 - near.square() * 0.5;
    Some(exponent - ln_root_two_pi() + sum.ln())
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

/// The price of a first charge: before it r is 1, so that δ_(M ⊗ G_w)(ε) <= δ_v(ε), in both directions,
/// is enough.
fn opening_price(event: &PrivacyEvent, epsilon: Epsilon, left: u64) -> Option<u64> {
    let opening = Opening::of(event, epsilon, left)?;
    if !opening.leaves(0) {
        return None;
    }
    let (mut fitting, mut beyond) = (0, left);
    // To a thousandth of what is left.
    while beyond - fitting > 1 + left / 1024 {
        let middle = fitting + (beyond - fitting) / 2;
        if opening.leaves(middle) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    Some(left - fitting)
}

/// Whether a first charge certainly costs at most this.
fn opening_price_holds(event: &PrivacyEvent, epsilon: Epsilon, left: u64, price: u64) -> bool {
    let opening = Opening::of(event, epsilon, left);
    opening
        .zip(left.checked_sub(price))
        .is_some_and(|(opening, rest)| opening.leaves(rest))
}

/// The inequality of a first charge.
struct Opening {
    profile: PrivacyProfile,
    epsilon: Epsilon,
    /// δ_v(ε), from below.
    target: f64,
}

impl Opening {
    fn of(event: &PrivacyEvent, epsilon: Epsilon, left: u64) -> Option<Self> {
        Some(Self {
            profile: PrivacyProfile::of(event).ok()?,
            epsilon,
            target: ln_delta(epsilon.get(), femto::variance(left)).exp().lower(),
        })
    }

    /// Whether the charge certainly leaves so much.
    fn leaves(&self, rest: u64) -> bool {
        let profile = self.profile.with_gaussian(femto::variance(rest));
        let delta = profile.delta(self.epsilon);
        delta.is_some_and(|delta| delta.upper.get() <= self.target)
    }
}
