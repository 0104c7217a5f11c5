//! Prints events as text that parses to the same event.
//!
//! Numbers are the shortest decimals that the parser rounds to the same double, so `gaussian(1.1)`
//! prints as it was typed.

use super::call::{Argument, Form};
use super::decimal::{Round, format_decimal};
use super::names::{self, EventKind, Kind, Parameter};
use super::{FiniteOutcomes, FinitePair, PrivacyEvent, RenyiPoints};
use crate::units::plain;
use std::fmt;

impl fmt::Display for PrivacyEvent {
    /// The text form. A composition of one event prints as that event, and
    /// an empty one as `pure(0)`, which costs the same: nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Form::from(self) {
            Form::Sum([]) => f.write_str("pure(0)"),
            Form::Sum([first, rest @ ..]) => write_sum(f, first, rest),
            Form::Points(points) => write_points(f, points),
            Form::Finite(pair) => write_finite(f, pair),
            Form::Call(EventKind::Repeat, arguments) => write_product(f, &arguments),
            Form::Call(kind, arguments) => write_call(f, kind, &arguments),
        }
    }
}

fn write_sum(
    f: &mut fmt::Formatter<'_>,
    first: &PrivacyEvent,
    rest: &[PrivacyEvent],
) -> fmt::Result {
    if rest.is_empty() {
        return write!(f, "{first}");
    }
    write_operand(f, first, is_sum(first))?;
    for event in rest {
        f.write_str(" + ")?;
        write_operand(f, event, is_sum(event))?;
    }
    Ok(())
}

fn write_product(f: &mut fmt::Formatter<'_>, arguments: &[Argument<&PrivacyEvent>]) -> fmt::Result {
    if let [Argument::Count(count), Argument::Event(event)] = arguments {
        write!(f, "{count} * ")?;
        write_operand(f, event, is_sum(event) || is_product(event))?;
    }
    Ok(())
}

fn write_call(
    f: &mut fmt::Formatter<'_>,
    kind: EventKind,
    arguments: &[Argument<&PrivacyEvent>],
) -> fmt::Result {
    let syntax = kind.syntax();
    write!(f, "{}(", syntax.name)?;
    let mut separator = "";
    for (parameter, argument) in syntax.parameters.iter().zip(arguments) {
        // Parameters with defaults come last, one to an event, so leaving
        // one out moves no other.
        if !is_default(parameter, argument) {
            f.write_str(separator)?;
            separator = ", ";
            match argument {
                Argument::Number(value) => match first_from_chance(kind, arguments) {
                    Some(exact) => f.write_str(&exact)?,
                    None => f.write_str(&number(parameter, *value))?,
                },
                Argument::Count(count) => write!(f, "{count}")?,
                Argument::Event(event) => write!(f, "{event}")?,
            }
        }
    }
    f.write_str(")")
}

/// The p of a randomized response that is the first double from chance on, in
/// all its digits: the reader moves a shorter decimal away from chance.
fn first_from_chance(kind: EventKind, arguments: &[Argument<&PrivacyEvent>]) -> Option<String> {
    match (kind, arguments) {
        (EventKind::RandomizedResponse, [Argument::Number(p), Argument::Count(k)])
            if p.next_down().mul_add(k.as_f64(), -1.0) < 0.0 =>
        {
            // A double has at most 1074 decimals, and Rust prints them exactly.
            let digits = format!("{p:.1074}");
            Some(digits.trim_end_matches('0').to_owned())
        }
        _ => None,
    }
}

fn write_points(f: &mut fmt::Formatter<'_>, points: &RenyiPoints) -> fmt::Result {
    let points = points.as_slice();
    let (between, mut separator) = if points.len() == 1 {
        (", ", "")
    } else {
        (":", "")
    };
    f.write_str("rdp(")?;
    for (order, epsilon) in points {
        f.write_str(separator)?;
        separator = ", ";
        f.write_str(&number(&names::ORDER, order.get()))?;
        f.write_str(between)?;
        f.write_str(&number(&names::EPSILON, epsilon.get()))?;
    }
    f.write_str(")")
}

/// The numbers were read as the nearest doubles and are written so.
fn write_finite(f: &mut fmt::Formatter<'_>, pair: &FinitePair) -> fmt::Result {
    f.write_str("finite(")?;
    let (pairs, infinite, mut separator) = match pair.outcomes() {
        FiniteOutcomes::Probabilities(pairs) => (pairs, 0.0, ""),
        FiniteOutcomes::Losses { atoms, infinite } => {
            f.write_str(names::LOSSES)?;
            (atoms, *infinite, ", ")
        }
    };
    for (left, right) in pairs.iter() {
        write!(f, "{separator}{}:{}", plain(*left), plain(*right))?;
        separator = ", ";
    }
    if infinite > 0.0 {
        write!(f, "{separator}inf:{}", plain(infinite))?;
    }
    f.write_str(")")
}

fn write_operand(f: &mut fmt::Formatter<'_>, event: &PrivacyEvent, enclose: bool) -> fmt::Result {
    if enclose {
        write!(f, "({event})")
    } else {
        write!(f, "{event}")
    }
}

fn number(parameter: &Parameter, value: f64) -> String {
    match parameter.kind {
        Kind::Number { costly, .. } => format_decimal(value, costly),
        _ => format_decimal(value, Round::Up),
    }
}

fn is_default(parameter: &Parameter, argument: &Argument<&PrivacyEvent>) -> bool {
    match (parameter.kind, argument) {
        (
            Kind::Number {
                default: Some(default),
                ..
            },
            Argument::Number(value),
        ) => default == *value,
        (
            Kind::Count {
                default: Some(default),
                ..
            },
            Argument::Count(value),
        ) => default == value.get(),
        _ => false,
    }
}

/// What is printed for the event: a composition of one is its member.
fn printed(event: &PrivacyEvent) -> &PrivacyEvent {
    match event {
        PrivacyEvent::Compose(events) => match events.as_slice() {
            [only] => printed(only),
            _ => event,
        },
        _ => event,
    }
}

fn is_sum(event: &PrivacyEvent) -> bool {
    matches!(printed(event), PrivacyEvent::Compose(events) if !events.is_empty())
}

fn is_product(event: &PrivacyEvent) -> bool {
    matches!(printed(event), PrivacyEvent::Repeat { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Epsilon, Order};

    #[test]
    fn canonical_text_prints_as_it_was_typed() {
        for text in [
            "gaussian(1.1)",
            "gaussian(1.1, 2)",
            "discrete-laplace(20, 3)",
            "rr(0.52)",
            "rr(0.3333333333333334, 3)",
            "approximate(0.1, 1e-9)",
            "cdp(0.1, 0.3)",
            "rdp(2, 0.1)",
            "rdp(1.5:0.1, 4:0.2, inf:1)",
            "rdp(inf, 1)",
            "10000 * poisson(0.01, gaussian(1.1))",
            "100 * (rr(0.52) + laplace(20) + gaussian(10))",
            "2 * (3 * pure(0.1))",
            "(pure(0.1) + pure(0.2)) + pure(0.3)",
            "2 * pure(0.1) + group(3, pure(0.2) + gdp(1))",
            "without-replacement(60000, 256, zcdp(0.5))",
            "finite(0.75:0.25, 0.25:0.75)",
            "finite(0.1:0.3, 0.9:0.7)",
            "2 * finite(losses, 0.1:0.3, -0.2:0.2, inf:0.5)",
            "finite(losses, inf:1)",
            "tree(10, 1000)",
            "tree(10, 1000, 2.5)",
            "matrix(1.1, 3.3)",
            "shuffle(1000, rr(0.75))",
        ] {
            assert_eq!(text.parse::<PrivacyEvent>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_spellings_print_canonically() {
        for (typed, canonical) in [
            (
                "gaussian( sensitivity = 2 , sigma = 1.10 )",
                "gaussian(1.1, 2)",
            ),
            ("1e4*(((rr(.75,2))))", "10000 * rr(0.75)"),
            ("rdp(4:0.2,2:1e-1)", "rdp(2:0.1, 4:0.2)"),
            ("pure(0.000001)", "pure(1e-6)"),
        ] {
            assert_eq!(
                typed.parse::<PrivacyEvent>().unwrap().to_string(),
                canonical
            );
        }
    }

    #[test]
    fn compositions_of_none_and_one_print_as_what_they_cost() {
        let none = PrivacyEvent::Compose(vec![]);
        assert_eq!(none.to_string(), "pure(0)");
        let sum: PrivacyEvent = "pure(1) + pure(2)".parse().unwrap();
        let one = PrivacyEvent::Compose(vec![sum.clone()]);
        assert_eq!(one.to_string(), sum.to_string());
        let twice = PrivacyEvent::Repeat {
            count: crate::Count::TWO,
            event: Box::new(one),
        };
        assert_eq!(twice.to_string(), "2 * (pure(1) + pure(2))");
    }

    #[test]
    fn order_one_prints_as_one() {
        let points = RenyiPoints::new(vec![(Order::ONE, Epsilon::ZERO)]).unwrap();
        assert_eq!(PrivacyEvent::Renyi(points).to_string(), "rdp(1, 0)");
    }
}
