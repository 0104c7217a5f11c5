//! How much n rounds of a mechanism raise the probability of a bad outcome, by the four analyses that
//! the paper compares and by an exact one.
//!
//! All bound P/Q for a given baseline Q, and each is capped by the trivial bounds e^(nε) and 1/Q.
//!
//! # Reference
//! Mironov 2017, section VI.D and Figure 2; docs/spec/mathematics.md 4.6, 4.7 and 10.2.

use mizan_core::{Count, Interval, Order, PrivacyEvent, Probability};

use crate::composition::mironov;
use crate::minimize::valley;
use crate::numeric::{Grid, LossLattice, Step};
use crate::{Reason, RenyiCurve};

/// Bounds on the increase P/Q after n rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increase {
    /// Basic composition.
    pub naive: f64,
    /// Proposition 4.
    pub generic: f64,
    /// Its argument with ε(α) <= α ε²/2.
    pub generic_sharper: f64,
    /// Its argument with the tight ρ = ε tanh(ε/2).
    pub generic_sharpest: f64,
    /// Advanced composition at the best δ.
    pub advanced: f64,
    /// Proposition 10 at the best order of the Rényi curve, and that order.
    pub renyi: (f64, Order),
    /// The same with the paper's 13 orders.
    pub renyi_restricted: (f64, Order),
}

impl Increase {
    /// The bounds for n rounds of a mechanism with these curves: `round` of one
    /// round and its pure ε, `baseline` the probability Q.
    pub fn after(round: &RenyiCurve, n: Count, baseline: Probability) -> Self {
        let ln_q = Interval::from(baseline.get()).ln();
        let count = Interval::from(n.as_f64());
        let pure = round.enclosure(Order::INFINITE);
        let most = (-ln_q).upper();
        let naive = (count * pure).upper().min(most);
        let cut = |ln_ratio: f64| ratio(ln_ratio.min(naive));
        let ln_p = mironov::bounds(pure, count, ln_q);
        let renyi = |order: Order| {
            let epsilon = count * round.enclosure(order);
            let share = if order.is_finite() {
                (Interval::from(order.get()) - 1.0) / order.get()
            } else {
                Interval::ONE
            };
            (share * (epsilon + ln_q) - ln_q).upper()
        };
        let best = round.scan_orders(renyi);
        let restricted = crate::OrderGrid::paper()
            .orders()
            .iter()
            .map(|&order| (renyi(order), order))
            .fold((f64::INFINITY, Order::INFINITE), |best, next| {
                if next.0 < best.0 { next } else { best }
            });
        Self {
            naive: ratio(naive),
            generic: cut((ln_p.proposition_4 - ln_q).upper()),
            generic_sharper: cut((ln_p.sharper - ln_q).upper()),
            generic_sharpest: cut((ln_p.sharpest - ln_q).upper()),
            advanced: cut(advanced(pure, count, ln_q)),
            renyi: (
                cut(best.value),
                Order::new(best.place).unwrap_or(Order::INFINITE),
            ),
            renyi_restricted: (cut(restricted.0), restricted.1),
        }
    }
}

/// ln of the bound P/Q <= e^ε' + δ/Q of Dwork, Rothblum and Vadhan at the best
/// δ = e^-l. Searched in l: in δ a search gets stuck, as the paper's did.
fn advanced(pure: Interval, count: Interval, ln_q: Interval) -> f64 {
    if pure.upper() == f64::INFINITY {
        return f64::INFINITY;
    }
    let mean = count * pure * pure.exp_m1();
    let deviation = pure * count.sqrt();
    let at = |ln_l: f64| {
        let l = Interval::from(ln_l).exp();
        let epsilon = deviation * (l * 2.0).sqrt() + mean;
        let other = -l - ln_q;
        // ln(e^ε + e^other)
        let (large, small) = (epsilon.max(other), epsilon.min(other));
        (large + (small - large).exp().ln_1p()).upper()
    };
    valley((-20.0, 8.0), 1e-8, at).value
}

fn ratio(ln_ratio: f64) -> f64 {
    Interval::from(ln_ratio.max(0.0)).exp().upper()
}

/// The exact increase, round by round, on a lattice.
///
/// # Guarantee
///
/// At least the exact value; above it by the width of the lattice, which at
/// the parameters of the paper's figures is below one part in a thousand.
#[derive(Clone, Debug)]
pub struct ExactIncrease {
    lattice: LossLattice,
    round: Vec<Step>,
}

impl ExactIncrease {
    /// Prepares up to `most` rounds of a composition of randomized response,
    /// Laplace and Gaussian noise.
    ///
    /// # Errors
    ///
    /// The round has other parts, Laplace noise of several scales, or losses so
    /// different in size that a lattice cannot hold them.
    pub fn new(round: &[PrivacyEvent], most: Count) -> Result<Self, Reason> {
        // A step that divides the largest loss of Laplace noise, of which there
        // may be one scale only.
        const CELLS: i64 = 25;
        const MOST_PLACES: f64 = 1e6;
        let most = most.as_f64();
        let (mut unit, mut mean, mut variance) = (None, 0.0, 0.0);
        for part in round {
            let curve = RenyiCurve::of(part).map_err(|error| error.reason())?;
            let kl = curve.enclosure(Order::ONE).upper();
            let pure = curve.enclosure(Order::INFINITE).upper();
            match part {
                PrivacyEvent::Laplace { .. } => {
                    if unit.is_some_and(|unit| unit != pure) {
                        return Err(Reason::NotYet);
                    }
                    unit = Some(pure);
                    variance += pure * pure;
                }
                PrivacyEvent::RandomizedResponse(response)
                    if response.categories() == Count::TWO =>
                {
                    variance += pure * pure;
                }
                PrivacyEvent::Gaussian { .. } => variance += 2.0 * kl,
                _ => return Err(Reason::NotYet),
            }
            mean += kl;
        }
        let reach = 9.0 * (most * variance).sqrt();
        let h = match (unit, round) {
            // Rounded up, so that as many cells hold the largest loss.
            (Some(unit), _) => (unit / CELLS as f64).next_up(),
            // Randomized response alone is exact on its own lattice.
            (None, [only]) if variance > 0.0 && !matches!(only, PrivacyEvent::Gaussian { .. }) => {
                variance.sqrt()
            }
            _ => reach / 4000.0,
        };
        let (low, high) = (reach, most * mean + reach);
        if !(h > 0.0 && (low + high) / h < MOST_PLACES) {
            return Err(Reason::NotYet);
        }
        let grid = Grid::covering(low, high, h);
        let steps = round
            .iter()
            .map(|part| Self::step(&grid, part, CELLS))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            lattice: LossLattice::new(grid),
            round: steps,
        })
    }

    fn step(grid: &Grid, part: &PrivacyEvent, cells: i64) -> Result<Step, Reason> {
        let pure = RenyiCurve::of(part)
            .map_err(|error| error.reason())?
            .enclosure(Order::INFINITE);
        match part {
            PrivacyEvent::Gaussian { sigma, sensitivity } => Ok(Step::gaussian(
                grid,
                (Interval::from(sensitivity.get()) / sigma.get()).upper(),
            )),
            // The grid was made so that the largest loss is this many cells.
            PrivacyEvent::Laplace { .. } => Ok(Step::laplace(grid, cells)),
            _ => Ok(Step::two_point(grid, pure)),
        }
    }

    /// One more round.
    pub fn next_round(&mut self) {
        for step in &self.round {
            self.lattice.compose(step);
        }
    }

    /// The largest P/Q for these baselines: the minimum of e^ε + δ(ε)/Q.
    pub fn increase(&self, baselines: &[Probability]) -> Vec<f64> {
        let profile = self.lattice.profile();
        let at = |baseline: &Probability| {
            let q = baseline.get();
            let bound = |epsilon: f64| {
                (Interval::from(epsilon).exp() + profile.delta(epsilon).non_negative() / q).upper()
            };
            let most = -core_ln(q);
            valley((0.0, most), 1e-8, bound)
                .value
                .min(bound(0.0))
                .min((Interval::ONE / q).upper())
        };
        baselines.iter().map(at).collect()
    }
}

/// ln q, for choosing where to search.
fn core_ln(q: f64) -> f64 {
    Interval::from(q).ln().middle()
}
