//! The mechanisms whose parameters constrain each other.
//!
//! Each has private fields and a `new` that checks the constraint, so every value is a valid
//! mechanism.

use super::{EventError, EventProblem, PrivacyEvent};
use crate::units::{Count, Epsilon, Order, Probability, Scale, Sensitivity, Sigma};

/// Discrete Gaussian noise on integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    sigma: Sigma,
    sensitivity: Sensitivity,
}

impl DiscreteGaussian {
    /// Noise of parameter `sigma` on an integer vector of this L2 sensitivity.
    ///
    /// # Errors
    ///
    /// The sensitivity is below 1: integer vectors that differ are at least 1
    /// apart.
    pub fn new(sigma: Sigma, sensitivity: Sensitivity) -> Result<Self, EventError> {
        if sensitivity < Sensitivity::ONE {
            return Err(EventProblem::SensitivityBelowOne { sensitivity }.into());
        }
        Ok(Self { sigma, sensitivity })
    }

    /// The parameter of the noise; its standard deviation is slightly below.
    #[must_use]
    pub const fn sigma(&self) -> Sigma {
        self.sigma
    }

    /// The L2 sensitivity.
    #[must_use]
    pub const fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }
}

/// Discrete Laplace (two-sided geometric) noise on integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteLaplace {
    scale: Scale,
    sensitivity: Sensitivity,
}

impl DiscreteLaplace {
    /// Noise of this scale on integers of this L1 sensitivity.
    ///
    /// # Errors
    ///
    /// The sensitivity is not a whole number: integers move by whole numbers.
    pub fn new(scale: Scale, sensitivity: Sensitivity) -> Result<Self, EventError> {
        if sensitivity.get().fract() != 0.0 {
            return Err(EventProblem::SensitivityNotWhole { sensitivity }.into());
        }
        Ok(Self { scale, sensitivity })
    }

    /// The scale of the noise.
    #[must_use]
    pub const fn scale(&self) -> Scale {
        self.scale
    }

    /// The L1 sensitivity, a whole number.
    #[must_use]
    pub const fn sensitivity(&self) -> Sensitivity {
        self.sensitivity
    }
}

/// Randomized response: the true answer with probability `p`, otherwise a uniform one of the other
/// categories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    p: Probability,
    categories: Count,
}

impl RandomizedResponse {
    /// Randomized response over `categories` answers.
    ///
    /// The double nearest to `1 / categories` counts as chance, even where it
    /// is the smaller of the two.
    ///
    /// # Errors
    ///
    /// There are fewer than two categories, the answer is always true, or it
    /// is true less often than chance would have it.
    pub fn new(p: Probability, categories: Count) -> Result<Self, EventError> {
        if categories < Count::TWO {
            Err(EventProblem::OneCategory.into())
        } else if p.get() >= 1.0 {
            Err(EventProblem::AlwaysTruthful.into())
        } else if p.get().mul_add(categories.as_f64(), -1.0) < 0.0 {
            // Fused, so that p k - 1 has the right sign. Just below chance a
            // larger p would cost less and rounding up would be unsafe.
            Err(EventProblem::BelowChance { p, categories }.into())
        } else {
            Ok(Self { p, categories })
        }
    }

    /// The probability of a truthful answer.
    #[must_use]
    pub const fn p(&self) -> Probability {
        self.p
    }

    /// The number of categories.
    #[must_use]
    pub const fn categories(&self) -> Count {
        self.categories
    }
}

/// An event on `m` of `n` people, drawn without replacement.
#[derive(Clone, Debug, PartialEq)]
pub struct WithoutReplacement {
    population: Count,
    sample: Count,
    event: Box<PrivacyEvent>,
}

impl WithoutReplacement {
    /// `event` on a sample of `sample` out of `population` people.
    ///
    /// # Errors
    ///
    /// The sample is larger than the population.
    pub fn new(population: Count, sample: Count, event: PrivacyEvent) -> Result<Self, EventError> {
        if sample > population {
            return Err(EventProblem::SampleTooLarge { population, sample }.into());
        }
        Ok(Self {
            population,
            sample,
            event: Box::new(event),
        })
    }

    /// The size of the population, `n`.
    #[must_use]
    pub const fn population(&self) -> Count {
        self.population
    }

    /// The size of the sample, `m`.
    #[must_use]
    pub const fn sample(&self) -> Count {
        self.sample
    }

    /// The event on the sample.
    #[must_use]
    pub const fn event(&self) -> &PrivacyEvent {
        &self.event
    }
}

/// A Rényi guarantee as reported: a bound at each of some orders.
#[derive(Clone, Debug, PartialEq)]
pub struct RenyiPoints(Vec<(Order, Epsilon)>);

impl RenyiPoints {
    /// Sorts the points by order.
    ///
    /// # Errors
    ///
    /// There are no points, two have the same order, or a bound is infinite.
    pub fn new(mut points: Vec<(Order, Epsilon)>) -> Result<Self, EventError> {
        if points.is_empty() {
            return Err(EventProblem::NoPoints.into());
        }
        points.sort_by(|a, b| a.0.get().total_cmp(&b.0.get()));
        for pair in points.windows(2) {
            if let [(order, _), (next, _)] = pair
                && order == next
            {
                return Err(EventProblem::DuplicateOrder { order: *order }.into());
            }
        }
        match points.iter().find(|(_, epsilon)| !epsilon.is_finite()) {
            Some(&(order, _)) => Err(EventProblem::InfiniteBound { order }.into()),
            None => Ok(Self(points)),
        }
    }

    /// The points, by increasing order; there is at least one.
    #[must_use]
    pub fn as_slice(&self) -> &[(Order, Epsilon)] {
        &self.0
    }
}
