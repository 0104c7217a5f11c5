//! Optimal composition of many different parts, on a lattice.
//!
//! Murtagh and Vadhan show that the exact value is #P-complete and round every
//! ε up to a common grid. Rounding up costs in first order of the step h. Here
//! each loss ±ε is split between its two neighbours on the grid so that the
//! mass under both inputs is kept, which dominates the original and costs in
//! second order: about n c (c+1) h²/8 of ln δ, c the slope of ln δ in ε. From
//! below, every ε is rounded down, which randomized response allows.
//!
//! # Reference
//! Murtagh and Vadhan 2016, Theorem 1.7; Doroshenko, Ghazi, Kamath, Kumar and
//! Manurangsi 2022 for the split.

use mizan_core::Interval;

use crate::hockey_stick::HockeyStick;

/// Multiplications that a composition may take.
const WORK: f64 = 1e8;

/// The most parts for which that gives a useful lattice.
const MOST_PARTS: u64 = 20_000;

/// Profiles that enclose the exact one.
pub(crate) struct Lattice {
    pub(crate) above: HockeyStick,
    pub(crate) below: HockeyStick,
}

impl Lattice {
    /// Composes these epsilons for use around δ = e^`ln_delta`. None if there
    /// are too many of them.
    pub(crate) fn new(kinds: &[(Interval, u64)], ln_delta: f64) -> Option<Self> {
        let parts = kinds
            .iter()
            .map(|kind| kind.1)
            .fold(0u64, u64::saturating_add);
        if parts > MOST_PARTS {
            return None;
        }
        let grid = Grid::new(kinds, parts, ln_delta);
        let steps = |split: fn(&Grid, Interval) -> Vec<(i64, f64)>| {
            let grid = &grid;
            kinds.iter().flat_map(move |&(epsilon, count)| {
                let step = split(grid, epsilon);
                std::iter::repeat_n(step, usize::try_from(count).unwrap_or(0))
            })
        };
        // A step multiplies and adds at most five times with relative error
        // 2^-53 each, all positive.
        let drift = 6.0 * parts as f64 * 2f64.powi(-53);
        let (above, beyond) = grid.compose(steps(Grid::split_up), End::Above);
        let (below, _) = grid.compose(steps(Grid::round_down), End::Below);
        let widen = |mass: f64| Interval::new(mass * (1.0 - drift), mass * (1.0 + drift));
        Some(Self {
            above: grid.profile(widen(beyond), &above, widen, Interval::upper),
            below: grid.profile(Interval::ZERO, &below, widen, Interval::lower),
        })
    }
}

/// What happens to mass that leaves the grid.
#[derive(Clone, Copy, PartialEq)]
enum End {
    /// Counted as larger losses than it was.
    Above,
    /// Left out.
    Below,
}

/// The losses bottom h, ..., top h.
struct Grid {
    h: f64,
    bottom: i64,
    top: i64,
}

impl Grid {
    fn new(kinds: &[(Interval, u64)], parts: u64, ln_delta: f64) -> Self {
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
        let reach = (2.0 * (23.0 - ln_delta.max(-700.0))).sqrt() * deviation;
        let cells = (WORK / parts as f64).clamp(4096.0, 131_072.0);
        let (low, high) = (reach.min(all), (mean + reach).min(all));
        let h = (low + high) / cells;
        #[expect(clippy::cast_possible_truncation, reason = "about the number of cells")]
        let cell = |x: f64| (x / h).ceil() as i64 + 1;
        Self {
            h,
            bottom: -cell(low),
            top: cell(high),
        }
    }

    fn loss(&self, index: i64) -> Interval {
        Interval::from(self.h) * index as f64
    }

    fn floor(&self, epsilon: f64) -> i64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most the number of cells"
        )]
        let index = (epsilon / self.h).floor() as i64;
        // Rounding of the quotient may have crossed a cell.
        if self.loss(index).upper() > epsilon {
            index - 1
        } else {
            index
        }
    }

    /// ±ε split between neighbours; masses rounded up.
    fn split_up(&self, epsilon: Interval) -> Vec<(i64, f64)> {
        let epsilon = epsilon.upper();
        let low = self.floor(epsilon);
        let truth = Interval::ONE / ((-Interval::from(epsilon)).exp() + 1.0);
        let lie = Interval::ONE / (Interval::from(epsilon).exp() + 1.0);
        let mut step = Vec::with_capacity(4);
        for (loss, mass, index) in [(epsilon, truth, low), (-epsilon, lie, -low - 1)] {
            let from_left = Interval::from(loss) - self.loss(index);
            let to_right = self.loss(index + 1) - loss;
            let right = -(-from_left).exp_m1() / -(-Interval::from(self.h)).exp_m1();
            let left = to_right.exp_m1() / Interval::from(self.h).exp_m1();
            step.push((index, (mass * left.non_negative()).upper()));
            step.push((index + 1, (mass * right.non_negative()).upper()));
        }
        step
    }

    /// Randomized response with a smaller ε on the grid; masses rounded down.
    fn round_down(&self, epsilon: Interval) -> Vec<(i64, f64)> {
        let index = self.floor(epsilon.lower().max(0.0)).max(0);
        let loss = Interval::from(self.loss(index).lower());
        let truth = Interval::ONE / ((-loss).exp() + 1.0);
        let lie = Interval::ONE / (loss.exp() + 1.0);
        vec![(index, truth.lower()), (-index, lie.lower())]
    }

    /// The composition of all steps, and the mass that left at the top.
    fn compose(&self, steps: impl Iterator<Item = Vec<(i64, f64)>>, end: End) -> (Vec<f64>, f64) {
        let cells = usize::try_from(self.top - self.bottom + 1).unwrap_or(0);
        let mut masses = vec![0.0; cells];
        let mut next = vec![0.0; cells];
        let mut beyond = 0.0;
        // The occupied range, as indices of cells.
        let (mut first, mut last) = (-self.bottom, -self.bottom);
        if let Some(start) = usize::try_from(first)
            .ok()
            .and_then(|start| masses.get_mut(start))
        {
            *start = 1.0;
        }
        for step in steps {
            next.fill(0.0);
            for &(shift, mass) in &step {
                beyond += add_shifted(&masses, &mut next, (first, last), shift, mass, end);
            }
            std::mem::swap(&mut masses, &mut next);
            let reach = step
                .iter()
                .map(|&(shift, _)| shift.abs())
                .max()
                .unwrap_or(0);
            first = (first - reach).max(0);
            last = (last + reach).min(self.top - self.bottom);
        }
        (masses, beyond)
    }

    fn profile(
        &self,
        beyond: Interval,
        masses: &[f64],
        widen: impl Fn(f64) -> Interval,
        side: fn(Interval) -> f64,
    ) -> HockeyStick {
        let losses = masses
            .iter()
            .rev()
            .zip((self.bottom..=self.top).rev())
            .filter(|(mass, _)| **mass > 0.0);
        HockeyStick::new(
            beyond,
            losses.map(|(&mass, index)| (side(self.loss(index)), widen(mass))),
        )
    }
}

/// Adds `mass` times the cells `first..=last` to `next`, shifted. Gives what
/// leaves at the top; what leaves at the bottom stays there or is dropped.
fn add_shifted(
    masses: &[f64],
    next: &mut [f64],
    (first, last): (i64, i64),
    shift: i64,
    mass: f64,
    end: End,
) -> f64 {
    let size = masses.len() as i64;
    let index = |i: i64| usize::try_from(i.clamp(0, size)).unwrap_or(0);
    // Sources that land inside.
    let (from, to) = (
        first.max(-shift),
        (last + 1).min(size - shift).max(first.max(-shift)),
    );
    if let (Some(sources), Some(targets)) = (
        masses.get(index(from)..index(to)),
        next.get_mut(index(from + shift)..index(to + shift)),
    ) {
        for (target, source) in targets.iter_mut().zip(sources) {
            *target += mass * source;
        }
    }
    if end == End::Below {
        return 0.0;
    }
    let outside = |from: i64, to: i64| -> f64 {
        masses
            .get(index(from)..index(to.max(from)))
            .map_or(0.0, |cells| cells.iter().sum::<f64>())
    };
    if let Some(lowest) = next.first_mut() {
        *lowest += mass * outside(first, from.min(last + 1));
    }
    mass * outside(to.max(first), last + 1)
}
