//! Decay of sampled Gaussian noise along a vertical line, by moving the noise.
//!
//! With x the noise, u = m x - m²/2 and Y = 1 - q + q e^u, the moment of order
//! a = α + iτ is ∫ φ(x) Y(x)^a dx, and the path may be moved to x + iy: for
//! v = m |y| <= π/2 the number Y stays in the quadrant of 1 and i. With the sign
//! of y that of τ (for Y^-z the other one),
//!
//! > |E_Q Y^a| <= e^(y²/2) ∫ φ(x) |Y(x+iy)|^α e^(-|τ| arg Y(x+i|y|)) dx,
//!
//! which falls with |τ|. Both |Y| and its argument rise with x, since with
//! B = q e^u
//!
//! > |Y|² = (1-q)² + 2 (1-q) B cos v + B²,   tan arg Y = B sin v/(1 - q + B cos v),
//!
//! so that a cell of x is bounded by its ends. Where m is small the argument is
//! nearly q m y everywhere, and the bound nearly e^(-(τqm)²/2): what `decay.rs`
//! has to say of few compositions falls with a power of τ only.
//!
//! Beyond the cells: where |Y|^α falls outward (to the left for α > 0, to the
//! right for α < 0) it is at most what it is at the end, times the tail of φ. To
//! the right for α > 0, |Y|^α is at most ((q + (1-q) e^(-u₁)) e^u)^α from u₁ on.
//! To the left for α < 0, with t = B/(1-q),
//!
//! > d ln|Y|/dx = m (t cos v + t²)/(1 + 2 t cos v + t²) <= m max(t/(1+t), t²/(1+t²)),
//!
//! which rises with x, so that d ln(φ |Y|^α)/dx is at least its value d at the end;
//! if d > 0 the rest is at most φ |Y|^α/d there. |Y| is smallest on the path of
//! the widest y.
//!
//! Where rare losses are cut off (α > 0), the path ends at the edge X, with a
//! piece from X + iy back to X. There |φ| <= φ(X) e^(y²/2), |Y| <= Y(X), and the
//! argument at X + it is at least κ t with κ the smaller of its slope at t = 0 and
//! its mean slope up to y, for it is concave in t (B <= 1 - q) or convex. So that
//! piece is at most φ(X) Y(X)^α e^(y²/2) min(y, 1/(κ|τ|)).

use std::f64::consts::{FRAC_PI_2, TAU};

use mizan_core::Interval;

use crate::numeric::table::ln_tail;

/// What is left outside of the cells, compared with the moment itself.
const LN_OUTSIDE: f64 = -120.0;

/// The paths are moved by these powers of GROWTH times the first.
const PATHS: i32 = 14;
const FIRST: f64 = 0.4;
const GROWTH: f64 = 1.3;

/// Cells of this width in units of the standard deviation.
const WIDTH: f64 = 1.0 / 16.0;

/// The most cells of a line.
const MOST_CELLS: f64 = 4000.0;

/// Bounds on |ψ| by paths moved by different y.
#[derive(Clone, Debug)]
pub(super) struct Turned {
    paths: Vec<Path>,
}

/// A path, moved by one y.
#[derive(Clone, Debug)]
struct Path {
    cells: Vec<Cell>,
    end: Option<End>,
    /// What is left outside of the cells.
    outside: f64,
}

/// The piece at the edge: at most weight min(y, 1/(κ|τ|)).
#[derive(Clone, Copy, Debug)]
struct End {
    weight: f64,
    y: f64,
    slope: f64,
}

/// What lies between two places of a path: at most `weight` of |ψ|, turned by at
/// least `angle`.
#[derive(Clone, Copy, Debug)]
struct Cell {
    weight: f64,
    angle: f64,
}

/// Sampled Gaussian noise, tilted: Y^order under Q.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilted {
    pub(super) m: f64,
    pub(super) q: f64,
    pub(super) order: f64,
    /// K(c) of one composition.
    pub(super) cumulant: Interval,
    /// The first and the last place where the tilted density may be largest.
    pub(super) modes: (f64, f64),
    /// Where rare losses are cut off, if they are.
    pub(super) edge: Option<f64>,
}

impl Turned {
    /// None where the tails do not end soon.
    pub(super) fn new(tilted: Tilted) -> Option<Self> {
        let most = FRAC_PI_2 / tilted.m * (1.0 - 1e-9);
        let widest = most.min(FIRST * GROWTH.powi(PATHS - 1));
        let (low, left) = tilted.low_end(tilted.m * widest)?;
        let (high, right) = match tilted.edge {
            Some(edge) => (edge, f64::NEG_INFINITY),
            None => tilted.high_end(tilted.m * widest)?,
        };
        let low = low.min(high - 1.0);
        let cells = ((high - low) / WIDTH).ceil();
        if !(tilted.q > 0.0 && tilted.q < 1.0 && tilted.m > 0.0 && cells <= MOST_CELLS) {
            return None;
        }
        let mut paths = Vec::new();
        for step in 0..PATHS {
            let y = FIRST * GROWTH.powi(step);
            let mut path = tilted.path(y.min(most), (low, high), cells);
            let moved = 0.5 * y * y + 1e-6;
            path.outside = (left + moved).exp() + (right + moved).exp();
            paths.push(path);
            if y >= most {
                break;
            }
        }
        Some(Self { paths })
    }

    /// A bound on ln|ψ| at all heights from here on.
    pub(super) fn ln_bound(&self, height: f64) -> f64 {
        let bound = |path: &Path| -> f64 {
            let of = |cell: &Cell| cell.weight * (-height * cell.angle).exp();
            let end = |end: End| end.weight * end.y.min(1.0 / (end.slope * height));
            path.cells.iter().map(of).sum::<f64>() + path.end.map_or(0.0, end) + path.outside
        };
        let least = self.paths.iter().map(bound).fold(1.0, f64::min);
        (least * (1.0 + 1e-6)).ln()
    }
}

impl Tilted {
    fn ln_density(x: f64) -> f64 {
        -0.5 * x * x - 0.5 * TAU.ln()
    }

    /// ln|Y| and arg Y at x + iy, v = m y <= π/2.
    fn at(&self, x: f64, v: f64) -> (f64, f64) {
        let u = self.m * x - 0.5 * self.m * self.m;
        let (sin, cos) = (v.sin(), v.cos());
        if u > 30.0 {
            let rest = (1.0 - self.q) / self.q * (-u).exp();
            let ln = self.q.ln() + u + 0.5 * (rest * (2.0 * cos + rest)).ln_1p();
            return (ln, sin.atan2(rest + cos));
        }
        // Y - 1, without cancellation.
        let half = (0.5 * v).sin();
        let re = self.q * (u.exp_m1() * cos - 2.0 * half * half);
        let im = self.q * u.exp() * sin;
        let ln = 0.5 * (re * (2.0 + re) + im * im).ln_1p();
        (ln, im.atan2(1.0 + re))
    }

    /// The path moved by y, in so many cells.
    fn path(&self, y: f64, (low, high): (f64, f64), cells: f64) -> Path {
        let v = self.m * y;
        let width = (high - low) / cells;
        let scale = 0.5 * y * y - self.cumulant.lower();
        let mut path = Vec::new();
        let mut left = self.at(low, v);
        let mut index = 0.0;
        while index < cells {
            let x = low + width * index;
            index += 1.0;
            let next = low + width * index;
            let right = self.at(next, v);
            // The end that is nearer to zero, or zero between them.
            let nearest = if x > 0.0 { x } else { next.min(0.0) };
            let power = (self.order * left.0).max(self.order * right.0);
            let ln_weight = Self::ln_density(nearest) + power + scale + width.ln();
            path.push(Cell {
                weight: ln_weight.exp() * (1.0 + 1e-6),
                angle: left.1 * (1.0 - 1e-9),
            });
            left = right;
        }
        let end = self.edge.map(|edge| {
            let u = self.m * edge - 0.5 * self.m * self.m;
            let share = 1.0 / (1.0 + (1.0 - self.q) / self.q * (-u).exp());
            let ln_weight = Self::ln_density(edge) + self.order * self.at(edge, 0.0).0 + scale;
            End {
                weight: ln_weight.exp() * (1.0 + 1e-6),
                y,
                slope: share.min(left.1 / v) * self.m * (1.0 - 1e-9),
            }
        });
        Path {
            cells: path,
            end,
            outside: 0.0,
        }
    }

    /// Where the cells begin, and ln of what lies before on the line itself, for
    /// angles up to v.
    fn low_end(&self, v: f64) -> Option<(f64, f64)> {
        let bound = |x: f64| {
            if self.order > 0.0 {
                return self.order * self.at(x, 0.0).0 + ln_tail(-x) - self.cumulant.lower();
            }
            let u = self.m * x - 0.5 * self.m * self.m;
            let t = self.q * u.exp() / (1.0 - self.q);
            let share = (t / (1.0 + t)).max(t * t / (1.0 + t * t));
            let slope = -x + self.order * self.m * share;
            if slope < 1.0 {
                return f64::INFINITY;
            }
            Self::ln_density(x) + self.order * self.at(x, v).0 - slope.ln() - self.cumulant.lower()
        };
        march(self.modes.0.min(0.0) - 8.0, -1.0, bound)
    }

    /// Where the cells end, and ln of what lies beyond on the line itself, for
    /// angles up to v.
    fn high_end(&self, v: f64) -> Option<(f64, f64)> {
        let (m, q, order) = (self.m, self.q, self.order);
        let bound = |x: f64| {
            if order <= 0.0 {
                return order * self.at(x, v).0 + ln_tail(x) - self.cumulant.lower();
            }
            let u = m * x - 0.5 * m * m;
            let factor = (q + (1.0 - q) * (-u).exp().min(1e300)).ln();
            let moment = 0.5 * (order * order - order) * m * m;
            order * factor + moment + ln_tail(x - order * m) - self.cumulant.lower()
        };
        march(self.modes.1.max(0.0) + 8.0, 1.0, bound)
    }
}

/// The first place where a bound is small enough, and the bound.
fn march(start: f64, way: f64, bound: impl Fn(f64) -> f64) -> Option<(f64, f64)> {
    let mut x = start;
    for _ in 0..200 {
        let value = bound(x);
        if value <= LN_OUTSIDE {
            return Some((x, value + 1e-6));
        }
        x += way;
    }
    None
}
