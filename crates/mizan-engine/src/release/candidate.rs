//! The candidates for the noise of a release, one of each family, and which of them is used.

use super::noise_plan::{StatisticMechanism, Threshold};
use super::reason::NoiseKind;
use super::share::{WIDER, is_smaller};
use super::{NoiseTarget, Request};

/// The two families of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Laplace,
    Gaussian,
}

impl Family {
    pub(super) const fn noise(self) -> NoiseKind {
        match self {
            Self::Laplace => NoiseKind::DiscreteLaplace,
            Self::Gaussian => NoiseKind::DiscreteGaussian,
        }
    }

    pub(super) const fn other(self) -> Self {
        match self {
            Self::Laplace => Self::Gaussian,
            Self::Gaussian => Self::Laplace,
        }
    }
}

/// A family with its noise.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) family: Family,
    pub(super) mechanisms: Vec<StatisticMechanism>,
    pub(super) threshold: Option<Threshold>,
    pub(super) epsilon: f64,
    pub(super) renyi_epsilon: Option<f64>,
    /// The share of the account, if the account has a clock and the event fits.
    pub(super) share: Option<f64>,
    /// The half width of the first aggregate, or the threshold: less is better.
    pub(super) yardstick: f64,
}

impl Candidate {
    /// The value by which candidates are compared: less is better.
    const fn worth(&self, request: &Request) -> f64 {
        match request.target {
            NoiseTarget::Epsilon(_) => self.yardstick,
            NoiseTarget::Accuracy(_) => self.epsilon,
        }
    }

    /// Whether this candidate is chosen although the other one is better by its worth: it takes a
    /// smaller share of the account, and its interval is not much wider.
    fn is_cheaper_than(&self, best: &Self, request: &Request) -> bool {
        let wide = match request.target {
            NoiseTarget::Epsilon(_) => self.yardstick > WIDER * best.yardstick,
            NoiseTarget::Accuracy(_) => false,
        };
        !wide && is_smaller(self.share, best.share)
    }
}

/// The candidate that is used.
pub(super) struct Pick {
    pub(super) best: Candidate,
    pub(super) other: Option<Candidate>,
    /// Whether the smaller share of the account decided.
    pub(super) by_share: bool,
}

impl Pick {
    /// None if there is no candidate.
    pub(super) fn of(mut found: Vec<Candidate>, request: &Request) -> Option<Self> {
        found.sort_by(|a, b| a.worth(request).total_cmp(&b.worth(request)));
        let mut found = found.into_iter();
        let (mut best, mut other) = (found.next()?, found.next());
        let mut by_share = false;
        if let Some(other) = &mut other
            && other.is_cheaper_than(&best, request)
        {
            std::mem::swap(other, &mut best);
            by_share = true;
        }
        Some(Self {
            best,
            other,
            by_share,
        })
    }
}
