//! Two outcomes whose losses are +ε and -ε: the worst that pure ε-DP allows.
//!
//! Binary randomized response is this pair, and every ε-DP mechanism is a
//! post-processing of it, so one curve serves both.
//!
//! # Reference
//! Mironov 2017, Proposition 5; Bun and Steinke 2016, Proposition 3.3.

use mizan_core::Interval;

use super::position::{Between, Position};

/// The Rényi curve of the pair with losses +ε and -ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwoPoint {
    epsilon: Interval,
    /// cosh(ε/2), shared by all orders.
    cosh_half: Interval,
}

impl TwoPoint {
    pub(crate) fn new(epsilon: Interval) -> Self {
        Self {
            epsilon,
            cosh_half: (epsilon * 0.5).cosh(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, position: Position) -> Interval {
        match position {
            Position::One => self.epsilon * (self.epsilon * 0.5).tanh(),
            Position::Between(order) => self.between(order),
            Position::Infinite => self.epsilon,
        }
    }

    /// ln( cosh((α - 1/2) ε) / cosh(ε/2) ) / (α - 1), in two forms without
    /// cancellation where each is used.
    #[inline]
    fn between(&self, Between { a, b }: Between) -> Interval {
        let e = self.epsilon;
        if a * e.upper() < 2.0 {
            // cosh u - cosh v = 2 sinh((u+v)/2) sinh((u-v)/2): all factors positive.
            let excess = (e * 0.5 * a).sinh() * (b * e * 0.5).sinh() * 2.0 / self.cosh_half;
            excess.ln_1p() / b
        } else {
            // ε minus what the second outcome takes off; here at most about
            // half of ε, so the subtraction is harmless.
            let rare = (-e).exp() * -(b * e * -2.0).exp_m1();
            let saved = (rare / ((-(e * (b + a))).exp() + 1.0)).ln_1p();
            e - saved / b
        }
    }
}
