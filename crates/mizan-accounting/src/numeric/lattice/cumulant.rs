//! Approximate cumulants of a composition, which choose tilt, window and step.
//!
//! K(c) = ln E e^(cL) from a few hundred losses per part. It chooses the tilt,
//! the window and the step; nothing that is certified rests on it.

use super::LatticeTarget;
use super::cells::Range;
use super::density::Density;
use super::finite::sampled;
use crate::minimize::valley;
use crate::numeric::pair::{Base, Pair, Sampling};

/// A composition as finitely many losses per part.
#[derive(Clone, Debug)]
pub(super) struct Cumulant {
    parts: Vec<(Part, f64)>,
}

#[derive(Clone, Debug)]
struct Part {
    /// By rising loss.
    points: Vec<Point>,
    /// Rarer losses are left out.
    high: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    loss: f64,
    ln_mass: f64,
    atom: bool,
}

/// What is left out is less than e^-NEGLIGIBLE of everything.
const NEGLIGIBLE: f64 = 36.0;

/// Atoms that are expected less often do not decide on a step.
const RARE: f64 = 1e-20;

/// The losses of a composition under a tilt.
#[derive(Clone, Debug, Default)]
pub(super) struct TiltedLosses {
    /// Losses of atoms and how many of them are expected.
    pub(super) atoms: Vec<(f64, f64)>,
    /// How many losses that are not atoms are expected.
    pub(super) between: f64,
}

/// Where the profile is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SaddlePoint {
    /// The tilt: the saddle point.
    pub(super) theta: f64,
    pub(super) epsilon: f64,
    pub(super) ln_delta: f64,
    /// Mean and standard deviation of the tilted loss.
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// The losses that matter at a place, with the tilts that prove it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reach {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Subtracted from the tilt to bound what is below.
    pub(super) left: f64,
    /// Added to the tilt to bound what is above.
    pub(super) right: f64,
}

impl Cumulant {
    pub(super) fn new(parts: &[(Pair, u64)]) -> Self {
        let parts = parts
            .iter()
            .map(|(pair, count)| (Part::new(pair), *count as f64));
        Self {
            parts: parts.collect(),
        }
    }

    /// K(c).
    fn at(&self, c: f64) -> f64 {
        self.parts
            .iter()
            .map(|(part, count)| count * part.cumulant(c))
            .sum()
    }

    /// K of one part.
    pub(super) fn of_part(&self, index: usize, c: f64) -> f64 {
        self.parts
            .get(index)
            .map_or(0.0, |(part, _)| part.cumulant(c))
    }

    /// Mean and standard deviation under the tilt c.
    fn moments(&self, c: f64) -> (f64, f64) {
        let (mut mean, mut variance) = (0.0, 0.0);
        for (part, count) in &self.parts {
            let (m, v) = part.moments(c);
            mean += count * m;
            variance += count * v;
        }
        (mean, variance.sqrt())
    }

    /// The losses under the tilt c, all compositions together; what is too rare
    /// to matter is left out.
    pub(super) fn tilted(&self, c: f64) -> TiltedLosses {
        let mut losses = TiltedLosses::default();
        for (part, count) in &self.parts {
            let here = part.cumulant(c);
            for point in &part.points {
                let weight = count * (c * point.loss + point.ln_mass - here).exp();
                if !point.atom {
                    losses.between += weight;
                } else if weight > RARE {
                    losses.atoms.push((point.loss, weight));
                }
            }
        }
        losses
    }

    /// The saddle point of an aim.
    pub(super) fn place(&self, aim: LatticeTarget) -> SaddlePoint {
        let most: f64 = self
            .parts
            .iter()
            .map(|(part, count)| count * part.points.last().map_or(0.0, |point| point.loss))
            .sum();
        let (mean, deviation) = self.moments(0.0);
        // Exponents stay below 1e4, or below 1e6 where many compositions need it:
        // their rounding is 1e-10 of δ at most. A tilt of 100 standard deviations
        // reaches every δ there; a steeper one sees the largest loss alone.
        let scale = most.min(mean + 40.0 * deviation).max(1e-300);
        let steepest = (1e4 / scale).max((100.0 / deviation).min(1e6 / scale));
        let ends = ((1e-4 / scale).min(1e-3).ln(), steepest.ln());
        let entropy = |c: f64| c * c.ln() - (1.0 + c) * c.ln_1p();
        let theta = match aim {
            LatticeTarget::Epsilon(epsilon) => {
                valley(ends, 1e-4, |u| {
                    let c = u.exp();
                    self.at(c) - epsilon * c - u - c.ln_1p()
                })
                .place
            }
            LatticeTarget::LnDelta(ln_delta) => {
                valley(ends, 1e-4, |u| {
                    let c = u.exp();
                    (self.at(c) + entropy(c) - ln_delta) / c
                })
                .place
            }
        }
        .exp();
        let (mean, deviation) = self.moments(theta);
        let (epsilon, ln_delta) = match aim {
            LatticeTarget::Epsilon(epsilon) => {
                let bound = self.at(theta) + entropy(theta) - theta * epsilon;
                (epsilon, bound.min(0.0))
            }
            // The saddle point is where the derivative of the exponent is zero.
            LatticeTarget::LnDelta(ln_delta) => {
                (mean - 1.0 / theta - 1.0 / (1.0 + theta), ln_delta)
            }
        };
        SaddlePoint {
            theta,
            epsilon: epsilon.max(0.0),
            ln_delta,
            mean,
            deviation,
        }
    }

    /// The losses outside of which a share e^-`depth` of the tilted mass lies,
    /// as proven by tilting further up, and by tilting back at most to P itself.
    pub(super) fn reach(&self, place: SaddlePoint, depth: f64) -> Reach {
        let here = self.at(place.theta);
        let unit = 1.0 / place.deviation.max(1e-300);
        let search = |most: f64, bound: &dyn Fn(f64) -> f64| {
            let least = (1e-4 * unit).min(0.5 * most);
            valley((least.ln(), most.ln()), 1e-2, |u| bound(u.exp()))
        };
        let right = search(40.0 * unit, &|t| {
            (self.at(place.theta + t) - here + depth) / t
        });
        let left = search(place.theta, &|t| {
            (self.at(place.theta - t) - here + depth) / t
        });
        Reach {
            low: -left.value,
            high: right.value,
            left: left.place.exp(),
            right: right.place.exp(),
        }
    }

    /// Leaves out losses that are too rare to matter at a δ, however large they
    /// are: moments would be ruled by them, and a tilt that looks at them sees
    /// nothing else. Says whether there are any.
    pub(super) fn cut(&mut self, ln_delta: f64) -> bool {
        let mut found = false;
        for (part, count) in &mut self.parts {
            let least = ln_delta - NEGLIGIBLE - count.ln();
            let counted = |sum: f64, _: f64| sum > least;
            let high = first_that_matters(part.points.iter().rev(), counted);
            let before = part.points.len();
            part.points.retain(|point| point.loss <= high);
            if part.points.len() < before {
                found = true;
                part.high = Some(high);
            }
        }
        found
    }

    /// The losses of a part that matter at a place.
    pub(super) fn range(&self, index: usize, place: SaddlePoint) -> Range {
        let Some((part, count)) = self.parts.get(index) else {
            return Range {
                low: 0.0,
                high: 0.0,
                cut: false,
            };
        };
        let here = part.cumulant(place.theta);
        let least = -NEGLIGIBLE - count.ln();
        // From below: mass that is moved up to a loss, as tilted there.
        let tilted = |sum: f64, loss: f64| sum + place.theta * loss - here > least;
        // From above: mass that is moved beyond all losses.
        let counted = |sum: f64, _: f64| sum > place.ln_delta + least;
        let high = || first_that_matters(part.points.iter().rev(), counted);
        Range {
            low: first_that_matters(part.points.iter(), tilted),
            high: part.high.unwrap_or_else(high),
            cut: part.high.is_some(),
        }
    }
}

/// The loss before the first one up to which the mass matters.
fn first_that_matters<'a>(
    points: impl Iterator<Item = &'a Point>,
    matters: impl Fn(f64, f64) -> bool,
) -> f64 {
    let (mut sum, mut before) = (f64::NEG_INFINITY, None);
    for point in points {
        sum = ln_add(sum, point.ln_mass);
        if matters(sum, point.loss) {
            // Points stand for what is around them: the one before is safe.
            return before.unwrap_or(point.loss);
        }
        before = Some(point.loss);
    }
    before.unwrap_or(0.0)
}

impl Part {
    fn new(pair: &Pair) -> Self {
        let mut points = match Density::of(&pair.base) {
            Err(base) => sampled(base, pair.sampling)
                .atoms
                .iter()
                .map(|atom| Point {
                    loss: atom.loss.middle(),
                    ln_mass: atom.mass.middle().ln(),
                    atom: true,
                })
                .collect(),
            Ok(_) => through(&nodes(&pair.base), pair.sampling),
        };
        points.retain(|point| point.ln_mass > f64::NEG_INFINITY && point.loss.is_finite());
        points.sort_by(|a, b| a.loss.total_cmp(&b.loss));
        let mut part = Self { points, high: None };
        // What is infinite is counted elsewhere, and nodes are rough.
        let sum = part.cumulant(0.0);
        for point in &mut part.points {
            point.ln_mass -= sum;
        }
        part
    }

    fn cumulant(&self, c: f64) -> f64 {
        let exponent = |point: &Point| c * point.loss + point.ln_mass;
        let most = self.points.iter().map(exponent).fold(f64::MIN, f64::max);
        let sum: f64 = self
            .points
            .iter()
            .map(|point| (exponent(point) - most).exp())
            .sum();
        most + sum.ln()
    }

    /// Mean and variance under the tilt c.
    fn moments(&self, c: f64) -> (f64, f64) {
        let here = self.cumulant(c);
        let weight = |point: &Point| (c * point.loss + point.ln_mass - here).exp();
        let mean: f64 = self.points.iter().map(|p| weight(p) * p.loss).sum();
        let variance = |p: &Point| weight(p) * (p.loss - mean).powi(2);
        let variance: f64 = self.points.iter().map(variance).sum();
        (mean, variance)
    }
}

/// A loss of the base with its masses under P and Q.
struct Node {
    loss: f64,
    p: f64,
    q: f64,
    atom: bool,
}

/// A base with a density as a few hundred losses.
fn nodes(base: &Base) -> Vec<Node> {
    const STEPS: i32 = 152;
    let mut nodes = Vec::new();
    match base {
        Base::Gaussian { m } => {
            let m = m.middle();
            for step in -STEPS..=STEPS {
                let z = 0.25 * f64::from(step);
                let mass = 0.25 * (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
                for (mean, p, q) in [(m * m / 2.0, mass, 0.0), (-m * m / 2.0, 0.0, mass)] {
                    nodes.push(Node {
                        loss: mean + m * z,
                        p,
                        q,
                        atom: false,
                    });
                }
            }
        }
        Base::Laplace { t } => {
            let t = t.middle();
            // Closer and closer towards the atoms, where a strong tilt looks.
            let mut outer = 0.0;
            for step in 0..=STEPS {
                let inner = t * (f64::from(step - STEPS) * 0.14).exp();
                let (loss, width) = (t - 0.5 * (inner + outer), inner - outer);
                for loss in [loss, -loss] {
                    nodes.push(Node {
                        loss,
                        p: 0.25 * width * ((loss - t) / 2.0).exp(),
                        q: 0.25 * width * ((-loss - t) / 2.0).exp(),
                        atom: false,
                    });
                }
                outer = inner;
            }
            for (loss, p, q) in [(t, 0.5, 0.5 * (-t).exp()), (-t, 0.5 * (-t).exp(), 0.5)] {
                nodes.push(Node {
                    loss,
                    p,
                    q,
                    atom: true,
                });
            }
        }
        Base::Finite(_) => {}
    }
    nodes
}

/// Nodes of a base as points of the sampled pair.
fn through(nodes: &[Node], sampling: Sampling) -> Vec<Point> {
    let point = |loss: f64, mass: f64, atom: bool| Point {
        loss,
        ln_mass: mass.ln(),
        atom,
    };
    let mut points = Vec::new();
    for node in nodes {
        let seen = |rate: f64| {
            let loss = (rate * node.loss.exp_m1()).ln_1p();
            // Far up the exponential overflows, and the loss is l + ln q.
            if loss.is_finite() {
                loss
            } else {
                node.loss + rate.ln()
            }
        };
        let mixed = |rate: f64| (1.0 - rate) * node.q + rate * node.p;
        match sampling {
            Sampling::Whole => points.push(point(node.loss, node.p, node.atom)),
            Sampling::Remove { q } => points.push(point(seen(q), mixed(q), node.atom)),
            Sampling::Add { q } => points.push(point(-seen(q), node.q, node.atom)),
            Sampling::Replace { q } => {
                let q = q.middle();
                if node.loss > 0.0 {
                    points.push(point(seen(q), mixed(q), node.atom));
                    points.push(point(-seen(q), node.q, node.atom));
                }
            }
        }
    }
    if let Sampling::Replace { q } = sampling {
        let difference = |node: &Node| {
            if node.loss > 0.0 {
                node.p - node.q
            } else {
                0.0
            }
        };
        let rest: f64 = nodes.iter().map(difference).sum();
        points.push(point(0.0, (1.0 - q.middle()) * rest.max(0.0), true));
    }
    points
}

/// ln(e^a + e^b).
fn ln_add(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == f64::NEG_INFINITY {
        large
    } else {
        large + (small - large).exp().ln_1p()
    }
}
