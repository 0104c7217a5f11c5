//! Group privacy of a reported Rényi guarantee.
//!
//! Two neighbouring steps are joined by the weak triangle inequality: for
//! conjugate p and q (1/p + 1/q = 1),
//!
//! > D_α(P‖Q) <= (α - 1/p)/(α-1) D_pα(P‖R) + D_q(α-1/p)(R‖Q),
//!
//! with the best p, its limits p → 1 and p → ∞ included. A group of s is joined
//! from its halves, so log₂ s rounds suffice; each gives a new report on orders
//! where the old one has corners. Proposition 2 (order α/2^c, 3^c ε) is what
//! p = 2 gives and never better.
//!
//! # Reference
//! Mironov 2017, Propositions 2 and 11.

use std::collections::HashMap;

use mizan_core::{Count, Epsilon, Interval, Order, PrivacyEvent, RenyiPoints};

use crate::minimize::valley;
use crate::{Reason, RenyiCurve};

/// The report that holds for groups of this size.
pub(super) fn group_report(size: Count, points: &RenyiPoints) -> Result<RenyiPoints, Reason> {
    let mut known = HashMap::from([(1, points.clone())]);
    halves(size.get(), &mut known)
}

fn halves(size: u64, known: &mut HashMap<u64, RenyiPoints>) -> Result<RenyiPoints, Reason> {
    if let Some(points) = known.get(&size) {
        return Ok(points.clone());
    }
    let first = halves(size / 2, known)?;
    let second = halves(size - size / 2, known)?;
    let joined = join(&first, &second)?;
    known.insert(size, joined.clone());
    Ok(joined)
}

/// The report for two steps, from the reports for each.
fn join(first: &RenyiPoints, second: &RenyiPoints) -> Result<RenyiPoints, Reason> {
    let curve = |points: &RenyiPoints| {
        RenyiCurve::of(&PrivacyEvent::Renyi(points.clone())).map_err(|_| Reason::NotYet)
    };
    let (left, right) = (curve(first)?, curve(second)?);
    let mut orders: Vec<Order> = candidates(first).chain(candidates(second)).collect();
    orders.sort_by(|a, b| a.get().total_cmp(&b.get()));
    orders.dedup();
    let points = orders.into_iter().filter_map(|order| {
        let epsilon = Epsilon::new(triangle(&left, &right, order)).ok()?;
        Some((order, epsilon))
    });
    RenyiPoints::new(points.collect()).map_err(|_| Reason::GroupTooLarge)
}

/// Orders at which the joined report is taken: where both sides stand at the
/// same reported order, α²/(2α-1); half of it, as in Proposition 2; and the
/// reported orders themselves.
///
/// Of many reported orders an even choice is taken, so that reports do not grow
/// with the group.
fn candidates(points: &RenyiPoints) -> impl Iterator<Item = Order> + '_ {
    const MOST: usize = 24;
    let points = points.as_slice();
    let stride = points.len().div_ceil(MOST).max(1);
    // From the end: the largest orders reach furthest.
    points.iter().rev().step_by(stride).flat_map(|&(order, _)| {
        let a = order.get();
        // A little less, so that rounding does not step over the reported one.
        let meeting = a * a / (2.0 * a - 1.0) * (1.0 - 1e-12);
        let others = [meeting, a / 2.0]
            .into_iter()
            .filter(move |_| order.is_finite());
        [order]
            .into_iter()
            .chain(others.filter_map(|order| Order::new(order).ok()))
    })
}

/// The best bound at one order.
fn triangle(left: &RenyiCurve, right: &RenyiCurve, order: Order) -> f64 {
    let at = |curve: &RenyiCurve, a: f64| {
        Order::new(a).map_or(Interval::INFINITE, |order| curve.enclosure(order))
    };
    let a = order.get();
    let pure = (at(left, f64::INFINITY) + at(right, f64::INFINITY)).upper();
    if a == f64::INFINITY {
        return pure;
    }
    if a <= 1.0 {
        // No order below one: only what holds at all orders.
        return pure;
    }
    let joined = |p: f64| {
        // Orders are rounded up, where the curves are not lower.
        let p = Interval::from(p);
        let inverse = Interval::ONE / p;
        let (from, to) = (
            p * a,
            (Interval::from(a) - inverse) / (Interval::ONE - inverse),
        );
        let weight = (Interval::from(a) - inverse) / (Interval::from(a) - 1.0);
        (weight * at(left, from.upper()) + at(right, to.upper())).upper()
    };
    let share = Interval::from(a) / (Interval::from(a) - 1.0);
    let by_first = (share * at(left, f64::INFINITY) + at(right, a)).upper();
    let by_second = (at(left, a) + at(right, f64::INFINITY)).upper();
    // p that puts both sides at the same order: 1 + √(1 - 1/α).
    let even = joined(1.0 + (1.0 - 1.0 / a).sqrt());
    let best = valley((-12.0, 12.0), 1e-6, |u| joined(1.0 + u.exp())).value;
    [by_first, by_second, even, best]
        .into_iter()
        .filter(|x| !x.is_nan())
        .fold(pure, f64::min)
}
