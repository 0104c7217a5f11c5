//! The types that all crates of Mizan share: privacy events, quantities, certified arithmetic and
//! error codes.
//!
//! - [`PrivacyEvent`]: a mechanism as far as its cost is concerned, as a plain value that users
//!   type, the ledger stores and an auditor replays.
//! - [`Epsilon`], [`Delta`], [`Order`] and the other quantities: checked once, when they are
//!   constructed.
//! - [`Interval`] and [`directed`] arithmetic: certified bounds. Every certified result of the other
//!   crates uses them.
//! - [`Code`]: every error code of Mizan, with its kind and its text.
//!
//! This crate has no I/O and no source of randomness; `mizan-accounting` computes what events cost.
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
mod split_mix;
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
pub use split_mix::SplitMix64;
pub use units::{
    Count, Delta, Epsilon, Mu, Order, Probability, Rho, Scale, Sensitivity, Sigma, Tau, UnitError,
};
