//! The tail of discrete Gaussian noise in doubles, with a proven error.
//!
//! With `f(x) = e^(-x²/2σ²)` the tail is `2 Σ_{x>a} f(x) / θ`.
//!
//! - Narrow noise: the sum itself, term after term.
//! - Wide noise: the integral from `a + 1/2`, which is an error function. Each
//!   term differs from the integral over its cell by at most a 24th of the
//!   largest `|f''|` there. Where `f` is convex, from `σ` on, the integral is
//!   the larger one.

use mizan_core::Interval;
use num_bigint::BigUint;

use super::enclosure::{of_integer, pi};

/// From this `σ` on, the integral: its error moves `a` by `y/24σ` integers,
/// below a hundredth.
pub(super) const WIDE: f64 = 64.0;

/// Discrete Gaussian noise in doubles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gaussian {
    /// `1/2σ²`.
    rate: Interval,
    pub(super) sigma: Interval,
    /// `θ`; only for narrow noise.
    total: Interval,
}

impl Gaussian {
    pub(super) fn new(rate: Interval) -> Self {
        let sigma = Interval::ONE / (rate * 2.0).sqrt();
        Self {
            rate,
            sigma,
            total: total(rate, sigma),
        }
    }

    /// `P(|X| > a)`.
    pub(super) fn tail(&self, a: u128) -> Interval {
        if self.sigma.lower() >= WIDE {
            self.integral(a)
        } else {
            (beyond(self.rate, a) * 2.0 / self.total).min(Interval::ONE)
        }
    }

    fn integral(&self, a: u128) -> Interval {
        // y²/2 at a + 1/2.
        let half = of_integer(&(BigUint::from(a) * 2u8 + 1u8)) * 0.5 * self.rate.sqrt();
        let integral = half.erfc();
        let fallen = (-half.square()).exp();
        let y = half * Interval::from(2.0).sqrt();
        let per_variance = Interval::ONE / self.sigma.square();
        // θ = σ √(2π) (1 + e^-80000), so a lower end moves by less than a step.
        if y.lower() < 1.0 {
            // Σ max |f''| ≤ ∫ |f''| + variation ≤ 1.213/σ + 1.9/σ² ≤ 1.243/σ
            // over all positive x; a 24th of that, times 2/σ√(2π).
            let error = per_variance * 0.042;
            return Interval::new(
                (integral - error).lower().next_down().max(0.0),
                (integral + error).upper().min(1.0),
            );
        }
        // ∫ f'' from a + 1/2 on is y f/σ. f'' falls from y = √3 on, and before
        // it varies by less than 0.9/σ² up and down.
        let variation = if y.lower() >= 1.7321 {
            (y.square() - 1.0) * fallen
        } else {
            Interval::from(0.9)
        };
        let error = (y * fallen + variation / self.sigma) * per_variance * 0.03325;
        Interval::new(
            (integral - error).lower().next_down().max(0.0),
            integral.upper(),
        )
    }

    /// About the `a` whose tail is `missed`, and about how much the tail falls
    /// per integer there.
    pub(super) fn guess(&self, missed: f64) -> (f64, f64) {
        let sigma = self.sigma.middle();
        let y = normal_quantile(missed);
        let slope = (2.0 / std::f64::consts::PI).sqrt() / sigma * (-0.5 * y * y).exp();
        (sigma * y - 0.5, slope)
    }
}

/// `Σ_{x>a} e^(-rate x²)`.
fn beyond(rate: Interval, a: u128) -> Interval {
    let start = of_integer(&(BigUint::from(a) + 1u8));
    let mut term = (-(rate * start.square())).exp();
    let mut ratio = (-(rate * (start * 2.0 + 1.0))).exp();
    let fall = (-(rate * 2.0)).exp();
    let mut sum = term;
    loop {
        term = term * ratio;
        // Ratios fall: what is left is below a geometric series.
        if term.lower() <= sum.lower() * 1e-18 {
            let left = term / (Interval::ONE - ratio);
            return sum + Interval::new(0.0, left.upper().max(0.0));
        }
        sum = sum + term;
        ratio = ratio * fall;
    }
}

/// `θ = Σ e^(-rate x²)`; by Poisson's formula it is `√(π/rate) Σ e^(-π²k²/rate)`.
fn total(rate: Interval, sigma: Interval) -> Interval {
    if sigma.lower() < 1.0 {
        return Interval::ONE + beyond(rate, 0) * 2.0;
    }
    let exponent = pi().square() / rate;
    let first = (-exponent).exp() * 2.0;
    // From k = 2 on, for an exponent above 19.
    let rest = (-(exponent * 4.0)).exp() * 2.001;
    (pi() / rate).sqrt() * (Interval::ONE + first + Interval::new(0.0, rest.upper()))
}

/// About the `y` that a normal variable exceeds in size with probability
/// `missed`.
fn normal_quantile(missed: f64) -> f64 {
    let ln_missed = missed.ln();
    // erfc(y/√2) ≤ e^(-y²/2): from there Newton's steps on its logarithm, which
    // is concave, come down to the root.
    let mut y = (-2.0 * ln_missed).sqrt();
    for _ in 0..40 {
        let tail = core_math::erfc(y * std::f64::consts::FRAC_1_SQRT_2);
        let density = (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * y * y).exp();
        let step = (tail.ln() - ln_missed) * tail / density;
        y = (y + step).max(0.0);
        if step.abs() <= 1e-16 * y {
            break;
        }
    }
    y
}
