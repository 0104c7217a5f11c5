//! Privacy events: descriptions of mechanisms, as far as their cost is concerned.
//!
//! An event is a plain value. Users type it, the ledger stores it and an auditor replays it;
//! `mizan-accounting` computes its cost. New kinds of events may be added; the meaning of an existing
//! one never changes.
//!
//! ```
//! use mizan_core::PrivacyEvent;
//!
//! let training: PrivacyEvent = "10_000 * poisson(0.01, gaussian(sigma=1.1))".parse()?;
//! assert_eq!(training.to_string(), "10000 * poisson(0.01, gaussian(1.1))");
//! assert_eq!(PrivacyEvent::from_json(&training.to_json())?, training);
//! # Ok::<(), mizan_core::EventError>(())
//! ```

mod advice;
mod call;
mod decimal;
mod definitions;
mod display;
mod error;
mod finite_pair;
mod json;
mod json_text;
mod lexer;
mod literal;
mod mechanisms;
mod names;
mod pairs;
mod problem;
mod relaxed;
mod snippet;
mod template;
mod text;

pub use decimal::{DecimalError, MAX_DIGITS, Round, format_decimal, parse_decimal};
pub use definitions::Definitions;
pub use error::EventError;
pub use finite_pair::{FiniteOutcomes, FinitePair};
pub use json_text::parse_json;
pub use mechanisms::{
    DiscreteGaussian, DiscreteLaplace, RandomizedResponse, RenyiPoints, WithoutReplacement,
};
pub use problem::EventProblem;
pub use template::{Domain, EventTemplate, ParameterValue};

use crate::units::{Count, Delta, Epsilon, Mu, Probability, Rho, Scale, Sensitivity, Sigma, Tau};

/// The largest nesting depth of events in a text or a JSON document.
///
/// An event takes at most two levels of JSON (three for the innermost), so
/// sixty leave room, within the 128 levels that JSON readers commonly accept,
/// for the document that an event is kept in.
pub const MAX_DEPTH: usize = 60;

/// The longest text that is read as an event, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The longest JSON document that is read as an event, in bytes. JSON is up to nine times as long as
/// the text of the same event.
pub const MAX_JSON_BYTES: usize = 16 << 20;

/// The largest number of events in a JSON document. A text of [`MAX_TEXT_BYTES`] cannot have more.
pub const MAX_EVENTS: usize = 1_000_000;

/// A mechanism, as far as its privacy cost is concerned.
///
/// The parsers ([`FromStr`](std::str::FromStr) and [`from_json`](PrivacyEvent::from_json)) enforce
/// every rule of the language, including [`MAX_DEPTH`]; code that builds an event may nest deeper.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrivacyEvent {
    /// Gaussian noise on a function of bounded L2 sensitivity.
    Gaussian {
        /// The standard deviation of the noise.
        sigma: Sigma,
        /// The L2 sensitivity.
        sensitivity: Sensitivity,
    },
    /// Laplace noise on a function of bounded L1 sensitivity.
    Laplace {
        /// The scale of the noise.
        scale: Scale,
        /// The L1 sensitivity.
        sensitivity: Sensitivity,
    },
    /// Discrete Gaussian noise on an integer-valued function.
    DiscreteGaussian(DiscreteGaussian),
    /// Discrete Laplace noise on an integer-valued function.
    DiscreteLaplace(DiscreteLaplace),
    /// Randomized response.
    RandomizedResponse(RandomizedResponse),
    /// The exponential mechanism, or any other of bounded range.
    Exponential {
        /// The range of the privacy loss.
        epsilon: Epsilon,
    },
    /// Any pure ε-DP mechanism.
    Pure {
        /// ε.
        epsilon: Epsilon,
    },
    /// Any (ε, δ)-DP mechanism.
    Approximate {
        /// ε.
        epsilon: Epsilon,
        /// δ; the parsers require it to be below 1.
        delta: Delta,
    },
    /// Any mechanism that is Rényi differentially private at some orders.
    Renyi(RenyiPoints),
    /// Any zero-concentrated differentially private mechanism.
    ZeroConcentrated {
        /// The slope of the Rényi curve.
        rho: Rho,
    },
    /// Any concentrated differentially private mechanism.
    Concentrated {
        /// The bound on the mean of the loss.
        mu: Mu,
        /// The subgaussian parameter of the loss about its mean.
        tau: Tau,
    },
    /// Any Gaussian differentially private mechanism.
    GaussianDp {
        /// The distance μ of the two normal distributions N(0, 1) and N(μ, 1).
        mu: Mu,
    },
    /// A user-defined mechanism, as a pair of finite distributions.
    Finite(FinitePair),
    /// Tree aggregation (DP-FTRL): sums over the nodes of a binary tree, with Gaussian noise on each;
    /// each unit contributes to one step. It costs as much as Gaussian noise with the sensitivity of
    /// a step times √h, where h is the [`tree_height`].
    Tree {
        /// The standard deviation of the noise on each node.
        sigma: Sigma,
        /// The number of steps.
        steps: Count,
        /// The L2 sensitivity of a step.
        sensitivity: Sensitivity,
    },
    /// A matrix mechanism: Gaussian noise on C x. It is Gaussian noise of
    /// sensitivity `norm`.
    Matrix {
        /// The standard deviation of the noise on each coordinate of C x.
        sigma: Sigma,
        /// The largest ‖C u‖ over the possible contributions u of a unit.
        norm: Sensitivity,
    },
    /// Shuffling: people run a local randomizer, and a shuffler permutes their outputs.
    Shuffle {
        /// The number of people.
        people: Count,
        /// The local randomizer.
        event: Box<PrivacyEvent>,
    },
    /// An event on a Poisson sample, which each unit joins independently; for add-or-remove
    /// neighbours.
    Poisson {
        /// The sampling probability; the parsers require it to be above 0.
        q: Probability,
        /// The event on the sample.
        event: Box<PrivacyEvent>,
    },
    /// An event on a sample of fixed size, without replacement; for replace neighbours.
    WithoutReplacement(WithoutReplacement),
    /// Group privacy: the cost of an event for a group of units instead of one.
    Group {
        /// The size of the group.
        size: Count,
        /// The event.
        event: Box<PrivacyEvent>,
    },
    /// A composition of events, each of which may depend on earlier outputs.
    Compose(Vec<PrivacyEvent>),
    /// A composition of equal events.
    Repeat {
        /// The number of events.
        count: Count,
        /// The event.
        event: Box<PrivacyEvent>,
    },
}

impl PrivacyEvent {
    /// The events directly inside this one.
    #[must_use]
    pub fn children(&self) -> &[PrivacyEvent] {
        match self {
            Self::Poisson { event, .. }
            | Self::Shuffle { event, .. }
            | Self::Group { event, .. }
            | Self::Repeat { event, .. } => std::slice::from_ref(event.as_ref()),
            Self::WithoutReplacement(sampling) => std::slice::from_ref(sampling.event()),
            Self::Compose(events) => events,
            // Each by name: a new event that has others inside does not compile without them.
            Self::Gaussian { .. }
            | Self::Laplace { .. }
            | Self::DiscreteGaussian(_)
            | Self::DiscreteLaplace(_)
            | Self::RandomizedResponse(_)
            | Self::Exponential { .. }
            | Self::Pure { .. }
            | Self::Approximate { .. }
            | Self::Renyi(_)
            | Self::ZeroConcentrated { .. }
            | Self::Concentrated { .. }
            | Self::GaussianDp { .. }
            | Self::Finite(_)
            | Self::Tree { .. }
            | Self::Matrix { .. } => &[],
        }
    }

    /// The nesting depth, this event included.
    #[must_use]
    pub fn depth(&self) -> usize {
        1 + self.children().iter().map(Self::depth).max().unwrap_or(0)
    }

    /// Every event that has a name in the text form, for help texts and completion.
    #[must_use]
    pub fn vocabulary() -> Vec<EventHelp> {
        let syntax = |kind: names::EventKind| {
            let syntax = kind.syntax();
            EventHelp {
                name: syntax.name,
                signature: syntax.signature(),
                meaning: syntax.meaning,
            }
        };
        names::EventKind::NAMED.into_iter().map(syntax).collect()
    }
}

/// The number of nodes of the binary tree over `steps` steps that contain a given step:
/// h = ⌈log₂(steps + 1)⌉.
///
/// ```
/// use mizan_core::{Count, tree_height};
/// assert_eq!(tree_height(Count::new(1000)?), 10);
/// # Ok::<(), mizan_core::UnitError>(())
/// ```
#[must_use]
pub const fn tree_height(steps: Count) -> u32 {
    u64::BITS - steps.get().leading_zeros()
}

/// How an event is written, for help texts and completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventHelp {
    /// The name, such as `rr`.
    pub name: &'static str,
    /// The parameters and their defaults, such as `rr(p, categories=2)`.
    pub signature: String,
    /// What it means.
    pub meaning: &'static str,
}

#[cfg(test)]
mod tests;
