//! Why a query gets the noise that it gets, as values.
//!
//! `mizan-api` renders them in English and as JSON, `mizan-server` in Arabic.

use mizan_sql::{AggregateName, QuantileRank};

use super::ReleaseError;

/// A reason of the choice of noise.
#[derive(Clone, Debug, PartialEq)]
pub enum ChoiceReason {
    /// This noise was chosen.
    Chosen {
        /// The noise.
        noise: NoiseKind,
        /// How accurate it is.
        accuracy: Accuracy,
    },
    /// The other noise is less accurate, or costs more.
    Other {
        /// The other noise.
        noise: NoiseKind,
        /// How accurate it would be,
        accuracy: Accuracy,
        /// at this epsilon.
        epsilon: f64,
    },
    /// The other noise is not possible.
    OtherImpossible {
        /// The other noise.
        noise: NoiseKind,
        /// Why.
        failure: ReleaseError,
    },
    /// Epsilon is split.
    Split {
        /// Over this many statistics,
        statistics: u64,
        /// in this many groups of a unit.
        groups: u64,
    },
    /// Units in too many groups are clipped in L2 norm, which costs no more.
    Clipped {
        /// How many groups are too many to be unclipped.
        groups: u64,
    },
    /// What it costs.
    Cost {
        /// The certified epsilon, by the best method,
        epsilon: f64,
        /// at this delta.
        delta: f64,
        /// The epsilon of the Rényi curve, which is what the ledger records.
        renyi: f64,
    },
    /// How far off a quantile is, in rank.
    QuantileRank(QuantileRank),
}

/// A kind of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Discrete Laplace noise.
    DiscreteLaplace,
    /// Discrete Gaussian noise.
    DiscreteGaussian,
}

/// What two kinds of noise are compared by: less is better.
#[derive(Clone, Debug, PartialEq)]
pub enum Accuracy {
    /// Groups discovered in the data are shown above this number of units.
    Threshold {
        /// The noisy number of units.
        units: u64,
    },
    /// The 95 % half width of the noise of the first aggregate.
    HalfWidth {
        /// The aggregate.
        aggregate: AggregateName,
        /// The half width.
        width: f64,
    },
    /// The 95 % half width of the noise of the sum that a mean or a variance is made of.
    SumHalfWidth {
        /// The mean or variance.
        aggregate: AggregateName,
        /// The half width.
        width: f64,
    },
    /// By how many rows a quantile is off in rank, with 95 % confidence.
    Rank {
        /// The quantile.
        aggregate: AggregateName,
        /// How many rows.
        rows: f64,
    },
}
