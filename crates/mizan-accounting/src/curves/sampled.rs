//! Events on a sample, and mechanisms given as distributions: the curve of the
//! pair itself, at every real order, by quadrature with an error bound.
//!
//! Where no pair is known, only a curve, general theorems for whole orders serve;
//! see `amplified.rs`.
//!
//! # Reference
//! Mironov, Talwar and Zhang 2019 for the Poisson-sampled Gaussian, including
//! that removing a person costs at least as much as adding one (Theorem 5); Zhu
//! and Wang 2019 for pairs in general.

use mizan_core::{Interval, PrivacyEvent};

use super::amplified;
use super::position::{Between, Position};
use crate::Reason;
use crate::numeric::mechanism::Mechanism;
use crate::numeric::pair::{Base, Pair, Sampling};
use crate::numeric::table::{Orders, Table};

/// The curve of a sampled event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Curve {
    /// The larger of the pairs' curves; exact if the mechanism reaches them.
    Pairs(Vec<Pair>, bool),
    /// A bound from the curve of what is done with the sample.
    Amplified(amplified::Curve),
}

/// ln of what quadrature may leave out: invisible beside a rare sample's moment,
/// or, where that takes too many places, beside that of others.
const LN_TOLERANCES: [f64; 3] = [-80.0, -60.0, -44.0];

fn table(pair: &Pair, c: f64, reach: f64) -> Option<Table> {
    LN_TOLERANCES.into_iter().find_map(|ln_tolerance| {
        let orders = Orders {
            c,
            reach,
            ln_tolerance,
            ln_cut: None,
        };
        Table::of(pair, orders)
    })
}

impl Curve {
    pub(crate) fn new(event: &PrivacyEvent) -> Result<Self, Reason> {
        match Mechanism::of(event) {
            Ok(mechanism) => {
                let Mechanism {
                    remove, add, exact, ..
                } = mechanism;
                if remove.infinite_mass().upper() > 0.0 {
                    // Perhaps only what was cut off: then its own curve serves.
                    return amplified::Curve::new(event)
                        .map(Self::Amplified)
                        .map_err(|_| Reason::MayFail);
                }
                // Theorem 5: the other direction is never worse.
                let add = add.filter(|pair| !matches!(pair.base, Base::Gaussian { .. }));
                if add
                    .as_ref()
                    .is_some_and(|pair| pair.infinite_mass().upper() > 0.0)
                {
                    return Err(Reason::MayFail);
                }
                let pairs = std::iter::once(remove).chain(add).collect();
                Ok(Self::Pairs(pairs, exact))
            }
            Err(Reason::NoPair | Reason::ManyDirections | Reason::TooLarge) => {
                amplified::Curve::new(event).map(Self::Amplified)
            }
            Err(reason) => Err(reason),
        }
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        match self {
            Self::Amplified(curve) => curve.at(position),
            Self::Pairs(pairs, exact) => {
                let curves = pairs.iter().map(|pair| at(pair, position));
                let worst = curves.reduce(Interval::max).unwrap_or(Interval::ZERO);
                if *exact {
                    worst
                } else {
                    Interval::new(0.0, worst.upper())
                }
            }
        }
    }
}

fn at(pair: &Pair, position: Position) -> Interval {
    match position {
        Position::One => {
            match table(pair, 0.5, 0.5) {
                Some(table) => table.mean().non_negative(),
                // Divergences rise with the order.
                None => Interval::new(0.0, at(pair, Position::Between(Between::new(1.5))).upper()),
            }
        }
        Position::Between(order) => {
            let z = order.a - 1.0;
            let bounds = bounds(pair, order);
            match table(pair, z, 0.0) {
                Some(table) => {
                    let found = (table.cumulant(z) / order.b).non_negative();
                    // Both are right, so the tighter ends are.
                    Interval::new(
                        found.lower().max(bounds.lower()),
                        found.upper().min(bounds.upper()),
                    )
                }
                None => bounds,
            }
        }
        Position::Infinite => pair.largest_loss(),
    }
}

/// What is certain without quadrature: moments are convex, so a mixture has at
/// most the mixture of the moments and the ratio at least q times the base's.
fn bounds(pair: &Pair, order: Between) -> Interval {
    let largest = pair.largest_loss().upper();
    let Base::Gaussian { m } = pair.base else {
        return Interval::new(0.0, largest);
    };
    let base = m.square() * order.a * 0.5;
    let (q, lower) = match pair.sampling {
        Sampling::Whole => return base,
        Sampling::Remove { q } => {
            let rate = Interval::from(q);
            (rate, (rate.ln() * order.a / order.b + base).lower())
        }
        Sampling::Add { q } => (q.into(), 0.0),
        Sampling::Replace { .. } => return Interval::new(0.0, base.upper()),
    };
    // ln(1 - q + q e^x)/(α-1) for x = (α-1) ε(α).
    let x = base * order.b;
    let upper = if x.upper() < 600.0 {
        (q * x.exp_m1()).ln_1p() / order.b
    } else {
        base + (q + (Interval::ONE - q) * (-x).exp()).ln() / order.b
    };
    let upper = if matches!(pair.sampling, Sampling::Remove { .. }) {
        upper.min(large_order(q, m, order, base))
    } else {
        upper
    };
    Interval::new(lower.max(0.0), upper.upper().min(base.upper()).max(lower))
}

/// The moment of Y = 1 - q + q e^u split at some u₀: below it Y is at most Y(u₀),
/// above it at most q e^u (1 + (1-q)/q e^-u₀). Tight at large orders, where all
/// is far above.
fn large_order(q: Interval, m: Interval, order: Between, base: Interval) -> Interval {
    let rest = (Interval::ONE - q) / q;
    let split = |share: f64| {
        let u = m.square() * order.a * share;
        let factor = q.ln() + (rest * (-u).exp()).ln_1p();
        let above = factor * order.a + base * order.b;
        let below = (factor + u) * order.a;
        let (small, large) = (above.min(below), above.max(below));
        (large + (small - large).exp().ln_1p()) / order.b
    };
    [0.1, 0.3, 0.6, 0.8]
        .into_iter()
        .map(split)
        .reduce(Interval::min)
        .unwrap_or(Interval::INFINITE)
}
