//! The parts of a composition, in the form that the contour needs.

use std::f64::consts::TAU;

use mizan_core::Interval;

use super::complex::Complex;
use super::decay::{Decay, Rectangle, stack};
use super::line::{Cumulants, Line};
use super::rotation;
use super::shifted::{Shifted, Tilted};
use crate::numeric::pair::{Base, Pair, Sampling};
use crate::numeric::table::{Orders, Table, UNIT, edge};

/// How precise tables are to be, for all compositions together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Precision {
    /// ln of what quadrature may leave out of the cumulant.
    pub(super) ln_quadrature: f64,
    /// ln of what may be cut off, if anything.
    pub(super) ln_cut: Option<f64>,
}

impl Precision {
    pub(super) fn orders(self, c: f64, reach: f64, count: f64) -> Orders {
        Orders {
            c,
            reach,
            // What is left out counts as often as z is large.
            ln_tolerance: self.ln_quadrature - count.ln() - (1e-3 * (c + reach)).max(1.0).ln(),
            ln_cut: self.ln_cut.map(|ln_cut| ln_cut - count.ln()),
        }
    }
}

/// A part of a composition that is evaluated on its own.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// All Gaussian noise together: the loss is normal with this variance.
    Normal { variance: Interval },
    /// Laplace noise without sampling.
    Laplace { t: Interval, count: f64 },
    /// Anything that has a table.
    Tabled { pair: Pair, count: f64 },
}

impl Part {
    /// The parts of a composition, equal kinds joined.
    pub(super) fn all(pairs: &[(Pair, u64)]) -> Vec<Self> {
        let mut variance = Interval::ZERO;
        let mut parts: Vec<Self> = Vec::new();
        for (pair, count) in pairs {
            let count = *count as f64;
            match (&pair.base, pair.sampling) {
                (Base::Gaussian { m }, Sampling::Whole) => {
                    variance = variance + m.square() * count;
                }
                (Base::Laplace { t }, Sampling::Whole) => {
                    parts.push(Self::Laplace { t: *t, count })
                }
                _ => parts.push(Self::Tabled {
                    pair: pair.clone(),
                    count,
                }),
            }
        }
        if variance != Interval::ZERO {
            parts.push(Self::Normal { variance });
        }
        parts
    }

    /// K at real z, enclosed. None where it is beyond a table.
    pub(super) fn cumulant(&self, z: f64, precision: Precision) -> Option<Interval> {
        Some(match self {
            Self::Normal { variance } => {
                *variance * (Interval::from(z) * (Interval::from(z) + 1.0)) * 0.5
            }
            Self::Laplace { t, count } => {
                let (k, off) = laplace(t, Complex::new(z, 0.0));
                Interval::new(k.re - off, k.re + off) * *count
            }
            Self::Tabled { pair, count } => {
                Table::of(pair, precision.orders(z, 0.0, *count))?.cumulant(z) * *count
            }
        })
    }

    /// Adds K along a line; gives what was cut off.
    pub(super) fn add_to(
        &self,
        sums: &mut Cumulants,
        line: &Line,
        precision: Precision,
    ) -> Option<f64> {
        match self {
            Self::Normal { variance } => {
                let (middle, width) = (variance.middle(), variance.upper() - variance.lower());
                sums.add((0..=line.count).map(|j| {
                    let z = line.z(j);
                    let product = z * (z + Complex::new(1.0, 0.0));
                    let k = product.scaled(0.5 * middle);
                    let size = z.size() * (z.size() + 1.0);
                    (k, size * (width + 4.0 * UNIT * middle))
                }));
            }
            Self::Laplace { t, count } => sums.add((0..=line.count).map(|j| {
                let (k, off) = laplace(t, line.z(j));
                (k.scaled(*count), off * *count)
            })),
            Self::Tabled { pair, count } => {
                let orders = precision.orders(line.c, line.reach(), *count);
                let table = Table::of(pair, orders)?;
                if table.nodes.len() as f64 * line.count as f64 > MOST_TURNS {
                    return None;
                }
                let moments = rotation::moments(&table, line)?;
                sums.add_moments(*count, moments.into_iter());
                return Some(table.cut * count);
            }
        }
        Some(0.0)
    }

    /// What is known of the decay along the line through c, where K(c) is
    /// `cumulant`; with the finer bounds, which take longer, if `finely`.
    pub(super) fn decay(
        &self,
        decay: &mut Decay,
        c: f64,
        cumulant: Interval,
        precision: Precision,
        finely: bool,
    ) {
        match self {
            Self::Normal { variance } => decay.variance += variance.lower(),
            Self::Laplace { t, count } => {
                let bars = laplace_bars(t.middle(), c, (cumulant / *count).upper());
                decay.add(*count, (stack(bars.into_iter()), f64::INFINITY), None);
            }
            Self::Tabled { pair, count } => {
                let edge = edge(pair, precision.orders(c, 0.0, *count));
                let one = cumulant / *count;
                let shifted = if finely {
                    shifted(pair, c, one, edge)
                } else {
                    None
                };
                decay.add(*count, rectangles(pair, c, one, edge), shifted);
            }
        }
    }
}

/// K(z) of Laplace noise and a bound on its error: with g(x) = e^x - 1 - x,
///
/// > E e^(zL) = 1 + ((1+z) g(zt) + z g(-(1+z)t)) / (1+2z).
fn laplace(t: &Interval, z: Complex) -> (Complex, f64) {
    let one = Complex::new(1.0, 0.0);
    let (size, order) = (t.middle(), z + one);
    let doubled = (z + order).reciprocal();
    let unsure = (t.upper() - t.lower()) / size + 2.0 * UNIT;
    let (up, down) = (z.scaled(size), order.scaled(-size));
    if up.re > 40.0 {
        // e^(zt) is taken out: the rest is (1 + z + z e^(-(1+2z)t)) / (1 + 2z).
        let inner = order * doubled + z * doubled * (z + order).scaled(-size).exp();
        let ln = (inner - one).ln_1p();
        let off = 16.0 * UNIT * (1.0 / inner.size() + up.size()) + unsure * up.size() * 2.0;
        return (up + ln, off);
    }
    let s = (order * up.exp_beyond_tangent() + z * down.exp_beyond_tangent()) * doubled;
    // Each g is off by 60 units of |x|² max(1, e^Re x); dS/dt is
    // z (1+z) (e^(zt) - e^(-(1+z)t))/(1+2z).
    let grown = core_math::exp(up.re.max(0.0));
    let scale = z.size() * order.size() * doubled.size() * size * size;
    let off =
        scale * (grown * z.size() + order.size()) * (80.0 * UNIT + unsure) + 8.0 * UNIT * s.size();
    let whole = (one + s).size();
    if off < 0.25 * whole {
        let k = s.ln_1p();
        (
            k,
            1.4 * off / whole + 8.0 * UNIT * (k.size() + s.size() / whole),
        )
    } else {
        (
            Complex::new(core_math::log(whole + off), 0.0),
            f64::INFINITY,
        )
    }
}

/// The most places of a table times those of a line: about a quarter second.
const MOST_TURNS: f64 = 2e8;

/// How many bars a histogram has.
const BARS: u32 = 48;

/// The tilted density e^((l-t)/2 + cl - K)/4 between -t and t, from below.
fn laplace_bars(t: f64, c: f64, cumulant: f64) -> Vec<(f64, f64)> {
    let width = 2.0 * t / f64::from(BARS);
    let bar = |index: u32| {
        // It rises, so the left end is the lowest.
        let l = -t + width * f64::from(index);
        let height = ((0.5 + c) * l - 0.5 * t - cumulant).exp() * 0.25;
        (width, height * (1.0 - 1e-9))
    };
    (0..BARS).map(bar).collect()
}

/// Uniform parts of a sampled loss.
///
/// And a bound on the total variation of its density, where it is all density:
/// with x the noise, d ln f/dx = -x - m + (order + 1) m s(x) changes its sign at
/// most three times, for it is a line and a sigmoid; so the density has at most
/// two peaks, and a jump where it is cut off: five times the largest value.
fn rectangles(pair: &Pair, c: f64, cumulant: Interval, edge: Option<f64>) -> (Vec<Rectangle>, f64) {
    let (q, orders, mirrored) = match pair.sampling {
        Sampling::Whole => return (Vec::new(), f64::INFINITY),
        Sampling::Remove { q } => (q, 1.0 + c, false),
        Sampling::Add { q } => (q, -c, false),
        Sampling::Replace { q } => (q.lower(), 1.0 + c, true),
    };
    let under = |order: f64| match &pair.base {
        Base::Finite(_) => (Vec::new(), f64::INFINITY),
        Base::Gaussian { m } => {
            let m = m.middle();
            let (first, last) = modes(m, q, order);
            // So far out that the density of the loss rises before and falls after.
            let from = if mirrored {
                0.5 * m
            } else {
                first.min(0.0) - m - 8.0
            };
            let to = last.max(from) + m + 8.0;
            let to = edge.map_or(to, |edge| edge.min(to));
            bars(Density {
                q,
                order,
                cumulant,
                slope: m,
                offset: 0.5 * m * m,
                from,
                to,
                ln_density: &|x| -0.5 * x * x - 0.5 * TAU.ln(),
            })
        }
        Base::Laplace { t } => {
            let t = t.middle();
            bars(Density {
                q,
                order,
                cumulant,
                slope: 1.0,
                offset: 0.0,
                from: if mirrored { 0.0 } else { -t },
                to: t,
                ln_density: &|x| -0.5 * (t + x) - 4f64.ln(),
            })
        }
    };
    let (bars, largest) = under(orders);
    let mut all = stack(bars.into_iter());
    if mirrored {
        // P at -l is Q at l, tilted by e^(-cl).
        all.extend(stack(under(-c).0.into_iter()));
    }
    let is_density = matches!(pair.base, Base::Gaussian { .. }) && !mirrored;
    let variation = if is_density {
        5.0 * largest
    } else {
        f64::INFINITY
    };
    (all, variation)
}

/// The finer bound, of Gaussian noise on a Poisson sample.
fn shifted(pair: &Pair, c: f64, cumulant: Interval, edge: Option<f64>) -> Option<Shifted> {
    let (q, order) = match pair.sampling {
        Sampling::Remove { q } => (q, 1.0 + c),
        Sampling::Add { q } => (q, -c),
        Sampling::Whole | Sampling::Replace { .. } => return None,
    };
    let Base::Gaussian { m } = &pair.base else {
        return None;
    };
    Shifted::new(Tilted {
        m: *m,
        q,
        order,
        cumulant,
        modes: modes(m.middle(), q, order),
        edge,
    })
}

/// The first and last x at which φ(x) Y^order may be largest: where
/// x = order m s(x) with the rising share s = q e^u/Y. Not certified.
fn modes(m: f64, q: f64, order: f64) -> (f64, f64) {
    let share = |x: f64| {
        let grown = q * (m * x - 0.5 * m * m).min(700.0).exp();
        grown / (1.0 - q + grown)
    };
    if order > 0.0 {
        // From either side the iteration goes to the nearest solution.
        let (mut first, mut last) = (0.0, order * m);
        for _ in 0..100 {
            first = order * m * share(first);
            last = order * m * share(last);
        }
        return (first, last);
    }
    let (mut low, mut high) = (order * m, 0.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if order * m * share(middle) > middle {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low, high)
}

/// A density of Q whose logarithm is concave, times Y^order.
struct Density<'a> {
    q: f64,
    order: f64,
    cumulant: Interval,
    /// u = slope x - offset.
    slope: f64,
    offset: f64,
    from: f64,
    to: f64,
    ln_density: &'a dyn Fn(f64) -> f64,
}

/// Bars below the tilted density of ln Y. Its slope dl/dx = slope q e^u/Y rises
/// with x, so a cell is at least as wide as its left end says, and the density
/// of l at least that of x divided by what the right end says. Also the largest
/// that the density of l may be.
fn bars(density: Density<'_>) -> (Vec<(f64, f64)>, f64) {
    let cells = (4.0 * (density.to - density.from))
        .clamp(f64::from(BARS), 400.0)
        .ceil();
    let width = (density.to - density.from) / cells;
    let edge = |x: f64| {
        let u = density.slope * x - density.offset;
        let (l, share) = if u > 30.0 {
            (density.q.ln() + u, 1.0)
        } else {
            let l = (density.q * u.exp_m1()).ln_1p();
            (l, (density.q.ln() + u - l).exp())
        };
        (
            (density.ln_density)(x),
            density.order * l,
            density.slope * share,
        )
    };
    let mut bars = Vec::new();
    let mut largest = 0.0f64;
    let mut left = edge(density.from);
    let mut index = 0.0;
    while index < cells {
        index += 1.0;
        let right = edge(density.from + width * index);
        let ln_height = left.0.min(right.0) + left.1.min(right.1) - density.cumulant.upper();
        bars.push((
            left.2 * width * (1.0 - 1e-9),
            ln_height.exp() / right.2 * (1.0 - 1e-6),
        ));
        // A concave logarithm is at most a step above its ends: for the normal
        // density, at most what it is at the end nearer to zero, or at zero.
        let x = density.from + width * index;
        let straddles = x >= 0.0 && x - width <= 0.0;
        let top = if straddles {
            (density.ln_density)(0.0)
        } else {
            left.0.max(right.0)
        };
        let ln_top = top + left.1.max(right.1) - density.cumulant.lower();
        largest = largest.max(ln_top.exp() / left.2 * (1.0 + 1e-6));
        left = right;
    }
    (bars, largest)
}
