//! Event templates: events in which `?` stands for one number to solve for (calibration).

use super::advice::chance;
use super::decimal::{Round, format_decimal};
use super::names::{Kind, Parameter};
use super::text::Reader;
use super::{Definitions, EventError, EventProblem, PrivacyEvent};
use crate::units::{Count, Range};

/// The text of an event in which `?` stands for one number.
///
/// ```
/// use mizan_core::{EventTemplate, ParameterValue, Round};
///
/// let template = EventTemplate::parse("10 * gaussian(?, 2)")?;
/// assert_eq!(template.parameter(), "sigma");
/// assert_eq!(template.costly(), Round::Down);
/// assert_eq!(template.fill(ParameterValue::Real(3.0))?, "10 * gaussian(3, 2)".parse()?);
/// assert_eq!(template.fill_text("x"), "10 * gaussian(x, 2)");
/// # Ok::<(), mizan_core::EventError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EventTemplate {
    text: String,
    definitions: Definitions,
    hole: Hole,
    shape: PrivacyEvent,
}

/// The `?`: its place and its parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hole {
    /// The byte of the text.
    pub(super) at: usize,
    pub(super) event: &'static str,
    pub(super) parameter: Parameter,
    pub(super) domain: Domain,
}

/// The valid values of the parameter, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Doubles.
    Real {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Whole numbers.
    Whole {
        /// The smallest.
        low: Count,
        /// The largest.
        high: Count,
    },
}

/// A value for the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterValue {
    /// A double.
    Real(f64),
    /// A whole number.
    Whole(Count),
}

impl ParameterValue {
    /// The value as a double, exactly.
    #[must_use]
    pub const fn as_f64(self) -> f64 {
        match self {
            Self::Real(value) => value,
            Self::Whole(count) => count.as_f64(),
        }
    }
}

impl EventTemplate {
    /// Reads a text with one `?` in place of a number or a count.
    ///
    /// # Errors
    ///
    /// The text would not be an event with a number there, there is no `?` or
    /// more than one, or it stands for something that cannot be solved for.
    pub fn parse(text: &str) -> Result<Self, EventError> {
        Self::parse_with(text, &Definitions::default())
    }

    /// As [`parse`](Self::parse), with names that stand for events.
    ///
    /// # Errors
    ///
    /// As for [`parse`](Self::parse).
    pub fn parse_with(text: &str, definitions: &Definitions) -> Result<Self, EventError> {
        let read = Reader::template(text, definitions)?;
        let (hole, shape) = read.ok_or(EventProblem::NoPlaceholder)?;
        Ok(Self {
            text: text.to_owned(),
            definitions: definitions.clone(),
            hole,
            shape,
        })
    }

    /// The text with its `?`.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The event with some number in place of `?`: its structure, which is the same for
    /// every number.
    #[must_use]
    pub const fn shape(&self) -> &PrivacyEvent {
        &self.shape
    }

    /// The name of the parameter, such as `sigma` or `count`.
    #[must_use]
    pub const fn parameter(&self) -> &'static str {
        self.hole.parameter.name
    }

    /// The name of the event it is a parameter of, such as `gaussian`.
    #[must_use]
    pub const fn event(&self) -> &'static str {
        self.hole.event
    }

    /// The values it can take.
    #[must_use]
    pub const fn domain(&self) -> Domain {
        self.hole.domain
    }

    /// The side where the event costs more: [`Round::Down`] for noise.
    #[must_use]
    pub const fn costly(&self) -> Round {
        match self.hole.parameter.kind {
            Kind::Number { costly, .. } | Kind::Count { costly, .. } => costly,
            Kind::Event => Round::Up,
        }
    }

    /// The event with this value. A real value is used as this exact double.
    ///
    /// # Errors
    ///
    /// The parameter cannot take the value.
    pub fn fill(&self, value: ParameterValue) -> Result<PrivacyEvent, EventError> {
        let text = match value {
            ParameterValue::Real(value) => format_decimal(value, self.costly()),
            ParameterValue::Whole(count) => count.to_string(),
        };
        PrivacyEvent::parse_with(&self.fill_text(&text), &self.definitions)
    }

    /// The event with this text in place of `?`, as a person would type it.
    ///
    /// # Errors
    ///
    /// The text is not an event then.
    pub fn fill_typed(&self, value: &str) -> Result<PrivacyEvent, EventError> {
        PrivacyEvent::parse_with(&self.fill_text(value), &self.definitions)
    }

    /// The text with `value` in place of `?`.
    #[must_use]
    pub fn fill_text(&self, value: &str) -> String {
        let (before, after) = self
            .text
            .split_at_checked(self.hole.at)
            .unwrap_or((&self.text, ""));
        let after = after.strip_prefix('?').unwrap_or(after);
        format!("{before}{value}{after}")
    }
}

/// A value that is valid for the parameter, whatever the others are.
pub(super) fn trial(parameter: &Parameter) -> f64 {
    match (parameter.name, parameter.kind) {
        // Above chance, below always.
        ("p", _) => 1.0_f64.next_down(),
        ("delta", _) => 0.0,
        // No sample is larger, no p below chance.
        ("n" | "categories", _) => Count::MAX.as_f64(),
        _ => 1.0,
    }
}

/// The valid values of a parameter alone.
pub(super) fn domain(parameter: &Parameter) -> Domain {
    let real = |low, high| Domain::Real { low, high };
    match parameter.kind {
        Kind::Number { range, .. } => match range {
            Range::Positive => real(f64::MIN_POSITIVE, f64::MAX),
            Range::UnitInterval => real(0.0, 1.0),
            Range::NonNegative => real(0.0, f64::MAX),
            Range::FromOne => real(1.0, f64::MAX),
        },
        _ => whole(Count::ONE, Count::MAX),
    }
}

/// The valid values of a parameter, given the others of its event, if these allow fewer.
pub(super) fn domain_in(event: &PrivacyEvent, parameter: &Parameter) -> Option<Domain> {
    let below_one = 1.0_f64.next_down();
    let real = |low, high| Some(Domain::Real { low, high });
    match (event, parameter.name) {
        (PrivacyEvent::RandomizedResponse(response), "p") => {
            real(chance(response.categories()), below_one)
        }
        (PrivacyEvent::RandomizedResponse(response), "categories") => {
            let p = response.p().get();
            let fits = |k: &Count| p.mul_add(k.as_f64(), -1.0) >= 0.0;
            // The quotient is off by a unit at most.
            let about = Count::from_f64((1.0 / p).floor())?;
            let next = Count::new(about.get() + 1).ok()?;
            let least = [about, next].into_iter().find(fits)?;
            Some(whole(least.max(Count::TWO), Count::MAX))
        }
        (PrivacyEvent::Approximate { .. }, "delta") => real(0.0, below_one),
        (PrivacyEvent::Poisson { .. }, "q") => real(f64::MIN_POSITIVE, 1.0),
        (PrivacyEvent::DiscreteGaussian(_), "sensitivity") => real(1.0, f64::MAX),
        (PrivacyEvent::DiscreteLaplace(_), "sensitivity") => Some(whole(Count::ONE, Count::MAX)),
        (PrivacyEvent::WithoutReplacement(sampling), "m") => {
            Some(whole(Count::ONE, sampling.population()))
        }
        (PrivacyEvent::WithoutReplacement(sampling), "n") => {
            Some(whole(sampling.sample(), Count::MAX))
        }
        _ => None,
    }
}

const fn whole(low: Count, high: Count) -> Domain {
    Domain::Whole { low, high }
}
