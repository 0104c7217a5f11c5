//! The common form of Laplace and discrete Laplace noise.
//!
//! For both, with T the sensitivity over the scale,
//!
//! > E[e^((α-1) loss)] = (1 - h) e^((α-1) T) + h e^(-α T)
//!
//! and only h(α) differs: (α-1)/(2α-1) for Laplace noise. Written beyond the
//! tangent of the exponential at zero every term is non-negative:
//!
//! > E[...] - 1 = (1-h) f((α-1) T) + h f(-α T) + (α-1) drift,  f(x) = e^x - 1 - x
//!
//! where drift = T (1 - (2α-1) h/(α-1)) vanishes for Laplace noise.

use mizan_core::Interval;

use super::position::Between;

/// The two weights at one order, both divided by α - 1 so that they keep their
/// meaning as α falls to 1.
pub(super) struct Weights {
    /// h / (α - 1).
    pub(super) share: Interval,
    /// T (1 - (2α-1) h/(α-1)), never negative.
    pub(super) drift: Interval,
}

/// The curve at a finite order above one.
#[inline]
pub(super) fn between(order: Between, t: Interval, weights: &Weights) -> Interval {
    let Between { a, b } = order;
    let h = b * weights.share;
    if a * t.upper() < 2.0 {
        let beyond = (Interval::ONE - h) * (b * t).exp_beyond_tangent()
            + h * (-(t * a)).exp_beyond_tangent()
            + b * weights.drift;
        beyond.ln_1p() / b
    } else {
        // t less what the far side takes off, at most about two thirds of t.
        let saved = h * (-(order.twice_minus_one() * t)).exp_m1();
        t + saved.ln_1p() / b
    }
}

/// The limit at order one, where h vanishes: the Kullback-Leibler divergence.
pub(super) fn at_one(t: Interval, weights: &Weights) -> Interval {
    weights.share * (-t).exp_beyond_tangent() + weights.drift
}
