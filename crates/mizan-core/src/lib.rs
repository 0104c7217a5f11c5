//! To come.

mod event;
mod units;

pub use event::{
    DecimalError, DiscreteGaussian, DiscreteLaplace, EventError, EventProblem, EventWord,
    MAX_DEPTH, MAX_DIGITS, MAX_EVENTS, MAX_JSON_BYTES, MAX_TEXT_BYTES, PrivacyEvent,
    RandomizedResponse, RenyiPoints, Round, WithoutReplacement, format_decimal, parse_decimal,
};
pub use units::{
    Count, Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau, UnitError,
};
