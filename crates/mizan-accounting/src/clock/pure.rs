//! The price of a pure ε0-DP mechanism.
//!
//! Randomized response RR with the losses ±ε0 dominates every ε0-DP mechanism (Kairouz, Oh and
//! Viswanath 2015). RR ⊗ G_w is below G_(w+u) at all e if it is at e = 0
//! (docs/spec/mathematics.md 4.9), that is, if
//!
//! > T(w+u) >= T* = τ + (1-τ) δ_w(ε0),   τ = tanh(ε0/2).
//!
//! H(e) = e^(-e/2) δ_w(e) + sinh(e/2) is even and H'' - H/4 = e^(-w/8) φ_w, so without cancellation
//!
//! > R = √(2π) e^(w/8) (T* - T(w)) = 2/(√w cosh(ε0/2)) ∫₀^ε0 sinh((ε0-x)/2) e^(-x²/2w) dx,
//!
//! and, with A = ε0/√w - √w/2 and B = ε0/√w + √w/2,
//!
//! > X = √(2π) e^(w/8) (1 - T*) = e^(-ε0²/2w) (M(B) + M(-A)) / cosh(ε0/2).

use mizan_core::Interval;

use super::coverage::Coverage;
use super::femto;
use crate::convert::mills;

/// The price of a mechanism whose loss is at most `epsilon`, in units of 1e-15, with `left` units
/// left after it. None if it is beyond 64 bits.
pub(super) fn price(epsilon: f64, left: u64) -> Option<u64> {
    // The price is at least 8 ln cosh(ε0/2).
    const BEYOND: f64 = 5_000.0;
    if epsilon == 0.0 {
        return Some(0);
    }
    if !(0.0..BEYOND).contains(&epsilon) {
        return None;
    }
    let base = femto::variance(left);
    let ln_rest = ln_rest(epsilon, base);
    Coverage {
        base,
        gain: gain(epsilon, base, ln_rest),
        ln_rest,
    }
    .price()
}

/// ln cosh(x), x >= 0.
fn ln_cosh(x: f64) -> Interval {
    let x = Interval::from(x);
    if x.upper() < 1.0 {
        // cosh x = 1 + 2 sinh²(x/2)
        ((x * 0.5).sinh().square() * 2.0).ln_1p()
    } else {
        x + (x * -2.0).exp().ln_1p() - Interval::from(2.0).ln()
    }
}

/// ln X.
fn ln_rest(epsilon: f64, base: Interval) -> Interval {
    let two_pi = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
    let ln_root_two_pi = two_pi.ln() * 0.5;
    let (epsilon, ln_cosh) = (Interval::from(epsilon), ln_cosh(0.5 * epsilon));
    if base == Interval::ZERO {
        return ln_root_two_pi - epsilon * 0.5 - ln_cosh;
    }
    let root = base.sqrt();
    let (distance, half) = (epsilon / root, root * 0.5);
    let (a, b) = (distance - half, distance + half);
    let fall = distance.square() * 0.5;
    let first = mills(b).ln() - fall;
    let second = if a.lower() > -1.0 {
        // M(-A) = √(2π) e^(A²/2) Φ(A), and A² - ε0²/w = w/4 - ε0.
        let sqrt_half = Interval::from(0.5).sqrt();
        let below = (-(a * sqrt_half)).erfc() * 0.5;
        ln_root_two_pi + base * 0.125 - epsilon * 0.5 + below.ln()
    } else {
        mills(-a).ln() - fall
    };
    let (low, high) = if first.middle() <= second.middle() {
        (first, second)
    } else {
        (second, first)
    };
    high + (low - high).exp().ln_1p() - ln_cosh
}

/// R; the whole half-line where it is not needed, because the price is large.
fn gain(epsilon: f64, base: Interval, ln_rest: Interval) -> Interval {
    if epsilon > 1.0 {
        return Interval::INFINITE;
    }
    let point = Interval::from(epsilon);
    if base == Interval::ZERO {
        let two_pi = Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up());
        return two_pi.sqrt() * (point * 0.5).tanh();
    }
    let ratio = point.square() / (base * 2.0);
    if ratio.upper() <= 1.0 {
        let cosh = (point * 0.5).cosh();
        return integral(point, ratio) * 2.0 / (base.sqrt() * cosh);
    }
    (mills(base.sqrt() * 0.5) * 2.0 - ln_rest.exp()).non_negative()
}

/// ∫₀^ε0 sinh((ε0-x)/2) e^(-x²/2w) dx for ε0 <= 1 and q = ε0²/2w <= 1:
///
/// > ε0²/2 Σ_n (-q)ⁿ/n! j_n,   j_n = Σ_k (ε0/2)^(2k) (2n)!/(2n+2k+2)!.
fn integral(epsilon: Interval, ratio: Interval) -> Interval {
    const TERMS: u32 = 20;
    const POWERS: u32 = 8;
    let quarter = epsilon.square() * 0.25;
    let mut sum = Interval::ZERO;
    let mut power = Interval::ONE;
    for n in 0..=TERMS {
        let order = f64::from(2 * n);
        let mut term = Interval::ONE / ((order + 1.0) * (order + 2.0));
        let mut inner = term;
        for k in 1..=POWERS {
            let order = order + f64::from(2 * k);
            term = term * quarter / ((order + 1.0) * (order + 2.0));
            inner = inner + term;
        }
        // The terms that follow fall faster than by a factor of 2.
        inner = inner + Interval::new(0.0, term.upper());
        sum = sum + power * inner;
        power = -(power * ratio) / f64::from(n + 1);
        if power.abs().upper() < 1e-22 {
            break;
        }
    }
    // Those left out alternate and fall, and j_n is below 1.
    let left_out = power.abs().upper();
    epsilon.square() * 0.5 * (sum + Interval::new(-left_out, left_out))
}
