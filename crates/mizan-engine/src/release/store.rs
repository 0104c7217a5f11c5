//! A release as bytes and back, exactly: the answer that the ledger stores.
//!
//! JSON with a version. Doubles are strings, because JSON readers round; every value has its
//! type. Whatever this version or an older one wrote is read in the same way forever.

use mizan_sql::{Groups, Value};
use serde_json::{Map, Value as Json, json};

use super::ReleaseError;
use super::noise_plan::{NoiseParameters, StatisticMechanism, Threshold};
use super::quantile_target::QuantileTarget;
use super::released::{Group, NoisyCell, Released};

/// The version that is written.
const VERSION: u64 = 1;

impl NoiseParameters {
    /// The bytes: the same for the same noise plan.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        noise_to_json(self).to_string().into_bytes()
    }
}

impl Released {
    /// The bytes; None if there are more than `most`. The memory that is used beside the release
    /// does not exceed `most` and one group, whatever the noise shows.
    pub(crate) fn to_bytes(&self, most: usize) -> Option<Vec<u8>> {
        let mut bytes = start(&self.noise).into_bytes();
        for (place, group) in self.groups.iter().enumerate() {
            if place > 0 {
                bytes.push(b',');
            }
            bytes.extend(group_to_json(group).to_string().into_bytes());
            if bytes.len() > most {
                return None;
            }
        }
        bytes.extend(END.as_bytes());
        (bytes.len() <= most).then_some(bytes)
    }

    /// A bound on the bytes of every release of a plan whose groups are public. It does not depend
    /// on private rows. For private groups it is a bound without them.
    pub(crate) fn bytes_bound(noise: &NoiseParameters, groups: &Groups) -> usize {
        let cells = noise.mechanisms.iter().map(cell_bound);
        // `{"key":[],"cells":[]},`, and a comma after each cell.
        let cells = cells.fold(24, |sum: usize, cell| sum.saturating_add(cell + 1));
        let keys = match groups {
            Groups::Public(keys) => keys.as_slice(),
            Groups::Private => &[],
        };
        let group = |key: &Vec<Value>| {
            let values = key.iter().map(value_bound);
            values.fold(cells, |sum, value| sum.saturating_add(value + 1))
        };
        let whole = start(noise).len() + END.len();
        keys.iter().map(group).fold(whole, usize::saturating_add)
    }

    /// Reads a release.
    ///
    /// # Errors
    ///
    /// The bytes are not a release of this version.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, ReleaseError> {
        let whole: Json = serde_json::from_slice(bytes).map_err(|_| wrong("it is not JSON"))?;
        if whole.get("version").and_then(Json::as_u64) != Some(VERSION) {
            return Err(wrong("it is of another version"));
        }
        let noise = noise_from_json(field(&whole, "noise")?)?;
        let groups = list(field(&whole, "groups")?)?;
        let groups: Vec<Group> = groups
            .iter()
            .map(group_from_json)
            .collect::<Result<_, _>>()?;
        let statistics = noise.mechanisms.len();
        if groups.iter().any(|group| group.cells.len() != statistics) {
            return Err(wrong("a group has other statistics"));
        }
        Ok(Self { noise, groups })
    }
}

/// What comes before the groups.
fn start(noise: &NoiseParameters) -> String {
    let noise = noise_to_json(noise);
    format!(r#"{{"version":{VERSION},"noise":{noise},"groups":["#)
}

/// What comes after them.
const END: &str = "]}";

/// The most digits of an integer, with its sign.
const INTEGER: usize = 20;

/// The most bytes of a cell: integers, with the names of a tree.
fn cell_bound(mechanism: &StatisticMechanism) -> usize {
    match mechanism.targets() {
        None => INTEGER,
        // `{"values":[],"rows":}`, and a comma after each value.
        Some(targets) => 24 + INTEGER + targets.len().saturating_mul(INTEGER + 1),
    }
}

/// The most bytes of a value of a key.
fn value_bound(value: &Value) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => 2,
        // `\u001f`.
        0..b' ' => 6,
        _ => 1,
    };
    match value {
        Value::Text(text) => text.bytes().map(escaped).fold(16, usize::saturating_add),
        // The longest are `{"timestamp":-9223372036854775808}` and doubles of 24 characters.
        _ => 48,
    }
}

fn group_to_json(group: &Group) -> Json {
    let cell = |cell: &NoisyCell| match cell {
        NoisyCell::Integer(value) => json!(value),
        NoisyCell::Selected(values) => json!(values),
        NoisyCell::FromTree { values, rows } => json!({ "values": values, "rows": rows }),
    };
    json!({
        "key": group.key.iter().map(value_to_json).collect::<Vec<_>>(),
        "cells": group.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

fn group_from_json(json: &Json) -> Result<Group, ReleaseError> {
    let integer = |json: &Json| json.as_i64().ok_or(wrong("a cell is not an integer"));
    let integers =
        |values: &[Json]| -> Result<Vec<i64>, _> { values.iter().map(integer).collect() };
    let cell = |json: &Json| match json {
        // Also trees of versions that did not store the number of rows.
        Json::Array(values) => Ok(NoisyCell::Selected(integers(values)?)),
        Json::Object(_) => Ok(NoisyCell::FromTree {
            values: integers(list(field(json, "values")?)?)?,
            rows: integer(field(json, "rows")?)?,
        }),
        other => Ok(NoisyCell::Integer(integer(other)?)),
    };
    let key = list(field(json, "key")?)?.iter().map(value_from_json);
    let cells = list(field(json, "cells")?)?.iter().map(cell);
    Ok(Group {
        key: key.collect::<Result<_, _>>()?,
        cells: cells.collect::<Result<_, ReleaseError>>()?,
    })
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => json!({ "boolean": value }),
        Value::Integer(value) => json!({ "integer": value }),
        Value::Number(value) => json!({ "number": double(*value) }),
        Value::Text(value) => json!({ "text": value }),
        Value::Date(value) => json!({ "date": value }),
        Value::Timestamp(value) => json!({ "timestamp": value }),
    }
}

fn value_from_json(json: &Json) -> Result<Value, ReleaseError> {
    let bad = || wrong("a key is not a value");
    let (kind, inner) = match json {
        Json::Null => return Ok(Value::Null),
        Json::Object(fields) if fields.len() == 1 => fields.iter().next().ok_or_else(bad)?,
        _ => return Err(bad()),
    };
    let value = match (kind.as_str(), inner) {
        ("boolean", Json::Bool(value)) => Some(Value::Boolean(*value)),
        ("integer", value) => value.as_i64().map(Value::Integer),
        ("number", value) => Some(Value::number(to_double(value)?)),
        ("text", Json::String(value)) => Some(Value::Text(value.clone())),
        ("date", value) => {
            let days = value.as_i64().and_then(|days| i32::try_from(days).ok());
            days.map(Value::Date)
        }
        ("timestamp", value) => value.as_i64().map(Value::Timestamp),
        _ => None,
    };
    value.ok_or_else(bad)
}

fn noise_to_json(noise: &NoiseParameters) -> Json {
    json!({
        "groups_per_unit": noise.groups_per_unit,
        "treatments": noise.mechanisms.iter().map(mechanism_to_json).collect::<Vec<_>>(),
        "threshold": noise.threshold.map(|threshold| json!({
            "above": threshold.above,
            "delta": double(threshold.delta),
        })),
    })
}

fn noise_from_json(json: &Json) -> Result<NoiseParameters, ReleaseError> {
    let threshold = match field(json, "threshold")? {
        Json::Null => None,
        threshold => Some(Threshold {
            above: whole(field(threshold, "above")?)?,
            delta: to_double(field(threshold, "delta")?)?,
        }),
    };
    let mechanisms = list(field(json, "treatments")?)?;
    let mechanisms = mechanisms.iter().map(mechanism_from_json);
    Ok(NoiseParameters {
        groups_per_unit: whole(field(json, "groups_per_unit")?)?,
        mechanisms: mechanisms.collect::<Result<_, _>>()?,
        threshold,
    })
}

fn mechanism_to_json(mechanism: &StatisticMechanism) -> Json {
    match mechanism {
        StatisticMechanism::Laplace { scale, sensitivity } => json!({
            "laplace": { "scale": double(*scale), "sensitivity": sensitivity },
        }),
        StatisticMechanism::Gaussian { sigma, sensitivity } => json!({
            "gaussian": { "sigma": double(*sigma), "sensitivity": sensitivity },
        }),
        StatisticMechanism::Truncated { epsilon, delta } => json!({
            "truncated": { "epsilon": double(*epsilon), "delta": double(*delta) },
        }),
        StatisticMechanism::Tree {
            noise,
            levels,
            targets,
        } => json!({
            "tree": {
                "noise": mechanism_to_json(noise),
                "levels": levels,
                "aims": targets.iter().map(target_to_json).collect::<Vec<_>>(),
            },
        }),
        StatisticMechanism::Select {
            epsilon,
            rows,
            targets,
        } => json!({ "select": selection_to_json(*epsilon, *rows, targets) }),
        StatisticMechanism::Recursive {
            epsilon,
            rows,
            targets,
        } => json!({ "recursive": selection_to_json(*epsilon, *rows, targets) }),
    }
}

fn mechanism_from_json(json: &Json) -> Result<StatisticMechanism, ReleaseError> {
    let (kind, json) = only(json).ok_or(wrong("a statistic has no treatment"))?;
    Ok(match kind {
        "laplace" => StatisticMechanism::Laplace {
            scale: to_double(field(json, "scale")?)?,
            sensitivity: whole(field(json, "sensitivity")?)?,
        },
        "gaussian" => StatisticMechanism::Gaussian {
            sigma: to_double(field(json, "sigma")?)?,
            sensitivity: whole(field(json, "sensitivity")?)?,
        },
        "truncated" => StatisticMechanism::Truncated {
            epsilon: to_double(field(json, "epsilon")?)?,
            delta: to_double(field(json, "delta")?)?,
        },
        "select" => StatisticMechanism::Select {
            epsilon: to_double(field(json, "epsilon")?)?,
            rows: whole(field(json, "rows")?)?,
            targets: targets_from_json(json)?,
        },
        "recursive" => StatisticMechanism::Recursive {
            epsilon: to_double(field(json, "epsilon")?)?,
            rows: whole(field(json, "rows")?)?,
            targets: targets_from_json(json)?,
        },
        "tree" => {
            let noise = mechanism_from_json(field(json, "noise")?)?;
            let levels = whole(field(json, "levels")?)?;
            StatisticMechanism::Tree {
                noise: Box::new(noise),
                levels: u32::try_from(levels).map_err(|_| wrong("a tree of too many levels"))?,
                targets: targets_from_json(json)?,
            }
        }
        _ => return Err(wrong("an unknown treatment")),
    })
}

fn selection_to_json(epsilon: f64, rows: u64, targets: &[QuantileTarget]) -> Json {
    json!({
        "epsilon": double(epsilon),
        "rows": rows,
        "aims": targets.iter().map(target_to_json).collect::<Vec<_>>(),
    })
}

fn targets_from_json(json: &Json) -> Result<Vec<QuantileTarget>, ReleaseError> {
    let targets = list(field(json, "aims")?)?;
    targets.iter().map(target_from_json).collect()
}

fn target_to_json(target: &QuantileTarget) -> Json {
    match target {
        QuantileTarget::FromLow(row) => json!({ "from_low": row }),
        QuantileTarget::Fraction { a, b } => json!({ "fraction": [a, b] }),
        QuantileTarget::FromHigh(row) => json!({ "from_high": row }),
    }
}

fn target_from_json(json: &Json) -> Result<QuantileTarget, ReleaseError> {
    let bad = wrong("an unknown quantile");
    Ok(match only(json).ok_or(bad.clone())? {
        ("from_low", row) => QuantileTarget::FromLow(whole(row)?),
        ("from_high", row) => QuantileTarget::FromHigh(whole(row)?),
        ("fraction", parts) => match list(parts)? {
            [a, b] => {
                let (a, b) = (whole(a)?, whole(b)?);
                if a == 0 || a >= b {
                    return Err(bad);
                }
                QuantileTarget::Fraction { a, b }
            }
            _ => return Err(bad),
        },
        _ => return Err(bad),
    })
}

/// The name and the value of an object's only field.
fn only(json: &Json) -> Option<(&str, &Json)> {
    let fields: &Map<String, Json> = json.as_object().filter(|fields| fields.len() == 1)?;
    fields
        .iter()
        .next()
        .map(|(name, value)| (name.as_str(), value))
}

fn field<'a>(json: &'a Json, name: &str) -> Result<&'a Json, ReleaseError> {
    json.get(name).ok_or(wrong("a field is missing"))
}

fn list(json: &Json) -> Result<&[Json], ReleaseError> {
    json.as_array()
        .map(Vec::as_slice)
        .ok_or(wrong("a list is missing"))
}

fn whole(json: &Json) -> Result<u64, ReleaseError> {
    json.as_u64().ok_or(wrong("a number is not whole"))
}

/// The shortest decimal that reads as exactly this double.
fn double(value: f64) -> String {
    format!("{value:?}")
}

fn to_double(json: &Json) -> Result<f64, ReleaseError> {
    let value = json.as_str().and_then(|text| text.parse::<f64>().ok());
    value
        .filter(|value| !value.is_nan())
        .ok_or(wrong("a number is missing"))
}

const fn wrong(what: &'static str) -> ReleaseError {
    ReleaseError::Stored { what }
}
