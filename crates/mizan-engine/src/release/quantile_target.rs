//! The rank that a quantile targets in a sorted group, the score of a candidate value, and the
//! exponential mechanism over all values of a grid.
//!
//! Let `L`, `E` and `G` be the numbers of rows less than a candidate `x`, equal to it and
//! greater, and `n` their sum. In sorted order `x` covers the ranks from `L` to
//! `L + E = n - G`. The score of `x` is minus the distance from the target rank to that
//! interval. It is zero for a true quantile, also where many rows are equal.
//!
//! - The fraction `a/b` targets rank `a n / b`. In units of `1/b`, the distance is
//!   `max(0, b L - a n, a n - b (n - G))`, that is
//!   `max(0, (b-a) L - a (E+G), a G - (b-a) (L+E))`.
//! - The `k`-th row from below targets rank `k`: `max(0, L - k, k - (L+E))`; from above the
//!   same with `G` for `L`.
//!
//! # Guarantee
//!
//! One more row changes exactly one of `L`, `E`, `G` by one, and each of the linear terms of a
//! fraction by `a` or `b - a`. A maximum changes by no more than the largest change of its
//! terms. So a unit of at most `R` rows changes each score by at most `R max(a, b-a)`, and for
//! the `k`-th row by `R`. Scores of some candidates rise and of others fall: the mechanism is
//! not monotonic.
//!
//! The mechanism is accurate: with probability `1 - β` the score of what it selects among `N`
//! candidates is above `-(2 Δ / ε) ln(N / β)`, because the best score is zero (McSherry and
//! Talwar 2007, Theorem 6).

use std::collections::BTreeMap;

use mizan_core::Epsilon;
use mizan_noise::{Entropy, ExponentialMechanism, NoiseError};

use super::ReleaseError;

/// The denominator of the finest fraction.
pub(super) const PARTS: u64 = 10_000;

/// The rank that a quantile targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QuantileTarget {
    /// This many rows from the smallest.
    FromLow(u64),
    /// A fraction of the rows, reduced.
    Fraction {
        /// Its numerator, positive.
        a: u64,
        /// Its denominator, larger.
        b: u64,
    },
    /// This many rows from the largest.
    FromHigh(u64),
}

/// The probability that the rank error exceeds its bound.
pub(super) const MISSED: f64 = 0.05;

impl QuantileTarget {
    /// The target of a quantile. Minimum and maximum target the rank that is the rank error
    /// away from the edge: any closer, and the many empty values beyond the edge are more
    /// likely than all of the data. This biases them inwards.
    pub(crate) fn of(at: f64, epsilon: f64, rows: u64, candidates: u64) -> Self {
        let at = if at.is_nan() { 0.5 } else { at };
        if at <= 0.0 || at >= 1.0 {
            let from = rank_error(2.0 * as_f64(rows), epsilon, candidates);
            return if at <= 0.0 {
                Self::FromLow(from)
            } else {
                Self::FromHigh(from)
            };
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and 9999"
        )]
        let a = ((at * as_f64(PARTS)).round() as u64).clamp(1, PARTS - 1);
        Self::fraction(a, PARTS)
    }

    /// The fraction `a/b` of the rows.
    pub(super) fn fraction(a: u64, b: u64) -> Self {
        let divisor = common_divisor(a, b);
        Self::Fraction {
            a: a / divisor,
            b: b / divisor,
        }
    }

    /// The numerator over [`PARTS`], if the target is such a fraction.
    pub(super) fn parts(self) -> Option<u64> {
        match self {
            Self::Fraction { a, b } => a.checked_mul(PARTS)?.checked_div(b),
            Self::FromLow(_) | Self::FromHigh(_) => None,
        }
    }

    /// How much one row changes a score.
    fn per_row(self) -> u64 {
        match self {
            Self::Fraction { a, b } => a.max(b - a.min(b)),
            Self::FromLow(_) | Self::FromHigh(_) => 1,
        }
    }

    /// How many units of the score are one row.
    fn unit(self) -> u64 {
        match self {
            Self::Fraction { b, .. } => b,
            Self::FromLow(_) | Self::FromHigh(_) => 1,
        }
    }

    /// With 95 % probability the rank of the selected value is within this many rows of the
    /// target rank.
    pub(crate) fn rank_error(self, epsilon: f64, rows: u64, candidates: u64) -> u64 {
        let per_row = as_f64(self.per_row()) / as_f64(self.unit());
        rank_error(2.0 * as_f64(rows) * per_row, epsilon, candidates)
    }

    /// The largest group size at which every rank is within `rank_error` rows of the target.
    pub(super) fn covered_by(self, rank_error: u64) -> u64 {
        match self {
            // The rank a n / b is max(a, b - a) n / b away from the farther end.
            Self::Fraction { .. } => {
                let rows = u128::from(rank_error) * u128::from(self.unit());
                let rows = rows / u128::from(self.per_row().max(1));
                u64::try_from(rows).unwrap_or(u64::MAX)
            }
            Self::FromLow(k) | Self::FromHigh(k) if k <= rank_error => k.saturating_add(rank_error),
            Self::FromLow(_) | Self::FromHigh(_) => 0,
        }
    }

    /// Minus the distance from the target rank, in units of the score.
    fn score(self, less: i128, equal: i128, greater: i128) -> i64 {
        // The distance from the nearer end of the ranks that the candidate covers.
        let start = self.past(less, equal + greater);
        let end = self.past(less + equal, greater);
        as_score(start.max(-end))
    }

    /// How far a position with `before` and `after` rows is past the target rank, in units of
    /// the score.
    pub(super) fn past(self, before: i128, after: i128) -> i128 {
        match self {
            Self::Fraction { a, b } => {
                let (a, rest) = (i128::from(a), i128::from(b) - i128::from(a));
                rest * before - a * after
            }
            Self::FromLow(k) => before - i128::from(k),
            Self::FromHigh(k) => i128::from(k) - after,
        }
    }

    /// The mechanism for an ε and units of at most `rows` rows.
    pub(crate) fn mechanism(
        self,
        epsilon: Epsilon,
        rows: u64,
    ) -> Result<ExponentialMechanism, NoiseError> {
        ExponentialMechanism::new(epsilon, self.sensitivity(rows))
    }

    /// How much a unit of at most `rows` rows changes a score.
    pub(crate) fn sensitivity(self, rows: u64) -> u64 {
        rows.max(1).saturating_mul(self.per_row())
    }

    /// The score of one candidate.
    #[cfg(test)]
    pub(crate) fn score_in(self, histogram: &BTreeMap<i64, i64>, candidate: i64) -> i64 {
        let rows = |keep: &dyn Fn(&i64) -> bool| -> i128 {
            let kept = histogram.iter().filter(|(value, _)| keep(value));
            kept.map(|(_, rows)| i128::from(*rows)).sum()
        };
        self.score(
            rows(&|value| *value < candidate),
            rows(&|value| *value == candidate),
            rows(&|value| *value > candidate),
        )
    }

    /// Selects one of the values `low..=high` for a histogram.
    ///
    /// The values between two that occur have the same score, so they form one run.
    ///
    /// # Errors
    ///
    /// There is no randomness, or the range has 2⁶⁴ values. Row counts are not negative
    /// ([`release`](super::release) checks that).
    pub(crate) fn select(
        self,
        mechanism: &ExponentialMechanism,
        entropy: &mut Entropy,
        histogram: &BTreeMap<i64, i64>,
        (low, high): (i64, i64),
    ) -> Result<i64, ReleaseError> {
        let within = || {
            histogram
                .iter()
                .filter(|(value, _)| (low..=high).contains(value))
        };
        let total: i128 = within().map(|(_, rows)| i128::from(*rows)).sum();
        let mut runs = Vec::new();
        let mut starts = Vec::new();
        let (mut next, mut less) = (i128::from(low), 0_i128);
        for (&value, &rows) in within() {
            let (value, rows) = (i128::from(value), i128::from(rows));
            if next < value {
                runs.push((self.score(less, 0, total - less), length(value - next)?));
                starts.push(next);
            }
            runs.push((self.score(less, rows, total - less - rows), 1));
            starts.push(value);
            less += rows;
            next = value + 1;
        }
        if next <= i128::from(high) {
            runs.push((self.score(less, 0, 0), length(i128::from(high) - next + 1)?));
            starts.push(next);
        }
        let (run, place) = mechanism.select_run(entropy, &runs)?;
        let start = starts.get(run).ok_or(ReleaseError::Shape)?;
        i64::try_from(start + i128::from(place)).map_err(|_| ReleaseError::Shape)
    }
}

/// Minus a distance. Distances beyond 64 bits saturate, which does not increase the
/// sensitivity.
pub(super) fn as_score(distance: i128) -> i64 {
    i64::try_from(distance.max(0)).map_or(-i64::MAX, |distance| -distance)
}

/// `(range / ε) ln(N / 0.05)` rows, rounded up.
fn rank_error(range: f64, epsilon: f64, candidates: u64) -> u64 {
    whole_rows(range / epsilon * (as_f64(candidates.max(1)) / MISSED).ln())
}

/// The number of rows, rounded up, at least one.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is positive"
)]
pub(super) fn whole_rows(rows: f64) -> u64 {
    ((rows * (1.0 + 1e-9)).ceil().min(1e15) as u64).max(1)
}

/// The length of a run. One of no values would never be selected.
fn length(values: i128) -> Result<u64, ReleaseError> {
    u64::try_from(values).map_err(|_| ReleaseError::Shape)
}

#[allow(clippy::cast_precision_loss, reason = "rows and values are below 2^53")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}
