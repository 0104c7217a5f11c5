//! The price of a mechanism whose loss has a bounded range, such as the exponential mechanism.
//!
//! Every mechanism whose loss has the range η is dominated by a pair M_t with the losses t and t - η,
//! 0 <= t <= η, and the reversed pair of M_t is M_(η-t). With nothing left M_t costs at most as much
//! as a pure mechanism with ε0 = η/2, which is M_(η/2). With more left a price is certified
//! (`certificate.rs`, η = 0 there) from
//!
//! > sup_t δ_(M_t ⊗ G_w)(e),   δ_(M_t ⊗ G_w)(e) = p δ_w(e-t) + (1-p) δ_w(e-t+η),
//! > p = (1 - e^(t-η))/(1 - e^(-η)),
//!
//! which is convex in s like each of its members, and rises and then falls with t
//! (docs/spec/mathematics.md 4.9): three places bracket its maximum. Beyond the place where pure η,
//! which dominates every M_t, is below G_v it stays below.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use mizan_core::Interval;
use mizan_core::directed::{add_down, add_up};

use super::certificate::Certificate;
use super::symmetric::Symmetric;
use super::{Price, femto};
use crate::GaussianProfile;
use crate::minimize::valley;

/// How far above the price of half the loss a price is tried, and how often again.
const MARGINS: [f64; 2] = [1.01, 1.05];

/// The remainders, in units of the squared half of the range, at which a price is certified: with
/// less left little is gained, and with more the price hardly falls.
const LEAST_REMAINDER: f64 = 0.2;
const LARGEST_REMAINDER: f64 = 20.0;

/// The prices of the last ranges: to certify one takes some hundredths of a second, and an analyst
/// asks with few different ones.
static PRICES: Mutex<BTreeMap<u64, Price>> = Mutex::new(BTreeMap::new());

/// So many are kept.
const MOST_PRICES: usize = 1000;

/// The price of a mechanism with this range.
pub(super) fn of(range: f64) -> Price {
    let prices = || PRICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(price) = prices().get(&range.to_bits()) {
        return price.clone();
    }
    let price = Price::tabulated(|left| price(range, left));
    let mut prices = prices();
    if prices.len() >= MOST_PRICES {
        prices.clear();
    }
    prices.insert(range.to_bits(), price.clone());
    price
}

/// The price with `left` units of 1e-15 left after it. None if none is certified there.
pub(super) fn price(range: f64, left: u64) -> Option<u64> {
    let half = 0.5 * range;
    let remainder = femto::variance(left);
    let scaled = remainder.middle() / (half * half);
    if left == 0 {
        return Symmetric::Response.price(half, 0);
    }
    if !(LEAST_REMAINDER..=LARGEST_REMAINDER).contains(&scaled) {
        return None;
    }
    let likely = femto::variance(Symmetric::Response.price(half, left)?).upper();
    let family = Family::new(range, remainder);
    let mut certificate = Certificate::new(|e| family.delta(e), remainder, 0.0);
    // Good for larger prices too.
    let last = family.last_place(remainder + likely)?;
    for margin in MARGINS {
        let price = likely * margin;
        if certificate.holds(price, last) {
            return femto::units_up(Interval::from(price));
        }
    }
    None
}

/// All M_t with Gaussian noise.
struct Family {
    range: f64,
    remainder: Interval,
    /// 1 - e^(-η).
    whole: Interval,
}

impl Family {
    fn new(range: f64, remainder: Interval) -> Self {
        Self {
            range,
            remainder,
            whole: -(-Interval::from(range)).exp_m1(),
        }
    }

    /// A place from which on all of them are below G_v.
    fn last_place(&self, variance: Interval) -> Option<f64> {
        let mut e = self.range;
        for _ in 0..40 {
            let pure = ln_with_response(self.range, e, self.remainder);
            if pure.upper() <= ln_delta(e, variance).lower() {
                return Some(e);
            }
            e *= 1.3;
        }
        None
    }

    /// δ of the worst M_t at e, from above.
    fn delta(&self, e: f64) -> Option<f64> {
        let best = valley((0.0, self.range), 1e-7, |t| -self.rough(e, t)).place;
        let top = self.lower(e, best);
        let mut step = 1e-5 * self.range;
        for _ in 0..16 {
            let (left, right) = ((best - step).max(0.0), (best + step).min(self.range));
            let falls = |end: f64| self.upper(e, end, end) < top;
            // Beyond its ends there is no M_t.
            if (left == 0.0 || falls(left)) && (right == self.range || falls(right)) {
                return Some(self.upper(e, left, right));
            }
            step *= 2.0;
        }
        None
    }

    /// About the logarithm of δ of M_t at e; no bound.
    fn rough(&self, e: f64, t: f64) -> f64 {
        let root = self.remainder.middle().sqrt();
        let above = |x: f64| 0.5 * core_math::erfc(x * std::f64::consts::FRAC_1_SQRT_2);
        let delta = |e: f64| {
            let (place, half) = (e / root, 0.5 * root);
            above(place - half) - core_math::exp(e) * above(place + half)
        };
        let p = core_math::expm1(t - self.range) / core_math::expm1(-self.range);
        core_math::log(p * delta(e - t) + (1.0 - p) * delta(e - t + self.range))
    }

    /// At least δ of every M_t with t between two values.
    fn upper(&self, e: f64, low: f64, high: f64) -> f64 {
        // δ_w falls, so it rises with t.
        let place = add_down(e, -high);
        let far = self.other(high) * self.delta_of_noise(add_down(place, self.range));
        (self.first(low) * self.delta_of_noise(place) + far).upper()
    }

    /// At most δ of M_t.
    fn lower(&self, e: f64, t: f64) -> f64 {
        let place = add_up(e, -t);
        let far = self.other(t) * self.delta_of_noise(add_up(place, self.range));
        (self.first(t) * self.delta_of_noise(place) + far).lower()
    }

    /// p, which falls with t.
    fn first(&self, t: f64) -> Interval {
        -(Interval::from(t) - self.range).exp_m1() / self.whole
    }

    /// 1 - p.
    fn other(&self, t: f64) -> Interval {
        (-Interval::from(self.range)).exp() * Interval::from(t).exp_m1() / self.whole
    }

    fn delta_of_noise(&self, e: f64) -> Interval {
        ln_delta(e, self.remainder).exp()
    }
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
