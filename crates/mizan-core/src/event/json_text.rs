//! JSON text as a value, with every key at most once.
//!
//! Most JSON parsers silently keep the last of repeated keys. Then the event that the user meant and
//! the event that is priced could differ.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::snippet::quote;
use super::{EventError, EventProblem, MAX_JSON_BYTES};

/// Reads JSON text of at most [`MAX_JSON_BYTES`] in which no key is repeated.
///
/// # Errors
///
/// The text is too long, not JSON, or repeats a key.
///
/// ```
/// assert!(mizan_core::parse_json(r#"{"p": 1, "of": {"p": 2}}"#).is_ok());
/// let error = mizan_core::parse_json(r#"{"p": 1, "p": 2}"#).unwrap_err();
/// assert_eq!(error.code(), "MZ1116");
/// ```
pub fn parse_json(text: &str) -> Result<Value, EventError> {
    if text.len() > MAX_JSON_BYTES {
        let problem = EventProblem::TooLong {
            bytes: text.len(),
            most: MAX_JSON_BYTES,
        };
        return Err(problem.into());
    }
    let read: Unique = serde_json::from_str(text).map_err(|error| EventProblem::NotJson {
        message: error.to_string(),
    })?;
    Ok(read.0)
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Self)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unique(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, Unique>()? {
            if object.contains_key(&key) {
                let message = format!("the key {} appears twice", quote(&key));
                return Err(Error::custom(message));
            }
            object.insert(key, value);
        }
        Ok(object.into())
    }
}
