//! Parses and checks typed values once.
//!
//! Decimals that are not doubles are rounded to the side on which the answer stays true for the
//! typed number.

use std::ops::RangeInclusive;

use mizan_accounting::OrderGrid;
use mizan_audit::Confidence;
use mizan_core::{
    Code, Count, Definitions, Delta, Epsilon, EventTemplate, Order, PrivacyEvent, Probability,
    Round, parse_decimal,
};

use crate::failure::Failure;

/// An event and the text that it was given as.
#[derive(Debug)]
pub struct Expression {
    /// The text.
    pub text: String,
    /// The event.
    pub event: PrivacyEvent,
}

impl Expression {
    /// Parses an event from its text or its JSON form.
    ///
    /// # Errors
    ///
    /// The text is neither; the error has the place.
    pub fn parse(text: &str, definitions: &Definitions) -> Result<Self, Failure> {
        let text = trimmed(text);
        if text.starts_with('{') {
            let event = PrivacyEvent::from_json_str(text)?;
            return Ok(Self {
                text: event.to_string(),
                event,
            });
        }
        Ok(Self {
            event: PrivacyEvent::parse_with(text, definitions)?,
            text: text.to_owned(),
        })
    }
}

/// Parses an event with a `?`.
///
/// # Errors
///
/// The text is not an event with exactly one `?`.
pub fn template(text: &str, definitions: &Definitions) -> Result<EventTemplate, Failure> {
    Ok(EventTemplate::parse_with(trimmed(text), definitions)?)
}

/// Removes white space and a byte order mark, with which some editors start a file.
#[must_use]
pub fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

/// A number and the value to compute with.
#[derive(Clone, Copy, Debug)]
pub struct Typed<T> {
    /// The nearest double, for display.
    pub shown: f64,
    /// The value rounded to the safe side, for computations.
    pub value: T,
}

/// A target δ, strictly between 0 and 1. It is rounded down, because a smaller δ is the stronger
/// guarantee.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn delta(text: &str, option: &str) -> Result<Typed<Delta>, Failure> {
    delta_or(text, option, |delta| match delta == Delta::ZERO {
        true => "for the guarantee without delta ask `mizan curve EXPR --orders inf`",
        false => {
            "delta is the probability that the promise fails: take it far below 1/people, such as 1e-6"
        }
    })
}

/// The same, with other help for a number that is not between 0 and 1.
pub(crate) fn delta_or(
    text: &str,
    option: &str,
    help: impl FnOnce(Delta) -> &'static str,
) -> Result<Typed<Delta>, Failure> {
    let typed = decimal(text, option, Round::Down, Delta::new)?;
    let value = typed.value.get();
    if value > 0.0 && value < 1.0 {
        return Ok(typed);
    }
    Err(Failure::new(
        Code::MZ1004,
        format!("{option} must be above 0 and below 1, got {text}"),
        help(typed.value),
    ))
}

/// A target ε. It is rounded down, because a smaller ε is the stronger guarantee.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn epsilon(text: &str, option: &str) -> Result<Typed<Epsilon>, Failure> {
    decimal(text, option, Round::Down, Epsilon::new)
}

/// The limit of a budget. It is rounded down, because a smaller limit is the stronger guarantee.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn budget<T, E>(
    text: &str,
    option: &str,
    check: impl Fn(f64) -> Result<T, E>,
) -> Result<T, Failure>
where
    Failure: From<E>,
{
    Ok(decimal(text, option, Round::Down, check)?.value)
}

/// A claimed δ, at least 0 and below 1. It is rounded down, because a smaller δ is the stronger
/// claim.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn claimed_delta(text: &str, option: &str) -> Result<Typed<Delta>, Failure> {
    let typed = decimal(text, option, Round::Down, Delta::new)?;
    if typed.value < Delta::ONE {
        return Ok(typed);
    }
    Err(Failure::new(
        Code::MZ1004,
        format!("{option} must be 0 or more and below 1, got {text}"),
        "0 for a pure guarantee, or far below 1/people, such as 1e-6",
    ))
}

/// A claimed ε. It is rounded up, so that rounding cannot cause a false accusation.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn claimed_epsilon(text: &str, option: &str) -> Result<Typed<Epsilon>, Failure> {
    decimal(text, option, Round::Up, Epsilon::new)
}

/// A confidence level, rounded up.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn confidence(text: &str, option: &str) -> Result<Typed<Confidence>, Failure> {
    decimal(text, option, Round::Up, Confidence::new)
}

/// A whole number in a range; 1e6 is also accepted.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn whole(text: &str, option: &str, range: RangeInclusive<u64>) -> Result<u64, Failure> {
    let typed = decimal(text, option, Round::Up, Ok::<f64, Failure>)?.value;
    let count = if typed == 0.0 {
        Some(0)
    } else {
        Count::from_f64(typed).map(Count::get)
    };
    count.filter(|count| range.contains(count)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        Failure::new(
            Code::MZ1005,
            format!("{option} must be a whole number from {least} to {most}, got {text}"),
            "write it as 1000, 1e6, ...",
        )
    })
}

/// A number of people: a whole number, at least 1.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn population(text: &str, option: &str) -> Result<f64, Failure> {
    let people = decimal(text, option, Round::Up, Ok::<f64, Failure>)?.value;
    if people >= 1.0 && people.fract() == 0.0 {
        return Ok(people);
    }
    let message = format!("{option} must be a whole number from 1 on, got {text}");
    Err(Failure::new(
        Code::MZ1005,
        message,
        "give the number of people in the data",
    ))
}

/// A probability, enclosed between doubles.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// The nearest double, for display.
    pub shown: f64,
    /// At most the typed number.
    pub below: Probability,
    /// At least the typed number.
    pub above: Probability,
}

/// A probability strictly between 0 and 1.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn chance(text: &str, option: &str) -> Result<Chance, Failure> {
    let below = decimal(text, option, Round::Down, Probability::new)?;
    let above = decimal(text, option, Round::Up, Probability::new)?;
    if above.value.get() > 0.0 && below.value.get() < 1.0 {
        return Ok(Chance {
            shown: below.shown,
            below: below.value,
            above: above.value,
        });
    }
    let message = format!("{option} must be above 0 and below 1, got {text}");
    Err(Failure::new(
        Code::MZ1006,
        message,
        "give the probability without the person's data, such as 0.001",
    ))
}

/// A factor on odds, above 0. It is rounded down, because a smaller factor is exceeded with a
/// larger probability.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn factor(text: &str, option: &str) -> Result<Typed<f64>, Failure> {
    let typed = decimal(text, option, Round::Down, Ok::<f64, Failure>)?;
    if typed.value > 0.0 {
        return Ok(typed);
    }
    Err(Failure::new(
        Code::MZ1007,
        format!("{option} must be above 0, got {text}"),
        "a factor of 2 means the odds double",
    ))
}

/// A number of people or rounds.
///
/// # Errors
///
/// The text is not such a number; the message names `option`.
pub fn count(text: &str, option: &str) -> Result<Count, Failure> {
    let text = text.trim();
    let number = text.parse::<u64>().map_err(|_| {
        Failure::new(
            Code::MZ1005,
            format!("{option} must be a whole number from 1 on, got {text:?}"),
            "write it as 1, 2, 3, ...",
        )
    })?;
    Count::new(number).map_err(|error| Failure::from(error).of_option(option))
}

/// A list of orders, or the name of a grid.
///
/// # Errors
///
/// The text is neither; the message names `option`.
pub fn orders(text: &str, option: &str) -> Result<Vec<Typed<Order>>, Failure> {
    let listed = |grid: OrderGrid| {
        grid.orders()
            .iter()
            .map(|&value| Typed {
                shown: value.get(),
                value,
            })
            .collect()
    };
    match text.trim() {
        "paper" => Ok(listed(OrderGrid::paper())),
        "default" => Ok(listed(OrderGrid::standard())),
        list => list
            .split(',')
            .map(|order| self::order(order.trim(), option))
            .collect(),
    }
}

/// One order. It is rounded up, because the curve does not fall.
fn order(text: &str, option: &str) -> Result<Typed<Order>, Failure> {
    match text {
        "inf" | "∞" | "infinity" => Ok(Typed {
            shown: f64::INFINITY,
            value: Order::INFINITE,
        }),
        decimal => {
            // The typed number must be at least 1, not only the double that it rounds to.
            self::decimal(decimal, option, Round::Down, Order::new)?;
            self::decimal(decimal, option, Round::Up, Order::new)
        }
    }
}

fn decimal<T, E>(
    text: &str,
    option: &str,
    round: Round,
    check: impl Fn(f64) -> Result<T, E>,
) -> Result<Typed<T>, Failure>
where
    Failure: From<E>,
{
    let text = text.trim();
    let rounded = parse_decimal(text, round).map_err(|error| {
        let help = error.help();
        Failure::new(error.code(), format!("{option} {text:?}: {error}"), help)
    })?;
    let value = check(rounded).map_err(|error| Failure::from(error).of_option(option))?;
    Ok(Typed {
        shown: text.parse().unwrap_or(rounded),
        value,
    })
}
