//! Many quantiles of one histogram: a tree of noisy counts (hierarchical histogram).
//!
//! The grid is split into sixteen parts, each part into sixteen again, and so on down to single
//! values. A row is in one node of each level, so a unit of at most `R` rows changes the counts
//! of a level by at most `R`, in L1 and in L2. So a tree costs as much as one count for each of
//! its levels, however many quantiles are read from it.
//!
//! Noise is sampled only for the nodes that are visited. Which these are depends on noisy
//! counts alone, so the result is distributed as if all nodes had noise.
//!
//! # Consistency
//!
//! The counts of sixteen children, each with independent noise, do not add up to the count of
//! their parent. Given the estimate of the parent, least squares adds a sixteenth of the
//! difference to each child: the downward step of Hay, Rastogi, Miklau and Suciu, *Boosting the
//! accuracy of differentially private histograms through consistency*, 2010. Their upward step
//! would need noise for all nodes, and with sixteen children a count itself holds fifteen
//! sixteenths of the information about it.
//!
//! # Guarantee
//!
//! Let `S_j` be the noise of the first `j` of sixteen children. The edge after them has the
//! error `B_j = S_j - (j/16) S_16` from their own noise, plus the mean of the errors of the
//! parent's edges with weights `1 - j/16` and `j/16`. The last edge of all has the noise of the
//! total. So on every path down, the error of an edge is at most the sum over the levels of the
//! largest `|B_j|`, plus the noise of the total. A quantile is found from the root: among the
//! children of a node, the first whose cumulative count reaches the target rank. So the count
//! below the result exceeds the target rank by at most this error, and the count up to it falls
//! short by at most this error. A target rank that is a fraction of the noisy total has that
//! fraction of its noise, and so have the edges: together at most the whole noise of the total.
//!
//! Levels have independent noise, so the moment generating function of the sum is at most the
//! product of `Σ_j E[e^(λB_j) + e^(-λB_j)]` over them, and Chernoff's inequality bounds it with
//! 95 % probability. The first level is an exception: the total is the sum `S_16` of its
//! children, so its factor is `Σ_j E[e^(λ(±B_j ± S_16))]` over all four signs.

use std::collections::BTreeMap;

use mizan_noise::{Entropy, Mechanism};

use super::ReleaseError;
use super::estimate::to_i64;
use super::noise_plan::StatisticMechanism;
use super::quantile_target::{MISSED, QuantileTarget, whole_rows};

/// How many children a node has.
const BRANCHES: u64 = 16;
const CHILDREN: f64 = 16.0;

/// How many levels a tree over this many values has.
pub(crate) fn levels(candidates: u64) -> u32 {
    let (mut levels, mut values) = (1, BRANCHES);
    while values < candidates {
        levels += 1;
        values = values.saturating_mul(BRANCHES);
    }
    levels
}

/// With 95 % probability the rank of the result is within this many rows of the target rank.
pub(crate) fn rank_error(noise: &StatisticMechanism, levels: u32) -> Result<u64, ReleaseError> {
    let deviation = match *noise {
        StatisticMechanism::Gaussian { sigma, .. } => sigma,
        StatisticMechanism::Laplace { scale, .. } => scale * std::f64::consts::SQRT_2,
        _ => {
            return Err(ReleaseError::Plan {
                what: "a tree with another kind of noise",
            });
        }
    };
    let cumulant = |x: f64| cumulant(noise, x);
    let bound = |lambda: f64| {
        // With this share of the total: each of the first j children contributes to `B_j` with
        // `1 - j/16`, each other with `-j/16`. Noise is symmetric, so reversing all signs gives
        // the same value.
        let edge = |j: u32, of_total: f64| {
            let (before, after) = (f64::from(j), CHILDREN - f64::from(j));
            let share = before / CHILDREN;
            let log = before * cumulant(lambda * (1.0 - share + of_total))
                + after * cumulant(lambda * (of_total - share));
            2.0 * log.exp()
        };
        let level = |of_total: f64| (1..16).map(|j| edge(j, of_total)).sum::<f64>();
        let first = level(1.0) + level(-1.0);
        let others = f64::from(levels.saturating_sub(1)) * level(0.0).ln();
        (others + first.ln() - MISSED.ln()) / lambda
    };
    // The bound holds for any λ: a fine grid contains one that is nearly the best.
    let best = (0..400)
        .map(|step| bound(1.02_f64.powi(step - 350) * 4.0 / deviation))
        .filter(|bound| *bound > 0.0)
        .fold(f64::INFINITY, f64::min);
    Ok(whole_rows(best))
}

/// An upper bound on the logarithm of the moment generating function of noise. That of discrete
/// Gaussian noise is below that of the normal distribution (Canonne, Kamath and Steinke 2020).
fn cumulant(noise: &StatisticMechanism, x: f64) -> f64 {
    let x = x.abs();
    match *noise {
        StatisticMechanism::Gaussian { sigma, .. } => x * x * sigma * sigma / 2.0,
        StatisticMechanism::Laplace { scale, .. } if x * scale < 1.0 => {
            let r = (-1.0 / scale).exp();
            let beyond = (1.0 - r * x.exp()) * (1.0 - r * (-x).exp());
            2.0 * (-r).ln_1p() - beyond.ln()
        }
        _ => f64::INFINITY,
    }
}

/// A tree over a histogram. Visited nodes have noise.
pub(crate) struct Tree<'a> {
    mechanism: &'a Mechanism,
    levels: u32,
    range: (i64, i64),
    /// Values in order, with the cumulative number of rows.
    rows: Vec<(i64, i64)>,
    /// The noisy counts of children, by level and position of their parent.
    seen: BTreeMap<(u32, u64), Vec<i64>>,
}

impl<'a> Tree<'a> {
    /// A tree over the values `low..=high`. Row counts are not negative
    /// ([`release`](super::release) checks that).
    pub(crate) fn new(
        mechanism: &'a Mechanism,
        levels: u32,
        range: (i64, i64),
        histogram: &BTreeMap<i64, i64>,
    ) -> Self {
        let mut total = 0_i64;
        let within = histogram
            .iter()
            .filter(|(value, _)| (range.0..=range.1).contains(value));
        let rows = within.map(|(&value, &rows)| {
            total = total.saturating_add(rows);
            (value, total)
        });
        Self {
            mechanism,
            levels,
            range,
            rows: rows.collect(),
            seen: BTreeMap::new(),
        }
    }

    /// How many rows are below a position of the grid.
    fn below(&self, place: u64) -> i64 {
        let value = i128::from(self.range.0) + i128::from(place);
        let before = self
            .rows
            .partition_point(|(other, _)| i128::from(*other) < value);
        let last = before.checked_sub(1).and_then(|last| self.rows.get(last));
        last.map_or(0, |(_, rows)| *rows)
    }

    /// How many values a child of a node of this level has.
    fn width(&self, level: u32) -> u64 {
        BRANCHES.saturating_pow(self.levels.saturating_sub(level + 1))
    }

    /// The noisy counts of the children of a node.
    fn children(
        &mut self,
        entropy: &mut Entropy,
        level: u32,
        node: u64,
    ) -> Result<Vec<f64>, ReleaseError> {
        let known = match self.seen.get(&(level, node)) {
            Some(known) => known,
            None => {
                let width = self.width(level);
                let edge = |child: u64| {
                    let place = node.saturating_mul(BRANCHES).saturating_add(child);
                    self.below(place.saturating_mul(width))
                };
                let mut counts: Vec<i64> = (0..BRANCHES)
                    .map(|child| edge(child + 1).saturating_sub(edge(child)))
                    .collect();
                self.mechanism.release(entropy, &mut counts)?;
                self.seen.entry((level, node)).or_insert(counts)
            }
        };
        // Below this nothing is private: the counts have noise.
        #[allow(clippy::cast_precision_loss, reason = "noise is wider than that")]
        Ok(known.iter().map(|count| *count as f64).collect())
    }

    /// The noisy number of rows in the whole tree.
    pub(crate) fn rows(&mut self, entropy: &mut Entropy) -> Result<i64, ReleaseError> {
        let total: f64 = self.children(entropy, 0, 0)?.iter().sum();
        Ok(to_i64(total))
    }

    /// The value at the target rank.
    pub(crate) fn find(
        &mut self,
        entropy: &mut Entropy,
        target: QuantileTarget,
    ) -> Result<i64, ReleaseError> {
        let total: f64 = self.children(entropy, 0, 0)?.iter().sum();
        #[allow(clippy::cast_precision_loss, reason = "below 2^53")]
        let rank = match target {
            QuantileTarget::Fraction { a, b } => total * a as f64 / b as f64,
            QuantileTarget::FromLow(row) => row as f64,
            QuantileTarget::FromHigh(row) => total - row as f64,
        };
        let (mut node, mut before, mut parent) = (0_u64, 0.0, total);
        for level in 0..self.levels {
            let counts = self.children(entropy, level, node)?;
            let missing = (parent - counts.iter().sum::<f64>()) / CHILDREN;
            let mut chosen = BRANCHES - 1;
            for (child, count) in (0..BRANCHES).zip(counts) {
                parent = count + missing;
                if child == BRANCHES - 1 || before + parent >= rank {
                    chosen = child;
                    break;
                }
                before += parent;
            }
            node = node.saturating_mul(BRANCHES).saturating_add(chosen);
        }
        let value = i128::from(self.range.0) + i128::from(node);
        let value = value.clamp(self.range.0.into(), self.range.1.into());
        Ok(i64::try_from(value).unwrap_or(self.range.0))
    }
}

/// The target of a quantile in a tree. Minimum and maximum target the rank that is the rank
/// error away from the edge.
pub(crate) fn target(at: f64, rank_error: u64) -> QuantileTarget {
    if at <= 0.0 {
        QuantileTarget::FromLow(rank_error)
    } else if at >= 1.0 {
        QuantileTarget::FromHigh(rank_error)
    } else {
        QuantileTarget::of(at, 1.0, 1, 1)
    }
}
