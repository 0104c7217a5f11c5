//! Sampled noise with kinks, by Gauss-Legendre quadrature on panels.
//!
//! Laplace noise has two atoms and between them a density; a replaced person
//! makes a kink where the loss is zero. Both are smooth in between: on a panel of
//! half-width r the integrand extends to an ellipse that reaches i b from the
//! axis, and as long as v = (slope of the loss) b < π the bounds of
//! `trapezoid.rs` hold there,
//!
//! > √(1 - 4 s(1-s) sin²(v/2)) Y(Re x) <= |Y(x)| <= Y(Re x),   |arg Y| <= v,
//!
//! where s = q e^u/Y, and up to v = π/2 also |arg Y| <= v q e^u/(1-q): for rare
//! samples the integrand turns slowly. On the ellipse it is at most the sum of
//! its terms at the worst end with these factors. Panels are halved until the errors of all
//! add up to less than the tolerance.
//!
//! # Cutting rare losses off
//! Where the sample is rare and the noise small, the moments are ruled by losses
//! so rare that δ does not see them. They may be cut off: outcomes beyond the
//! edge X count as infinite losses, `cut` in all. P and Q lose
//! (1-q) Φ(-X) + q Φ(-(X-m)) and Φ(-X).

use std::f64::consts::{PI, TAU};

use mizan_core::Interval;

use super::gauss_legendre::{RULE, ln_error};
use super::trapezoid::{self, ln_tail};
use super::{Direction, MOST_NODES, Mixed, Node, Orders, Table, units};

/// The most panels of a table.
const MOST_PANELS: usize = MOST_NODES / 16;

const FALLS_TOO_FAST: f64 = 2e5;

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

/// Where P and Q have at most e^`ln_cut` left.
pub(super) fn edge(m: f64, q: f64, ln_cut: f64) -> f64 {
    let lost = |x: f64| ln_tail(x).max(q.ln() + ln_tail(x - m)) + 2f64.ln();
    let mut x = 0.0;
    while lost(x) > ln_cut && x < 1e4 {
        x += 0.125;
    }
    if lost(x) > ln_cut { f64::INFINITY } else { x }
}

/// N(m, 1) mixed into N(0, 1) at a rate q.
pub(super) fn gaussian(
    m: Interval,
    q: Interval,
    direction: Direction,
    orders: Orders,
    edge: Option<f64>,
) -> Option<Table> {
    let size = m.middle();
    let goal = orders.ln_tolerance - 1.0;
    let ends = |order: f64| trapezoid::ends(size, q.upper(), order, orders, 0.0);
    let (from, to) = match (direction, edge) {
        (Direction::Add, _) => ends(-orders.c)?,
        // The loss is positive from here on; its mirror image is never larger.
        (Direction::Replace, None) => (0.5 * size, ends(1.0 + orders.c)?.1),
        (Direction::Replace, Some(edge)) => (0.5 * size, edge.max(0.5 * size + 1.0)),
        (Direction::Remove, None) => ends(1.0 + orders.c)?,
        // To the left Y is at most one.
        (Direction::Remove, Some(edge)) => (-(-2.0 * goal).sqrt() - 1.0, edge),
    };
    let noise = Noise {
        from,
        to,
        slope: size,
        offset: 0.5 * size * size,
        uncertain: 8.0 + units(m),
        blur: 64.0 + 4.0 * to * to,
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
    // The ends, relative to the moment and absolute; see `trapezoid.rs`.
    table.missing.0 += 2.0 * core_math::exp(goal);
    table.missing.1 += 6.0 * core_math::exp(goal);
    if let (Some(_), Some(ln_cut)) = (edge, orders.ln_cut) {
        // From P and from Q, and of the mirror image if there is one.
        table.cut = 2.0 * core_math::exp(ln_cut);
        table.missing.1 += 2.0 * table.cut;
    }
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
    // So fast does the integrand fall from its end that no panels are narrow
    // enough; said at once, for a search asks at many such orders.
    let share = 1.0 / (1.0 + (1.0 / q.middle() - 1.0) * core_math::exp(-size));
    if orders.c * size * share > FALLS_TOO_FAST {
        return None;
    }
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
        uncertain: 4.0 + units(t),
        blur: 64.0 + (4.0 + units(t)) * size,
        ln_density: |noise, x| -0.5 * (noise.to + x) - 4f64.ln(),
        ln_bound: |noise, low, _, _| -0.5 * (noise.to + low) - 4f64.ln(),
    };
    let mut table = noise.table(q, direction, orders)?;
    // The atoms: half of Q has the loss -t, e^-t/2 of it the loss t.
    for (loss, ln_weight) in [(-size, -2f64.ln()), (size, -2f64.ln() - size)] {
        let weight = core_math::exp(ln_weight);
        Mixed::new(q, loss, (4.0 + units(t)) * size, weight, ln_weight)
            .push_to(&mut table.nodes, direction);
    }
    Some(table)
}

/// A piece of the axis: its middle and half of its width.
#[derive(Clone, Copy, Debug)]
struct Panel {
    middle: f64,
    radius: f64,
}

impl Panel {
    fn halves(self) -> [Self; 2] {
        let radius = 0.5 * self.radius;
        [self.middle - radius, self.middle + radius].map(|middle| Self { middle, radius })
    }
}

/// What a table is made for.
#[derive(Clone, Copy)]
struct Task {
    q: Interval,
    direction: Direction,
    orders: Orders,
}

impl Noise {
    /// The table of the density, mixed in at a rate q.
    fn table(&self, q: Interval, direction: Direction, orders: Orders) -> Option<Table> {
        let task = Task {
            q,
            direction,
            orders,
        };
        // Errors are compared with the moment, which few panels tell roughly.
        let size = |nodes: &[Node]| -> f64 {
            let exponent = |node: &Node| node.ln_mass + orders.c * node.loss;
            let largest = nodes.iter().map(exponent).fold(0.0, f64::max);
            let sum: f64 = nodes
                .iter()
                .map(|node| (exponent(node) - largest).exp())
                .sum();
            (largest + sum.ln() - 0.1).max(0.0)
        };
        let coarse = self.coarse()?;
        let about = size(&self.nodes(task, &coarse));
        // The terms 1 and Y come with factors of at most 2 + |z|.
        let factors = 2.0 + orders.c.hypot(orders.reach);
        let goal = orders.ln_tolerance + about - factors.ln();
        let panels = self.refined(task, coarse, goal)?;
        let nodes = self.nodes(task, &panels);
        // An error that is small beside the sum is small beside what the sum
        // stands for.
        let relative = goal + factors.ln() - size(&nodes);
        (relative <= -20.0).then(|| Table {
            nodes,
            blur: self.blur,
            beyond: Interval::ZERO,
            below: Interval::ZERO,
            cut: 0.0,
            missing: (core_math::exp(relative + 0.01), 0.0),
        })
    }

    /// Equal panels, about half a unit wide.
    fn coarse(&self) -> Option<Vec<Panel>> {
        let width = self.to - self.from;
        let count = 1.0 + (2.0 * width).ceil();
        if !(1.0..MOST_PANELS as f64).contains(&count) {
            return None;
        }
        let radius = 0.5 * width / count;
        let mut panels = Vec::new();
        let mut index = 0.0;
        while index < count {
            let middle = self.from + radius * (2.0 * index + 1.0);
            panels.push(Panel { middle, radius });
            index += 1.0;
        }
        Some(panels)
    }

    /// Panels halved until the errors of all add up to at most e^`goal`, each
    /// having its share by its width. None if they become too many.
    fn refined(&self, task: Task, coarse: Vec<Panel>, goal: f64) -> Option<Vec<Panel>> {
        let share = goal - (self.to - self.from).ln();
        let mut waiting = coarse;
        let mut panels = Vec::new();
        while let Some(panel) = waiting.pop() {
            if self.is_fine(task, panel, share + (2.0 * panel.radius).ln()) {
                panels.push(panel);
            } else {
                waiting.extend(panel.halves());
            }
            if panels.len() + waiting.len() > MOST_PANELS {
                return None;
            }
        }
        Some(panels)
    }

    /// Whether the error on a panel is below e^`goal`, in units of 2 + |z|.
    fn is_fine(&self, task: Task, panel: Panel, goal: f64) -> bool {
        let Task {
            q,
            direction,
            orders,
        } = task;
        let q = q.upper();
        let Panel { middle, radius } = panel;
        let fits = |rho: f64| {
            let (a, b) = (
                radius * 0.5 * (rho + 1.0 / rho),
                radius * 0.5 * (rho - 1.0 / rho),
            );
            let v = self.slope * b;
            if v >= 0.95 * PI {
                return false;
            }
            let sine = (0.5 * v).sin();
            let (low, high) = (middle - a, middle + a);
            let u = self.slope * high - self.offset;
            let grown = q * u.min(700.0).exp();
            let turned = if v < 0.5 * PI {
                v * (grown / (1.0 - q)).min(1.0)
            } else {
                v
            };
            let share = (grown / (1.0 - q + grown)).min(0.25);
            let shrink = -0.5 * (-4.0 * share * sine * sine).ln_1p();
            // Y^(1+c) or Y^-c or both, and 1 and Y with their factors.
            let up = (1.0 + orders.c) * self.ln_y(q, high);
            let down = -orders.c * self.ln_y(q, low);
            let largest = match direction {
                Direction::Remove => up,
                Direction::Add => down.max(self.ln_y(q, high)),
                Direction::Replace => up.max(down),
            }
            .max(0.0);
            let ln_bound = (self.ln_bound)(self, low, high, b)
                + orders.reach * turned
                + (1.0 + orders.c) * shrink;
            (6.0 * radius).ln() + ln_error(rho) + ln_bound + largest <= goal
        };
        // The likely ones first. Without the large ones no panel, however small,
        // would be fine enough for the smallest tolerances.
        [6.0, 12.0, 24.0, 3.0, 48.0, 2.0].into_iter().any(fits)
    }

    /// ln Y.
    fn ln_y(&self, q: f64, x: f64) -> f64 {
        let u = self.slope * x - self.offset;
        if u > 30.0 {
            u + (q + (1.0 - q) * (-u).exp()).ln()
        } else {
            (q * u.exp_m1()).ln_1p()
        }
    }

    fn nodes(&self, task: Task, panels: &[Panel]) -> Vec<Node> {
        let mut nodes = Vec::with_capacity(panels.len() * RULE.len());
        for &Panel { middle, radius } in panels {
            for (place, weight) in *RULE {
                let x = middle + radius * place;
                let u = self.slope * x - self.offset;
                let uncertain = self.uncertain * ((self.slope * x).abs() + self.offset.abs());
                let ln_density = (self.ln_density)(self, x);
                let weight = radius * weight;
                Mixed::new(
                    task.q,
                    u,
                    uncertain,
                    weight * core_math::exp(ln_density),
                    core_math::log(weight) + ln_density,
                )
                .push_to(&mut nodes, task.direction);
            }
        }
        nodes
    }
}
