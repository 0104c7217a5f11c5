//! All sums of finitely many losses, where they are few: exact.
//!
//! The numbers of the different atoms among k equal parts are multinomial: the
//! number of the last is binomial, and so on with those that remain.

use mizan_core::Interval;

use super::binomial::Binomial;
use crate::hockey_stick::HockeyStick;
use crate::numeric::pair::{Atom, FiniteLoss};

/// Up to this many sums are enumerated.
pub(super) const MOST_SUMS: usize = 1 << 20;

/// A profile with losses rounded up, and one with losses rounded down.
#[derive(Clone, Debug)]
pub(super) struct Enumerated {
    pub(super) above: HockeyStick,
    pub(super) below: HockeyStick,
}

/// Losses with their probabilities, and the probability that was cut off.
struct Sums {
    sums: Vec<(Interval, Interval)>,
    missing: Interval,
}

/// The profile of a composition without its infinite losses; None if there are
/// too many sums.
pub(super) fn enumerate(parts: &[(FiniteLoss, u64)]) -> Option<Enumerated> {
    let sizes = parts.iter().try_fold(1usize, |size, (loss, count)| {
        size.checked_mul(sums_of(loss.atoms.len(), *count)?)
    });
    // A single part of two atoms is cut to what can matter, whatever its count.
    let single = matches!(parts, [(loss, _)] if loss.atoms.len() <= 2);
    if !single && sizes.is_none_or(|size| size > MOST_SUMS) {
        return None;
    }
    let mut sums = vec![(Interval::ZERO, Interval::ONE)];
    let mut missing = Interval::ZERO;
    for (loss, count) in parts {
        let part = repeated(&loss.atoms, *count)?;
        missing = missing + part.missing;
        // The masses add up to what is finite.
        let finite = (Interval::ONE - loss.beyond).non_negative();
        let scale = (finite.ln() * *count as f64).exp().min(Interval::ONE);
        sums = sums
            .iter()
            .map(|&(loss, mass)| (loss, mass * scale))
            .flat_map(|(loss, mass)| part.sums.iter().map(move |&(l, p)| (loss + l, mass * p)))
            .collect();
    }
    // What is missing may sit anywhere: beyond all losses, or nowhere.
    let side = |end: fn(Interval) -> f64, beyond: Interval| {
        let rounded = sums.iter().map(|&(loss, mass)| (end(loss), mass));
        let mut rounded: Vec<(f64, Interval)> = rounded.collect();
        rounded.sort_by(|a, b| b.0.total_cmp(&a.0));
        HockeyStick::new(beyond, rounded.into_iter())
    };
    Some(Enumerated {
        above: side(Interval::upper, missing),
        below: side(Interval::lower, Interval::ZERO),
    })
}

/// How many different sums k of these atoms have: C(k + a - 1, a - 1).
fn sums_of(atoms: usize, count: u64) -> Option<usize> {
    let k = usize::try_from(count).ok()?;
    let mut sums = 1usize;
    for chosen in 1..atoms {
        sums = sums.checked_mul(k.checked_add(chosen)?)? / chosen;
        if sums > 4 * MOST_SUMS {
            return None;
        }
    }
    Some(sums)
}

/// All sums of `count` independent atoms, whose masses are scaled to add up to
/// one.
fn repeated(atoms: &[Atom], count: u64) -> Option<Sums> {
    // A single part may have many atoms: no recursion over them.
    if count <= 1 && !atoms.is_empty() {
        let whole = total(atoms);
        let once = |atom: &Atom| (atom.loss, atom.mass / whole);
        return Some(Sums {
            sums: if count == 0 {
                vec![(Interval::ZERO, Interval::ONE)]
            } else {
                atoms.iter().map(once).collect()
            },
            missing: Interval::ZERO,
        });
    }
    let Some((atom, rest)) = atoms.split_last() else {
        // All of the mass is infinite.
        return Some(Sums {
            sums: Vec::new(),
            missing: Interval::ZERO,
        });
    };
    if rest.is_empty() {
        return Some(Sums {
            sums: vec![(atom.loss * count as f64, Interval::ONE)],
            missing: Interval::ZERO,
        });
    }
    let others = total(rest);
    if !(others.lower() > 0.0 && atom.mass.lower() > 0.0) {
        return None;
    }
    let odds = (atom.mass / others, others / atom.mass);
    let numbers = Binomial::new(odds, count)?;
    let mut sums = Vec::new();
    let mut missing = numbers.missing();
    for (number, probability) in numbers.successes() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number up to the count"
        )]
        let left = count.saturating_sub(number as u64);
        let loss = atom.loss * number;
        let inner = repeated(rest, left)?;
        missing = missing + inner.missing;
        let shifted = inner.sums.iter();
        sums.extend(shifted.map(|&(l, p)| (loss + l, probability * p)));
    }
    Some(Sums { sums, missing })
}

fn total(atoms: &[Atom]) -> Interval {
    crate::divergence::sum(atoms.iter().map(|atom| atom.mass))
}
