//! The bounded plan: the exact integers that an engine computes, and how much one privacy unit can
//! change them.
//!
//! ```text
//! relation -> rows of (unit, keys, measures)          S0
//!          -> one row per (unit, group)               S1
//!          -> each contribution clamped               S2
//!          -> at most `groups` groups per unit        S3
//!          -> sums per group: integers                S4
//! ```
//!
//! # Guarantee
//!
//! Let D and D' be neighbours: they differ in all rows of one unit. Their results differ in at most
//! `groups` groups (L0 sensitivity), and in each of them statistic j differs by at most
//! [`BoundedPlan::sensitivity`] (Linf sensitivity). A group that is missing in one result is all
//! zeros there.
//!
//! If units are clipped ([`GroupBounding::ClipL2`]) any number of groups may differ. The sum of
//! `(change / sensitivity)²` over all statistics of all groups is then at most `groups` times the
//! number of statistics (L2 sensitivity, see [`crate::clip`]).

use serde::{Deserialize, Serialize};

use crate::clip::{self, Clip};
use crate::expr::Expr;
use crate::message::{Effect, Note};
use crate::relation::{Quantized, Relation};
use crate::value::{Type, Value};

/// The most units of any dataset: the sum of that many bounded contributions fits 64 bits (C4).
pub const MAX_UNITS: i64 = 1 << 33;

/// The greatest contribution: times [`MAX_UNITS`] it is below 2^63.
pub const MAX_CONTRIBUTION: i64 = 1 << 29;

/// The most rows of a relation: the sum of that many quantized values, each below 2^22, fits 64
/// bits.
pub const MAX_ROWS: i64 = 1 << 40;

/// The most rows of a unit on each side of a join of private relations. The join makes at most the
/// square of that many rows per unit, and `MAX_ROWS` holds for joins too.
pub const MAX_JOINED: u64 = 1 << 10;

/// A query that can be answered privately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundedPlan {
    /// The private datasets it reads, in order.
    pub datasets: Vec<String>,
    /// The public tables it reads, in order.
    pub public: Vec<String>,
    /// The rows, each of one unit.
    pub relation: Relation,
    /// The grouping keys; empty if there is one group of all rows.
    pub keys: Vec<Key>,
    /// Whether the groups are public, or are discovered in the data and shown only if partition
    /// selection permits it.
    pub groups: Groups,
    /// The most groups that one unit contributes to.
    pub groups_per_unit: u64,
    /// How a unit in more groups is bounded.
    pub group_bounding: GroupBounding,
    /// The statistics of each group. The first is [`Measure::Units`] if groups are private.
    pub statistics: Vec<Statistic>,
    /// The columns of the answer, computed from keys and statistics.
    pub output: Output,
    /// The limits on rows and values that may change the answer before its noise, and how.
    pub clamping: Vec<Effect>,
    /// Other facts that an analyst should know.
    pub notes: Vec<Note>,
}

impl BoundedPlan {
    /// All limits that may change the answer before its noise. If there are none, noise is the only
    /// error, apart from rounding to the grid of a sum.
    #[must_use]
    pub fn limits(&self) -> Vec<Effect> {
        let limit = self.groups_per_unit;
        let group_bounding = match self.group_bounding {
            GroupBounding::NotNeeded => None,
            GroupBounding::SampleGroups => Some(Effect::GroupsSampled { limit }),
            GroupBounding::ClipL2 => Some(Effect::GroupsClipped { limit }),
        };
        group_bounding
            .into_iter()
            .chain(self.clamping.clone())
            .collect()
    }

    /// The same plan with clipping instead of group sampling, if that is possible.
    #[must_use]
    pub fn clipped(&self) -> Option<Self> {
        let can_be = self.group_bounding == GroupBounding::SampleGroups && self.can_be_clipped();
        can_be.then(|| Self {
            group_bounding: GroupBounding::ClipL2,
            ..self.clone()
        })
    }

    /// Whether clipping is possible: groups are public and every statistic is a sum over units.
    #[must_use]
    pub fn can_be_clipped(&self) -> bool {
        let Groups::Public(groups) = &self.groups else {
            return false;
        };
        let parts = groups.len().saturating_mul(self.statistics.len());
        let is_sum = |one: &Statistic| {
            let measure = &one.measure;
            !matches!(measure, Measure::Distinct(_) | Measure::Histogram(..))
        };
        parts as u64 <= clip::MOST
            && self.groups_per_unit > 0
            && !self.relation.one_row_per_unit
            && self.statistics.iter().all(is_sum)
    }

    /// The norm that units are clipped to, if they are clipped.
    #[must_use]
    pub fn clip(&self) -> Option<Clip> {
        let clip = || Clip::new(self.groups_per_unit, self.statistics.len());
        (self.group_bounding == GroupBounding::ClipL2).then(clip)
    }

    /// The fineness of the exact integers of a statistic: how many of them make a contribution of 1.
    #[must_use]
    pub fn fineness(&self, statistic: &Statistic) -> i64 {
        match self.group_bounding {
            GroupBounding::ClipL2 => clip::fineness(statistic.sensitivity()),
            GroupBounding::NotNeeded | GroupBounding::SampleGroups => 1,
        }
    }

    /// How much one unit can change the exact integer of a statistic in one group, in
    /// absolute value; for histograms, the sum of changes over all bins.
    #[must_use]
    pub fn sensitivity(&self, statistic: &Statistic) -> u64 {
        statistic.sensitivity() * self.fineness(statistic).unsigned_abs()
    }
}

/// What happens to a unit in more groups than `groups_per_unit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupBounding {
    /// Nothing: no unit can be in more groups.
    NotNeeded,
    /// Group sampling: the unit contributes to the groups with the least salted hashes.
    SampleGroups,
    /// L2 clipping: the unit contributes to all its groups, and its whole contribution is
    /// multiplied by one factor ([`Clip`]).
    ClipL2,
}

/// A grouping key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// Its expression over the relation.
    pub expression: Expr,
    /// Its type.
    pub kind: Type,
}

/// The source of the groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Groups {
    /// Public groups, each with a value for every key. All of them are answered; rows of other
    /// groups are excluded.
    Public(Vec<Vec<Value>>),
    /// Private groups: those in the data that pass partition selection.
    Private,
}

/// A statistic that is computed for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistic {
    /// What it measures.
    pub measure: Measure,
    /// The least contribution of a unit to a group (for histograms, to a bin: 0).
    pub low: i64,
    /// The greatest contribution of a unit to a group (for histograms, to all bins).
    pub high: i64,
}

impl Statistic {
    /// The greatest absolute contribution of one unit to one group; for histograms, to all bins.
    #[must_use]
    pub const fn sensitivity(&self) -> u64 {
        let (low, high) = (self.low.unsigned_abs(), self.high.unsigned_abs());
        if low > high { low } else { high }
    }
}

/// A measure of the rows of a group. All but the last two are sums over units of clamped
/// contributions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// One for each unit.
    Units,
    /// The rows of each unit.
    Rows,
    /// The rows of each unit where the expression is not `NULL`.
    Count(Expr),
    /// The quantized values of the rows of each unit.
    Sum(Expr, Quantized),
    /// The same for means. If a unit has more values than this number of rows, its sum is scaled to
    /// that number: `floor(sum * rows / count)` in doubles.
    Scaled(Expr, Quantized, i64),
    /// The distinct values of the expression; each unit contributes at most `high` of them (those
    /// with the least hash).
    Distinct(Expr),
    /// A histogram: how many rows have each quantized value. Each unit contributes at most `high`
    /// rows (those with the least hash).
    Histogram(Expr, Quantized),
}

impl Measure {
    /// The expression it is computed from.
    #[must_use]
    pub const fn argument(&self) -> Option<&Expr> {
        match self {
            Self::Units | Self::Rows => None,
            Self::Count(expr)
            | Self::Sum(expr, _)
            | Self::Scaled(expr, _, _)
            | Self::Distinct(expr)
            | Self::Histogram(expr, _) => Some(expr),
        }
    }
}

/// The post-processing of the noisy statistics (C8).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The aggregates of the query, each computed from statistics.
    pub aggregates: Vec<Aggregate>,
    /// The condition on the groups that are shown, over the keys followed by the aggregates.
    pub having: Option<Expr>,
    /// The columns, over the keys followed by the aggregates.
    pub columns: Vec<OutputColumn>,
    /// The order of rows, over the keys followed by the aggregates.
    pub order: Vec<Order>,
    /// How many rows are skipped first.
    pub offset: u64,
    /// The most rows that are shown.
    pub limit: Option<u64>,
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its expression.
    pub expression: Expr,
    /// Its type.
    pub kind: Type,
}

/// A sort key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The expression to sort by.
    pub expression: Expr,
    /// Whether the greatest value is first.
    pub descending: bool,
    /// Whether `NULL`s are first.
    pub nulls_first: bool,
}

/// An aggregate of the query, by the places of its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Aggregate {
    /// A count of rows, units or distinct values.
    Count {
        /// The statistic.
        of: usize,
    },
    /// A sum: `step * s`, plus `centre * n` if the sum is centred.
    Sum {
        /// The quantized sum.
        sum: usize,
        /// The count, if the quantized sum has a centre other than zero.
        count: Option<usize>,
        /// Whether the answer is an integer.
        integer: bool,
    },
    /// A mean over rows: `centre + step * s / n`, within the bounds.
    Mean {
        /// The centred sum.
        sum: usize,
        /// The count of values.
        count: usize,
    },
    /// A variance or its root.
    Variance {
        /// The centred sum.
        sum: usize,
        /// The centred sum of squares.
        squares: usize,
        /// The count of values.
        count: usize,
        /// Divided by n - 1.
        sample: bool,
        /// Whether the answer is its square root.
        root: bool,
    },
    /// A quantile of a histogram. Minimum and maximum are quantiles at 0 and 1.
    Quantile {
        /// The histogram.
        histogram: usize,
        /// The quantile, from 0 to 1.
        at: f64,
        /// The type of the answer.
        kind: Type,
    },
}
