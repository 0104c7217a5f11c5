//! The vocabulary of Mizan: the words of differential privacy as types.
//!
//! - [`PrivacyEvent`]: what happened to the data, as plain data that people
//!   type, ledgers store and auditors replay.
//! - [`Epsilon`], [`Delta`], [`Order`] and the other quantities: checked once,
//!   when they are made.
//! - [`Interval`] and [`directed`] arithmetic: numbers that carry their own
//!   proof. Everything certified in the crates below rests on these two.
//! - [`Code`]: every error code of Mizan, with its kind and its text.
//!
//! Nothing here reads, writes or draws; what events cost is the business of
//! `mizan-accounting`.
//!
//! ```
//! use mizan_core::PrivacyEvent;
//! let event: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse()?;
//! assert_eq!(event.to_string(), "10000 * poisson(0.01, gaussian(1.1))");
//! # Ok::<(), mizan_core::EventError>(())
//! ```

mod bracket;
mod code;
pub mod directed;
mod event;
mod interval;
mod units;

pub use bracket::Bracket;
pub use code::{Bilingual, Code, CodeArea, ErrorKind};
pub use event::{
    DecimalError, Definitions, DiscreteGaussian, DiscreteLaplace, Domain, EventError, EventHelp,
    EventProblem, EventTemplate, FiniteOutcomes, FinitePair, MAX_DEPTH, MAX_DIGITS, MAX_EVENTS,
    MAX_JSON_BYTES, MAX_TEXT_BYTES, ParameterValue, PrivacyEvent, RandomizedResponse, RenyiPoints,
    Round, WithoutReplacement, format_decimal, parse_decimal, parse_json, tree_height,
};
pub use interval::Interval;
pub use units::{
    Count, Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau, UnitError,
};
