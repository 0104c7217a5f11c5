//! The best order: the minimum of a bound over the continuum (1, ∞].
//!
//! For a curve ε(α), with K(b) = b ε(1+b) convex in b = α - 1, the bounds of
//! Mironov and of Canonne, Kamath and Steinke are of the form (convex in b)/b,
//! hence have a single valley, and one search in ln b finds it.

use mizan_core::{Delta, Epsilon, Order};

use crate::convert::{Effort, LnDelta, RenyiConversion};
use crate::minimize::{Minimum, valley};
use crate::{OrderGrid, RenyiCurve};

/// ln(α - 1) is searched between these: 1e-13 to 1e17.
const LN_EXCESS: (f64, f64) = (-30.0, 40.0);

/// How well ln(α - 1) is found; the bound is then found to its square.
const PRECISION: f64 = 2e-7;

/// A bound and the order it was found at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtOrder<T> {
    /// The certified upper bound.
    pub bound: T,
    /// The order that gives it.
    pub order: Order,
}

impl RenyiCurve {
    /// The smallest ε at this δ over all orders in (1, ∞].
    ///
    /// ```
    /// use mizan_accounting::{RenyiConversion, RenyiCurve};
    /// use mizan_core::{Delta, PrivacyEvent};
    ///
    /// let event: PrivacyEvent = "zcdp(0.1)".parse()?;
    /// let best = RenyiCurve::of(&event)?.epsilon(Delta::new(1e-6)?, RenyiConversion::CanonneKamathSteinke);
    /// assert!((best.bound.get() - 2.141_938_928).abs() < 1e-8);
    /// assert!((best.order.get() - 11.658).abs() < 1e-2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn epsilon(&self, delta: Delta, conversion: RenyiConversion) -> AtOrder<Epsilon> {
        let ln_delta = LnDelta::of(delta);
        let is_small = |epsilon: f64| epsilon < 1.0;
        let best = self.best_order(conversion, is_small, |way, effort, order| {
            way.epsilon_upper(order, self.enclosure(order).upper(), ln_delta, effort)
        });
        AtOrder {
            bound: Epsilon::saturating(best.value),
            order: at(best.place),
        }
    }

    /// The smallest δ at this ε over all orders in (1, ∞].
    pub fn delta(&self, epsilon: Epsilon, conversion: RenyiConversion) -> AtOrder<Delta> {
        let is_small = |_| epsilon.get() < 1.0;
        let best = self.best_order(conversion, is_small, |way, effort, order| {
            way.ln_delta_upper(order, self.enclosure(order).upper(), epsilon.get(), effort)
        });
        let order = at(best.place);
        AtOrder {
            bound: conversion.delta(order, self.at(order).upper, epsilon),
            order,
        }
    }

    /// The smallest ε at this δ over the orders of a grid: what is lost by
    /// reporting the curve at these orders only.
    pub fn epsilon_on(
        &self,
        grid: &OrderGrid,
        delta: Delta,
        conversion: RenyiConversion,
    ) -> AtOrder<Epsilon> {
        let ln_delta = LnDelta::of(delta);
        let worst = Minimum {
            place: f64::INFINITY,
            value: f64::INFINITY,
        };
        let best = grid.orders().iter().fold(worst, |best, &order| {
            best.or(Minimum {
                place: order.get(),
                value: conversion.epsilon_upper(
                    order,
                    self.enclosure(order).upper(),
                    ln_delta,
                    Effort::Full,
                ),
            })
        });
        AtOrder {
            bound: Epsilon::saturating(best.value),
            order: at(best.place),
        }
    }

    /// Searches the continuum; ∞ and the corners of the curve are tried too.
    ///
    /// The supporting line and the optimum may have several valleys, towards
    /// order one where δ is large for what was spent. They are looked for in
    /// steps up to a little above the order of Canonne, Kamath and Steinke,
    /// whose valley is single, and then around the best step. Where ε is small
    /// (as `is_small` tells from that valley) the steps need full effort.
    fn best_order(
        &self,
        conversion: RenyiConversion,
        is_small: impl Fn(f64) -> bool,
        objective: impl Fn(RenyiConversion, Effort, Order) -> f64,
    ) -> Minimum {
        const LOWEST_STEP: f64 = -20.0;
        let value = |way, effort, u: f64| objective(way, effort, at(1.0 + u.exp()));
        let search = |way, range| valley(range, PRECISION, |u| value(way, Effort::Full, u));
        let best = match conversion {
            RenyiConversion::Mironov | RenyiConversion::CanonneKamathSteinke => {
                search(conversion, LN_EXCESS)
            }
            RenyiConversion::SupportingLine | RenyiConversion::Optimal => {
                let start = search(RenyiConversion::CanonneKamathSteinke, LN_EXCESS);
                let effort = if is_small(start.value) {
                    Effort::Full
                } else {
                    Effort::Quick
                };
                let step = |u: f64| Minimum {
                    place: u,
                    value: value(conversion, effort, u),
                };
                let last = start.place + 3.0;
                let steps = std::iter::successors(Some(last), |u| Some(u - 1.0))
                    .take_while(|&u| u >= LOWEST_STEP);
                let best = steps.map(step).fold(step(start.place), Minimum::or);
                let around = (best.place - 1.0, best.place + 1.0);
                search(conversion, around).or(best)
            }
        };
        let found = Minimum {
            place: 1.0 + best.place.exp(),
            value: best.value,
        };
        self.with_special_orders(found, |order| objective(conversion, Effort::Full, order))
    }
}

/// Steps of the scan over ln(α - 1).
const SCAN: u32 = 70;

impl RenyiCurve {
    /// As `best_order`, for objectives that may have several valleys: a scan,
    /// then a search around the best step.
    pub(crate) fn scan_orders(&self, objective: impl Fn(Order) -> f64) -> Minimum {
        let (low, high) = LN_EXCESS;
        let width = (high - low) / f64::from(SCAN);
        let at_step = |step: u32| low + width * f64::from(step);
        let value = |u: f64| objective(at(1.0 + u.exp()));
        let start = Minimum {
            place: low,
            value: value(low),
        };
        let best = (1..=SCAN).map(at_step).fold(start, |best, u| {
            best.or(Minimum {
                place: u,
                value: value(u),
            })
        });
        let near = valley((best.place - width, best.place + width), PRECISION, value).or(best);
        let found = Minimum {
            place: 1.0 + near.place.exp(),
            value: near.value,
        };
        self.with_special_orders(found, objective)
    }

    /// ∞ and the corners of the curve, which a search may step over.
    fn with_special_orders(&self, found: Minimum, objective: impl Fn(Order) -> f64) -> Minimum {
        self.corners()
            .into_iter()
            .chain([Order::INFINITE])
            .fold(found, |best, order| {
                best.or(Minimum {
                    place: order.get(),
                    value: objective(order),
                })
            })
    }
}

/// Orders found by search are valid by construction.
fn at(order: f64) -> Order {
    Order::new(order).unwrap_or(Order::INFINITE)
}
