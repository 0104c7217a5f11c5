//! Many quantiles of one histogram: a tree of noisy counts.
//!
//! The grid is cut in sixteen, each part again in sixteen, and so on down to
//! single values. A row is in one node of each level, so a unit of at most `R`
//! rows moves the counts of a level by at most `R`, in L1 and in L2: a tree costs
//! as much as one count for each of its levels, however many quantiles are read
//! from it. Up to seven quantiles cost less one by one.
//!
//! Noise is drawn for the nodes that are looked at only. Which these are depends
//! on noisy counts alone, so it is as if all had noise.
//!
//! # Guarantee
//!
//! A quantile is found from the root: of a node's children the first where the
//! noisy count up to its end reaches the rank aimed at, or the last. Let `w` bound
//! all partial sums of the noise of sixteen children. The count below the value
//! that is found then exceeds the rank by at most `w` for each level, and that up
//! to it falls short by no more; the rank itself, a fraction of the noisy total,
//! is off by `w` at most. By Lévy's inequality the largest of the partial sums of
//! symmetric variables exceeds `w` with at most twice the probability that the
//! whole sum does. So all holds with probability 1 - β for the `w` that the sum of
//! sixteen exceeds with probability β / 2(levels + 1).

use std::collections::BTreeMap;

use mizan_noise::{Confidence, Entropy, Mechanism, Noise};

use super::ReleaseError;
use super::aim::{Aim, MISSED};

/// How many children a node has.
const BRANCHES: u64 = 16;

/// From so many quantiles on a tree is taken.
pub(crate) const MANY: usize = 8;

/// How many levels a tree of so many values has.
pub(crate) fn levels(candidates: u64) -> u32 {
    let (mut levels, mut values) = (1, BRANCHES);
    while values < candidates {
        levels += 1;
        values = values.saturating_mul(BRANCHES);
    }
    levels
}

/// With a probability of 95 % the rank of what is found is within so many rows
/// of the one that is aimed at.
pub(crate) fn rank_error(noise: &Noise, levels: u32) -> Result<u64, ReleaseError> {
    let all = f64::from(levels) + 1.0;
    let confidence = Confidence::new(1.0 - MISSED / (2.0 * all))?;
    let width = Noise::half_width_of_sum(&[(noise.clone(), BRANCHES)], confidence)?.upper;
    let rows = width.saturating_mul(u128::from(levels) + 1).max(1);
    Ok(u64::try_from(rows).unwrap_or(u64::MAX))
}

/// A tree over a histogram: noisy where it was looked at.
pub(crate) struct Tree<'a> {
    mechanism: &'a Mechanism,
    levels: u32,
    range: (i64, i64),
    /// Values in order, with how many rows there are up to each.
    rows: Vec<(i64, i64)>,
    /// The noisy counts of children, by level and place of their parent.
    seen: BTreeMap<(u32, u64), Vec<i64>>,
}

impl<'a> Tree<'a> {
    /// A tree over the values `low..=high`.
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
            total = total.saturating_add(rows.max(0));
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

    /// How many rows are below a place of the grid.
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
    ) -> Result<Vec<i64>, ReleaseError> {
        if let Some(known) = self.seen.get(&(level, node)) {
            return Ok(known.clone());
        }
        let width = self.width(level);
        let edge = |child: u64| {
            let place = node.saturating_mul(BRANCHES).saturating_add(child);
            self.below(place.saturating_mul(width))
        };
        let mut counts: Vec<i64> = (0..BRANCHES)
            .map(|child| edge(child + 1).saturating_sub(edge(child)))
            .collect();
        self.mechanism.release(entropy, &mut counts)?;
        self.seen.insert((level, node), counts.clone());
        Ok(counts)
    }

    /// The value at the rank that is aimed at.
    pub(crate) fn find(&mut self, entropy: &mut Entropy, aim: Aim) -> Result<i64, ReleaseError> {
        let top = self.children(entropy, 0, 0)?;
        let total: i128 = top.iter().copied().map(i128::from).sum();
        // In units of 1/b, so that it is whole.
        let (rank, unit) = match aim {
            Aim::Fraction { a, b } => (total.saturating_mul(i128::from(a)), i128::from(b)),
            Aim::FromLow(row) => (i128::from(row), 1),
            Aim::FromHigh(row) => (total - i128::from(row), 1),
        };
        let (mut node, mut before) = (0_u64, 0_i128);
        for level in 0..self.levels {
            let counts = self.children(entropy, level, node)?;
            let mut chosen = BRANCHES - 1;
            for (child, count) in (0..BRANCHES).zip(counts) {
                let through = before + i128::from(count);
                if child == BRANCHES - 1 || through.saturating_mul(unit) >= rank {
                    chosen = child;
                    break;
                }
                before = through;
            }
            node = node.saturating_mul(BRANCHES).saturating_add(chosen);
        }
        let value = i128::from(self.range.0) + i128::from(node);
        let value = value.clamp(self.range.0.into(), self.range.1.into());
        Ok(i64::try_from(value).unwrap_or(self.range.0))
    }
}

/// The aim of a quantile in a tree: edges are aimed at from as far as they may
/// be missed by.
pub(crate) fn aim(at: f64, rank_error: u64) -> Aim {
    if at <= 0.0 {
        Aim::FromLow(rank_error)
    } else if at >= 1.0 {
        Aim::FromHigh(rank_error)
    } else {
        Aim::of(at, 1.0, 1, 1)
    }
}
