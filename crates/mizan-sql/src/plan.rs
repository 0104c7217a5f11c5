//! The bounded plan: the exact integers that an engine computes, and how much one
//! unit can change them.
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
//! Let D and D' differ in all rows of one unit. Between their results at most
//! `groups` groups differ, and statistic j by at most
//! [`BoundedPlan::sensitivity`] in each of them. A group that one of them does
//! not have counts as zeros.
//!
//! If units are clipped ([`Excess::Clipped`]) any number of groups may differ, and
//! the sum over all statistics of all groups of `(change / sensitivity)²` is at most
//! `groups` times the number of statistics (see [`crate::clip`]).

use serde::{Deserialize, Serialize};

use crate::clip::{self, Clip};
use crate::expr::Expr;
use crate::message::{Effect, Note};
use crate::relation::{Quantized, Relation};
use crate::value::{Type, Value};

/// The most units any dataset has: the sums of so many bounded contributions
/// cannot overflow 64 bits (C4).
pub const MAX_UNITS: i64 = 1 << 33;

/// The most that a contribution can be: times [`MAX_UNITS`] below 2^63.
pub const MAX_CONTRIBUTION: i64 = 1 << 29;

/// The most rows a relation has: sums of quantized values, below 2^22, of so many
/// rows cannot overflow.
pub const MAX_ROWS: i64 = 1 << 40;

/// The most rows of a unit on each side of a join of private relations. It makes
/// at most the square of rows from them, and `MAX_ROWS` holds for joins too.
pub const MAX_JOINED: u64 = 1 << 10;

/// A question that can be answered privately.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundedPlan {
    /// The private datasets it reads, in order.
    pub datasets: Vec<String>,
    /// Public tables it reads, in order.
    pub public: Vec<String>,
    /// The rows, each of one unit.
    pub relation: Relation,
    /// By what rows are grouped; none for one group of everything.
    pub keys: Vec<Key>,
    /// Whether the groups are a public list, or are found in the data and shown
    /// only if enough units are in them.
    pub groups: Groups,
    /// The most groups of one unit that count.
    pub groups_per_unit: u64,
    /// What becomes of units with more.
    pub excess: Excess,
    /// What is computed for each group. The first is [`Measure::Units`] if
    /// groups are private.
    pub statistics: Vec<Statistic>,
    /// The answer's columns, from keys and statistics.
    pub output: Output,
    /// The limits on rows and values that may change the answer before its noise,
    /// and how.
    pub clamping: Vec<Effect>,
    /// What else an analyst should know.
    pub notes: Vec<Note>,
}

impl BoundedPlan {
    /// All limits that may change the answer before its noise, and how. Without any,
    /// the noise is all there is, but for rounding to the grid of a sum.
    #[must_use]
    pub fn limits(&self) -> Vec<Effect> {
        let limit = self.groups_per_unit;
        let excess = match self.excess {
            Excess::None => None,
            Excess::Dropped => Some(Effect::GroupsSampled { limit }),
            Excess::Clipped => Some(Effect::GroupsClipped { limit }),
        };
        excess.into_iter().chain(self.clamping.clone()).collect()
    }

    /// The same with units clipped instead of dropped from groups, if they can be.
    #[must_use]
    pub fn clipped(&self) -> Option<Self> {
        let can_be = self.excess == Excess::Dropped && self.can_be_clipped();
        can_be.then(|| Self {
            excess: Excess::Clipped,
            ..self.clone()
        })
    }

    /// Whether units can be clipped: where groups are public and every statistic is a
    /// sum over units.
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

    /// To what units are clipped, if they are.
    #[must_use]
    pub fn clip(&self) -> Option<Clip> {
        let clip = || Clip::new(self.groups_per_unit, self.statistics.len());
        (self.excess == Excess::Clipped).then(clip)
    }

    /// How much finer the exact integers of a statistic are than its contributions.
    #[must_use]
    pub fn fineness(&self, statistic: &Statistic) -> i64 {
        match self.excess {
            Excess::Clipped => clip::fineness(statistic.sensitivity()),
            Excess::None | Excess::Dropped => 1,
        }
    }

    /// How much one unit can change the exact integer of a statistic in one group, in
    /// absolute value; for histograms, the sum of changes over all bins.
    #[must_use]
    pub fn sensitivity(&self, statistic: &Statistic) -> u64 {
        statistic.sensitivity() * self.fineness(statistic).unsigned_abs()
    }
}

/// What becomes of units in more groups than count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Excess {
    /// There are none.
    None,
    /// They count in as many as count: those with the least salted hash.
    Dropped,
    /// They count in all groups, and everything they contribute is multiplied by one
    /// factor ([`Clip`]).
    Clipped,
}

/// A key of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it is called.
    pub name: String,
    /// What it is, over the relation.
    pub expression: Expr,
    /// What it holds.
    pub kind: Type,
}

/// Where groups come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Groups {
    /// These, each a value for every key, all of which are answered; rows of
    /// others are left out.
    Public(Vec<Vec<Value>>),
    /// Those in the data with enough units.
    Private,
}

/// Something computed for each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistic {
    /// What.
    pub measure: Measure,
    /// The least a unit contributes to a group (for histograms, to a bin: 0).
    pub low: i64,
    /// The most a unit contributes to a group (for histograms, to all bins).
    pub high: i64,
}

impl Statistic {
    /// The most that one unit contributes to one group, in absolute value; for
    /// histograms, to all bins.
    #[must_use]
    pub const fn sensitivity(&self) -> u64 {
        let (low, high) = (self.low.unsigned_abs(), self.high.unsigned_abs());
        if low > high { low } else { high }
    }
}

/// What is computed from the rows of a group. Sums over units of clamped
/// contributions, but for the last two.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// One for every unit.
    Units,
    /// The rows of each unit.
    Rows,
    /// The rows of each unit where the expression is something.
    Count(Expr),
    /// The quantized values of the rows of each unit.
    Sum(Expr, Quantized),
    /// The same for means: where a unit has more rows with a value than this, its
    /// sum is that of so many average ones of its rows,
    /// `floor(sum * rows / count)` in doubles.
    Scaled(Expr, Quantized, i64),
    /// Different values of the expression, of which each unit brings at most
    /// `high` (those with the least hash).
    Distinct(Expr),
    /// A histogram: how many rows have each quantized value, `high` rows of each
    /// unit (those with the least hash).
    Histogram(Expr, Quantized),
}

impl Measure {
    /// What it is computed from.
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

/// What becomes of the noisy statistics. All of it is post-processing (C8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Output {
    /// The aggregates of the question, each from statistics.
    pub aggregates: Vec<Aggregate>,
    /// Which groups are shown: over the keys followed by the aggregates.
    pub having: Option<Expr>,
    /// The columns: a name and an expression over the keys followed by the
    /// aggregates.
    pub columns: Vec<OutputColumn>,
    /// The order of rows, over keys followed by aggregates.
    pub order: Vec<Order>,
    /// How many rows are left out first.
    pub offset: u64,
    /// How many rows are shown.
    pub limit: Option<u64>,
}

/// A column of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputColumn {
    /// Its name.
    pub name: String,
    /// Its value.
    pub expression: Expr,
    /// What it holds.
    pub kind: Type,
}

/// A sort key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// By what.
    pub expression: Expr,
    /// The greatest first.
    pub descending: bool,
    /// `NULL`s first.
    pub nulls_first: bool,
}

/// An aggregate of the question, by the places of its statistics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Aggregate {
    /// A count of rows, units or different values.
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
        /// Its root.
        root: bool,
    },
    /// A quantile of a histogram. Minimum and maximum are quantiles at 0 and 1.
    Quantile {
        /// The histogram.
        histogram: usize,
        /// 0 to 1.
        at: f64,
        /// Whether the answer is an integer, a date or a timestamp.
        kind: Type,
    },
}
