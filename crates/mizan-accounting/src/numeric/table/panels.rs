//! Sampled noise with kinks, by Gauss-Legendre quadrature on panels.
//!
//! Laplace noise has two atoms and between them a density; a replaced person
//! makes a kink where the loss is zero. Both are smooth in between: on a panel of
//! half-width r the integrand extends to an ellipse that reaches i b from the
//! axis, and as long as v = (slope of the loss) b < π the bounds of
//! `trapezoid.rs` hold there,
//!
//! > cos(v/2) Y(Re x) <= |Y(x)| <= Y(Re x),   |arg Y| <= v,
//!
//! so the integrand on the ellipse is at most the sum of its terms at the worst
//! end, times e^(τ v) cos(v/2)^-(1+c). Panels are halved until the errors of all
//! add up to less than the tolerance.

use std::f64::consts::{PI, TAU};

use mizan_core::Interval;

use super::gauss_legendre::{RULE, ln_error};
use super::trapezoid::ln_tail;
use super::{Direction, MOST_NODES, Mixed, Node, Orders, Table};

/// Noise as a density of Q over a coordinate x in which its loss is linear.
struct Noise {
    /// The density is analytic from here to there.
    from: f64,
    to: f64,
    /// u = slope x - offset, known to within `uncertain` (|slope x| + |offset|).
    slope: f64,
    offset: f64,
    uncertain: f64,
    /// Rounding x and the exponent moves the density by so many units.
    blur: f64,
    /// ln of the density at x.
    ln_density: fn(&Noise, f64) -> f64,
    /// ln of a bound on its size for Re x in [low, high] and |Im x| <= b.
    ln_bound: fn(&Noise, f64, f64, f64) -> f64,
}

/// N(m, 1) mixed into N(0, 1) at a rate q.
pub(super) fn gaussian(
    m: Interval,
    q: Interval,
    direction: Direction,
    orders: Orders,
) -> Option<Table> {
    let size = m.middle();
    let goal = orders.ln_tolerance - 1.0;
    let rate = q.upper();
    let order = 1.0 + orders.c;
    // The loss is positive from here on; the mirror image is never larger.
    let from = 0.5 * size;
    let mut to = from + size.max(order * size) + 5.0;
    for _ in 0..400 {
        let u = size * to - 0.5 * size * size;
        let factor = (rate + (1.0 - rate) * (-u).exp()).ln() + 1e-12;
        let moment = order * factor + (order * order - order) * 0.5 * size * size;
        if (moment + ln_tail(to - order * size))
            .max(ln_tail(to))
            .max(ln_tail(to - size))
            <= goal
        {
            break;
        }
        to += 0.5;
    }
    let noise = Noise {
        from,
        to,
        slope: size,
        offset: 0.5 * size * size,
        uncertain: 8.0,
        blur: 32.0 + 4.0 * to * to,
        ln_density: |_, x| -0.5 * x * x - 0.5 * TAU.ln(),
        ln_bound: |_, low, high, b| {
            let nearest = if low > 0.0 {
                low
            } else if high < 0.0 {
                high
            } else {
                0.0
            };
            0.5 * b * b - 0.5 * nearest * nearest - 0.5 * TAU.ln()
        },
    };
    let mut table = noise.table(q, direction, orders)?;
    table.missing.1 += 6.0 * core_math::exp(goal);
    Some(table)
}

/// Laplace noise of scale 1 moved by t, mixed in at a rate q.
pub(super) fn laplace(
    t: Interval,
    q: Interval,
    direction: Direction,
    orders: Orders,
) -> Option<Table> {
    let size = t.middle();
    let from = if direction == Direction::Replace {
        0.0
    } else {
        -size
    };
    // The coordinate is the loss itself: Q has the density e^(-(t+l)/2)/4.
    let noise = Noise {
        from,
        to: size,
        slope: 1.0,
        offset: 0.0,
        uncertain: 4.0,
        blur: 32.0 + 4.0 * size,
        ln_density: |noise, x| -0.5 * (noise.to + x) - 4f64.ln(),
        ln_bound: |noise, low, _, _| -0.5 * (noise.to + low) - 4f64.ln(),
    };
    let mut table = noise.table(q, direction, orders)?;
    // The atoms: half of Q has the loss -t, e^-t/2 of it the loss t.
    for (loss, ln_weight) in [(-size, -2f64.ln()), (size, -2f64.ln() - size)] {
        let weight = core_math::exp(ln_weight);
        Mixed::new(q, loss, 4.0 * size, weight, ln_weight).push_to(&mut table.nodes, direction);
    }
    Some(table)
}

impl Noise {
    /// The table of the density, mixed in at a rate q.
    fn table(&self, q: Interval, direction: Direction, orders: Orders) -> Option<Table> {
        let mut panels: usize = 1 + 2 * usize::try_from(Self::ceil(self.to - self.from)?).ok()?;
        loop {
            if let Some(ln_error) = self.ln_error(q.upper(), orders, panels)
                && ln_error <= orders.ln_tolerance
            {
                return Some(Table {
                    nodes: self.nodes(q, direction, panels),
                    blur: self.blur,
                    beyond: Interval::ZERO,
                    below: Interval::ZERO,
                    cut: 0.0,
                    missing: (0.0, core_math::exp(ln_error)),
                });
            }
            panels += panels / 2 + 1;
            if panels * RULE.len() > MOST_NODES {
                return None;
            }
        }
    }

    fn ceil(x: f64) -> Option<u32> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be in range"
        )]
        let ceil = x.ceil() as u32;
        (0.0..=MOST_NODES as f64).contains(&x).then_some(ceil)
    }

    /// ln of the bound on the error of all panels, relative to 2 + |z|.
    fn ln_error(&self, q: f64, orders: Orders, panels: usize) -> Option<f64> {
        let width = (self.to - self.from) / panels as f64;
        let radius = 0.5 * width;
        let best = |rho: f64| {
            let (a, b) = (
                radius * 0.5 * (rho + 1.0 / rho),
                radius * 0.5 * (rho - 1.0 / rho),
            );
            let v = self.slope * b;
            if v >= 0.95 * PI {
                return f64::INFINITY;
            }
            let turn = orders.reach * v - (1.0 + orders.c) * (0.5 * v).cos().ln();
            let mut total = 0.0;
            for panel in 0..panels {
                let middle = self.from + width * (panel as f64 + 0.5);
                let (low, high) = (middle - a, middle + a);
                let ln_y = |x: f64| {
                    let u = self.slope * x - self.offset;
                    if u > 30.0 {
                        u
                    } else {
                        (q * u.exp_m1()).ln_1p()
                    }
                };
                // Y^(1+c), Y^-c, 1 and Y, with the factors of the last two.
                let largest = ((1.0 + orders.c) * ln_y(high))
                    .max(-orders.c * ln_y(low))
                    .max(0.0);
                total +=
                    (ln_error(rho) + turn + (self.ln_bound)(self, low, high, b) + largest).exp();
            }
            (6.0 * radius * total).ln()
        };
        let found = [1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0]
            .into_iter()
            .map(best)
            .fold(f64::INFINITY, f64::min);
        found.is_finite().then_some(found)
    }

    fn nodes(&self, q: Interval, direction: Direction, panels: usize) -> Vec<Node> {
        let width = (self.to - self.from) / panels as f64;
        let mut nodes = Vec::with_capacity(panels * RULE.len());
        for panel in 0..panels {
            let middle = self.from + width * (panel as f64 + 0.5);
            for (place, weight) in *RULE {
                let x = middle + 0.5 * width * place;
                let u = self.slope * x - self.offset;
                let uncertain = self.uncertain * ((self.slope * x).abs() + self.offset.abs());
                let ln_density = (self.ln_density)(self, x);
                let weight = 0.5 * width * weight;
                Mixed::new(
                    q,
                    u,
                    uncertain,
                    weight * core_math::exp(ln_density),
                    core_math::log(weight) + ln_density,
                )
                .push_to(&mut nodes, direction);
            }
        }
        nodes
    }
}
