//! The lattice accountant: losses as multiples of a step h, certified from
//! both sides.
//!
//! # The bracket
//!
//! 1. Every part is put on the lattice twice (`discrete.rs`): once by a split
//!    that can only raise δ in any composition, once by a post-processing,
//!    which can only lower it. Both are of second order in h.
//! 2. The masses are tilted by θ, near the saddle point of the wanted δ
//!    (`tilt.rs`), so that all errors below are relative to that δ, be it 0.1
//!    or 1e-300.
//! 3. Sums of independent losses are convolutions (`compose.rs`), direct for
//!    few places, by Fourier transforms with a proven error (`fft.rs`) for
//!    many. Transforms work modulo a window; all weights are non-negative, so
//!    what is folded in has one sign. From above it only adds; from below a
//!    Chernoff bound, evaluated on the very weights, is subtracted.
//! 4. δ(ε) is read off by sums of positive terms rounded outward (`above.rs`),
//!    and as P - e^ε Q of one event (`below.rs`).
//! 5. Infinite losses have the probability 1 - Π (1 - b_i), and the finite rest
//!    is a composition of masses that add up to 1 - b_i.
//!
//! Where all losses share a step they fall on the lattice and nothing is lost
//! to it. Where there are few different sums they are enumerated instead
//! (`enumerate.rs`). `cumulant.rs` chooses tilt, window and step; a bad choice
//! makes the bracket wide, never wrong.
//!
//! # Reference
//! Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022 (the split); Higham
//! 2002, chapter 24 (transforms); docs/spec/mathematics.md 6.3.

mod above;
mod below;
pub(super) mod binomial;
mod cells;
mod compose;
mod cumulant;
mod density;
mod discrete;
mod enumerate;
mod fft;
mod finite;
mod step;
mod tilt;
mod unit;

#[cfg(test)]
mod tests;

use mizan_core::{Bracket, Interval};

use self::above::Above;
use self::below::{Below, Folded};
use self::cells::discretise;
use self::compose::{FEW_TAPS, Support, Transforms, Window, directly};
use self::cumulant::{Cumulant, Reach, SaddlePoint};
use self::density::Density;
use self::enumerate::{Enumerated, enumerate};
use self::finite::sampled;
use self::step::step;
use self::tilt::{Tilt, Tilted};
use crate::minimize::first_that_holds;
use crate::numeric::pair::{Base, FiniteLoss, Pair, Sampling};

/// Around which the lattice is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LatticeTarget {
    /// δ at this ε.
    Epsilon(f64),
    /// ε at this ln δ.
    LnDelta(f64),
}

/// How much is done.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// The relative width of ε that steps are chosen for.
    width: f64,
    /// The most places of a transform.
    places: f64,
    /// The most cells of normal losses, which are slow, about.
    cells: f64,
    /// Whether steps are looked for on which atoms fall.
    aligned: bool,
    /// Whether losses that are too rare to matter are left out of the choice of
    /// the tilt; only where that makes another choice.
    cut: bool,
    way: Way,
}

/// How convolutions are computed; tests force each of them.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// As suits.
    Best,
    /// Modulo a window, factors of few taps one by one.
    #[cfg(test)]
    Modulo,
    /// By transforms alone.
    #[cfg(test)]
    Transforms,
}

impl Effort {
    const USUAL: Self = Self {
        width: 1e-10,
        places: MOST_PLACES,
        cells: f64::INFINITY,
        aligned: true,
        cut: false,
        way: Way::Best,
    };
    /// Nearly as good, and never long.
    const BOUNDED: Self = Self {
        places: MOST_PLACES / 4.0,
        cells: 65_536.0,
        ..Self::USUAL
    };
    /// Steps grow with the root of the width: a hundredth of the places.
    const DRAFT: Self = Self {
        width: 1e-6,
        places: MOST_PLACES / 16.0,
        cells: 16_384.0,
        aligned: true,
        cut: false,
        way: Way::Best,
    };
}

/// The largest transform.
const MOST_PLACES: f64 = 524_288.0;

/// From this many compositions on, the last digits are not worth their time.
const MANY: u64 = 2000;

/// From 2^14 places on the compositions go side by side.
const WORTH_A_THREAD: u32 = 14;

/// Outside of the window lies about e^-DEPTH of the tilted mass.
const DEPTH: f64 = 32.0;

/// δ(ε) of a composition, from above and from below.
#[derive(Clone, Debug)]
pub(crate) struct LatticeProfile {
    sides: Sides,
    /// The probability of infinite losses.
    beyond: Interval,
    /// The same with what was moved there from above.
    beyond_above: f64,
    /// No finite loss is larger.
    most: f64,
}

#[derive(Clone, Debug)]
enum Sides {
    Enumerated(Enumerated),
    Lattice { above: Above, below: Below },
}

impl LatticeProfile {
    /// The profile of a composition; None where there are too many parts, or
    /// losses too different in size, for a lattice to help.
    pub(crate) fn new(parts: &[(Pair, u64)], aim: LatticeTarget) -> Option<Self> {
        Self::with(parts, aim, Effort::USUAL)
    }

    /// The same within half a second or so, whatever the parts are.
    pub(crate) fn bounded(parts: &[(Pair, u64)], aim: LatticeTarget) -> Option<Self> {
        let normal = |(pair, _): &(Pair, u64)| matches!(pair.base, Base::Gaussian { .. });
        let many = parts
            .iter()
            .fold(0, |sum: u64, (_, k)| sum.saturating_add(*k))
            > MANY;
        if many || parts.iter().any(normal) {
            Self::with(parts, aim, Effort::BOUNDED)
        } else {
            Self::new(parts, aim)
        }
    }

    /// The same in a fraction of the time: six digits where there is room.
    pub(crate) fn draft(parts: &[(Pair, u64)], aim: LatticeTarget) -> Option<Self> {
        Self::with(parts, aim, Effort::DRAFT)
    }

    /// The same without the losses that are too rare to matter at δ, where these
    /// rule the moments; None elsewhere. A draft, or bounded.
    pub(crate) fn without_rare(
        parts: &[(Pair, u64)],
        aim: LatticeTarget,
        draft: bool,
    ) -> Option<Self> {
        let effort = if draft {
            Effort::DRAFT
        } else {
            Effort::BOUNDED
        };
        Self::on_lattice(
            &relevant(parts),
            aim,
            Effort {
                cut: true,
                ..effort
            },
        )
    }

    fn with(parts: &[(Pair, u64)], aim: LatticeTarget, effort: Effort) -> Option<Self> {
        let parts = relevant(parts);
        let free = Effort {
            aligned: false,
            ..effort
        };
        Self::enumerated(&parts)
            .or_else(|| Self::on_lattice(&parts, aim, effort))
            .or_else(|| Self::on_lattice(&parts, aim, free))
    }

    fn enumerated(parts: &[(Pair, u64)]) -> Option<Self> {
        let finite = |(pair, count): &(Pair, u64)| match Density::of(&pair.base) {
            Ok(_) => None,
            Err(base) => Some((sampled(base, pair.sampling), *count)),
        };
        let losses: Vec<(FiniteLoss, u64)> = parts.iter().map(finite).collect::<Option<_>>()?;
        let beyond = beyond(losses.iter().map(|(loss, count)| (loss.beyond, *count)));
        Some(Self {
            sides: Sides::Enumerated(enumerate(&losses)?),
            beyond,
            beyond_above: beyond.upper(),
            most: most(parts),
        })
    }

    fn on_lattice(parts: &[(Pair, u64)], aim: LatticeTarget, effort: Effort) -> Option<Self> {
        let own: Vec<Interval> = parts.iter().map(|(pair, _)| beyond_of(pair)).collect();
        let counts = || parts.iter().map(|(_, count)| *count);
        let beyond_all = beyond(own.iter().copied().zip(counts()));
        let aim = match aim {
            LatticeTarget::LnDelta(ln_delta) => {
                let left = ln_delta.exp() - beyond_all.middle();
                LatticeTarget::LnDelta(if left > 0.0 { left.ln() } else { ln_delta })
            }
            aim => aim,
        };
        let mut cumulant = Cumulant::new(parts);
        let mut place = cumulant.place(aim);
        if effort.cut {
            let whole = place.theta;
            for _ in 0..3 {
                if !cumulant.cut(place.ln_delta) {
                    break;
                }
                place = cumulant.place(aim);
            }
            if (place.theta - whole).abs() <= 0.01 * whole {
                return None;
            }
        }
        let reach = cumulant.reach(place, DEPTH);
        let h = step(parts, &cumulant, (place, reach), effort)?;
        let theta = place.theta;
        let [mut above, mut p, mut q] = [Tilted::new(), Tilted::new(), Tilted::new()];
        let mut beyond_above = Vec::with_capacity(parts.len());
        for (index, ((pair, count), own)) in parts.iter().zip(&own).enumerate() {
            let discrete = discretise(pair, h, cumulant.range(index, place))?;
            let kappa = cumulant.of_part(index, theta);
            let tilt = |theta: Interval, up: bool| Tilt { h, theta, up };
            let (first, theta) = (discrete.first, Interval::from(theta));
            let rising = tilt(theta, true);
            above.push(rising, (first, &discrete.above), kappa, *count)?;
            p.push(tilt(theta, false), (first, &discrete.p), kappa, *count)?;
            let steeper = tilt(theta + 1.0, true);
            q.push(steeper, (first, &discrete.q), kappa, *count)?;
            beyond_above.push((*own + discrete.cut, *count));
        }
        let own = |tilted: &Tilted| Support::of(&tilted.factors);
        let support = own(&above)?.and(own(&p)?).and(own(&q)?);
        // Splitting spreads every loss by up to one place.
        let all: f64 = parts.iter().map(|(_, count)| *count as f64).sum();
        let spread = all.min(8.0 * all.sqrt() + 16.0);
        let window = window(support, h, (place, reach), spread, effort)?;
        let transforms = Transforms::new(window);
        let composed = |tilted: &Tilted| match effort.way {
            Way::Best if support.is_small() => directly(&tilted.factors, support),
            Way::Best => transforms.modulo(&tilted.factors, FEW_TAPS),
            #[cfg(test)]
            Way::Modulo => transforms.modulo(&tilted.factors, FEW_TAPS),
            #[cfg(test)]
            Way::Transforms => transforms.modulo(&tilted.factors, 0),
        };
        let (sums, sums_p, sums_q) = if window.m < WORTH_A_THREAD || support.is_small() {
            (composed(&above)?, composed(&p)?, composed(&q)?)
        } else {
            std::thread::scope(|scope| {
                let (p, q) = (scope.spawn(|| composed(&p)), scope.spawn(|| composed(&q)));
                Some((composed(&above)?, p.join().ok()??, q.join().ok()??))
            })?
        };
        let period = (1u64 << window.m) as f64;
        // A steeper tilt would see nothing but that spread.
        let right = reach.right.min(16.0 / (h * all.sqrt()));
        let left = reach.left.min(theta);
        let outside = if sums.above_window {
            // From the first place above the window on.
            let end = Interval::from(h) * (window.first as f64 + period) * right;
            (Interval::from(above.ln_moment(h, right)) - end)
                .exp()
                .upper()
        } else {
            0.0
        };
        let folded = sums_p.folded.then(|| Folded {
            right: (right, p.ln_moment(h, right)),
            left: (left, p.ln_moment(h, -left)),
            period,
        });
        let lattice = (h, theta);
        let scales = (p.ln_scale, q.ln_scale - p.ln_scale);
        Some(Self {
            sides: Sides::Lattice {
                above: Above::new(&sums, lattice, above.ln_scale, outside),
                below: Below::new(&sums_p, &sums_q, lattice, scales, folded, place.epsilon),
            },
            beyond: beyond_all,
            beyond_above: beyond(beyond_above.into_iter()).upper(),
            most: most(parts),
        })
    }

    /// δ at an ε.
    pub(crate) fn delta(&self, epsilon: f64) -> Bracket<f64> {
        Bracket {
            lower: self.delta_below(epsilon),
            upper: self.delta_above(epsilon),
        }
    }

    /// The ε at which δ falls to a target; None if no such ε is found.
    pub(crate) fn epsilon(&self, delta: Interval) -> Option<Bracket<f64>> {
        let left = delta - self.beyond;
        // At the largest loss only infinite ones are left.
        let most = (left.lower() >= 0.0).then_some(self.most.max(0.0));
        let (lower, upper) = match &self.sides {
            Sides::Enumerated(sums) => (
                sums.below.epsilon(left).map(|bracket| bracket.lower),
                sums.above.epsilon(left).map(|bracket| bracket.upper),
            ),
            Sides::Lattice { above, .. } => {
                let top = above.ends().1.min(self.most).max(0.0);
                let upper = first_that_holds(0.0, top, |epsilon| {
                    self.delta_above(epsilon) <= delta.lower()
                });
                let lower = self.last_above(upper.unwrap_or(top), delta.upper());
                (Some(lower), upper)
            }
        };
        let upper = [upper, most].into_iter().flatten().reduce(f64::min)?;
        if upper == f64::INFINITY {
            return None;
        }
        Some(Bracket {
            lower: lower.unwrap_or(0.0).clamp(0.0, upper),
            upper,
        })
    }

    /// An ε up to `top` at which δ is certainly above the target; 0 if none is
    /// found. Searched from the top, near which the lattice is at its best.
    fn last_above(&self, top: f64, target: f64) -> f64 {
        let falls = |epsilon: f64| self.delta_below(epsilon) <= target;
        let mut step = (1e-14 * top).max(f64::MIN_POSITIVE);
        let mut from = top;
        while falls(from) {
            if from <= 0.0 {
                return 0.0;
            }
            from = (top - step).max(0.0);
            step *= 4.0;
        }
        // One before the first at which δ may have fallen to the target.
        first_that_holds(from, top, falls).map_or(top, f64::next_down)
    }

    fn delta_above(&self, epsilon: f64) -> f64 {
        if epsilon >= self.most {
            return self.beyond.upper().min(1.0);
        }
        let (finite, beyond) = match &self.sides {
            Sides::Enumerated(sums) => (sums.above.delta(epsilon).upper(), self.beyond.upper()),
            Sides::Lattice { above, .. } => (above.delta(epsilon), self.beyond_above),
        };
        (Interval::from(finite.max(0.0)) + beyond).upper().min(1.0)
    }

    fn delta_below(&self, epsilon: f64) -> f64 {
        let finite = match &self.sides {
            Sides::Enumerated(sums) => sums.below.delta(epsilon).lower(),
            Sides::Lattice { below, .. } => below.delta(epsilon),
        };
        let sum = Interval::from(finite.max(0.0)) + self.beyond.lower().max(0.0);
        sum.lower().clamp(0.0, 1.0)
    }
}

/// Parts that have a loss at all.
fn relevant(parts: &[(Pair, u64)]) -> Vec<(Pair, u64)> {
    let nothing = |pair: &Pair| match pair.sampling {
        Sampling::Whole => false,
        Sampling::Remove { q } | Sampling::Add { q } => q == 0.0,
        Sampling::Replace { q } => q.upper() == 0.0,
    };
    let parts = parts
        .iter()
        .filter(|(pair, count)| *count > 0 && !nothing(pair));
    parts.cloned().collect()
}

/// The probability of outcomes that Q never gives.
fn beyond_of(pair: &Pair) -> Interval {
    match Density::of(&pair.base) {
        Ok(_) => Interval::ZERO,
        Err(base) => sampled(base, pair.sampling).beyond,
    }
}

/// 1 - Π (1 - b_i)^k_i.
fn beyond(parts: impl Iterator<Item = (Interval, u64)>) -> Interval {
    let logarithms = parts.map(|(beyond, count)| (-beyond).ln_1p() * count as f64);
    -crate::divergence::sum(logarithms).exp_m1()
}

/// At least the largest finite loss of the composition.
fn most(parts: &[(Pair, u64)]) -> f64 {
    let largest = |(pair, count): &(Pair, u64)| {
        let base = match Density::of(&pair.base) {
            Err(base) => sampled(base, pair.sampling)
                .atoms
                .last()
                .map_or(Interval::ZERO, |atom| atom.loss),
            Ok(density) => {
                let top = density.atoms().last().map(|&(loss, _)| loss);
                match (pair.sampling, top) {
                    // Everything is bounded by the probability to be left out.
                    (Sampling::Add { q }, None) => -(-Interval::from(q)).ln_1p(),
                    (_, None) => Interval::INFINITE,
                    (sampling, Some(top)) => cells::largest(sampling, top),
                }
            }
        };
        base * *count as f64
    };
    crate::divergence::sum(parts.iter().map(largest)).upper()
}

/// How many losses a window must hold: from the wanted ε up to where nothing is
/// left, and so many that what is folded into them comes from where nothing is.
fn length(place: SaddlePoint, reach: Reach) -> f64 {
    let above = 1.05 * (reach.high - place.epsilon);
    above.max(place.epsilon - reach.low).max(1e-300)
}

/// The window, which ends where nothing is left.
fn window(
    support: Support,
    h: f64,
    (place, reach): (SaddlePoint, Reach),
    spread: f64,
    effort: Effort,
) -> Option<Window> {
    let Support { first, last } = support;
    let top = reach.high / h + spread + 4.0;
    let places = length(place, reach) / h + spread + 16.0;
    if !(top.abs() < 1e15 && places < 2.0 * effort.places) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above"
    )]
    let (top, places) = ((top as i64).clamp(first, last), places as u64);
    // No more than there are.
    let places = places.min(u64::try_from(last - first + 1).ok()?).max(8);
    let m = places.checked_next_power_of_two()?.trailing_zeros();
    let first = (top + 1).checked_sub_unsigned(1 << m)?;
    Some(Window { first, m })
}
