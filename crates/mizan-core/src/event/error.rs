//! Why a text, a document or a set of parameters is not a privacy event.

use crate::units::{Count, Order, Probability, Sensitivity};
use std::fmt;
use thiserror::Error;

/// A privacy event that could not be made, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct EventError {
    problem: Box<EventProblem>,
}

/// What is wrong with a privacy event.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum EventProblem {
    /// A truthful answer rarer than chance.
    #[error("rr: p is the probability of a truthful answer; {p} is below chance, 1/{categories}")]
    BelowChance {
        /// The probability asked for.
        p: Probability,
        /// The number of answers.
        categories: Count,
    },
    /// Randomized response that is not random.
    #[error("rr: with p = 1 the answer is always true, so its pure epsilon is infinite")]
    AlwaysTruthful,
    /// Randomized response with nothing to choose from.
    #[error("rr: categories must be 2 or more, got 1")]
    OneCategory,
    /// An integer vector that moves by less than 1.
    #[error("discrete-gaussian: sensitivity must be 1 or more, got {sensitivity}")]
    SensitivityBelowOne {
        /// The sensitivity asked for.
        sensitivity: Sensitivity,
    },
    /// An integer that moves by a fraction.
    #[error("discrete-laplace: sensitivity must be a whole number, got {sensitivity}")]
    SensitivityNotWhole {
        /// The sensitivity asked for.
        sensitivity: Sensitivity,
    },
    /// A sample of more people than there are.
    #[error("without-replacement: cannot draw {sample} people out of {population}")]
    SampleTooLarge {
        /// How many people there are.
        population: Count,
        /// How many were to be drawn.
        sample: Count,
    },
    /// A Rényi guarantee at no order.
    #[error("rdp: needs at least one order")]
    NoPoints,
    /// Two bounds for one order.
    #[error("rdp: order {order} appears twice")]
    DuplicateOrder {
        /// The order.
        order: Order,
    },
    /// A Rényi guarantee that says nothing.
    #[error("rdp: epsilon at order {order} must be finite")]
    InfiniteBound {
        /// The order.
        order: Order,
    },
}

impl From<EventProblem> for EventError {
    fn from(problem: EventProblem) -> Self {
        Self {
            problem: Box::new(problem),
        }
    }
}

impl fmt::Display for EventError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl std::error::Error for EventError {}
