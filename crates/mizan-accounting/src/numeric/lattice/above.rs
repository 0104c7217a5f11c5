//! δ(ε) from above.
//!
//! With the weights W_s of the sums, tilted by θ and divided by e^κ,
//!
//! > δ(ε) = e^(κ - θε) Σ_(sh > ε) W_s f(sh - ε),  f(x) = e^-θx (1 - e^-x).
//!
//! Going down from the largest place, two sums of positive terms suffice:
//!
//! > F_s = W_s + e^(-(θ+1)h) F_(s+1),
//! > D_s = e^(-θh) (D_(s+1) + (1 - e^-h) F_(s+1)),
//!
//! and for x = sh - ε between 0 and h the sum is e^-θx (D_s + (1 - e^-x) F_s).
//!
//! What is added:
//! - the error of the weights, by Cauchy and Schwarz: its norm times that of
//!   f, for which Σ f(x)² <= max f² + (1/h) ∫ f² since f rises and then falls;
//!   max f <= 1/(1 + θ) and ∫ f² = 1/(θ (2θ+1) (2θ+2));
//! - what lies above the window: each place there counts at most its mass
//!   e^(κ - θsh) W_s <= e^(κ - θε) W_s, and Σ W_s is bounded by Chernoff;
//! - what was folded in from outside only adds.

use mizan_core::Interval;
use mizan_core::directed::{add_up, mul_up};

use super::compose::Composed;

/// The upper side of a profile.
#[derive(Clone, Debug)]
pub(super) struct Above {
    h: Interval,
    theta: Interval,
    ln_scale: Interval,
    last: i64,
    /// (D, F), the largest place first.
    sums: Vec<(f64, f64)>,
    /// What is added to every sum.
    error: f64,
}

impl Above {
    /// `outside` is at least the weight of what lies above the window.
    pub(super) fn new(
        composed: &Composed,
        (h, theta): (f64, f64),
        ln_scale: Interval,
        outside: f64,
    ) -> Self {
        let (h, theta) = (Interval::from(h), Interval::from(theta));
        let decay = (-(theta * h)).exp().upper();
        let steep = (-((theta + 1.0) * h)).exp().upper();
        let gap = (-(-h).exp_m1()).upper();
        let grow = add_up(1.0, add_up(composed.relative, 1e-15));
        let mut sums = Vec::with_capacity(composed.weights.len());
        let (mut d, mut f) = (0.0, 0.0);
        for &weight in composed.weights.iter().rev() {
            d = mul_up(decay, add_up(d, mul_up(gap, f)));
            f = add_up(mul_up(weight, grow), mul_up(steep, f));
            sums.push((d, f));
        }
        let peak = Interval::ONE / (theta + 1.0);
        let area = Interval::ONE / (theta * (theta * 2.0 + 1.0) * (theta * 2.0 + 2.0));
        let norm = (peak.square() + area / h).sqrt();
        let error = (norm * composed.absolute + outside).upper();
        Self {
            h,
            theta,
            ln_scale,
            last: composed.first + composed.weights.len() as i64 - 1,
            sums,
            error,
        }
    }

    /// The losses at which the window begins and ends.
    pub(super) fn ends(&self) -> (f64, f64) {
        let first = self.last + 1 - self.sums.len() as i64;
        (
            (self.h * first as f64).upper(),
            (self.h * self.last as f64).lower(),
        )
    }

    /// At least δ(ε), without what is infinite.
    pub(super) fn delta(&self, epsilon: f64) -> f64 {
        let (low, high) = self.ends();
        // δ falls, by at most as much as ε rises.
        let inside = epsilon.min(high).max(low);
        let below = (Interval::from(inside) - epsilon).non_negative();
        // The smallest place that may lie above ε.
        #[expect(
            clippy::cast_possible_truncation,
            reason = "inside the window, whose places are far from overflow"
        )]
        let mut place = (inside / self.h.lower()).floor() as i64 - 1;
        while (self.h * place as f64).upper() <= inside {
            place += 1;
        }
        let x = self.h * place as f64 - inside;
        let (d, f) = usize::try_from(self.last - place)
            .ok()
            .and_then(|index| self.sums.get(index))
            .copied()
            .unwrap_or((0.0, 0.0));
        let rise = (-(-x).exp_m1()).non_negative().upper();
        let sum = (-(self.theta * x)).exp() * add_up(d, mul_up(rise, f)) + self.error;
        let scale = (self.ln_scale - self.theta * inside).exp();
        (scale * sum + below).upper()
    }
}
