//! Events as JSON.
//!
//! `{"event": "gaussian", "sigma": 1.1, "sensitivity": 1.0}`: the names of the
//! text form are the keys, an inner event is under `of`. Numbers are doubles
//! and taken exactly as they are. Defaults may be left out and are always
//! written.

use super::call::{Argument, Call, Form};
use super::json_text::parse_json;
use super::names::{self, EventKind, Kind, Parameter};
use super::snippet::quote;
use super::{
    EventError, EventProblem, FiniteOutcomes, FinitePair, MAX_DEPTH, MAX_EVENTS, PrivacyEvent,
    RenyiPoints,
};
use crate::units::{Count, Epsilon, Order, Range};
use serde_json::{Map, Value};

impl PrivacyEvent {
    /// The event as a JSON value.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        match Form::from(self) {
            Form::Sum(events) => {
                put(TAG, EventKind::Compose.syntax().name.into());
                put(EVENTS, events.iter().map(Self::to_json).collect());
            }
            Form::Points(points) => {
                put(TAG, EventKind::Renyi.syntax().name.into());
                put(
                    POINTS,
                    points.as_slice().iter().map(point_to_json).collect(),
                );
            }
            Form::Finite(pair) => {
                put(TAG, EventKind::Finite.syntax().name.into());
                let column = |pairs: &[(f64, f64)], side: fn(&(f64, f64)) -> f64| {
                    pairs.iter().map(side).map(number_to_json).collect()
                };
                match pair.outcomes() {
                    FiniteOutcomes::Probabilities(pairs) => {
                        put(names::P.name, column(pairs, |pair| pair.0));
                        put(names::Q.name, column(pairs, |pair| pair.1));
                    }
                    FiniteOutcomes::Losses { atoms, infinite } => {
                        put(names::LOSSES, column(atoms, |atom| atom.0));
                        put(PROBABILITIES, column(atoms, |atom| atom.1));
                        put(INFINITE, number_to_json(*infinite));
                    }
                }
            }
            Form::Call(kind, arguments) => {
                let syntax = kind.syntax();
                put(TAG, syntax.name.into());
                for (parameter, argument) in syntax.parameters.iter().zip(arguments) {
                    put(
                        parameter.key(),
                        match argument {
                            Argument::Number(value) => number_to_json(value),
                            Argument::Count(count) => count.get().into(),
                            Argument::Event(event) => event.to_json(),
                        },
                    );
                }
            }
        }
        Value::Object(object)
    }

    /// Reads an event from a JSON value.
    ///
    /// # Errors
    ///
    /// The value is not an event; [`EventError::path`] leads to the fault.
    pub fn from_json(value: &Value) -> Result<Self, EventError> {
        Reader { events: 0 }
            .event(value, 1)
            .map_err(|error| error.under("$"))
    }

    /// Reads an event from JSON text: see [`parse_json`].
    ///
    /// # Errors
    ///
    /// The text is not JSON, or not an event.
    pub fn from_json_str(text: &str) -> Result<Self, EventError> {
        Self::from_json(&parse_json(text)?)
    }
}

const TAG: &str = "event";
const EVENTS: &str = "events";
const POINTS: &str = "points";
const PROBABILITIES: &str = "probabilities";
const INFINITE: &str = "infinite";
const INFINITY: &str = "inf";

fn point_to_json((order, epsilon): &(Order, Epsilon)) -> Value {
    let mut point = Map::new();
    point.insert(names::ORDER.name.to_owned(), number_to_json(order.get()));
    point.insert(
        names::EPSILON.name.to_owned(),
        number_to_json(epsilon.get()),
    );
    Value::Object(point)
}

/// JSON has no infinity; it is written as a word.
fn number_to_json(value: f64) -> Value {
    if value.is_finite() {
        value.into()
    } else {
        INFINITY.into()
    }
}

struct Reader {
    events: usize,
}

impl Reader {
    fn event(&mut self, value: &Value, depth: usize) -> Result<PrivacyEvent, EventError> {
        self.events += 1;
        if self.events > MAX_EVENTS {
            return Err(EventProblem::TooManyEvents.into());
        }
        if depth > MAX_DEPTH {
            return Err(EventProblem::TooDeep.into());
        }
        let object = as_object(value)?;
        let name = object.get(TAG).ok_or(EventProblem::WrongType {
            expected: "an object with the key `event`",
            found: "one without",
        })?;
        let name = name
            .as_str()
            .ok_or_else(|| wrong("the name of an event", name).under(".event"))?;
        let kind = EventKind::tagged(name).ok_or_else(|| {
            let problem = EventProblem::UnknownEvent {
                name: quote(name),
                closest: names::closest_name(name).map(str::to_owned),
            };
            EventError::from(problem).under(".event")
        })?;
        match kind {
            EventKind::Compose => self.sum(object, depth),
            EventKind::Renyi => points(object),
            EventKind::Finite => finite(object).map(PrivacyEvent::Finite),
            _ => self.call(kind, object, depth),
        }
    }

    fn sum(
        &mut self,
        object: &Map<String, Value>,
        depth: usize,
    ) -> Result<PrivacyEvent, EventError> {
        only_keys(object, "compose", &[TAG, EVENTS])?;
        let events = array(object, "compose", EVENTS)?
            .iter()
            .enumerate()
            .map(|(index, value)| {
                self.event(value, depth + 1)
                    .map_err(|e| e.under(&format!(".{EVENTS}[{index}]")))
            })
            .collect::<Result<_, _>>()?;
        Ok(PrivacyEvent::Compose(events))
    }

    fn call(
        &mut self,
        kind: EventKind,
        object: &Map<String, Value>,
        depth: usize,
    ) -> Result<PrivacyEvent, EventError> {
        let syntax = kind.syntax();
        let keys: Vec<&'static str> = syntax.parameters.iter().map(Parameter::key).collect();
        only_keys(object, syntax.name, &[&[TAG], keys.as_slice()].concat())?;
        let mut call = Call::new(kind);
        for (position, parameter) in syntax.parameters.iter().enumerate() {
            let value = match (object.get(parameter.key()), parameter.kind) {
                (Some(value), _) => value,
                (None, Kind::Event) => {
                    let (event, parameter) = (syntax.name, parameter.key());
                    return Err(EventProblem::MissingParameter { event, parameter }.into());
                }
                (None, _) => continue,
            };
            let argument = match parameter.kind {
                Kind::Event => self.event(value, depth + 1).map(Argument::Event),
                Kind::Count { .. } => count(syntax.name, parameter, value).map(Argument::Count),
                Kind::Number { range, .. } => {
                    number(syntax.name, parameter.name, range, value).map(Argument::Number)
                }
            };
            call.set(
                position,
                argument.map_err(|e| e.under(&format!(".{}", parameter.key())))?,
            );
        }
        call.build()
            .map_err(|error| match error.problem().parameter() {
                Some(parameter) => error.under(&format!(".{parameter}")),
                None => error,
            })
    }
}

fn points(object: &Map<String, Value>) -> Result<PrivacyEvent, EventError> {
    let event = EventKind::Renyi.syntax().name;
    only_keys(object, event, &[TAG, POINTS])?;
    let mut points = Vec::new();
    for (index, value) in array(object, event, POINTS)?.iter().enumerate() {
        let point = point(event, value).map_err(|e| e.under(&format!(".{POINTS}[{index}]")))?;
        points.push(point);
    }
    let points = RenyiPoints::new(points).map_err(|e| e.under(&format!(".{POINTS}")))?;
    Ok(PrivacyEvent::Renyi(points))
}

fn point(event: &'static str, value: &Value) -> Result<(Order, Epsilon), EventError> {
    let point = as_object(value)?;
    only_keys(point, event, &[names::ORDER.name, names::EPSILON.name])?;
    let read = |parameter: &Parameter, range| {
        let parameter = parameter.name;
        let value = point
            .get(parameter)
            .ok_or(EventProblem::MissingParameter { event, parameter })?;
        number(event, parameter, range, value).map_err(|e| e.under(&format!(".{parameter}")))
    };
    let unit = |unit| EventProblem::Value { event, unit };
    let order = Order::new(read(&names::ORDER, Range::FromOne)?).map_err(unit)?;
    let epsilon = Epsilon::new(read(&names::EPSILON, Range::NonNegative)?).map_err(unit)?;
    Ok((order, epsilon))
}

/// A user-defined mechanism: two columns of probabilities, or losses.
fn finite(object: &Map<String, Value>) -> Result<FinitePair, EventError> {
    let event = EventKind::Finite.syntax().name;
    let column = |key: &'static str, read: &dyn Fn(&Value) -> Result<f64, EventError>| {
        let values = array(object, event, key)?.iter().enumerate();
        values
            .map(|(index, value)| read(value).map_err(|e| e.under(&format!(".{key}[{index}]"))))
            .collect::<Result<Vec<f64>, EventError>>()
    };
    let probability = |name| move |value: &Value| number(event, name, Range::UnitInterval, value);
    if !object.contains_key(names::LOSSES) {
        let (p, q) = (names::P.name, names::Q.name);
        only_keys(object, event, &[TAG, p, q])?;
        let pairs = together(
            (p, column(p, &probability(p))?),
            (q, column(q, &probability(q))?),
        )?;
        return FinitePair::new(&pairs);
    }
    only_keys(
        object,
        event,
        &[TAG, names::LOSSES, PROBABILITIES, INFINITE],
    )?;
    let loss = |value: &Value| {
        let loss = value.as_f64().ok_or_else(|| wrong("a number", value))?;
        Ok(loss)
    };
    let atoms = together(
        (names::LOSSES, column(names::LOSSES, &loss)?),
        (
            PROBABILITIES,
            column(PROBABILITIES, &probability(names::PROBABILITY.name))?,
        ),
    )?;
    let infinite = match object.get(INFINITE) {
        None => 0.0,
        Some(value) => {
            probability(INFINITE)(value).map_err(|e| e.under(&format!(".{INFINITE}")))?
        }
    };
    FinitePair::from_losses(&atoms, infinite)
}

/// Two columns as pairs.
fn together(
    (left_name, left): (&'static str, Vec<f64>),
    (right_name, right): (&'static str, Vec<f64>),
) -> Result<Vec<(f64, f64)>, EventProblem> {
    if left.len() == right.len() {
        return Ok(left.into_iter().zip(right).collect());
    }
    Err(EventProblem::UnequalColumns {
        left_name,
        left: left.len(),
        right_name,
        right: right.len(),
    })
}

fn number(
    event: &'static str,
    parameter: &'static str,
    range: Range,
    value: &Value,
) -> Result<f64, EventError> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(word) if word == INFINITY => Some(f64::INFINITY),
        _ => None,
    };
    let number = number.ok_or_else(|| wrong("a number", value))?;
    let checked = range.check(parameter, number);
    checked.map_err(|unit| EventProblem::Value { event, unit }.into())
}

fn count(event: &'static str, parameter: &Parameter, value: &Value) -> Result<Count, EventError> {
    // Other writers may put 1e6 or 3.0 for a whole number.
    let text = value
        .as_number()
        .map(ToString::to_string)
        .ok_or_else(|| wrong("a number", value))?;
    let count = super::literal::read_count(event, parameter, &text)?;
    // A fraction bar hides whether a large number was rounded on the way in.
    if value.is_f64() && count == Count::MAX {
        return Err(wrong("a whole number", value));
    }
    Ok(count)
}

fn as_object(value: &Value) -> Result<&Map<String, Value>, EventError> {
    value.as_object().ok_or_else(|| wrong("an object", value))
}

fn array<'a>(
    object: &'a Map<String, Value>,
    event: &'static str,
    key: &'static str,
) -> Result<&'a Vec<Value>, EventError> {
    let value = object.get(key).ok_or(EventProblem::MissingParameter {
        event,
        parameter: key,
    })?;
    value
        .as_array()
        .ok_or_else(|| wrong("an array", value).under(&format!(".{key}")))
}

fn only_keys(
    object: &Map<String, Value>,
    event: &'static str,
    allowed: &[&str],
) -> Result<(), EventError> {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let parameter = quote(key);
            let step = format!(".{parameter}");
            let signature = format!("only the keys {}", allowed.join(", "));
            let problem = EventProblem::UnknownParameter {
                event,
                parameter,
                signature,
            };
            Err(EventError::from(problem).under(&step))
        }
    }
}

fn wrong(expected: &'static str, value: &Value) -> EventError {
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    EventProblem::WrongType { expected, found }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_events_is_limited() {
        let pure = serde_json::json!({"event": "pure", "epsilon": 1});
        let mut reader = Reader {
            events: MAX_EVENTS - 1,
        };
        assert!(reader.event(&pure, 1).is_ok());
        assert_eq!(reader.event(&pure, 1).unwrap_err().code(), "MZ1115");
    }
}
