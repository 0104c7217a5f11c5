//! δ(ε) and ε(δ) from the places of one line.

use std::f64::consts::{PI, TAU};

use mizan_core::{Bracket, Interval};

use super::choose::{Choice, LineTarget, choose, ln_k};
use super::complex::Complex;
use super::decay::Decay;
use super::line::{Cumulants, Line};
use super::part::{Part, Precision};
use crate::numeric::pair::Pair;
use crate::numeric::profile::intersection;
use crate::numeric::table::UNIT;

/// The most places of a line.
const MOST_PLACES: f64 = 20_000.0;

/// With more places a finer bound on the tail is worth its time.
const MANY_PLACES: usize = 1000;

/// ln of what the tail may add, compared with δ.
const LN_TAIL: f64 = -30.0;

const LN_TAIL_AT_MOST: f64 = -22.0;

/// ln of what may be cut off, compared with δ.
const LN_CUT: f64 = -22.0;

/// ln of what quadrature may leave out of a cumulant, all compositions together.
const LN_QUADRATURE: f64 = -32.0;

/// The profile of a composition, good around where it was aimed at and a bracket
/// everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Contour {
    choice: Choice,
    /// K(c), as computed: sizes are relative to e^K(c).
    scale: f64,
    places: Vec<ContourPoint>,
    /// Bounds Σ |g_j| beyond the last place, in the same units.
    tail: f64,
    /// An upper bound of K(c').
    beyond: f64,
    /// What was cut off.
    cut: f64,
}

#[derive(Clone, Copy, Debug)]
struct ContourPoint {
    height: f64,
    /// Im K.
    phase: f64,
    /// e^(Re K - K(c)) / (z(z+1)), and its first factor over z + 1.
    weight: Complex,
    slope: Complex,
    /// The size of the weight.
    size: f64,
    /// e^κ - 1 for the error κ of K, and rounding.
    error: f64,
}

/// ln δ at some ε.
struct Sum {
    /// Of the trapezoid rule.
    ln_value: f64,
    /// What it may be off by, relative.
    error: f64,
    /// d ln δ/dε.
    slope: f64,
}

impl Contour {
    /// The profile of a composition. None if the contour is not for it.
    ///
    /// With `cut`, losses that are too rare to matter at δ are cut off: better
    /// where the moments are ruled by them, worse elsewhere.
    pub(crate) fn new(pairs: &[(Pair, u64)], aim: LineTarget, cut: bool) -> Option<Self> {
        let parts = Part::all(pairs);
        if parts.is_empty() {
            return None;
        }
        let ln_delta = match aim {
            LineTarget::LnDelta(ln_delta) | LineTarget::Point(_, ln_delta) => ln_delta,
            LineTarget::Epsilon(_) if cut => {
                choose(&parts, aim, None).map_or(-40.0, |choice| choice.ln_delta - 20.0)
            }
            LineTarget::Epsilon(_) => 0.0,
        };
        let ln_cut = cut.then_some(ln_delta + LN_CUT);
        let precision = Precision {
            ln_quadrature: LN_QUADRATURE,
            ln_cut,
        };
        let choice = choose(&parts, aim, ln_cut)?;
        let mut beyond = Interval::ZERO;
        let mut cumulants = Vec::with_capacity(parts.len());
        for part in &parts {
            cumulants.push(part.cumulant(choice.c, precision)?);
            beyond = beyond + part.cumulant(choice.beyond, precision)?;
        }
        let at_line = cumulants.iter().fold(Interval::ZERO, |sum, at| sum + *at);
        // Of the order of δ in units of e^(K(c) - cε).
        let relative = choice.ln_delta - (at_line.middle() - choice.c * choice.epsilon);
        let decay = |finely: bool| {
            let mut decay = Decay::default();
            for (part, at) in parts.iter().zip(&cumulants) {
                part.decay(&mut decay, choice.c, *at, precision, finely);
            }
            decay
        };
        // A short tail where there is one, else one that is short enough.
        let count_by = |decay: &Decay| {
            places(decay, choice.step, relative + LN_TAIL)
                .or_else(|| places(decay, choice.step, relative + LN_TAIL_AT_MOST))
        };
        let mut decay_by = decay(false);
        let mut count = count_by(&decay_by);
        if count.is_none_or(|count| count > MANY_PLACES) {
            decay_by = decay(true);
            count = count_by(&decay_by);
        }
        let decay = decay_by;
        let line = Line {
            c: choice.c,
            step: choice.step,
            count: count?,
        };
        let mut sums = Cumulants::new(&line);
        let mut cut = 0.0;
        for part in &parts {
            cut += part.add_to(&mut sums, &line, precision)?;
        }
        let scale = sums.values.first()?.re;
        let places = sums
            .values
            .iter()
            .zip(sums.errors.iter().zip(&sums.bounds))
            .enumerate()
            .map(|(j, (k, (&error, &bound)))| {
                ContourPoint::new(&line, j, *k, (error, bound), scale)
            })
            .collect();
        let count = line.count as f64;
        let last = line.reach();
        let shift = (at_line.upper() - scale).abs();
        Some(Self {
            choice,
            scale,
            places,
            // Σ_(j>J) 1/τ_j² <= 1/(η² J).
            tail: (decay.ln_bound(last) + shift).exp() / (choice.step * choice.step * count) * 1.01,
            beyond: beyond.upper(),
            cut: 1.01 * cut,
        })
    }

    /// The ε of a composition at a δ. None if the contour is not for it.
    pub(crate) fn epsilon_of(pairs: &[(Pair, u64)], delta: Interval) -> Option<Bracket<f64>> {
        let ln_delta = delta.ln().middle();
        let at = |aim: LineTarget, cut: bool| Self::new(pairs, aim, cut)?.epsilon(delta);
        let mut found = at(LineTarget::LnDelta(ln_delta), false);
        // Again with what is known by then, as it is and with a cut, which may
        // be the first to tell anything.
        for cut in [false, true] {
            let aim = match found {
                Some(found) if is_narrow(found) => break,
                Some(found) => LineTarget::Point(0.5 * (found.lower + found.upper), ln_delta),
                None if cut => LineTarget::LnDelta(ln_delta),
                None => continue,
            };
            found = match (found, at(aim, cut)) {
                (Some(a), Some(b)) => Some(intersection(a, b)),
                (a, b) => a.or(b),
            };
        }
        found
    }

    /// A profile that is good around an ε. None if the contour is not for it.
    pub(crate) fn around(pairs: &[(Pair, u64)], epsilon: f64) -> Option<Self> {
        let plain = Self::new(pairs, LineTarget::Epsilon(epsilon), false);
        let found = plain.as_ref().map(|contour| contour.delta(epsilon));
        let aim = match found {
            Some(found) if is_narrow(found) => return plain,
            Some(found) if found.lower > 0.0 => {
                LineTarget::Point(epsilon, (0.5 * (found.lower + found.upper)).ln())
            }
            _ => LineTarget::Epsilon(epsilon),
        };
        Self::new(pairs, aim, true).or(plain)
    }

    /// A bound on ln δ at an ε, of the finite losses: that of Chernoff, at the
    /// saddle point.
    pub(crate) fn ln_delta_at_most(pairs: &[(Pair, u64)], epsilon: f64) -> Option<f64> {
        let all = pairs.iter().fold(Interval::ZERO, |sum, (pair, count)| {
            sum + pair.largest_loss() * *count as f64
        });
        if all.upper() <= epsilon {
            return Some(f64::NEG_INFINITY);
        }
        let parts = Part::all(pairs);
        let c = choose(&parts, LineTarget::Epsilon(epsilon), None)?.c;
        let precision = Precision {
            ln_quadrature: LN_QUADRATURE,
            ln_cut: None,
        };
        let mut cumulant = Interval::ZERO;
        for part in &parts {
            cumulant = cumulant + part.cumulant(c, precision)?;
        }
        let bound = cumulant.upper() - c * epsilon + ln_k(c);
        Some(bound + 8.0 * UNIT * (cumulant.upper().abs() + c * epsilon + 1.0))
    }

    /// δ at a given ε, of the finite losses.
    pub(crate) fn delta(&self, epsilon: f64) -> Bracket<f64> {
        let (lower, upper) = self.ln_delta(epsilon);
        Bracket {
            lower: Interval::from(lower).exp().lower(),
            upper: Interval::from(upper).exp().upper().min(1.0),
        }
    }

    /// Where δ falls to the target; None if this line does not decide it.
    pub(super) fn epsilon(&self, target: Interval) -> Option<Bracket<f64>> {
        let (low, high) = (target.ln().lower(), target.ln().upper());
        let epsilon = self.newton(0.5 * (low + high))?;
        let found = self.sum(epsilon);
        let width = (2.0 * found.error + 1e-15) / found.slope.abs() + 4.0 * UNIT * epsilon;
        let search = |way: f64, holds: &dyn Fn(f64) -> bool| {
            let mut step = width;
            for _ in 0..60 {
                let place = (epsilon + way * step).max(0.0);
                if holds(place) {
                    return Some(place);
                }
                step *= 1.5;
            }
            None
        };
        let upper = search(1.0, &|place| self.ln_delta(place).1 <= low)?;
        let lower = search(-1.0, &|place| {
            place == 0.0 || self.ln_delta(place).0 >= high
        })?;
        Some(Bracket { lower, upper })
    }

    /// About where ln δ is the target: Newton's method, safeguarded.
    fn newton(&self, target: f64) -> Option<f64> {
        let mut epsilon = self.choice.epsilon;
        let (mut low, mut high) = (0.0, f64::INFINITY);
        for _ in 0..60 {
            let sum = self.sum(epsilon);
            if !sum.ln_value.is_finite() {
                // Too far out: nothing left of the value but noise.
                high = epsilon;
                epsilon = 0.5 * (low + high);
                continue;
            }
            if sum.ln_value > target {
                low = epsilon;
            } else {
                high = epsilon;
            }
            let step = (target - sum.ln_value) / sum.slope;
            let next = epsilon + step;
            let next = if next > low && next < high {
                next
            } else if high.is_finite() {
                0.5 * (low + high)
            } else {
                2.0 * epsilon + 1.0
            };
            if (next - epsilon).abs() <= 1e-15 * epsilon || next < 1e-300 {
                return Some(next);
            }
            epsilon = next;
        }
        epsilon.is_finite().then_some(epsilon)
    }

    /// Lower and upper bound of ln δ.
    fn ln_delta(&self, epsilon: f64) -> (f64, f64) {
        let Choice {
            c, beyond, step, ..
        } = self.choice;
        let sum = self.sum(epsilon);
        let rounding = 8.0 * UNIT * (self.scale.abs() + c * epsilon + 40.0);
        if !sum.ln_value.is_finite() {
            return (f64::NEG_INFINITY, 0.0);
        }
        let off = sum.error + self.cut * core_math::exp(-sum.ln_value) * 1.01;
        let upper = sum.ln_value + core_math::log1p(off) + rounding;
        // A geometric series of ratio e^-x, from its first term on.
        let series = |x: f64| -x - core_math::log(-core_math::expm1(-x));
        let left = series(TAU * c / step);
        let right = ln_k(beyond) + self.beyond - beyond * epsilon
            + series(TAU * (beyond - c) / step)
            + 8.0 * UNIT * (self.beyond.abs() + beyond * (1.0 + epsilon));
        let lost = sum.error
            + core_math::exp(left - sum.ln_value + 1e-9)
            + core_math::exp(right - sum.ln_value + 1e-9);
        let lower = if lost < 1.0 {
            sum.ln_value + core_math::log1p(-lost) - rounding
        } else {
            f64::NEG_INFINITY
        };
        (lower, upper.min(0.0))
    }

    /// The trapezoid rule at one ε.
    fn sum(&self, epsilon: f64) -> Sum {
        let (mut value, mut slope, mut error) = (0.0, 0.0, self.tail);
        let mut half = 0.5;
        for place in &self.places {
            let turned = epsilon * place.height;
            let (sin, cos) = core_math::sincos(place.phase - turned);
            value += half * (place.weight.re * cos - place.weight.im * sin);
            slope += half * (place.slope.re * cos - place.slope.im * sin);
            let rounding = UNIT * 4.0 * (place.phase.abs() + turned.abs() + 8.0);
            error += place.size * (place.error + rounding);
            half = 1.0;
        }
        let whole: f64 = self.places.len() as f64;
        let error =
            error + whole * UNIT * self.places.first().map_or(0.0, |place| place.size) * 2.0;
        if value.is_nan() || error.is_nan() || value <= error {
            return Sum {
                ln_value: f64::NAN,
                error: f64::INFINITY,
                slope: f64::NAN,
            };
        }
        let Choice { c, step, .. } = self.choice;
        Sum {
            ln_value: self.scale - c * epsilon + core_math::log(value * (step / PI)),
            error: 1.01 * error / value,
            slope: -slope / value,
        }
    }
}

impl ContourPoint {
    fn new(line: &Line, j: usize, k: Complex, (error, bound): (f64, bool), scale: f64) -> Self {
        let z = line.z(j);
        let after = z + Complex::new(1.0, 0.0);
        let size = core_math::exp(k.re - scale);
        let slope = after.reciprocal().scaled(size);
        let weight = (z * after).reciprocal().scaled(size);
        let error = core_math::expm1(error) + 8.0 * UNIT * (2.0 + (k.re - scale).abs());
        // A number of unknown phase is off by at most its size and its bound.
        let error = if bound { 2.0 + error } else { error };
        Self {
            height: line.height(j),
            phase: k.im,
            weight,
            slope,
            size: weight.size(),
            error,
        }
    }
}

/// Whether a bracket is narrow enough to stop.
fn is_narrow(bracket: Bracket<f64>) -> bool {
    bracket.upper - bracket.lower <= 4e-10 * bracket.lower
}

/// How many places there are before the tail is below e^`goal`.
fn places(decay: &Decay, step: f64, goal: f64) -> Option<usize> {
    // The tail in units of e^(K(c) - cε): (η/π) e^bound / (η² J).
    let enough = |count: f64| decay.ln_bound(step * count) - (PI * step * count).ln() <= goal;
    let mut high = 8.0;
    while !enough(high) {
        high *= 2.0;
        if high > MOST_PLACES {
            return None;
        }
    }
    let mut low = 0.5 * high;
    while high - low > 1.0 + 0.02 * high {
        let middle = (0.5 * (low + high)).ceil();
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 8 and the most places"
    )]
    Some(high as usize)
}
