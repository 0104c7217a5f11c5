//! The Bayesian guarantee: how much an output can change the belief of an observer (Bayes factor).
//!
//! With X drawn on the person's real input, the ratio P(X)/Q(X) by which the
//! odds move satisfies E[ratio^(α-1)] = e^((α-1) D_α), so by Markov
//!
//! > Pr[ratio > β] <= (e^ε / β)^(α-1),
//!
//! and E[ln ratio] = D_1. The paper prints e^ε/β^(1/(α-1)), which is right at
//! α = 2 only.
//!
//! # Reference
//! Mironov 2017, sections III and VII, as corrected in docs/spec/mathematics.md 5.2 and 5.3.

use mizan_core::{Epsilon, Interval, Order, Probability};

use crate::RenyiCurve;

/// A bound on the probability that the odds change by more than a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BayesFactor {
    /// At least the probability that the factor is exceeded.
    pub probability: Probability,
    /// The order that gives it.
    pub order: Order,
}

impl RenyiCurve {
    /// Bounds Pr[the odds change by more than `factor`], at the best order.
    pub fn bayes_factor(&self, factor: f64) -> BayesFactor {
        let ln_factor = Interval::from(factor).ln();
        let best = self.best_order_anywhere(|order, renyi| {
            let above = Interval::from(renyi) - ln_factor;
            if order.is_finite() {
                ((Interval::from(order.get()) - 1.0) * above).upper()
            } else if above.upper() <= 0.0 {
                f64::NEG_INFINITY
            } else {
                0.0
            }
        });
        let probability = Interval::from(best.value.min(0.0)).exp().upper();
        // e^-∞ is exactly zero: the largest loss is below the factor.
        let probability = if best.value == f64::NEG_INFINITY {
            0.0
        } else {
            probability
        };
        BayesFactor {
            probability: Probability::new(probability.min(1.0)).unwrap_or(Probability::ONE),
            order: Order::new(best.place).unwrap_or(Order::INFINITE),
        }
    }

    /// At least the expected change of the log odds: the divergence at order 1.
    pub fn expected_log_odds(&self) -> Epsilon {
        self.at(Order::ONE).upper
    }
}

/// The belief after the odds changed by a factor: πβ/(1 - π + πβ), rounded up.
pub fn posterior(prior: Probability, factor: f64) -> Probability {
    let prior = Interval::from(prior.get());
    let odds = prior * factor;
    let posterior = odds / (Interval::ONE - prior + odds);
    Probability::new(posterior.upper().clamp(0.0, 1.0)).unwrap_or(Probability::ONE)
}
