//! The price of randomized response and of Laplace noise.
//!
//! Randomized response RR with the losses ±ε0 dominates every ε0-DP mechanism (Kairouz, Oh and
//! Viswanath 2015). The losses of Laplace noise lie between ±ε0. Of both, M ⊗ G_w is below G_(w+u) at
//! all e if it is at e = 0 (docs/spec/mathematics.md 4.9), that is, if T(w+u) >= T* = δ_(M ⊗ G_w)(0).
//!
//! H(e) = e^(-e/2) δ_w(e) + sinh(e/2) is even and H'' - H/4 = e^(-w/8) φ_w, so without cancellation
//! R = √(2π) e^(w/8) (T* - T(w)) and X = √(2π) e^(w/8) (1 - T*) are, with B = ε0/√w + √w/2 and
//! A = ε0/√w - √w/2, for randomized response
//!
//! > T* = H(ε0)/cosh(ε0/2),
//! > R  = 2/(√w cosh(ε0/2)) ∫₀^ε0 sinh((ε0-x)/2) e^(-x²/2w) dx,
//! > X  = e^(-ε0²/2w) (M(B) + M(-A)) / cosh(ε0/2),
//!
//! and for Laplace noise
//!
//! > T* = e^(-ε0/2) (H(ε0) + ½ ∫₀^ε0 H(x) dx),
//! > R  = 2/√w e^(-ε0/2) ∫₀^ε0 (e^((ε0-x)/2) - 1) e^(-x²/2w) dx,
//! > X  = e^(-ε0/2) (2 M(B) e^(-ε0²/2w) + √(2π) erf(ε0/√(2w))).

use mizan_core::Interval;

use super::coverage::Coverage;
use super::femto;
use crate::convert::mills;

/// A mechanism by its loss, whose distribution is the same for both neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) enum Symmetric {
    /// The losses ±ε0.
    Response,
    /// The losses of Laplace noise with the scale Δ/ε0.
    Laplace,
}

impl Symmetric {
    /// The price of such a mechanism whose loss is at most `epsilon`, in units of 1e-15, with `left`
    /// units left after it. None if it is beyond 64 bits.
    pub(super) fn price(self, epsilon: f64, left: u64) -> Option<u64> {
        // 1 - T* is at least e^(-ε0), and 1 - T(v) at most e^(-v/8): the price is about 4 ε0 or more.
        const BEYOND: f64 = 5_000.0;
        if epsilon == 0.0 {
            return Some(0);
        }
        if !(0.0..BEYOND).contains(&epsilon) {
            return None;
        }
        let base = femto::variance(left);
        let ratio = Interval::from(epsilon).square() / (base * 2.0);
        let coverage = if epsilon <= 0.5 && ratio.upper() <= 1.0 {
            // The price is below π ε0²/2, too small for the logarithm to be looked at.
            Coverage {
                base,
                gain: self.gain_by_series(epsilon, base, ratio),
                ln_rest: -Interval::INFINITE,
            }
        } else {
            let ln_rest = self.ln_rest(epsilon, base);
            Coverage {
                base,
                gain: self.gain(epsilon, base, ln_rest),
                ln_rest,
            }
        };
        coverage.price()
    }

    /// ln X.
    fn ln_rest(self, epsilon: f64, base: Interval) -> Interval {
        let point = Interval::from(epsilon);
        let half = point * 0.5;
        if base == Interval::ZERO {
            // T* is tanh(ε0/2) and 1 - e^(-ε0/2).
            return ln_root_two_pi()
                - half
                - match self {
                    Self::Response => ln_cosh(0.5 * epsilon),
                    Self::Laplace => Interval::ZERO,
                };
        }
        let root = base.sqrt();
        let distance = point / root;
        let fall = distance.square() * 0.5;
        let first = mills(distance + root * 0.5).ln() - fall;
        match self {
            Self::Response => {
                let a = distance - root * 0.5;
                let second = if a.lower() > -1.0 {
                    // M(-A) = √(2π) e^(A²/2) Φ(A), and A² - ε0²/w = w/4 - ε0.
                    let below = (-(a * sqrt_half())).erfc() * 0.5;
                    ln_root_two_pi() + base * 0.125 - half + below.ln()
                } else {
                    mills(-a).ln() - fall
                };
                ln_sum(first, second) - ln_cosh(0.5 * epsilon)
            }
            Self::Laplace => {
                let two = Interval::from(2.0).ln();
                let within = (Interval::ONE - (distance * sqrt_half()).erfc()).non_negative();
                ln_sum(first + two, ln_root_two_pi() + within.ln()) - half
            }
        }
    }

    /// R; the whole half-line where it is not needed, because the price is large.
    fn gain(self, epsilon: f64, base: Interval, ln_rest: Interval) -> Interval {
        if epsilon > 1.0 {
            return Interval::INFINITE;
        }
        let point = Interval::from(epsilon);
        if base == Interval::ZERO {
            let variation = match self {
                Self::Response => (point * 0.5).tanh(),
                Self::Laplace => -(point * -0.5).exp_m1(),
            };
            return two_pi().sqrt() * variation;
        }
        let ratio = point.square() / (base * 2.0);
        if ratio.upper() <= 1.0 {
            return self.gain_by_series(epsilon, base, ratio);
        }
        (mills(base.sqrt() * 0.5) * 2.0 - ln_rest.exp()).non_negative()
    }

    /// R for ε0 <= 1 and q = ε0²/2w <= 1, from
    ///
    /// > ∫₀^ε0 f((ε0-x)/2) e^(-x²/2w) dx = ε0²/2 Σ_n (-q)ⁿ/n! Σ_k (ε0/2)^k (2n)!/(2n+k+2)!,
    ///
    /// where k is even for f = sinh and any for f(z) = e^z - 1.
    fn gain_by_series(self, epsilon: f64, base: Interval, ratio: Interval) -> Interval {
        const TERMS: u32 = 20;
        const POWERS: u32 = 16;
        let point = Interval::from(epsilon);
        let half = point * 0.5;
        let (steps, outside) = match self {
            Self::Response => (2, Interval::ONE / half.cosh()),
            Self::Laplace => (1, (-half).exp()),
        };
        let mut sum = Interval::ZERO;
        let mut power = Interval::ONE;
        for n in 0..=TERMS {
            let order = f64::from(2 * n);
            let mut term = Interval::ONE / ((order + 1.0) * (order + 2.0));
            let mut inner = term;
            for k in 1..=POWERS {
                term = term * half / (order + f64::from(k) + 2.0);
                if k % steps == 0 {
                    inner = inner + term;
                }
            }
            // The terms that follow fall faster than by a factor of 2.
            inner = inner + Interval::new(0.0, term.upper());
            sum = sum + power * inner;
            power = -(power * ratio) / f64::from(n + 1);
            if power.abs().upper() < 1e-22 {
                break;
            }
        }
        // Those left out alternate and fall, and Σ_k is below 1.
        let left_out = power.abs().upper();
        let sum = sum + Interval::new(-left_out, left_out);
        point.square() * sum * outside / base.sqrt()
    }
}

fn two_pi() -> Interval {
    Interval::new(std::f64::consts::TAU, std::f64::consts::TAU.next_up())
}

pub(super) fn ln_root_two_pi() -> Interval {
    two_pi().ln() * 0.5
}

fn sqrt_half() -> Interval {
    Interval::from(0.5).sqrt()
}

/// ln(e^x + e^y).
fn ln_sum(x: Interval, y: Interval) -> Interval {
    let (low, high) = if x.middle() <= y.middle() {
        (x, y)
    } else {
        (y, x)
    };
    high + (low - high).exp().ln_1p()
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
