//! Messages of the accountant: warnings, and the parts of an event.

use mizan_core::PrivacyEvent;
use mizan_report::number;
use serde_json::{Map, Value};

use super::{Message, fields};
use crate::words::shortened;

/// A warning about the cost of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AccountWarning {
    /// The deltas of the parts add up to the target up to rounding.
    RoundedDelta {
        /// The sum of the deltas, which the result holds for.
        delta: f64,
    },
    /// The delta is not far below the inverse of the population.
    LargeDelta {
        /// The delta.
        delta: f64,
        /// The number of people.
        population: f64,
    },
}

impl AccountWarning {
    /// The number of people whose records may be published at this delta.
    #[must_use]
    pub fn revealed(delta: f64, population: f64) -> String {
        number::nearest(delta * population, 2)
    }

    /// The delta that should not be exceeded.
    #[must_use]
    pub fn better_delta(population: f64) -> String {
        number::nearest(0.01 / population, 2)
    }
}

impl Message for AccountWarning {
    fn kind(&self) -> &'static str {
        match self {
            Self::RoundedDelta { .. } => "rounded_delta",
            Self::LargeDelta { .. } => "large_delta",
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::RoundedDelta { delta } => fields([("delta", (*delta).into())]),
            Self::LargeDelta { delta, population } => fields([
                ("delta", (*delta).into()),
                ("population", (*population).into()),
            ]),
        }
    }

    fn english(&self) -> String {
        match *self {
            Self::RoundedDelta { delta } => format!(
                "the deltas of the parts add up to the target but for rounding; this is for delta \
                 = {delta:e}"
            ),
            Self::LargeDelta { delta, population } => format!(
                "delta {} is not far below 1/{}: at this delta a mechanism may give away {} people \
                 outright; take it below {}",
                number::nearest(delta, 3),
                number::nearest(population, 6),
                Self::revealed(delta, population),
                Self::better_delta(population),
            ),
        }
    }
}

/// A part of an event, as a line of its tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventPart {
    /// A composition of `count` parts.
    Compose {
        /// The number of parts.
        count: u64,
    },
    /// A part that is repeated `count` times.
    Repeat {
        /// The number of repetitions.
        count: u64,
    },
    /// A part for a group of people.
    Group {
        /// The number of people.
        size: u64,
    },
    /// A mechanism, as a formula that is the same in every language.
    Mechanism {
        /// The formula, shortened.
        formula: String,
    },
}

impl EventPart {
    pub(crate) fn of(event: &PrivacyEvent) -> Self {
        match event {
            PrivacyEvent::Compose(events) => Self::Compose {
                count: events.len() as u64,
            },
            PrivacyEvent::Repeat { count, .. } => Self::Repeat { count: count.get() },
            PrivacyEvent::Group { size, .. } => Self::Group { size: size.get() },
            other => Self::Mechanism {
                formula: shortened(&other.to_string(), 34),
            },
        }
    }
}

impl Message for EventPart {
    fn kind(&self) -> &'static str {
        match self {
            Self::Compose { .. } => "compose",
            Self::Repeat { .. } => "repeat",
            Self::Group { .. } => "group",
            Self::Mechanism { .. } => "mechanism",
        }
    }

    fn fields(&self) -> Map<String, Value> {
        match self {
            Self::Compose { count } | Self::Repeat { count } => {
                fields([("count", (*count).into())])
            }
            Self::Group { size } => fields([("size", (*size).into())]),
            Self::Mechanism { formula } => fields([("formula", formula.as_str().into())]),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::Compose { count } => format!("all of {count}"),
            Self::Repeat { count } => format!("{count} times"),
            Self::Group { size } => format!("for a group of {size}"),
            Self::Mechanism { formula } => formula.clone(),
        }
    }
}
