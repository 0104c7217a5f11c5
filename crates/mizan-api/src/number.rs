//! Numbers in requests and answers: JSON has no infinity, and decimals that are not doubles keep
//! their text.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A number in a request: a JSON number, or a text such as `"1e-6"`. Both are rounded to the side
/// on which the answer stays true for the given number.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = Given)]
pub enum NumberInput {
    /// A JSON number.
    Number(f64),
    /// A text.
    Text(String),
}

impl NumberInput {
    /// The number as text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Number(number) => Cow::Owned(format!("{number:?}")),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }
}

impl From<&str> for NumberInput {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// An order in an answer: a number, or `"inf"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[serde(untagged)]
pub enum OrderJson {
    /// A finite order.
    Finite(f64),
    /// The infinite one.
    Infinite(Infinity),
}

/// The word for infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub enum Infinity {
    /// Infinity.
    #[serde(rename = "inf")]
    Inf,
}

impl OrderJson {
    /// An order.
    #[must_use]
    pub fn of(order: f64) -> Self {
        if order.is_finite() {
            Self::Finite(order)
        } else {
            Self::Infinite(Infinity::Inf)
        }
    }
}

/// None for infinity, which JSON does not have.
#[must_use]
pub fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// The JSON form of an answer.
#[must_use]
pub fn json(answer: &impl Serialize) -> serde_json::Value {
    // Serialization of answers cannot fail: the keys of all maps are texts.
    serde_json::to_value(answer).unwrap_or(serde_json::Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_parse_back_from_decimals() {
        for (json, text) in [
            ("1e-5", "1e-5"),
            ("\"1e-5\"", "1e-5"),
            ("3", "3.0"),
            ("0.1", "0.1"),
        ] {
            let given: NumberInput = serde_json::from_str(json).unwrap();
            assert_eq!(given.text(), text);
        }
    }

    #[test]
    fn infinity_is_a_word_or_null() {
        assert_eq!(json(&OrderJson::of(f64::INFINITY)), "inf");
        assert_eq!(json(&OrderJson::of(1.5)), 1.5);
        assert_eq!(json(&finite(f64::INFINITY)), serde_json::Value::Null);
    }
}
