//! Quadrature tables of pairs: P as finitely many points.
//!
//! The engines need only the moment E_P e^(zL) of a pair (P, Q), of its loss L = ln P/Q, at a real or
//! complex z. With E_P e^(-L) = 1 taken out,
//!
//! > E_P e^(zL) = 1 + S(z),   S(z) = E_P [g(zL) + z g(-L)],   g(x) = e^x - 1 - x,
//!
//! which is of second order in L, and free of cancellation for z > 0. For a rare
//! sample S is tiny and yet found to nearly full *relative* precision, so that a
//! billion compositions are as precise as one. A [`Table`] turns the expectation
//! into a sum over places with loss l and mass p,
//!
//! > S(z) = Σ p (g(z l) + z g(-l)) - b + z (β - b),
//!
//! up to `missing`, a bound on what quadrature leaves out; b is the mass of P
//! where Q is zero, β the mass of Q where P is zero.
//!
//! `trapezoid.rs` and `panels.rs` make tables for continuous noise, `finite.rs`
//! for atoms; `moment.rs` evaluates them at real z.

mod finite;
mod gauss_legendre;
mod moment;
mod panels;
#[cfg(test)]
mod tests;
mod trapezoid;

use mizan_core::Interval;

use super::pair::{Base, Pair, Sampling};
pub(crate) use moment::beyond_tangent;
pub(crate) use trapezoid::ln_tail;

/// The unit roundoff 2^-53.
pub(crate) const UNIT: f64 = f64::EPSILON / 2.0;

/// The z a table is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Orders {
    /// The real part c > 0.
    pub(crate) c: f64,
    /// The largest size of the imaginary part.
    pub(crate) reach: f64,
    /// ln of how small `missing` is to be.
    pub(crate) ln_tolerance: f64,
    /// ln of how much of P may be cut off, where that helps.
    pub(crate) ln_cut: Option<f64>,
}

/// A place of P.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Node {
    /// The loss l, known to within `slack` units of rounding.
    pub(crate) loss: f64,
    pub(crate) slack: f64,
    /// Its mass p under P; zero where it underflows.
    pub(crate) mass: f64,
    /// ln p, for where p underflows.
    pub(crate) ln_mass: f64,
}

impl Node {
    /// p g(-l), and how many units of it are in doubt where p underflows.
    pub(crate) fn tangent(&self) -> (f64, f64) {
        if self.mass > 1e-280 || self.loss > -1.0 {
            (self.mass * beyond_tangent(-self.loss), 0.0)
        } else {
            let size = core_math::exp(self.ln_mass - self.loss);
            (
                size,
                size * (8.0 + 3.0 * (self.ln_mass.abs() + self.loss.abs())),
            )
        }
    }
}

/// P in finitely many places.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    pub(crate) nodes: Vec<Node>,
    /// The masses are known to within so many units of rounding, relative, for
    /// the losses as stated.
    pub(crate) blur: f64,
    /// b: what P gives and Q never does.
    pub(crate) beyond: Interval,
    /// β: what Q gives and P never does.
    pub(crate) below: Interval,
    /// At most so much of P was cut off: count it as infinite losses.
    pub(crate) cut: f64,
    /// |S(z) - sum| is at most missing.0 E + missing.1 (2 + |z|) for all z of
    /// the table, where E >= E_P e^(cL).
    pub(crate) missing: (f64, f64),
}

/// The most places of a table.
const MOST_NODES: usize = 1 << 16;

impl Table {
    /// A table of the pair for some z. None where it would be too large, or
    /// where a closed form serves (continuous noise without sampling).
    pub(crate) fn of(pair: &Pair, orders: Orders) -> Option<Self> {
        match (&pair.base, pair.sampling) {
            (Base::Finite(loss), sampling) => finite::table(loss, sampling, orders.c),
            (Base::Gaussian { m }, Sampling::Remove { q } | Sampling::Add { q }) => {
                let direction = match pair.sampling {
                    Sampling::Add { .. } => Direction::Add,
                    _ => Direction::Remove,
                };
                let edge = edge(pair, orders);
                let panels = || panels::gaussian(*m, q.into(), direction, orders, edge);
                let trapezoid = || trapezoid::gaussian(*m, q, direction, orders);
                if edge.is_some() {
                    panels()
                } else if is_slow(*m, orders) {
                    trapezoid()
                } else {
                    panels().or_else(trapezoid)
                }
            }
            (Base::Gaussian { m }, Sampling::Replace { q }) => {
                panels::gaussian(*m, q, Direction::Replace, orders, edge(pair, orders))
            }
            (Base::Laplace { t }, Sampling::Remove { q }) => {
                panels::laplace(*t, q.into(), Direction::Remove, orders)
            }
            (Base::Laplace { t }, Sampling::Add { q }) => {
                panels::laplace(*t, q.into(), Direction::Add, orders)
            }
            (Base::Laplace { t }, Sampling::Replace { q }) => {
                panels::laplace(*t, q, Direction::Replace, orders)
            }
            (_, Sampling::Whole) => None,
        }
    }
}

/// Where the table of a pair cuts rare losses off, if it does: the noise x, in
/// units of its standard deviation, beyond which P and Q have at most e^`ln_cut`.
pub(crate) fn edge(pair: &Pair, orders: Orders) -> Option<f64> {
    match (&pair.base, pair.sampling, orders.ln_cut) {
        (
            Base::Gaussian { m },
            Sampling::Remove { .. } | Sampling::Replace { .. },
            Some(ln_cut),
        ) => {
            let q = match pair.sampling {
                Sampling::Remove { q } => q,
                Sampling::Replace { q } => q.upper(),
                _ => 1.0,
            };
            Some(panels::edge(m.middle(), q, ln_cut))
        }
        _ => None,
    }
}

/// How many units of rounding an enclosure is wide.
fn units(enclosure: Interval) -> f64 {
    (enclosure.upper() - enclosure.lower()) / (UNIT * enclosure.middle())
}

/// Whether the integrand turns slowly enough for the trapezoid rule.
fn is_slow(m: Interval, orders: Orders) -> bool {
    m.upper() * orders.reach < 500.0
}

/// The direction of the comparison: see [`Sampling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Remove,
    Add,
    Replace,
}

/// A place of Q with ln Y = ln((1-q) + q P/Q): what the directions make of it.
struct Mixed {
    /// ln Y.
    l: f64,
    slack: f64,
    /// Y itself, where it is at hand.
    ratio: Option<f64>,
    /// Its weight under Q.
    ln_weight: f64,
    weight: f64,
}

impl Mixed {
    /// The place of Q where the base has the loss u, known to within
    /// `uncertain` units of rounding.
    fn new(q: Interval, u: f64, uncertain: f64, weight: f64, ln_weight: f64) -> Self {
        let rate = q.middle();
        let (l, slack, ratio);
        if u > 30.0 {
            let ln_rate = core_math::log(rate);
            l = ln_rate + u + core_math::log1p((1.0 - rate) / rate * core_math::exp(-u));
            // The additions round, and q may be off by two units.
            slack = uncertain + 4.0 + 3.0 * (u + l.abs() + ln_rate.abs());
            ratio = None;
        } else {
            let y = rate * core_math::expm1(u);
            let whole = 1.0 + y;
            l = core_math::log1p(y);
            // dl/du = q e^u/Y and dl = dy/Y; y carries up to five roundings.
            slack = ((y + rate) * uncertain + 6.0 * y.abs()) / whole + 2.0 * l.abs();
            ratio = Some(whole);
        }
        Self {
            l,
            slack,
            ratio,
            ln_weight,
            weight,
        }
    }

    /// Adds the places of P that this place of Q becomes.
    fn push_to(&self, nodes: &mut Vec<Node>, direction: Direction) {
        let Self {
            l,
            slack,
            ratio,
            ln_weight,
            weight,
        } = *self;
        let node = |loss: f64, shift: f64| Node {
            loss,
            slack,
            mass: match ratio {
                _ if shift == 0.0 => weight,
                // l is its logarithm to within |l| units.
                Some(ratio) if weight > 1e-290 => weight * ratio,
                None if weight > 1e-290 && shift < 600.0 => weight * core_math::exp(shift),
                _ => core_math::exp(ln_weight + shift),
            },
            ln_mass: ln_weight + shift,
        };
        match direction {
            // P = Y Q, and the loss is ln Y.
            Direction::Remove => nodes.push(node(l, l)),
            // The roles are exchanged.
            Direction::Add => nodes.push(node(-l, 0.0)),
            // Above zero as if removed, and the mirror image: P at -l is Q at l.
            Direction::Replace if l > 0.0 => nodes.extend([node(l, l), node(-l, 0.0)]),
            Direction::Replace => {}
        }
    }
}
