//! The step of a lattice: as coarse as the wanted width allows, and one on which
//! the atoms fall, or nearly fall, if there is such a step.
//!
//! A loss at jh + x, 0 <= x <= h, is split between two places, which raises the
//! cumulant K(θ) by about θ (1 + θ) x (h - x)/2, and ε by K/θ. Summed over all
//! losses under the tilt θ that is the *excess* of a step. Losses on the lattice
//! have none; losses much smaller than h have little, for x h is all there is of
//! it. So the best step is often one of the part that occurs most, whatever the
//! others are. Nothing here is certified: a bad step makes the bracket wide.

use super::cells;
use super::cumulant::{Cumulant, Reach, SaddlePoint, TiltedLosses};
use super::unit::common_step;
use super::{Effort, length};
use crate::numeric::pair::{Base, Pair};

/// The most operations over all parts.
const MOST_WORK: f64 = 3e8;

/// Atoms fall on a step if they add less than this part of the allowed excess.
const SURELY: f64 = 1e-3;

/// The most atoms to be looked at, all steps together.
const MOST_LOOKS: usize = 1 << 21;

/// The step for these parts; None if no window holds what matters.
pub(super) fn step(
    parts: &[(Pair, u64)],
    cumulant: &Cumulant,
    (place, reach): (SaddlePoint, Reach),
    effort: Effort,
) -> Option<f64> {
    // What a part costs per place: its taps, or a transform.
    let cost = |(pair, count): &(Pair, u64)| match &pair.base {
        Base::Finite(loss) => (2.0 * (loss.atoms.len() * 2) as f64 * *count as f64).min(100.0),
        _ => 100.0,
    };
    let work: f64 = parts.iter().map(cost).sum();
    let places = (MOST_WORK / work).clamp(1024.0, effort.places);
    let length = length(place, reach);
    if !length.is_finite() {
        return None;
    }
    let normal = |(index, (pair, _)): (usize, &(Pair, u64))| match pair.base {
        Base::Gaussian { .. } => cumulant.range(index, place).length(),
        _ => 0.0,
    };
    let cells: f64 = parts.iter().enumerate().map(normal).sum();
    let least = (length / (places - 32.0)).max(cells / effort.cells);
    let search = Search {
        losses: cumulant.tilted(place.theta),
        theta: place.theta,
        width: effort.width * place.epsilon.max(1e-3 * place.deviation),
        least,
        most: length / 512.0,
    };
    Some(search.best(if effort.aligned { parts } else { &[] }))
}

struct Search {
    losses: TiltedLosses,
    theta: f64,
    /// The excess that is small enough.
    width: f64,
    /// Smaller steps take too many places.
    least: f64,
    /// Larger ones are for losses on the lattice alone.
    most: f64,
}

impl Search {
    /// By how much a step raises ε, about: what atoms off the lattice add, and all.
    fn excess(&self, h: f64) -> (f64, f64) {
        let off = |&(loss, weight): &(f64, f64)| {
            let ratio = loss / h;
            let x = ratio - ratio.floor();
            weight * x * (1.0 - x)
        };
        let atoms: f64 = self.losses.atoms.iter().map(off).sum();
        // Where steps are large against 1/θ the excess is exponential.
        let rate = 0.5 * (1.0 + self.theta) * h * h * (self.theta * h).min(600.0).exp();
        (rate * atoms, rate * (atoms + 0.25 * self.losses.between))
    }

    /// The best step, or the best that the atoms of these parts fall on.
    fn best(&self, parts: &[(Pair, u64)]) -> f64 {
        let all = self.losses.atoms.iter().map(|atom| atom.1).sum::<f64>() + self.losses.between;
        let free = (8.0 * self.width / ((1.0 + self.theta) * all.max(1e-12))).sqrt();
        let free = free.max(self.least).min(self.most);
        let mut best = (free, self.excess(free).1);
        let mut consider = |h: f64| {
            let (atoms, excess) = self.excess(h);
            // A step larger than usual is for atoms that fall on it.
            let fits = h <= free || atoms <= SURELY * self.width;
            let is_better = if excess <= self.width {
                fits && (best.1 > self.width || h > best.0)
            } else {
                excess < best.1
            };
            if is_better {
                best = (h, excess);
            }
        };
        let mut looks = MOST_LOOKS;
        for unit in units(parts) {
            if unit < self.least {
                continue;
            }
            let finest = (unit / self.least).floor().min(1e15);
            // Whole fractions: a few magnitudes, and all of them if they are few.
            let mut n = 1.0;
            while n <= finest && looks > 0 {
                consider(unit / n);
                looks = looks.saturating_sub(self.losses.atoms.len() + 16);
                let few = looks > MOST_LOOKS / 2 && n < 4096.0;
                n = if few { n + 1.0 } else { (1.25 * n).ceil() };
            }
            consider(unit / finest);
        }
        best.0
    }
}

/// Steps on which the atoms of all parts fall, or those of one part; for a part
/// that has no such step, its losses.
fn units(parts: &[(Pair, u64)]) -> Vec<f64> {
    let of_part = |(pair, _): &(Pair, u64)| cells::atoms(pair);
    let atoms: Vec<Vec<f64>> = parts.iter().map(of_part).collect();
    let mut units: Vec<f64> = common_step(atoms.iter().flatten().copied())
        .into_iter()
        .collect();
    for losses in &atoms {
        match common_step(losses.iter().copied()) {
            Some(unit) => units.push(unit),
            None if losses.len() <= 4 => units.extend(
                losses
                    .iter()
                    .map(|loss| loss.abs())
                    .filter(|&loss| loss > 0.0),
            ),
            None => {}
        }
    }
    units
}
