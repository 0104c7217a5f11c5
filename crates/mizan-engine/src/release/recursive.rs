//! Several quantiles of one histogram by recursion: the middle one first, then those below it
//! among the rows below it, and those above it among the rest.
//!
//! Where many rows are equal, a value does not determine which of them are below. So each value
//! of the grid is split into `CELLS` cells and each of its rows is spread evenly over them. A
//! selection is one of the cells: everything to the left of it is below. In units of `1/CELLS`
//! of a row all numbers are integers.
//!
//! # Guarantee
//!
//! All selections of one depth together are one exponential mechanism of `ε`, so `k` quantiles
//! cost as much as `⌈log₂(k + 1)⌉` selections. Let a unit have at most `R` rows. The ranges of
//! one depth are disjoint and follow from earlier selections. Given those, the weights `r_i` of
//! the unit in them add up to at most `R`, wherever its rows are, including rows that are
//! split. In its range a selection targets a fraction `a/b` of the weight there, and nothing
//! outside matters. A score changes by at most `r_i max(a, b-a)`. The mechanism is made for
//! `R max(a, b-a)`, so the logarithm of the ratio of its probabilities lies in an interval of
//! length `ε r_i / R` (Dong, Durfee and Rogers 2020). For independent selections these lengths
//! add up to at most `ε` for a depth, which is the bounded range that `exponential(ε)` is
//! priced by.
//!
//! # Rank error
//!
//! In its range a selection misses its rank by more than `e` with probability at most
//! `N e^(-κe) / Z`, where `κ = ε / 2R max(a/b, 1-a/b)` and `Z` is the weight of the cells at
//! the rank itself, in values. If `E` rows are equal there, `Z` is at least
//! `(1 - e^(-κE)) / κE`, or the neighbouring cells make up for it with a factor of `e` less.
//! With `1/κ` and one row more than `ln(N (1 + κE) / β) / κ` the probability of a miss is `β`.
//! The ends of the range have errors too; they add their mean, weighted with `a/b`.
//!
//! # Reference
//!
//! Kaplan, Schnapp and Stemmer, *Differentially private approximate quantiles*, ICML 2022. The
//! paper assumes one row for each person and no equal rows.

use std::collections::BTreeMap;

use mizan_core::Epsilon;
use mizan_noise::{Entropy, ExponentialMechanism};

use super::ReleaseError;
use super::choose::as_f64;
use super::quantile_target::{self, MISSED, PARTS, QuantileTarget};

/// Into how many cells each value is split, as a power of two. A 64-bit score then
/// distinguishes ranks up to 2^29 rows apart, with the finest fraction.
const CELL_BITS: u32 = 20;
const CELLS: u64 = 1 << CELL_BITS;

/// How many rows of a value may be equal for the stated error bound to hold.
pub(super) const EQUAL: u64 = CELLS;

/// The number of selections that these targets cost: the depth of the fractions, plus one for
/// each of minimum and maximum.
pub(super) fn selections(targets: &[QuantileTarget]) -> u64 {
    let edges = targets
        .iter()
        .filter(|target| target.parts().is_none())
        .count();
    depth(fractions(targets).len()).saturating_add(u64::try_from(edges).unwrap_or(u64::MAX))
}

/// The depth of the recursion for this many quantiles.
fn depth(quantiles: usize) -> u64 {
    u64::from(usize::BITS - quantiles.leading_zeros())
}

/// The fractions among the targets, over `PARTS`, ascending. Minimum and maximum are left out.
pub(super) fn fractions(targets: &[QuantileTarget]) -> Vec<u64> {
    let mut parts: Vec<u64> = targets.iter().filter_map(|target| target.parts()).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// Calls `f` for each fraction, in the order of selection, with the nearest fractions on both
/// sides that were selected before and the results for them.
fn each<T: Copy>(
    parts: &[u64],
    (low, high): ((u64, T), (u64, T)),
    f: &mut impl FnMut(u64, (u64, T), (u64, T)) -> Result<T, ReleaseError>,
    found: &mut Vec<T>,
) -> Result<(), ReleaseError> {
    let (below, rest) = parts.split_at(parts.len() / 2);
    let Some((&middle, above)) = rest.split_first() else {
        return Ok(());
    };
    let here = (middle, f(middle, low, high)?);
    each(below, (low, here), f, found)?;
    found.push(here.1);
    each(above, (here, high), f, found)
}

/// The rank error of each fraction, with 95 % probability, where at most [`EQUAL`] rows are
/// equal.
pub(super) fn rank_errors(
    parts: &[u64],
    epsilon: f64,
    rows: u64,
    candidates: u64,
) -> Result<Vec<f64>, ReleaseError> {
    // A fraction has an error if one of its ancestors has.
    let missed = MISSED / as_f64(depth(parts.len()));
    let mut errors = Vec::with_capacity(parts.len());
    let mut error = |parts: u64, low: (u64, f64), high: (u64, f64)| {
        let (a, b) = (as_f64(parts - low.0), as_f64(high.0 - low.0));
        let share = a / b;
        let rate = epsilon / (2.0 * as_f64(rows) * share.max(1.0 - share));
        let log = (as_f64(candidates) * (1.0 + rate * as_f64(EQUAL)) / missed).ln() + 1.0;
        Ok(log / rate + 1.0 + (1.0 - share) * low.1 + share * high.1)
    };
    each(parts, ((0, 0.0), (PARTS, 0.0)), &mut error, &mut errors)?;
    Ok(errors)
}

/// A histogram whose values are split into cells.
struct Cells {
    /// For each value with rows: its place, its number of rows, and the number of rows before
    /// it.
    values: Vec<(u64, u64, u64)>,
}

impl Cells {
    fn new(histogram: &BTreeMap<i64, i64>, (low, high): (i64, i64)) -> Result<Self, ReleaseError> {
        let mut before = 0_u64;
        let mut values = Vec::new();
        for (&value, &rows) in histogram {
            let rows = u64::try_from(rows).map_err(|_| ReleaseError::Shape)?;
            if rows > 0 && (low..=high).contains(&value) {
                values.push((value.abs_diff(low), rows, before));
                before = before.saturating_add(rows);
            }
        }
        Ok(Self { values })
    }

    /// The weight of all cells before a cell.
    fn before(&self, cell: u64) -> i128 {
        let (place, within) = (cell >> CELL_BITS, cell % CELLS);
        let next = self.values.partition_point(|(value, ..)| *value < place);
        let (rows, before) = match self.values.get(next) {
            Some(&(value, rows, before)) if value == place => (rows, before),
            Some(&(.., before)) => (0, before),
            None => self.values.last().map_or((0, 0), |&(_, rows, before)| {
                (0, before.saturating_add(rows))
            }),
        };
        i128::from(before) * i128::from(CELLS) + i128::from(rows) * i128::from(within)
    }

    /// Selects a cell of a range, both ends included.
    fn select(
        &self,
        entropy: &mut Entropy,
        Node {
            target,
            mechanism,
            factor,
        }: &Node,
        range: (u64, u64),
    ) -> Result<u64, ReleaseError> {
        let (start, end) = (self.before(range.0), self.before(range.1));
        let mut runs = Runs {
            past: |cell: u64| {
                let less = self.before(cell) - start;
                target.past(less, end - start - less)
            },
            factor: *factor,
            starts: Vec::new(),
            bounds: Vec::new(),
        };
        self.runs(&mut runs, range)?;
        let cell = |run: usize, place: u64| Some(runs.starts.get(run)? + place);
        // The mechanism scores the runs that it was given, and these have a start.
        let score = |run: usize, place: u64| cell(run, place).map_or(i64::MIN, |at| runs.score(at));
        let (run, place) = mechanism.select_below(entropy, &runs.bounds, score)?;
        cell(run, place).ok_or(ReleaseError::Shape)
    }

    /// Splits a range into runs, at the values with rows.
    fn runs(
        &self,
        runs: &mut Runs<impl Fn(u64) -> i128>,
        range: (u64, u64),
    ) -> Result<(), ReleaseError> {
        let (first, last) = (range.0 >> CELL_BITS, range.1 >> CELL_BITS);
        let from = self.values.partition_point(|(value, ..)| *value < first);
        let to = self.values.partition_point(|(value, ..)| *value <= last);
        let mut next = range.0;
        let values = self.values.get(from..to).ok_or(ReleaseError::Shape)?;
        for &(place, ..) in values {
            let start = (place << CELL_BITS).max(range.0);
            let stop = ((place + 1) << CELL_BITS).min(range.1 + 1);
            runs.push(next, start);
            runs.push_sloping(start, stop);
            next = stop;
        }
        runs.push(next, range.1 + 1);
        Ok(())
    }
}

/// Runs of cells, each with the best score in it.
struct Runs<F> {
    /// How far a cell is past the target rank; it does not decrease from cell to cell.
    past: F,
    factor: f64,
    starts: Vec<u64>,
    bounds: Vec<(i64, u64)>,
}

/// Scores this many factors of e below the best are practically never selected.
const FAR: f64 = 100.0;

impl<F: Fn(u64) -> i128> Runs<F> {
    fn score(&self, cell: u64) -> i64 {
        quantile_target::as_score((self.past)(cell).saturating_abs())
    }

    /// The cells from `start` to before `stop`, where the best score is at one of the ends.
    fn push(&mut self, start: u64, stop: u64) {
        if start < stop {
            let best = self.score(start).max(self.score(stop - 1));
            self.add(start, stop, best);
        }
    }

    /// Every run has a start and a bound.
    fn add(&mut self, start: u64, stop: u64, best: i64) {
        self.starts.push(start);
        self.bounds.push((best, stop - start));
    }

    /// The same where the best score may be inside: from there to both sides in runs of
    /// doubling length, so that the bound of a run is close to the scores in it. Scores that
    /// hardly differ, or that are all far from the best, form one run.
    fn push_sloping(&mut self, start: u64, stop: u64) {
        let (mut turn, mut after) = (start, stop);
        while turn < after {
            let middle = u64::midpoint(turn, after);
            if (self.past)(middle) < 0 {
                turn = middle + 1;
            } else {
                after = middle;
            }
        }
        let best = self
            .score(turn.min(stop - 1))
            .max(self.score(turn.max(start + 1) - 1));
        let worst = self.score(start).min(self.score(stop - 1));
        let factors = |gap: u64| as_f64(gap) / self.factor;
        let holds_the_best = start < turn && turn < stop;
        let is_far = !holds_the_best && factors(best.unsigned_abs()) > FAR;
        if factors(best.abs_diff(worst)) < 1.0 || is_far {
            self.add(start, stop, best);
            return;
        }
        let (mut at, mut length) = (turn, 1);
        while at < stop {
            let to = at.saturating_add(length).min(stop);
            self.push(at, to);
            (at, length) = (to, length * 2);
        }
        (at, length) = (turn, 1);
        while at > start {
            let to = at.saturating_sub(length).max(start);
            self.push(to, at);
            (at, length) = (to, length * 2);
        }
    }
}

/// The selection of one fraction.
struct Node {
    target: QuantileTarget,
    mechanism: ExponentialMechanism,
    /// The difference of two scores whose probabilities differ by a factor of e.
    factor: f64,
}

/// The selections of several fractions.
pub(super) struct Recursive {
    parts: Vec<u64>,
    nodes: BTreeMap<u64, Node>,
}

impl Recursive {
    /// For distinct fractions over `PARTS`, ascending, an ε for each depth, and units of at
    /// most `rows` rows.
    pub(super) fn new(parts: Vec<u64>, epsilon: Epsilon, rows: u64) -> Result<Self, ReleaseError> {
        let weight = rows.saturating_mul(CELLS);
        let mut nodes = BTreeMap::new();
        let mut node = |part: u64, low: (u64, ()), high: (u64, ())| {
            let target = QuantileTarget::fraction(part - low.0, high.0 - low.0);
            let node = Node {
                target,
                mechanism: target.mechanism(epsilon, weight)?,
                factor: 2.0 * as_f64(target.sensitivity(weight)) / epsilon.get(),
            };
            nodes.insert(part, node);
            Ok(())
        };
        each(&parts, ((0, ()), (PARTS, ())), &mut node, &mut Vec::new())?;
        Ok(Self { parts, nodes })
    }

    /// A value for each fraction.
    pub(super) fn select(
        &self,
        entropy: &mut Entropy,
        histogram: &BTreeMap<i64, i64>,
        range: (i64, i64),
    ) -> Result<BTreeMap<u64, i64>, ReleaseError> {
        let cells = Cells::new(histogram, range)?;
        let widest = range.1.abs_diff(range.0);
        // Up to and including the end of the last value: all rows may be below.
        let end = widest.saturating_add(1).saturating_mul(CELLS);
        let mut cut = |part: u64, low: (u64, u64), high: (u64, u64)| {
            let node = self.nodes.get(&part).ok_or(ReleaseError::Shape)?;
            cells.select(entropy, node, (low.1, high.1))
        };
        let mut found = Vec::with_capacity(self.parts.len());
        each(&self.parts, ((0, 0), (PARTS, end)), &mut cut, &mut found)?;
        let value = |cell: u64| {
            let place = (cell >> CELL_BITS).min(widest);
            range.0.saturating_add_unsigned(place)
        };
        let found = found.into_iter().map(value);
        Ok(self.parts.iter().copied().zip(found).collect())
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "tests may panic"
)]
mod tests {
    use super::*;

    const RANGE: (i64, i64) = (-5, 10);

    fn histograms() -> Vec<BTreeMap<i64, i64>> {
        vec![
            BTreeMap::new(),
            BTreeMap::from([(0, 1)]),
            BTreeMap::from([(-5, 3), (-4, 1), (2, 40), (10, 2)]),
            BTreeMap::from([(1, 100_000), (3, 5)]),
            (-5..=10).map(|value| (value, 7 + value)).collect(),
        ]
    }

    /// For all cuts, the changes of the scores in the ranges between them add up to at most one
    /// sensitivity, also where a cut splits rows of the unit. Scores by ranks of the whole
    /// histogram would not have this property.
    #[test]
    fn a_unit_changes_all_ranges_together_by_one_sensitivity() {
        let rows = 3_u64;
        let end = 16 * CELLS;
        let cuts = [
            0,
            5 * CELLS + 17,
            7 * CELLS + CELLS / 2,
            7 * CELLS + CELLS / 2 + 1,
            end,
        ];
        let units: [&[i64]; 4] = [&[0], &[2, 2, 2], &[-5, 2, 10], &[1, 2, 3]];
        let targets = [(1, 2), (1, 3), (3, 4), (1, 10)];
        let mut largest = 0.0_f64;
        for histogram in histograms() {
            for unit in units {
                let mut more = histogram.clone();
                for value in unit {
                    *more.entry(*value).or_insert(0) += 1;
                }
                let (one, other) = (Cells::new(&histogram, RANGE), Cells::new(&more, RANGE));
                let (one, other) = (one.unwrap(), other.unwrap());
                let mut sum = 0.0;
                for (range, (a, b)) in cuts.windows(2).zip(targets) {
                    let target = QuantileTarget::fraction(a, b);
                    let past = |cells: &Cells, cell: u64| {
                        let (from, to) = (cells.before(range[0]), cells.before(range[1]));
                        let less = cells.before(cell) - from;
                        quantile_target::as_score(target.past(less, to - from - less).abs())
                    };
                    let step = (range[1] - range[0]).div_ceil(97).max(1);
                    let moved = (range[0]..=range[1])
                        .step_by(usize::try_from(step).unwrap())
                        .map(|cell| past(&one, cell).abs_diff(past(&other, cell)))
                        .max()
                        .unwrap();
                    sum += moved as f64 / target.sensitivity(rows * CELLS) as f64;
                }
                assert!(sum <= 1.0 + 1e-9, "{sum} {unit:?}");
                largest = largest.max(sum);
            }
        }
        assert!(largest > 0.95, "nothing comes close: {largest}");
    }

    /// Runs cover every cell once, and no score exceeds the bound of its run.
    #[test]
    fn runs_bound_every_cell() {
        for histogram in histograms() {
            let cells = Cells::new(&histogram, RANGE).unwrap();
            for range in [(0, 16 * CELLS), (5 * CELLS + 3, 7 * CELLS + 9), (40, 40)] {
                for (a, b) in [(1, 2), (1, 10_000), (2, 3)] {
                    let target = QuantileTarget::fraction(a, b);
                    let (from, to) = (cells.before(range.0), cells.before(range.1));
                    let mut runs = Runs {
                        past: |cell: u64| {
                            let less = cells.before(cell) - from;
                            target.past(less, to - from - less)
                        },
                        factor: 3.0 * as_f64(target.sensitivity(CELLS)),
                        starts: Vec::new(),
                        bounds: Vec::new(),
                    };
                    cells.runs(&mut runs, range).unwrap();
                    let mut all: Vec<(u64, i64, u64)> = runs
                        .starts
                        .iter()
                        .zip(&runs.bounds)
                        .map(|(start, (bound, count))| (*start, *bound, *count))
                        .collect();
                    all.sort_unstable();
                    let mut next = range.0;
                    for (start, bound, count) in all {
                        assert_eq!(start, next);
                        next = start + count;
                        let step = usize::try_from(count.div_ceil(50)).unwrap();
                        for cell in (start..next).step_by(step).chain([next - 1]) {
                            assert!(runs.score(cell) <= bound);
                        }
                    }
                    assert_eq!(next, range.1 + 1);
                }
            }
        }
    }

    /// The selection has the defined distribution: two values with four and eight rows, a
    /// fraction of one half, all cells added up. In 20,000 draws the share of a value deviates
    /// by 7 standard errors with probability 10⁻¹¹. If rows were not spread over cells, the
    /// second would deviate by 16.
    #[test]
    fn selections_have_the_defined_distribution() {
        let histogram = BTreeMap::from([(0, 4), (1, 8)]);
        let range = (0, 2);
        let cells = Cells::new(&histogram, range).unwrap();
        let (target, epsilon) = (QuantileTarget::fraction(1, 2), Epsilon::new(1.0).unwrap());
        let end = 3 * CELLS;
        let weight = |cell: u64| {
            let less = cells.before(cell) as f64 / CELLS as f64;
            (-(less - 6.0).abs()).exp()
        };
        let mut shares = [0.0; 3];
        for cell in 0..end {
            shares[usize::try_from(cell / CELLS).unwrap()] += weight(cell);
        }
        let total: f64 = shares.iter().sum();
        let draws = 20_000;
        let mut seen = [0.0; 3];
        let mut entropy = Entropy::system().unwrap();
        let median = Recursive::new(vec![5000], epsilon, 1).unwrap();
        for _ in 0..draws {
            let found = median.select(&mut entropy, &histogram, range).unwrap();
            seen[usize::try_from(found[&5000]).unwrap()] += 1.0;
        }
        assert_eq!(target.sensitivity(CELLS), CELLS);
        for (seen, share) in seen.iter().zip(shares) {
            let share = share / total;
            let error = (share * (1.0 - share) / f64::from(draws)).sqrt();
            let found = seen / f64::from(draws);
            assert!((found - share).abs() < 7.0 * error, "{found} {share}");
        }
    }

    /// Quantiles are in order and near their ranks for any number of equal rows.
    #[test]
    fn equal_rows_keep_quantiles_near_their_ranks() {
        let parts = vec![1000, 2500, 5000, 7500, 9000];
        let histogram = BTreeMap::from([(-5, 10_000), (0, 60_000), (1, 1), (7, 30_000)]);
        let mut entropy = Entropy::system().unwrap();
        let all = Recursive::new(parts, Epsilon::new(1.0).unwrap(), 2).unwrap();
        for _ in 0..50 {
            let found = all.select(&mut entropy, &histogram, RANGE).unwrap();
            let found: Vec<i64> = found.into_values().collect();
            // The first targets the edge of the equal rows.
            assert!(found[0] >= -5 && found[0] <= 0);
            assert_eq!(&found[1..], [0, 0, 7, 7]);
        }
    }
}
