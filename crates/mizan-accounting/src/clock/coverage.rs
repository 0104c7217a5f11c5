//! The variance that covers a total variation.
//!
//! With T(v) = δ_v(0) = erf √(v/8), a price is the least u with T(w + u) >= T* for some T* > T(w).
//! T saturates (above a variance of 270 doubles cannot tell it from 1), and for a small price T(w)
//! and T* agree in most digits. So both sides are compared after T(w) is subtracted and √(2π) e^(w/8)
//! is multiplied:
//!
//! > A(u) = ∫₀^u e^(-t/8)/(2√(w+t)) dt >= R,   R = √(2π) e^(w/8) (T* - T(w)),
//!
//! which for u >= 1/2 is compared as the logarithms of the complements, by Mills' ratio M:
//!
//! > 2 e^(-u/8) M(√(w+u)/2) <= X,   X = 2 M(√w/2) - R = √(2π) e^(w/8) (1 - T*).

use mizan_core::Interval;

use super::femto;
use crate::convert::mills;

/// What must be covered beyond a variance `base`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coverage {
    /// The variance w that is there.
    pub(super) base: Interval,
    /// R, if the price may be small.
    pub(super) gain: Interval,
    /// ln X, if the price may be large.
    pub(super) ln_rest: Interval,
}

/// Up to here A is a series.
const SMALL: f64 = 0.5;

/// Where the search ends: beyond all variances of 64 bits.
const LARGEST: f64 = 18_500.0;

impl Coverage {
    /// A price in units of 1e-15: enough, and the least to about nine digits.
    pub(super) fn price(&self) -> Option<u64> {
        let guess = self.guess();
        if !(0.0..LARGEST).contains(&guess) {
            return None;
        }
        let first = femto::units_up(Interval::from(guess))?;
        // Steps that double: the guess is off by rounding only.
        let mut step = 1.max(first >> 40);
        let mut price = first.saturating_sub(step);
        for _ in 0..40 {
            if self.holds(femto::variance(price)) {
                return Some(price);
            }
            price = price.checked_add(step)?;
            step = step.checked_mul(2)?;
        }
        None
    }

    /// Whether this price is certainly enough.
    fn holds(&self, price: Interval) -> bool {
        if price.upper() <= SMALL {
            covered(self.base, price).lower() >= self.gain.upper()
        } else {
            ln_uncovered(self.base, price).upper() <= self.ln_rest.lower()
        }
    }

    /// About the least price; no bound.
    fn guess(&self) -> f64 {
        self.small_guess()
            .filter(|&guess| guess <= SMALL)
            .unwrap_or_else(|| self.large_guess())
    }

    /// By Newton's method in d = √(w+u) - √w, in which A is almost a line and concave.
    fn small_guess(&self) -> Option<f64> {
        let (root, gain) = (self.base.sqrt().middle(), self.gain.middle());
        let price_of = |d: f64| d * (2.0 * root + d);
        let mut d = gain;
        for _ in 0..8 {
            let price = price_of(d);
            if !(0.0..=2.0 * SMALL).contains(&price) {
                return None;
            }
            let reached = covered(self.base, Interval::from(price)).middle();
            let step = (gain - reached) * core_math::exp(price / 8.0);
            d = (d + step).max(0.0);
            if step.abs() <= 1e-13 * d {
                break;
            }
        }
        Some(price_of(d))
    }

    /// By Newton's method from below: ln of the complement is convex in u.
    fn large_guess(&self) -> f64 {
        let (base, target) = (self.base.middle(), self.ln_rest.middle());
        if !target.is_finite() {
            return f64::INFINITY;
        }
        let mut price: f64 = SMALL;
        for _ in 0..60 {
            let reached = ln_uncovered(self.base, Interval::from(price)).middle();
            let root = (base + price).sqrt();
            let ratio = mills(Interval::from(0.5 * root)).middle();
            // d/du of the logarithm is -1/(4 √(w+u) M).
            let step = (reached - target) * 4.0 * root * ratio;
            price = (price + step).max(0.0);
            if step.abs() <= 1e-13 * price || price > LARGEST {
                break;
            }
        }
        price
    }
}

/// A(u), for u up to about 1/2.
///
/// With s = √(w+t) it is the integral of e^(-(s² - w)/8) over the d that √(w+u) is above √w, which
/// is d Σ c_n/(n+1) for e^(-αz - βz²) = Σ c_n zⁿ, α = √w d/4, β = d²/8, α + β = u/8.
fn covered(base: Interval, price: Interval) -> Interval {
    // ln of what may be left out of the sum.
    const LN_LEFT_OUT: f64 = -42.0;
    if price.upper() == 0.0 {
        return Interval::ZERO;
    }
    let root = base.sqrt();
    let d = price / ((base + price).sqrt() + root);
    // By Cauchy's estimate |c_n| <= e^(αR + βR²)/Rⁿ, and αR + βR² <= uR²/8 for R >= 1.
    let radius = (7.99 / price.upper()).sqrt().min(1e6);
    let ln_radius = core_math::log(radius);
    let terms = (LN_LEFT_OUT / -ln_radius).ceil().clamp(1.0, 100.0);
    let left_out = 3.0 * core_math::exp(-terms * ln_radius) / (radius - 1.0);
    let (alpha, twice_beta) = (root * d * 0.25, d.square() * 0.25);
    let (mut before, mut here) = (Interval::ZERO, Interval::ONE);
    let mut sum = Interval::ONE;
    let mut n = 1.0;
    while n <= terms {
        let next = -(alpha * here + twice_beta * before) / n;
        (before, here) = (here, next);
        n += 1.0;
        sum = sum + next / n;
    }
    d * (sum + Interval::new(-left_out, left_out))
}

/// ln( 2 e^(-u/8) M(√(w+u)/2) ).
fn ln_uncovered(base: Interval, price: Interval) -> Interval {
    let ratio = mills((base + price).sqrt() * 0.5);
    (ratio * 2.0).ln() - price * 0.125
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_agree() {
        for base in [0.0, 1e-9, 0.01, 1.0, 16.0, 300.0, 10_000.0] {
            let base = Interval::from(base);
            for price in [0.01, 0.1, 0.5, 0.6] {
                let price = Interval::from(price);
                let series = covered(base, price);
                let whole = mills(base.sqrt() * 0.5) * 2.0;
                let plain = whole - ln_uncovered(base, price).exp();
                assert!(
                    series.lower() <= plain.upper() && plain.lower() <= series.upper(),
                    "{base:?} {price:?} {series:?} {plain:?}"
                );
                assert!(series.upper() - series.lower() <= 1e-13 * series.upper());
            }
        }
    }
}
