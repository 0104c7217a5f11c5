//! To come.

mod event;
mod units;

pub use event::{
    DiscreteGaussian, DiscreteLaplace, EventError, EventProblem, MAX_DEPTH, MAX_EVENTS,
    MAX_JSON_BYTES, MAX_TEXT_BYTES, PrivacyEvent, RandomizedResponse, RenyiPoints,
    WithoutReplacement,
};
pub use units::{
    Count, Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau, UnitError,
};
