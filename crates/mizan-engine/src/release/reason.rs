//! Why a query gets its noise, as values.
//!
//! `mizan-api` renders them in English and as JSON, `mizan-server` in Arabic.

use mizan_sql::{AggregateName, QuantileRank};

use super::ReleaseError;

/// A reason for the choice of noise.
#[derive(Clone, Debug, PartialEq)]
pub enum ChoiceReason {
    /// This noise was chosen.
    Chosen {
        /// The noise.
        noise: NoiseKind,
        /// How accurate it is.
        accuracy: Accuracy,
    },
    /// The other noise is less accurate or costs more.
    Other {
        /// The other noise.
        noise: NoiseKind,
        /// How accurate it would be.
        accuracy: Accuracy,
        /// The epsilon that it would cost.
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
        /// The number of statistics.
        statistics: u64,
        /// The number of groups of a unit.
        groups: u64,
    },
    /// Units in too many groups are clipped in L2 norm, which costs no more.
    Clipped {
        /// Units in more groups than this are clipped.
        groups: u64,
    },
    /// What it costs.
    Cost {
        /// The certified epsilon, by the best method.
        epsilon: f64,
        /// The delta at which it is certified.
        delta: f64,
        /// The epsilon of the Rényi curve, which the ledger records.
        renyi: f64,
    },
    /// What it costs, and the share of the account that it takes, if the account has a Gaussian
    /// clock.
    Share {
        /// The certified epsilon, by the best method.
        epsilon: f64,
        /// The delta at which it is certified.
        delta: f64,
        /// The share of the whole account; None if it does not fit.
        share: Option<f64>,
        /// The other noise, if it is possible, with its share.
        other: Option<(NoiseKind, Option<f64>)>,
        /// Whether the smaller share decided. Otherwise the more accurate noise was chosen.
        decided: bool,
    },
    /// The rank error of a quantile.
    QuantileRank(QuantileRank),
}

/// A kind of noise, or the mechanism that replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// Discrete Laplace noise.
    DiscreteLaplace,
    /// Discrete Gaussian noise.
    DiscreteGaussian,
    /// The exponential mechanism, which selects quantiles.
    ExponentialMechanism,
    /// A tree of counts with discrete Laplace noise, from which many quantiles are read.
    LaplaceTree,
    /// The same with discrete Gaussian noise.
    GaussianTree,
}

/// The value by which two kinds of noise are compared: less is better.
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
        /// The rank error of a quantile, with 95 % probability.
        aggregate: AggregateName,
        /// How many rows.
        rows: f64,
    },
}
