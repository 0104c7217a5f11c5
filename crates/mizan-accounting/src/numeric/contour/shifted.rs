//! Decay of sampled Gaussian noise along a vertical line, by a shift of the path
//! of integration.
//!
//! With x the noise, u = m x - m²/2 and Y = 1 - q + q e^u, the moment of order
//! a = α + iτ is ∫ φ(x) Y(x)^a dx. The integrand is analytic where Y is not zero
//! or negative, and φ falls faster than any power of Y grows, so the path may be
//! shifted to x + iy: for v = m |y| <= π/2 the number Y stays in the quadrant of
//! 1 and i. With the sign of y that of Im a (for Y^-z the other one than that of
//! Im z),
//!
//! > |E_Q Y^a| <= e^(y²/2) ∫ φ(x) |Y(x+iy)|^α e^(-|τ| arg Y(x+i|y|)) dx,
//!
//! which falls with |τ|. Both |Y| and its argument rise with x, since with
//! B = q e^u
//!
//! > |Y|² = (1-q)² + 2 (1-q) B cos v + B²,   tan arg Y = B sin v/(1 - q + B cos v),
//!
//! so that a cell of x is bounded by its ends. Where m is small the argument is
//! nearly q m y everywhere, and the bound nearly e^(-(τqm)²/2): the bounds of
//! `decay.rs` fall with a power of τ only where there are few compositions.
//!
//! # Beyond the cells
//! e^(-|τ| arg Y) is at most 1. Where |Y|^α falls outward (to the left for α > 0,
//! to the right for α < 0) it is at most what it is at the end, times the tail of
//! φ. To the right for α > 0, |Y| <= Y <= (q + (1-q) e^(-u₁)) e^u from u₁ on, and
//! the integral of φ e^(αu) is e^((α²-α)m²/2) times a tail of φ moved by αm. To
//! the left for α < 0, with t = B/(1-q),
//!
//! > d ln|Y|/dx = m (t cos v + t²)/(1 + 2 t cos v + t²) <= m max(t/(1+t), t²/(1+t²)):
//!
//! the fraction is monotone in cos v, and these are its values at 1 and 0. Both
//! rise with x, so that d ln(φ |Y|^α)/dx is at least its bound d at the end; if
//! d > 0 the rest is at most φ |Y|^α/d there. |Y| is smallest for the widest v.
//!
//! # Where rare losses are cut off
//! Then α > 0 and the path ends at the edge X, with a piece from X + iy back to X.
//! There |φ| <= φ(X) e^(y²/2) and |Y| <= Y(X). The argument θ at X + it has
//! dθ/d(mt) = (B² + (1-q) B C)/((1-q)² + B² + 2 (1-q) B C), C = cos(mt), which
//! rises with C if B <= 1 - q and falls otherwise: θ is concave or convex in t, so
//! it is at least κ t with κ the smaller of its slope at t = 0 and its mean slope
//! up to y. The piece is at most φ(X) Y(X)^α e^(y²/2) min(y, 1/(κ|τ|)).
//!
//! # Rounding
//! Each ln|Y| and arg Y comes with a bound on its error ([`Ratio`]): u is off by
//! `shift`, Y by |Y - 1| roundings and B `shift`, and ln Y by that over |Y|. The
//! exponents of weights are raised by the errors of their terms.

use std::f64::consts::{FRAC_PI_2, TAU};

use mizan_core::Interval;

use crate::numeric::table::{UNIT, ln_tail};

/// ln of what may lie outside of the cells, compared with the moment itself.
const LN_OUTSIDE: f64 = -120.0;

/// Paths are shifted by FIRST times powers of GROWTH.
const PATHS: i32 = 14;
const FIRST: f64 = 0.4;
const GROWTH: f64 = 1.3;

/// Cells of this width in units of the standard deviation.
const WIDTH: f64 = 1.0 / 16.0;

/// The most cells of a path.
const MOST_CELLS: f64 = 4000.0;

/// Larger m are not worth it: a path is shifted by at most π/(2m).
const LARGEST_M: f64 = 100.0;

/// m is known to within this, relative, or there is no bound.
const LOOSEST_M: f64 = 1e-14;

/// Bounds on |ψ| by paths with different shifts.
#[derive(Clone, Debug)]
pub(super) struct Shifted {
    paths: Vec<Path>,
}

/// A path with one shift.
#[derive(Clone, Debug)]
struct Path {
    cells: Vec<Cell>,
    end: Option<End>,
    /// What lies outside of the cells.
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

/// Y at one place.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    /// ln|Y|, and a bound on its error.
    ln: f64,
    off: f64,
    /// At most arg Y.
    arg: f64,
}

/// Sampled Gaussian noise, tilted: Y^order under Q.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tilted {
    pub(super) m: Interval,
    pub(super) q: f64,
    pub(super) order: f64,
    /// K(c) of one composition.
    pub(super) cumulant: Interval,
    /// About the first and the last place where the tilted density is largest;
    /// the search for the ends starts there.
    pub(super) modes: (f64, f64),
    /// Where rare losses are cut off, if they are; for a positive order.
    pub(super) edge: Option<f64>,
}

impl Shifted {
    /// None where the tails do not end soon.
    pub(super) fn new(tilted: Tilted) -> Option<Self> {
        let m = tilted.m.middle();
        let loose = (tilted.m.upper() - tilted.m.lower()) / m;
        let fits = m > 0.0 && m <= LARGEST_M && loose <= LOOSEST_M;
        let signs = tilted.edge.is_none() || tilted.order > 0.0;
        if !(fits && signs && tilted.q > 0.0 && tilted.q < 1.0) {
            return None;
        }
        let most = FRAC_PI_2 / m * (1.0 - 1e-9);
        let widest = most.min(FIRST * GROWTH.powi(PATHS - 1));
        let (low, left) = tilted.low_end(m * widest)?;
        let (high, right) = match tilted.edge {
            Some(edge) => (edge, f64::NEG_INFINITY),
            None => tilted.high_end(m * widest)?,
        };
        let low = low.min(high - 1.0);
        let cells = ((high - low) / WIDTH).ceil();
        if cells.is_nan() || cells > MOST_CELLS {
            return None;
        }
        let mut paths = Vec::new();
        for step in 0..PATHS {
            let y = FIRST * GROWTH.powi(step);
            let mut path = tilted.path(y.min(most), (low, high), cells);
            let shifted = 0.5 * y * y + 1e-9;
            path.outside = (left + shifted).exp() + (right + shifted).exp();
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
        // Thousands of roundings, and exponentials that underflow.
        (least * (1.0 + 1e-9) + 1e-300).ln()
    }
}

impl Tilted {
    fn ln_density(x: f64) -> f64 {
        -0.5 * x * x - 0.5 * TAU.ln()
    }

    /// u at x, and a bound on the error of u + iv: three roundings, and those of m.
    fn exponent(&self, x: f64, v: f64) -> (f64, f64) {
        let m = self.m.middle();
        let (linear, constant) = (m * x, 0.5 * m * m);
        let size = linear.abs() + constant + v;
        (linear - constant, (4.0 * UNIT + 2.0 * LOOSEST_M) * size)
    }

    /// Y at x + iy, v = m y <= π/2.
    fn at(&self, x: f64, v: f64) -> Ratio {
        let (u, shift) = self.exponent(x, v);
        let (sin, cos) = (v.sin(), v.cos());
        if u > 30.0 {
            // Y = q e^(u+iv) (1 + rest e^-iv).
            let rest = (1.0 - self.q) / self.q * (-u).exp();
            let ln = self.q.ln() + u + 0.5 * (rest * (2.0 * cos + rest)).ln_1p();
            let off = 8.0 * UNIT * (self.q.ln().abs() + u + 2.0) + 2.0 * shift;
            let arg = sin.atan2(rest + cos);
            return Ratio {
                ln,
                off,
                arg: arg * (1.0 - 16.0 * UNIT - 4.0 * shift),
            };
        }
        // Y - 1, from the terms that may cancel.
        let half = (0.5 * v).sin();
        let (rise, fall) = (u.exp_m1() * cos, 2.0 * half * half);
        let re = self.q * (rise - fall);
        let grown = self.q * u.exp();
        let im = grown * sin;
        let square = re * (2.0 + re) + im * im;
        if square < -0.75 {
            // Y is far from 1: from 1 - q and B, which do not cancel.
            let rest = 1.0 - self.q;
            let whole = rest * (rest + 2.0 * grown * cos) + grown * grown;
            let ln = 0.5 * whole.ln();
            let arg = im.atan2(rest + grown * cos);
            return Ratio {
                ln,
                off: 8.0 * UNIT * (2.0 + ln.abs()) + 2.0 * shift,
                arg: arg * (1.0 - 16.0 * UNIT - 4.0 * shift),
            };
        }
        // At least 1/2.
        let size = (1.0 + square).sqrt();
        let moved = 8.0 * UNIT * (self.q * (rise.abs() + fall) + im) + 2.0 * grown * shift;
        // The square is off by 8 units of its terms beside what Y is moved by.
        let parts = re.abs() * (2.0 + re.abs()) + im * im;
        let ln = 0.5 * square.ln_1p();
        let off = 2.0 * moved / size + 8.0 * UNIT * (parts / (size * size) + ln.abs());
        // im is off by 8 units and `shift`, relative; for an error e of 1 + re
        // the angle is off by e im/|Y|² <= angle e/|Y|.
        let turned = 16.0 * UNIT + 2.0 * shift + 2.0 * (moved + 2.0 * UNIT) / size;
        Ratio {
            ln,
            off,
            arg: im.atan2(1.0 + re) * (1.0 - turned).max(0.0),
        }
    }

    /// The error of a sum of exponents that are at most so large, and of
    /// order ln|Y|.
    fn off(&self, sizes: f64, ratio: Ratio) -> f64 {
        let order = self.order.abs();
        16.0 * UNIT * (sizes + order * ratio.ln.abs() + 64.0) + order * ratio.off
    }

    /// The path shifted by y, in so many cells.
    fn path(&self, y: f64, (low, high): (f64, f64), cells: f64) -> Path {
        let m = self.m.middle();
        let v = m * y;
        let width = (high - low) / cells;
        let scale = 0.5 * y * y - self.cumulant.lower();
        let sizes = |x: f64| x * x + y * y + self.cumulant.lower().abs();
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
            let power = (self.order * left.ln).max(self.order * right.ln);
            let off = self
                .off(sizes(nearest), left)
                .max(self.off(sizes(nearest), right));
            let ln_weight = Self::ln_density(nearest) + power + scale + width.ln() + off;
            path.push(Cell {
                // The last cell ends at `high` but for a rounding.
                weight: ln_weight.exp() * (1.0 + 1e-9),
                angle: left.arg,
            });
            left = right;
        }
        let end = self.edge.map(|edge| {
            let u = self.exponent(edge, 0.0).0;
            let share = 1.0 / (1.0 + (1.0 - self.q) / self.q * (-u).exp());
            let ratio = self.at(edge, 0.0);
            let off = self.off(sizes(edge), ratio);
            let ln_weight = Self::ln_density(edge) + self.order * ratio.ln + scale + off;
            End {
                weight: ln_weight.exp() * (1.0 + 1e-9),
                y,
                // `left` is at the edge by now; m <= 100 keeps roundings of the
                // share far below this.
                slope: share.min(left.arg / v) * m * (1.0 - 1e-8),
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
        let sizes = |x: f64| x * x + self.cumulant.lower().abs();
        let bound = |x: f64| {
            if self.order > 0.0 {
                let ratio = self.at(x, 0.0);
                let ln = self.order * ratio.ln + ln_tail(-x) - self.cumulant.lower();
                return ln + self.off(sizes(x), ratio);
            }
            let t = self.q / (1.0 - self.q) * self.exponent(x, v).0.exp();
            let share = (t / (1.0 + t)).max(t * t / (1.0 + t * t));
            let slope = -x + self.order * self.m.middle() * share;
            if slope < 1.0 {
                return f64::INFINITY;
            }
            // d is at least half of what was computed.
            let ratio = self.at(x, v);
            let density = Self::ln_density(x) - slope.ln() + 2f64.ln();
            density + self.order * ratio.ln - self.cumulant.lower() + self.off(sizes(x), ratio)
        };
        march(self.modes.0.min(0.0) - 8.0, -1.0, bound)
    }

    /// Where the cells end, and ln of what lies beyond on the line itself, for
    /// angles up to v.
    fn high_end(&self, v: f64) -> Option<(f64, f64)> {
        let (m, q, order) = (self.m.middle(), self.q, self.order);
        let sizes = |x: f64| x * x + self.cumulant.lower().abs();
        let bound = |x: f64| {
            if order <= 0.0 {
                let ratio = self.at(x, v);
                let ln = order * ratio.ln + ln_tail(x) - self.cumulant.lower();
                return ln + self.off(sizes(x), ratio);
            }
            let (u, shift) = self.exponent(x, 0.0);
            let factor = (q + (1.0 - q) * (-u).exp()).ln();
            let moved = order * m;
            let moment = 0.5 * (order - 1.0) * moved * m;
            let off = order * (shift + 8.0 * UNIT * (1.0 + factor.abs()))
                + (16.0 * UNIT + 4.0 * LOOSEST_M) * (sizes(x) + moved * moved + moment.abs());
            order * factor + moment + ln_tail(x - moved) - self.cumulant.lower() + off
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
            return Some((x, value));
        }
        x += way;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::golden;

    fn shifted(record: &serde_json::Value) -> (Shifted, f64) {
        let field = |name: &str| record[name].as_f64().unwrap();
        let text = |name: &str| record[name].as_str().unwrap().parse::<f64>().unwrap();
        let (m, q, order) = (field("m"), field("q"), field("order"));
        let cumulant = text("cumulant");
        let off = 1e-12 * (1.0 + cumulant.abs());
        let tilted = Tilted {
            m: Interval::from(m),
            q,
            order,
            cumulant: Interval::new(cumulant - off, cumulant + off),
            modes: (-order.abs() * m * q, order.abs() * m * q),
            edge: record["edge"].as_f64(),
        };
        (Shifted::new(tilted).unwrap(), text("ln_modulus"))
    }

    /// Above the modulus as integrated with 60 digits, at all later heights too.
    #[test]
    fn the_bound_is_above_the_modulus() {
        let records = golden("extremes.json", "decay");
        for record in &records {
            let (bound, truth) = shifted(record);
            let height = record["height"].as_f64().unwrap();
            for earlier in [1.0, 0.7, 0.2] {
                let found = bound.ln_bound(height * earlier);
                assert!(truth <= found, "{record}: {found}");
            }
        }
        assert!(records.len() >= 40, "only {}", records.len());
    }

    /// For much noise it falls nearly as fast as the modulus does.
    #[test]
    fn the_bound_is_close_where_there_is_much_noise() {
        for record in golden("extremes.json", "decay") {
            if record["m"].as_f64().unwrap() < 0.05 {
                let (bound, truth) = shifted(&record);
                let found = bound.ln_bound(record["height"].as_f64().unwrap());
                assert!(found <= 0.9 * truth + 1.0, "{record}: {found}");
            }
        }
    }

    /// Random parameters against the trapezoid rule in doubles, where the modulus
    /// is above its rounding errors.
    #[test]
    fn the_bound_is_above_the_modulus_at_random() {
        let mut state = 7u64;
        let mut random = |low: f64, high: f64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            low + (high - low) * (state >> 11) as f64 / 9_007_199_254_740_992.0
        };
        let (mut bounds, mut told) = (0, 0);
        for _ in 0..300 {
            let m = random(-4.0, 1.0).exp();
            let q = 1.0 / (1.0 + random(-4.0, 6.0).exp());
            let order =
                random(0.0, 9.0) / (m * q) * if random(0.0, 1.0) < 0.5 { 1.0 } else { -1.0 };
            let order = if order > 0.0 { order.max(1.0) } else { order };
            let edge = (order > 0.0 && random(0.0, 1.0) < 0.4).then(|| random(1.0, 9.0));
            // Σ φ Y^(order + iτ) over x up to the edge.
            const STEP: f64 = 1.0 / 512.0;
            const REACH: f64 = 40.0;
            let exponent = |x: f64| {
                let l = (q * (m * x - 0.5 * m * m).exp_m1()).ln_1p();
                order * l + Tilted::ln_density(x)
            };
            let moment = |height: f64| {
                let (mut re, mut im) = (0.0, 0.0);
                let mut x = edge.unwrap_or(REACH);
                let mut half = if edge.is_some() { 0.5 } else { 1.0 };
                while x > -REACH {
                    let l = (q * (m * x - 0.5 * m * m).exp_m1()).ln_1p();
                    let size = half * STEP * exponent(x).exp();
                    re += size * (height * l).cos();
                    im += size * (height * l).sin();
                    x -= STEP;
                    half = 1.0;
                }
                (re, im)
            };
            let whole = moment(0.0).0;
            let ends = exponent(-REACH).max(edge.map_or(exponent(REACH), |_| f64::MIN));
            if !(whole > 1e-200 && whole < 1e200 && ends < whole.ln() - 30.0) {
                continue;
            }
            let cumulant = whole.ln();
            let tilted = Tilted {
                m: Interval::from(m),
                q,
                order,
                cumulant: Interval::new(cumulant - 1e-5, cumulant + 1e-5),
                modes: (0.0, 0.0),
                edge,
            };
            let Some(bound) = Shifted::new(tilted) else {
                continue;
            };
            bounds += 1;
            for turns in [0.3, 1.0, 2.0, 4.0] {
                let height = turns / (m * q);
                let (re, im) = moment(height);
                // At an edge the rule is off by the square of its step.
                let least = re.hypot(im) / whole - 1e-3;
                if least > 1e-3 {
                    let found = bound.ln_bound(height);
                    assert!(least.ln() <= found, "{tilted:?} {height}: {found}");
                    told += 1;
                }
            }
        }
        assert!(bounds > 100 && told > 200, "{bounds} {told}");
    }
}
