//! Facts about an answer that an analyst should know, as values.
//!
//! An [`Effect`] is a limit that may change the answer before its noise; a [`Note`] is any other
//! fact. This crate and the engine create them. `mizan-api` renders them in English and as JSON,
//! `mizan-server` in Arabic. A new variant does not compile until each of them renders it.

use serde::{Deserialize, Serialize};

use crate::eval::towards_zero;
use crate::expr::Expr;
use crate::plan::BoundedPlan;
use crate::value::{Type, Value};

/// A limit that may change an answer before its noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// A unit contributes to at most `limit` groups, sampled if it is in more.
    GroupsSampled {
        /// How many groups.
        limit: u64,
    },
    /// A unit in more than `limit` groups contributes to all of them, clipped in L2
    /// norm to the weight of `limit` groups.
    GroupsClipped {
        /// How many groups.
        limit: u64,
    },
    /// A unit contributes to a group at most what `limit` rows can add up to.
    RowsPerGroup {
        /// How many rows.
        limit: u64,
        /// What happens to a unit with more rows, by the aggregates of the query.
        bounding: Vec<RowBounding>,
    },
    /// At most `limit` rows of a unit, sampled, enter each side of a join.
    JoinedRows {
        /// How many rows.
        limit: u64,
    },
    /// The values of a column are clamped to its bounds.
    Clamped {
        /// The dataset of the column.
        dataset: String,
        /// The column.
        column: String,
        /// The lower bound.
        low: Value,
        /// The upper bound.
        high: Value,
    },
    /// The total of a unit in a group is clamped to the declared bounds.
    TotalPerGroup {
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// In a subquery, a count of the rows of one unit is limited to the declared rows.
    UnitCount {
        /// The column of the subquery.
        column: String,
        /// How many rows.
        limit: u64,
    },
    /// In a subquery, a sum over the rows of one unit is clamped.
    UnitTotal {
        /// The column of the subquery.
        column: String,
        /// The lower bound.
        low: f64,
        /// The upper bound.
        high: f64,
    },
    /// A quantile is rounded to a grid.
    Grid {
        /// The aggregate, as it was written.
        aggregate: String,
        /// The distance between neighbouring values: a number, days or microseconds.
        step: f64,
        /// The type of the values.
        kind: Type,
    },
    /// An estimate is at a bound of its values, within its noise: clamping may have
    /// moved it there.
    AtBound {
        /// The estimate.
        aggregate: AggregateName,
        /// The bound.
        end: End,
        /// In how many groups; None if the query has no groups.
        groups: Option<Share>,
    },
}

/// What happens in an aggregate to the rows of a unit beyond the row limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RowBounding {
    /// `COUNT`: the count of the unit is capped at the limit.
    CountCapped,
    /// `COUNT(DISTINCT)`: as many of the unit's distinct values as the limit are sampled.
    ValuesSampled,
    /// `SUM`: the sum of the unit is clamped to the limit times the bounds of a value.
    SumClamped,
    /// `AVG`, `VAR`, `STDDEV`: the sums of the unit are scaled down to as many rows as the limit.
    SumsScaled,
    /// Quantiles: as many of the unit's rows as the limit are sampled.
    RowsSampled,
}

impl Effect {
    /// Whether this is a limit on what a unit contributes. The grid of a quantile and an
    /// estimate at its bound are remarks on the answer.
    #[must_use]
    pub const fn is_contribution_limit(&self) -> bool {
        !matches!(self, Self::Grid { .. } | Self::AtBound { .. })
    }
}

/// Other facts that an analyst should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Note {
    /// The groups are declared: all of them are reported, and rows of other groups are excluded.
    DeclaredGroups {
        /// How many groups.
        count: u64,
    },
    /// The groups are discovered in the data: those with few units are suppressed.
    DiscoveredGroups,
    /// The declared keys have too many combinations to report all of them.
    TooManyCombinations {
        /// The most groups that are reported.
        limit: u64,
    },
    /// Groups whose noisy number of units is not above the threshold are suppressed.
    ThresholdedGroups {
        /// The threshold.
        threshold: u64,
    },
    /// Rows were selected by noisy values.
    SelectedByNoise,
    /// How far off a quantile is, in rank.
    QuantileRank(QuantileRank),
    /// A quantile has no value: by the noisy count there are too few rows.
    TooFewRows {
        /// Which quantile.
        aggregate: AggregateName,
        /// In how many groups; None if the query has no groups.
        groups: Option<Share>,
    },
    /// The data cannot be read now, so a quote did not check the limits on joins, memory and time.
    LimitsNotChecked {
        /// The code of the error; its message may name paths.
        code: String,
    },
    /// So many queries failed after their charge to the account, or to one above it, that it refuses
    /// queries.
    UnansweredCharges {
        /// The number of these queries.
        count: u64,
        /// The number from which on queries are refused.
        limit: u64,
    },
}

/// The rank error of a quantile: how many rows its rank may be off, with 95 % confidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuantileRank {
    /// The quantile.
    pub aggregate: AggregateName,
    /// The rank is within this many rows,
    pub rows: u64,
    /// of this rank,
    pub target: RankTarget,
    /// if at most this many rows have equal values.
    pub equal_rows: Option<u64>,
    /// Whether that holds only before several quantiles are put in order.
    pub before_ordering: bool,
    /// In a group of at most this many rows the value is arbitrary.
    pub arbitrary_up_to: u64,
    /// Whether the noisy values show how many rows a group has.
    pub count_known: bool,
}

/// The target rank of a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RankTarget {
    /// The rank of the true quantile.
    Quantile,
    /// This row, counted from the least value.
    FromLeast(u64),
    /// This row, counted from the greatest value.
    FromGreatest(u64),
}

/// One of two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// The lower bound.
    Lower,
    /// The upper bound.
    Upper,
}

/// A number of groups out of all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The number.
    pub count: u64,
    /// The number of all groups.
    pub all: u64,
}

impl Share {
    /// `count` groups of `all`.
    #[must_use]
    pub fn of(count: usize, all: usize) -> Self {
        let whole = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        Self {
            count: whole(count),
            all: whole(all),
        }
    }
}

/// What identifies an aggregate to the analyst.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AggregateName {
    /// The column of the answer that shows it.
    Column(String),
    /// Its number among the aggregates of the query, from 1, if no column shows it alone.
    Place(u64),
}

impl BoundedPlan {
    /// What identifies the aggregate at this place.
    #[must_use]
    pub fn aggregate_name(&self, place: usize) -> AggregateName {
        let own = Expr::Column(self.keys.len().saturating_add(place));
        let mut columns = self.output.columns.iter();
        match columns.find(|column| column.expression == own) {
            Some(column) => AggregateName::Column(column.name.clone()),
            None => AggregateName::Place(u64::try_from(place).unwrap_or(u64::MAX - 1) + 1),
        }
    }
}

/// An end of the bounds of a column, as a value of its type.
pub(crate) fn bound_value(end: f64, kind: Type) -> Value {
    let whole = towards_zero(end);
    let value = match kind {
        Type::Date => whole.and_then(|day| i32::try_from(day).ok().map(Value::Date)),
        Type::Timestamp => whole.map(Value::Timestamp),
        _ => None,
    };
    value.unwrap_or_else(|| Value::number(end))
}
