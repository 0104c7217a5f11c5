//! One mechanism on a lattice.

use mizan_core::Interval;

use super::Grid;

/// The masses of a mechanism at multiples of the step, each rounded outward.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// Multiples of h and their masses.
    pub(crate) taps: Vec<(i64, f64)>,
    /// Mass with a larger loss than the lattice can hold.
    pub(crate) beyond: f64,
}

impl Step {
    /// Losses ±ε, dominated: each split between its neighbours.
    pub(crate) fn two_point(grid: &Grid, epsilon: Interval) -> Self {
        let epsilon = epsilon.upper();
        let low = grid.floor(epsilon);
        let mut taps = Vec::with_capacity(4);
        for (loss, index) in [(epsilon, low), (-epsilon, -low - 1)] {
            let mass = Interval::ONE / ((-Interval::from(loss)).exp() + 1.0);
            let from_left = Interval::from(loss) - grid.loss(index);
            let to_right = grid.loss(index + 1) - loss;
            let right = -(-from_left).exp_m1() / -(-grid.h()).exp_m1();
            let left = to_right.exp_m1() / grid.h().exp_m1();
            taps.push((index, (mass * left.non_negative()).upper()));
            taps.push((index + 1, (mass * right.non_negative()).upper()));
        }
        Self { taps, beyond: 0.0 }
    }

    /// Laplace noise whose largest loss is `cells` steps.
    ///
    /// Atoms 1/2 at t and e^-t/2 at -t, between them the density e^((l-t)/2)/4.
    /// Splitting every cell leaves e^((l-t)/2) tanh(h/4) inside and half of
    /// that more at the ends.
    pub(crate) fn laplace(grid: &Grid, cells: i64) -> Self {
        let spread = (grid.h() * 0.25).tanh();
        let t = grid.loss(cells);
        let taps = (-cells..=cells)
            .map(|index| {
                let size = ((grid.loss(index) - t) * 0.5).exp();
                let mass = if index.abs() == cells {
                    size * (spread + 1.0) * 0.5
                } else {
                    size * spread
                };
                (index, mass.upper())
            })
            .collect();
        Self { taps, beyond: 0.0 }
    }

    /// Gaussian noise, m = sensitivity over standard deviation: the loss is
    /// normal with mean m²/2 and standard deviation m.
    pub(crate) fn gaussian(grid: &Grid, m: f64) -> Self {
        // Ten standard deviations leave 8e-24.
        const REACH: f64 = 10.0;
        let m = Interval::from(m);
        let mean = m.square() * 0.5;
        let (low, high) = ((mean - m * REACH).lower(), (mean + m * REACH).upper());
        let (first, last) = (grid.floor(low) - 1, grid.floor(high) + 1);
        // Φ of the distance to the mean, from whichever side it is small.
        let tail = |index: i64, mean: Interval, right: bool| {
            let z = (grid.loss(index) - mean) / m * Interval::from(0.5).sqrt();
            if right {
                z.erfc() * 0.5
            } else {
                (-z).erfc() * 0.5
            }
        };
        let between = |index: i64, mean: Interval| {
            let right = grid.loss(index).middle() > mean.middle();
            let (a, b) = (tail(index, mean, right), tail(index + 1, mean, right));
            (if right { a - b } else { b - a }).non_negative()
        };
        let mut masses = vec![0.0; usize::try_from(last - first + 2).unwrap_or(0)];
        for (place, index) in (first..=last).enumerate() {
            // Masses of the cell under both inputs, split between its ends.
            let (p, q) = (between(index, mean), between(index, -mean));
            let lift = q * grid.loss(index).exp();
            let right = ((p - lift) / -(-grid.h()).exp_m1())
                .max(Interval::ZERO)
                .min(p);
            let left = (p - right).non_negative();
            for (target, mass) in masses.iter_mut().skip(place).zip([left, right]) {
                *target += mass.upper();
            }
        }
        if let Some(lowest) = masses.first_mut() {
            *lowest += tail(first, mean, false).upper();
        }
        // The few additions above are covered by one relative step each.
        let taps = masses
            .iter()
            .zip(first..)
            .map(|(&mass, index)| (index, mass * (1.0 + 1e-15)))
            .collect();
        Self {
            taps,
            beyond: tail(last + 1, mean, true).upper(),
        }
    }
}
