//! Chooses the line of integration.
//!
//! Nothing here is certified: a bad choice gives a wide bracket, not a wrong one.

use std::f64::consts::TAU;

use super::part::{Part, Precision};
use crate::numeric::pair::Pair;
use crate::numeric::table::Table;

/// Around which point of the profile a line is to be good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LineTarget {
    /// ln δ.
    LnDelta(f64),
    /// ε.
    Epsilon(f64),
    /// About this ε and ln δ.
    Point(f64, f64),
}

/// A line and what it is made for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    /// The line goes through c.
    pub(super) c: f64,
    /// Aliasing from the right is bounded at c'.
    pub(super) beyond: f64,
    /// The step η.
    pub(super) step: f64,
    /// About where the profile is.
    pub(super) epsilon: f64,
    pub(super) ln_delta: f64,
}

/// ln of what aliasing may add, compared with δ.
const LN_ALIAS: f64 = -30.0;

/// How far above the saddle point a line may be, in nats, and how far one is that
/// was brought closer.
const FAR_ABOVE: f64 = 12.0;
const NEAR_ABOVE: f64 = 3.0;

/// Chooses c near the saddle point, and the widest step for which aliasing from
/// either side stays below e^-30 δ: first without regard to how near, for a wide
/// step is fast.
pub(super) fn choose(parts: &[Part], aim: LineTarget, ln_cut: Option<f64>) -> Option<Choice> {
    let precision = Precision {
        ln_quadrature: -20.0,
        ln_cut,
    };
    let mut rough: Vec<Rough<'_>> = parts
        .iter()
        .map(|part| Rough::new(part, precision))
        .collect();
    let mut cumulant = |c: f64| -> f64 { rough.iter_mut().map(|part| part.cumulant(c)).sum() };
    // The bound of Canonne, Kamath and Steinke at the order 1 + c.
    let mut objective = |c: f64| match aim {
        LineTarget::LnDelta(ln_delta) => (cumulant(c) - ln_delta + ln_k(c)) / c,
        LineTarget::Epsilon(epsilon) | LineTarget::Point(epsilon, _) => {
            cumulant(c) - epsilon * c + ln_k(c)
        }
    };
    let saddle = valley(&mut objective)?;
    let bound = objective(saddle);
    let (epsilon, ln_delta) = match aim {
        LineTarget::LnDelta(ln_delta) => (bound.max(0.0), ln_delta),
        LineTarget::Epsilon(epsilon) => (epsilon, bound.min(0.0) - 2.0),
        LineTarget::Point(epsilon, ln_delta) => (epsilon, ln_delta),
    };
    // From the left e^(-2πc/η)/δ, from the right the bound at c' in units of δ,
    // times e^(-2π(c'-c)/η).
    let mut best: Option<Choice> = None;
    for factor in [1.05, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0] {
        let beyond = saddle * factor;
        let excess = ln_k(beyond) + cumulant(beyond) - beyond * epsilon - ln_delta;
        if !excess.is_finite() {
            break;
        }
        let (left, right) = (-LN_ALIAS - ln_delta, -LN_ALIAS + excess.max(0.0));
        let step = TAU * beyond / (left + right);
        if best.is_none_or(|best| step > best.step) {
            best = Some(Choice {
                c: beyond * left / (left + right),
                beyond,
                step,
                epsilon,
                ln_delta,
            });
        }
    }
    let best = best?;
    // Where the line is far from the saddle point, small differences of large
    // numbers are left of δ.
    let mut height = |c: f64| cumulant(c) - epsilon * c;
    let least = height(saddle);
    if height(best.c) - least <= FAR_ABOVE {
        return Some(best);
    }
    let (mut far, mut near) = (best.c, saddle);
    for _ in 0..12 {
        let middle = 0.5 * (far + near);
        if height(middle) - least > NEAR_ABOVE {
            far = middle;
        } else {
            near = middle;
        }
    }
    let c = near;
    let left = TAU * c / (-LN_ALIAS - ln_delta);
    let mut steepest: Option<Choice> = None;
    for factor in [
        1.0003, 1.001, 1.003, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0,
    ] {
        let beyond = c * factor;
        let excess = ln_k(beyond) + height(beyond) - ln_delta;
        if !excess.is_finite() {
            break;
        }
        let right = TAU * (beyond - c) / (-LN_ALIAS + excess.max(0.0));
        let step = left.min(right);
        if steepest.is_none_or(|choice| step > choice.step) {
            steepest = Some(Choice {
                c,
                beyond,
                step,
                ..best
            });
        }
    }
    steepest.or(Some(best))
}

/// ln of x^x/(1+x)^(1+x).
pub(super) fn ln_k(x: f64) -> f64 {
    -x * (1.0 / x).ln_1p() - x.ln_1p()
}

/// The lowest place of a function with one valley on (0, ∞), to a percent.
fn valley(f: &mut impl FnMut(f64) -> f64) -> Option<f64> {
    let (mut c, mut step) = (1.0, 4.0f64);
    let mut value = f(c);
    for way in [step, 1.0 / step] {
        for _ in 0..60 {
            let next = f(c * way);
            // Infinite values are to the right.
            if next < value || (!value.is_finite() && way < 1.0) {
                (c, value) = (c * way, next);
            } else {
                break;
            }
        }
    }
    if !value.is_finite() {
        return None;
    }
    for _ in 0..7 {
        step = step.sqrt();
        for next in [c * step, c / step] {
            let found = f(next);
            if found < value {
                (c, value) = (next, found);
                break;
            }
        }
    }
    Some(c)
}

/// A part for evaluation at many real z, without proof.
struct Rough<'a> {
    part: &'a Part,
    precision: Precision,
    /// The table, and up to which z it is good.
    places: Vec<(f64, f64, f64)>,
    tangent: f64,
    up_to: f64,
}

impl<'a> Rough<'a> {
    fn new(part: &'a Part, precision: Precision) -> Self {
        Self {
            part,
            precision,
            places: Vec::new(),
            tangent: 0.0,
            up_to: 0.0,
        }
    }

    fn cumulant(&mut self, c: f64) -> f64 {
        match self.part {
            Part::Tabled { pair, count } => {
                let grown = c <= self.up_to
                    || [4.0, 2.0, 1.0]
                        .iter()
                        .any(|more| self.grow(pair, more * c, *count));
                if !grown {
                    return f64::INFINITY;
                }
                let mut sum = 0.0;
                for &(loss, mass, ln_mass) in &self.places {
                    let x = c * loss;
                    sum += if x > 1.0 {
                        (ln_mass + x).exp() - mass * (1.0 + x)
                    } else {
                        mass * (x.exp_m1() - x)
                    };
                }
                count * (sum + c * self.tangent).ln_1p()
            }
            part => part
                .cumulant(c, self.precision)
                .map_or(f64::INFINITY, |k| k.middle()),
        }
    }

    fn grow(&mut self, pair: &Pair, up_to: f64, count: f64) -> bool {
        let orders = self.precision.orders(up_to, 0.0, count);
        let Some(table) = Table::of(pair, orders) else {
            return false;
        };
        self.places = table
            .nodes
            .iter()
            .map(|node| (node.loss, node.mass, node.ln_mass))
            .collect();
        self.tangent = self
            .places
            .iter()
            .map(|&(loss, mass, _)| mass * ((-loss).exp_m1() + loss))
            .sum();
        self.up_to = if matches!(pair.base, crate::numeric::pair::Base::Finite(_)) {
            f64::INFINITY
        } else {
            up_to
        };
        true
    }
}
