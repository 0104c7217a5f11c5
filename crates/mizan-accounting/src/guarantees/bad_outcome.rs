//! The bad-outcome guarantee: how much a person's data can change the probability of a bad outcome.
//!
//! If the outcome has probability Q without the person's data, its probability with them lies in an
//! interval that a Rényi guarantee bounds in two ways:
//!
//! - Proposition 10: e^-ε Q^(α/(α-1)) <= P <= (e^ε Q)^((α-1)/α), at the best order;
//! - exactly: merging outcomes to {bad, not bad} only shrinks divergences, so
//!   (P, Q) is possible iff the divergences of (P, 1-P) and (Q, 1-Q) are within
//!   the curve in both directions at every order.
//!
//! # Reference
//! Mironov 2017, Proposition 10 and section III; docs/spec/mathematics.md 3.5 for the region.

use mizan_core::{Interval, Order, Probability};

use crate::minimize::{Minimum, first_that_holds};
use crate::{FiniteDistribution, RenyiCurve};

/// The range of the probability of a bad outcome, and the orders that bind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BadOutcome {
    /// At most the smallest possible probability.
    pub low: Probability,
    /// At least the largest possible probability.
    pub high: Probability,
    /// The order that gives the low end.
    pub low_order: Order,
    /// The order that gives the high end.
    pub high_order: Order,
}

impl RenyiCurve {
    /// The range by Proposition 10 at the best order for each end.
    ///
    /// ```
    /// use mizan_accounting::RenyiCurve;
    /// use mizan_core::{PrivacyEvent, Probability};
    ///
    /// let event: PrivacyEvent = "rdp(10, 0.1)".parse()?;
    /// let range = RenyiCurve::of(&event)?.bad_outcome_by_proposition_10(Probability::new(0.5)?);
    /// assert!((range.low.get() - 0.419).abs() < 5e-4);
    /// assert!((range.high.get() - 0.586).abs() < 5e-4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bad_outcome_by_proposition_10(&self, baseline: Probability) -> BadOutcome {
        let ln_q = Interval::from(baseline.get()).ln();
        let high = self.best_order_anywhere(|order, renyi| {
            let share = share_above_one(order);
            (share * (ln_q + renyi)).upper()
        });
        let low = self.best_order_anywhere(|order, renyi| {
            let share = share_above_one(order);
            -(ln_q / share - renyi).lower()
        });
        BadOutcome {
            low: probability((-Interval::from(low.value)).exp().lower()),
            high: probability(Interval::from(high.value.min(0.0)).exp().upper()),
            low_order: order(low.place),
            high_order: order(high.place),
        }
    }

    /// The exact range that follows from the whole curve.
    ///
    /// ```
    /// use mizan_accounting::RenyiCurve;
    /// use mizan_core::{PrivacyEvent, Probability};
    ///
    /// let event: PrivacyEvent = "rdp(10, 0.1)".parse()?;
    /// let range = RenyiCurve::of(&event)?.bad_outcome(Probability::new(0.5)?);
    /// assert!((range.low.get() - 0.421511).abs() < 1e-6);
    /// assert!((range.high.get() - 0.578489).abs() < 1e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bad_outcome(&self, baseline: Probability) -> BadOutcome {
        let q = baseline.get();
        let high = self.best_order_anywhere(|order, renyi| {
            first_that_holds(q, 1.0, |p| impossible(p, q, order, renyi)).unwrap_or(1.0)
        });
        let low = self.best_order_anywhere(|order, renyi| {
            // Downwards: the first that is possible; one below is not.
            let possible = first_that_holds(0.0, q, |p| !impossible(p, q, order, renyi));
            -possible.map_or(q, |p| if p > 0.0 { p.next_down() } else { 0.0 })
        });
        BadOutcome {
            low: probability(-low.value),
            high: probability(high.value),
            low_order: order(low.place),
            high_order: order(high.place),
        }
    }
}

/// (α-1)/α.
fn share_above_one(order: Order) -> Interval {
    if order.is_finite() {
        (Interval::from(order.get()) - 1.0) / order.get()
    } else {
        Interval::ONE
    }
}

/// Whether the two-outcome distributions are certainly further apart than the
/// curve allows at this order, in either direction.
fn impossible(p: f64, q: f64, order: Order, renyi: f64) -> bool {
    let two = |x: f64| FiniteDistribution::two_outcomes(probability(x));
    let (p, q) = (two(p), two(q));
    let exceeds = |from: &FiniteDistribution, to: &FiniteDistribution| {
        from.divergence(to, order)
            .is_ok_and(|divergence| divergence.lower.get() > renyi)
    };
    exceeds(&p, &q) || exceeds(&q, &p)
}

fn probability(x: f64) -> Probability {
    Probability::new(x.clamp(0.0, 1.0)).unwrap_or(Probability::ONE)
}

fn order(place: f64) -> Order {
    Order::new(place).unwrap_or(Order::INFINITE)
}

impl RenyiCurve {
    /// The minimum over all orders of a bound that also takes the curve there.
    /// Unlike for conversions, a single minimum is not guaranteed: the range is
    /// scanned first.
    pub(crate) fn best_order_anywhere(&self, bound: impl Fn(Order, f64) -> f64) -> Minimum {
        self.scan_orders(|order| {
            let renyi = self.enclosure(order).upper();
            if renyi == f64::INFINITY {
                f64::INFINITY
            } else {
                bound(order, renyi)
            }
        })
    }
}
