//! Composition on the lattice, with its error bounded in advance.

use mizan_core::Interval;

use super::{Grid, Step};
use crate::hockey_stick::HockeyStick;

/// The loss of a composition, as masses on a grid. What leaves the grid counts
/// as larger losses than it was: a bound from above.
#[derive(Clone, Debug)]
pub(crate) struct LossLattice {
    grid: Grid,
    masses: Vec<f64>,
    /// Where the next composition is built.
    next: Vec<f64>,
    beyond: f64,
    /// The occupied range of places.
    first: i64,
    last: i64,
    /// A bound on the relative rounding error of all masses.
    drift: f64,
}

impl LossLattice {
    /// Nothing released yet: the loss is zero.
    pub(crate) fn new(grid: Grid) -> Self {
        let mut masses = vec![0.0; grid.len()];
        let origin = grid.origin();
        if let Some(zero) = usize::try_from(origin)
            .ok()
            .and_then(|place| masses.get_mut(place))
        {
            *zero = 1.0;
        }
        let next = vec![0.0; masses.len()];
        Self {
            grid,
            masses,
            next,
            // A start above zero covers whatever underflows on the way.
            beyond: 1e-300,
            first: origin,
            last: origin,
            drift: 0.0,
        }
    }

    /// One more mechanism.
    pub(crate) fn compose(&mut self, step: &Step) {
        self.next.fill(0.0);
        let total: f64 = self.masses.iter().sum();
        let mut leaving = step.beyond * total;
        for &(shift, mass) in &step.taps {
            leaving += self.add_shifted(shift, mass);
        }
        self.beyond += leaving;
        std::mem::swap(&mut self.masses, &mut self.next);
        let reach = step
            .taps
            .iter()
            .map(|&(shift, _)| shift.abs())
            .max()
            .unwrap_or(0);
        self.first = (self.first - reach).max(0);
        self.last = (self.last + reach).min(self.masses.len() as i64 - 1);
        // A mass is a sum of as many products as there are taps, all positive;
        // what leaves is a sum over at most `reach` places, or over all.
        let summed = if step.beyond > 0.0 {
            self.masses.len() as f64
        } else {
            reach as f64
        };
        self.drift += (step.taps.len() as f64 + summed + 4.0) * 2f64.powi(-53);
    }

    /// δ(ε) of the composition.
    pub(crate) fn profile(&self) -> HockeyStick {
        let drift = self.drift * (1.0 + self.drift) + 1e-15;
        let (shrink, grow) = ((1.0 - drift).max(0.0), 1.0 + drift);
        let widen = |mass: f64| Interval::new(mass * shrink, mass * grow);
        let losses = self
            .masses
            .iter()
            .rev()
            .zip(self.grid.indices().rev())
            .filter(|(mass, _)| **mass > 0.0);
        let grid = self.grid;
        HockeyStick::new(
            Interval::new(0.0, self.beyond * grow),
            losses.map(|(&mass, index)| (grid.loss(index).upper(), widen(mass))),
        )
    }

    /// Adds `mass` times all occupied places to `next`, shifted. Gives what
    /// leaves at the top; what leaves at the bottom stays there.
    fn add_shifted(&mut self, shift: i64, mass: f64) -> f64 {
        let size = self.masses.len() as i64;
        let (first, past) = (self.first, self.last + 1);
        // Sources that land inside.
        let from = first.max(-shift).min(past);
        let to = past.min(size - shift).max(from);
        let place = |i: i64| usize::try_from(i.clamp(0, size)).unwrap_or(0);
        let sources = self.masses.get(place(from)..place(to));
        let targets = self.next.get_mut(place(from + shift)..place(to + shift));
        if let (Some(sources), Some(targets)) = (sources, targets) {
            for (target, source) in targets.iter_mut().zip(sources) {
                *target += mass * source;
            }
        }
        if from == first && to == past {
            return 0.0;
        }
        let sum = |from: i64, to: i64| -> f64 {
            self.masses
                .get(place(from)..place(to))
                .map_or(0.0, |places| places.iter().sum())
        };
        let (below, above) = (sum(first, from), sum(to, past));
        if let Some(lowest) = self.next.first_mut() {
            *lowest += mass * below;
        }
        mass * above
    }
}
