//! From typed text to checked values, once.
//!
//! Decimals that are no doubles are rounded to the side on which the answer
//! stays true for what was typed.

use std::ops::RangeInclusive;

use mizan_accounting::OrderGrid;
use mizan_audit::Confidence;
use mizan_core::{
    Code, Count, Definitions, Delta, Epsilon, EventTemplate, Order, PrivacyEvent, Probability,
    Round, parse_decimal,
};

use crate::failure::Failure;

/// An event and the text it was given as.
#[derive(Debug)]
pub struct Expression {
    /// As it was given.
    pub text: String,
    /// What it means.
    pub event: PrivacyEvent,
}

impl Expression {
    /// Reads an event: as people write it, or as JSON.
    ///
    /// # Errors
    ///
    /// It is neither; the error says where.
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

/// Reads an event with a `?`.
///
/// # Errors
///
/// It is none, or has no `?` or several.
pub fn template(text: &str, definitions: &Definitions) -> Result<EventTemplate, Failure> {
    Ok(EventTemplate::parse_with(trimmed(text), definitions)?)
}

/// Some editors start a file with a byte order mark.
#[must_use]
pub fn trimmed(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

/// A number with the text it was typed as.
#[derive(Clone, Copy, Debug)]
pub struct Typed<T> {
    /// The nearest double, for echoing.
    pub shown: f64,
    /// The value on the safe side, for computing.
    pub value: T,
}

/// A target δ, strictly between 0 and 1; rounded down, since a smaller δ is
/// the stronger promise.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
pub fn delta(text: &str, option: &str) -> Result<Typed<Delta>, Failure> {
    delta_or(text, option, |delta| match delta == Delta::ZERO {
        true => "for the guarantee without delta ask `mizan curve EXPR --orders inf`",
        false => {
            "delta is the probability that the promise fails: take it far below 1/people, such as 1e-6"
        }
    })
}

/// The same, with advice of its own for a number that is not between 0 and 1.
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

/// A target ε; rounded down, since a smaller ε is the stronger promise.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
pub fn epsilon(text: &str, option: &str) -> Result<Typed<Epsilon>, Failure> {
    decimal(text, option, Round::Down, Epsilon::new)
}

/// What may be spent at most; rounded down, the stronger promise.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A claimed δ: from 0 to below 1; rounded down, the stronger claim.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A claimed ε; rounded up, so that nobody is accused for a rounding.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
pub fn claimed_epsilon(text: &str, option: &str) -> Result<Typed<Epsilon>, Failure> {
    decimal(text, option, Round::Up, Epsilon::new)
}

/// How sure to be; rounded up.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
pub fn confidence(text: &str, option: &str) -> Result<Typed<Confidence>, Failure> {
    decimal(text, option, Round::Up, Confidence::new)
}

/// A whole number in a range, also as 1e6.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A number of people: a whole number from 1 on.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A probability with the doubles on both sides of what was typed.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// The nearest double, for echoing.
    pub shown: f64,
    /// Not above what was typed.
    pub below: Probability,
    /// Not below it.
    pub above: Probability,
}

/// A probability strictly between 0 and 1.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A factor by which odds may move: above 0; rounded down, where exceeding it
/// is more likely.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// A count of people or rounds.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// Orders as a list, or a grid by name.
///
/// # Errors
///
/// It is no such number; `option` is what it was meant for.
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

/// One order; rounded up, where the curve is not lower.
fn order(text: &str, option: &str) -> Result<Typed<Order>, Failure> {
    match text {
        "inf" | "∞" | "infinity" => Ok(Typed {
            shown: f64::INFINITY,
            value: Order::INFINITE,
        }),
        decimal => {
            // What was typed must not be below one, not only what it rounds to.
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
