//! What was done to the data, as a value: the vocabulary of privacy events.
//!
//! An event is plain data. It is what people type, what the ledger stores and
//! what an auditor replays; what it costs is somebody else's business. The
//! vocabulary only grows and the meaning of a word never changes.
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

/// How many events may stand inside each other in a text or a JSON document.
///
/// An event takes at most two levels of JSON (three for the innermost), so
/// sixty leave room, within the 128 levels that JSON readers commonly accept,
/// for the document that an event is kept in.
pub const MAX_DEPTH: usize = 60;

/// The longest text that is read as an event, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The longest JSON document that is read as an event, in bytes. JSON is up
/// to nine times as wordy as the text of the same event.
pub const MAX_JSON_BYTES: usize = 16 << 20;

/// How many events a JSON document may hold. A text of [`MAX_TEXT_BYTES`] has
/// no room for more.
pub const MAX_EVENTS: usize = 1_000_000;

/// A use of private data, as far as its cost is concerned.
///
/// The readers ([`FromStr`](std::str::FromStr) and
/// [`from_json`](PrivacyEvent::from_json)) enforce every rule of the language,
/// including [`MAX_DEPTH`]; code that builds an event itself may nest as it
/// likes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrivacyEvent {
    /// Gaussian noise on a function of bounded L2 sensitivity.
    Gaussian {
        /// The standard deviation of the noise.
        sigma: Sigma,
        /// How far one person moves the function, in L2.
        sensitivity: Sensitivity,
    },
    /// Laplace noise on a function of bounded L1 sensitivity.
    Laplace {
        /// The scale of the noise.
        scale: Scale,
        /// How far one person moves the function, in L1.
        sensitivity: Sensitivity,
    },
    /// Discrete Gaussian noise on an integer-valued function.
    DiscreteGaussian(DiscreteGaussian),
    /// Discrete Laplace noise on an integer-valued function.
    DiscreteLaplace(DiscreteLaplace),
    /// An answer that is truthful with a known probability.
    RandomizedResponse(RandomizedResponse),
    /// The exponential mechanism, or any other of bounded range.
    Exponential {
        /// The range of the privacy loss.
        epsilon: Epsilon,
    },
    /// Any mechanism that is purely differentially private.
    Pure {
        /// The bound on the loss.
        epsilon: Epsilon,
    },
    /// Any mechanism that is approximately differentially private.
    Approximate {
        /// The bound on the loss.
        epsilon: Epsilon,
        /// The probability that the bound fails; the readers want it below 1.
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
        /// The subgaussian standard of the loss about its mean.
        tau: Tau,
    },
    /// Any Gaussian differentially private mechanism.
    GaussianDp {
        /// The distance of the two normal distributions that bound it.
        mu: Mu,
    },
    /// A mechanism of one's own, as a pair of finite distributions.
    Finite(FinitePair),
    /// Sums over the nodes of a binary tree, with Gaussian noise on each; each
    /// person takes part in one step. It is Gaussian noise whose sensitivity
    /// is that of a step times √h, where h is the [`tree_height`].
    Tree {
        /// The standard deviation of the noise on each node.
        sigma: Sigma,
        /// How many steps there are.
        steps: Count,
        /// How far one person moves a step, in L2.
        sensitivity: Sensitivity,
    },
    /// A matrix mechanism: Gaussian noise on C x. It is Gaussian noise of
    /// sensitivity `norm`.
    Matrix {
        /// The standard deviation of the noise on each coordinate of C x.
        sigma: Sigma,
        /// The largest ‖C u‖ over what one person can contribute, u.
        norm: Sensitivity,
    },
    /// People who each run a local randomizer, and a shuffler who forgets who
    /// sent what.
    Shuffle {
        /// How many people there are.
        people: Count,
        /// The local randomizer.
        event: Box<PrivacyEvent>,
    },
    /// An event on a random sample that each person joins independently;
    /// neighbours differ by one person added or removed.
    Poisson {
        /// The probability of joining; the readers want it above 0.
        q: Probability,
        /// What is done with the sample.
        event: Box<PrivacyEvent>,
    },
    /// An event on a sample of fixed size; neighbours differ by one person
    /// replaced.
    WithoutReplacement(WithoutReplacement),
    /// An event seen by a group of people instead of one person.
    Group {
        /// How many people stand together.
        size: Count,
        /// What is done with their data.
        event: Box<PrivacyEvent>,
    },
    /// Events one after the other, each free to depend on what came before.
    Compose(Vec<PrivacyEvent>),
    /// The same event over and over.
    Repeat {
        /// How often.
        count: Count,
        /// What is repeated.
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
            _ => &[],
        }
    }

    /// How many events stand inside each other, this one included.
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

/// On how many nodes of the binary tree over so many steps a single step
/// shows: h = ⌈log₂(steps + 1)⌉.
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
    /// What it stands for.
    pub meaning: &'static str,
}

#[cfg(test)]
mod tests;
