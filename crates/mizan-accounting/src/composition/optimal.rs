//! Optimal composition: the best that follows from the (ε, δ) of the parts.
//!
//! Every (ε, δ)-DP mechanism is a post-processing of one that fails with
//! probability δ and otherwise is randomized response with losses ±ε. So the
//! optimum is the profile of a sum of independent two-point losses, under which
//! the number of +ε is binomial with success probability e^ε/(1 + e^ε).
//!
//! - equal parts, or few kinds of them: all sums are enumerated, exactly;
//! - many different parts: a lattice. Murtagh and Vadhan show that the exact
//!   value is #P-complete and round every ε up to a common grid, which costs in
//!   first order of its step; splitting the losses costs in second order;
//! - always: the closed form of Kairouz, Oh and Viswanath, Theorem 3.5.
//!
//! # Reference
//! Kairouz, Oh and Viswanath 2015, Theorems 3.3 and 3.5; Murtagh and Vadhan
//! 2016, Theorem 1.5.

use mizan_core::{Bracket, Interval};

use super::advanced::Mean;
use super::binomial::Binomial;
use super::parts::{Part, delta_left, delta_total, sum};
use crate::hockey_stick::HockeyStick;
use crate::numeric::{End, Grid, LossLattice, Step};

/// Multiplications that a lattice may take.
const WORK: f64 = 1e8;

/// The most parts for which that gives a useful lattice.
const MOST_PARTS: u64 = 8_000;

/// Enumerate sums exactly up to this many; above, use the lattice.
const ENUMERATED: usize = 1 << 20;

/// The profile of an optimal composition, from above and from below.
pub(crate) struct Optimal<'a> {
    parts: &'a [Part],
    /// None where there are too many different parts even for the lattice.
    profiles: Option<Profiles>,
}

struct Profiles {
    above: HockeyStick,
    below: HockeyStick,
}

impl<'a> Optimal<'a> {
    /// Prepares the profile for use around δ = e^`ln_delta`.
    pub(crate) fn new(parts: &'a [Part], ln_delta: f64) -> Self {
        Self {
            parts,
            profiles: Profiles::new(parts, ln_delta),
        }
    }

    /// The ε at a total δ; None if the parts' own δ leave nothing.
    pub(crate) fn epsilon(&self, delta: Interval) -> Option<Bracket<f64>> {
        let left = delta_left(self.parts, delta);
        if left.lower() < 0.0 {
            return None;
        }
        let all = sum(self.parts, |part| part.epsilon).upper();
        let closed = if left.lower() > 0.0 {
            closed_form(self.parts, left).upper()
        } else {
            f64::INFINITY
        };
        let (mut lower, mut upper) = (0.0, all.min(closed));
        if let Some(Profiles { above, below, .. }) = &self.profiles {
            upper = above
                .epsilon(left)
                .map_or(upper, |bracket| bracket.upper.min(upper));
            lower = below.epsilon(left).map_or(0.0, |bracket| bracket.lower);
        }
        Some(Bracket { lower, upper })
    }

    /// The total δ at an ε.
    pub(crate) fn delta(&self, epsilon: f64) -> Bracket<f64> {
        let total = |inner: Interval| delta_total(self.parts, inner.non_negative());
        let whole: Vec<Part> = without_deltas(self.parts);
        let closed = total(Mean::Tight.delta(&whole, Interval::from(epsilon))).upper();
        match &self.profiles {
            Some(Profiles { above, below, .. }) => Bracket {
                lower: total(below.delta(epsilon)).lower(),
                upper: total(above.delta(epsilon)).upper().min(closed),
            },
            None => Bracket {
                lower: 0.0,
                upper: closed,
            },
        }
    }
}

impl Profiles {
    fn new(parts: &[Part], ln_delta: f64) -> Option<Self> {
        let kinds = kinds(parts)?;
        let sizes: Option<usize> = kinds.iter().try_fold(1usize, |size, &(_, count)| {
            let kept = usize::try_from(count).ok()?.min(Binomial::MOST);
            size.checked_mul(kept.checked_add(1)?)
        });
        // A single kind is cut to what can matter; several are not.
        if kinds.len() <= 1 || sizes.is_some_and(|size| size <= ENUMERATED) {
            let binomials = kinds
                .iter()
                .map(|&(epsilon, count)| Binomial::new(epsilon, count));
            let (above, below) = enumerate(&binomials.collect::<Option<Vec<_>>>()?);
            return Some(Self { above, below });
        }
        let (above, below) = on_lattice(&kinds, ln_delta)?;
        Some(Self { above, below })
    }
}

/// Theorem 3.5 of Kairouz, Oh and Viswanath: M + √(2 S ln(e + √S/δ)) or
/// M + √(2 S ln 1/δ), whichever is less.
pub(crate) fn closed_form(parts: &[Part], delta: Interval) -> Interval {
    let mean = sum(parts, |part| part.epsilon * (part.epsilon * 0.5).tanh());
    let variance = sum(parts, |part| part.epsilon.square());
    let e = Interval::ONE.exp();
    let root = (e + variance.sqrt() / delta).ln();
    let first = mean + (variance * root * 2.0).sqrt();
    Mean::Tight
        .epsilon(&without_deltas(parts), delta)
        .map_or(first, |second| first.min(second))
}

fn without_deltas(parts: &[Part]) -> Vec<Part> {
    parts
        .iter()
        .map(|part| Part {
            delta: Interval::ZERO,
            ..*part
        })
        .collect()
}

/// The different epsilons and how often each occurs.
pub(crate) fn kinds(parts: &[Part]) -> Option<Vec<(Interval, u64)>> {
    let mut sorted: Vec<&Part> = parts
        .iter()
        .filter(|part| part.epsilon != Interval::ZERO)
        .collect();
    sorted.sort_by(|a, b| a.epsilon.upper().total_cmp(&b.epsilon.upper()));
    let mut kinds: Vec<(Interval, u64)> = Vec::new();
    for part in sorted {
        let count = part.count.upper();
        if !(part.count.lower() == count && (1.0..=9.007_199_254_740_992e15).contains(&count)) {
            return None;
        }
        // Exact: the count is a whole number up to 2^53.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let count = count as u64;
        match kinds.last_mut() {
            Some((epsilon, total)) if *epsilon == part.epsilon => {
                *total = total.checked_add(count)?
            }
            _ => kinds.push((part.epsilon, count)),
        }
    }
    Some(kinds)
}

/// All sums of the kinds, as profiles with losses rounded up and down.
fn enumerate(kinds: &[Binomial]) -> (HockeyStick, HockeyStick) {
    let mut sums = vec![(Interval::ZERO, Interval::ONE)];
    let mut missing = Interval::ZERO;
    for kind in kinds {
        missing = missing + kind.missing();
        sums = sums
            .iter()
            .flat_map(|&(loss, mass)| kind.losses().map(move |(step, p)| (loss + step, mass * p)))
            .collect();
    }
    // What is missing may sit anywhere: beyond all losses, or nowhere.
    let side = |end: fn(Interval) -> f64, beyond: Interval| {
        let mut rounded: Vec<(f64, Interval)> =
            sums.iter().map(|&(loss, mass)| (end(loss), mass)).collect();
        rounded.sort_by(|a, b| b.0.total_cmp(&a.0));
        HockeyStick::new(beyond, rounded.into_iter())
    };
    (
        side(Interval::upper, missing),
        side(Interval::lower, Interval::ZERO),
    )
}

/// Profiles from a lattice made for use around δ = e^`ln_delta`. None if there
/// are too many parts.
fn on_lattice(kinds: &[(Interval, u64)], ln_delta: f64) -> Option<(HockeyStick, HockeyStick)> {
    let parts = kinds
        .iter()
        .map(|kind| kind.1)
        .fold(0u64, u64::saturating_add);
    if parts > MOST_PARTS {
        return None;
    }
    let total = |f: &dyn Fn(f64) -> f64| -> f64 {
        kinds
            .iter()
            .map(|&(epsilon, count)| count as f64 * f(epsilon.upper()))
            .sum()
    };
    let all = total(&|epsilon| epsilon);
    let mean = total(&|epsilon| epsilon * (epsilon / 2.0).tanh());
    let deviation = total(&|epsilon| epsilon * epsilon).sqrt();
    // What leaves is e^-23 of δ, by the tails of advanced composition.
    let reach = (2.0 * (23.0 - ln_delta.clamp(-700.0, 0.0))).sqrt() * deviation;
    let cells = (WORK / parts as f64).clamp(4096.0, 1_048_576.0);
    let (low, high) = (reach.min(all), (mean + reach).min(all));
    let h = (low + high) / cells;
    // Splitting may carry every part one cell beyond its largest loss.
    let spill = parts as f64 * h;
    let grid = Grid::covering(
        low.max(reach.min(all + spill)),
        high.max((mean + reach).min(all + spill)),
        h,
    );
    let composed = |step: fn(&Grid, Interval) -> Step, end: End| {
        let mut lattice = LossLattice::new(grid, end);
        for &(epsilon, count) in kinds {
            let step = step(&grid, epsilon);
            (0..count).for_each(|_| lattice.compose(&step));
        }
        lattice.profile()
    };
    Some((
        composed(Step::two_point, End::Above),
        composed(Step::two_point_below, End::Below),
    ))
}
