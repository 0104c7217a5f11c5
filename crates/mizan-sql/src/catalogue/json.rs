//! The JSON form of the catalogue. Unknown entries are refused, so that nothing that the data owner
//! wrote is silently ignored.
//!
//! ```text
//! {"mizan_catalogue": 1, "datasets": [{
//!    "name": "visits", "source": "visits.csv",
//!    "privacy": {"unit": ["person"], "account": "visits", "rows_per_unit": 10, "groups_per_unit": null},
//!    "columns": [{"name": "day", "type": "date", "bounds": ["2024-01-01", "2024-12-31"],
//!                 "unit_bounds": null, "keys": null}]}]}
//! ```
//!
//! Dates and timestamps are texts. A number that is not an integer below 2^53 is a text too, since
//! other JSON readers may lose its last digit. Null entries may be left out, and so may `files`: the
//! device, inode and time of creation of each file.

use serde_json::{Map, Value as Json, json};

use super::{Catalogue, CatalogueError, Dataset, DatasetColumn, FileIdentity, Privacy};
use crate::eval::towards_zero;
use crate::read;
use crate::relation::Bounds;
use crate::time;
use crate::value::{Type, Value};

/// 2^53. Below this, doubles represent every integer exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Catalogue {
    /// The catalogue as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let datasets: Vec<_> = self.datasets.values().map(Dataset::to_json).collect();
        json!({"mizan_catalogue": 1, "datasets": datasets})
    }

    /// Reads a catalogue from JSON.
    ///
    /// # Errors
    ///
    /// If it does not have the form that [`Catalogue::to_json`] writes, or [`Dataset::check`]
    /// refuses a dataset.
    pub fn from_json(json: &Json) -> Result<Self, CatalogueError> {
        let object = Object::new(json, "the whole", &["mizan_catalogue", "datasets"])?;
        let version = object.get("mizan_catalogue");
        if version.as_u64() != Some(1) {
            return Err(CatalogueError::Version {
                found: super::check::shortened(&version.to_string()),
            });
        }
        let mut catalogue = Self::default();
        for dataset in object.list("datasets")? {
            catalogue.add(Dataset::from_json(dataset)?)?;
        }
        Ok(catalogue)
    }
}

impl Dataset {
    /// The dataset as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let privacy = self.privacy.as_ref().map(|privacy| {
            json!({
                "unit": privacy.unit,
                "account": privacy.account,
                "rows_per_unit": privacy.rows_per_unit,
                "groups_per_unit": privacy.groups_per_unit,
            })
        });
        let columns: Vec<_> = self.columns.iter().map(column_to_json).collect();
        let mut json = json!({
            "name": self.name,
            "source": self.source,
            "privacy": privacy,
            "columns": columns,
        });
        if let (Some(object), false) = (json.as_object_mut(), self.files.is_empty()) {
            let file = |file: &FileIdentity| json!([file.device, file.inode, file.created]);
            let files = self.files.iter().map(file).collect();
            object.insert("files".to_owned(), files);
        }
        json
    }

    /// Reads a dataset from JSON.
    ///
    /// # Errors
    ///
    /// As [`Catalogue::from_json`].
    pub fn from_json(json: &Json) -> Result<Self, CatalogueError> {
        let keys = ["name", "source", "privacy", "columns", "files"];
        let object = Object::new(json, "a dataset", &keys)?;
        let privacy = match object.get("privacy") {
            Json::Null => None,
            privacy => Some(privacy_from_json(privacy)?),
        };
        let columns = object.list("columns")?.iter().map(column_from_json);
        let files = match object.get("files") {
            Json::Null => Vec::new(),
            _ => {
                let files = object.list("files")?.iter().map(file_from_json);
                files.collect::<Result<_, _>>()?
            }
        };
        let dataset = Self {
            name: object.text("name")?,
            source: object.text("source")?,
            privacy,
            columns: columns.collect::<Result<_, _>>()?,
            files,
        };
        dataset.check()?;
        Ok(dataset)
    }
}

fn file_from_json(json: &Json) -> Result<FileIdentity, CatalogueError> {
    let part = |place: usize| json.get(place).and_then(Json::as_u64);
    match (part(0), part(1)) {
        (Some(device), Some(inode)) => Ok(FileIdentity {
            device,
            inode,
            created: part(2),
        }),
        _ => Err(malformed("a file of a dataset", "a list of numbers")),
    }
}

fn privacy_from_json(json: &Json) -> Result<Privacy, CatalogueError> {
    let keys = ["unit", "account", "rows_per_unit", "groups_per_unit"];
    let object = Object::new(json, "the privacy of a dataset", &keys)?;
    let unit = object.list("unit")?.iter().map(|name| {
        let name = name.as_str().map(str::to_owned);
        name.ok_or_else(|| malformed("the unit of a dataset", "a list of columns"))
    });
    Ok(Privacy {
        unit: unit.collect::<Result<_, _>>()?,
        account: object.text("account")?,
        rows_per_unit: object.limit("rows_per_unit")?,
        groups_per_unit: object.limit("groups_per_unit")?,
    })
}

fn column_to_json(column: &DatasetColumn) -> Json {
    let bounds = |bounds: Option<Bounds>, kind| {
        bounds.map(|bounds| {
            json!([
                end_to_json(bounds.low, kind),
                end_to_json(bounds.high, kind)
            ])
        })
    };
    let keys = column.keys.as_ref().map(|keys| {
        let keys = keys.iter().map(key_to_json);
        keys.collect::<Vec<_>>()
    });
    json!({
        "name": column.name,
        "type": column.kind.name(),
        "bounds": bounds(column.bounds, column.kind),
        "unit_bounds": bounds(column.unit_bounds, column.kind),
        "keys": keys,
    })
}

fn column_from_json(json: &Json) -> Result<DatasetColumn, CatalogueError> {
    let keys = ["name", "type", "bounds", "unit_bounds", "keys"];
    let object = Object::new(json, "a column", &keys)?;
    let kind = object.text("type")?;
    let kind = Type::ALL.into_iter().find(|other| other.name() == kind);
    let mut column = DatasetColumn::new(
        object.text("name")?,
        kind.ok_or_else(|| malformed("the type of a column", "the name of a type"))?,
    );
    column.bounds = bounds_from_json(object.get("bounds"), &column)?;
    column.unit_bounds = bounds_from_json(object.get("unit_bounds"), &column)?;
    if !object.get("keys").is_null() {
        let keys = object.list("keys")?.iter().map(|key| {
            let key = key_from_json(key, column.kind);
            key.ok_or_else(|| column.bad_keys("must be values of that type, not too long"))
        });
        column.keys = Some(keys.collect::<Result<_, _>>()?);
    }
    Ok(column)
}

/// An end of bounds; dates and times within the calendar are texts.
fn end_to_json(end: f64, kind: Type) -> Json {
    let whole = if end.fract() == 0.0 && end.abs() < EXACT {
        towards_zero(end)
    } else {
        None
    };
    let text = match (whole, kind) {
        (Some(days), Type::Date) => i32::try_from(days).ok().and_then(time::day_text),
        (Some(at), Type::Timestamp) => time::time_text(at),
        _ => None,
    };
    match (text, whole) {
        (Some(text), _) => Json::from(text),
        (None, Some(whole)) => Json::from(whole),
        // The shortest text that parses to the same double.
        (None, None) => Json::from(end.to_string()),
    }
}

fn bounds_from_json(json: &Json, column: &DatasetColumn) -> Result<Option<Bounds>, CatalogueError> {
    if json.is_null() {
        return Ok(None);
    }
    let pair = match json.as_array().map(Vec::as_slice) {
        Some([low, high]) => Some((
            end_from_json(low, column.kind),
            end_from_json(high, column.kind),
        )),
        _ => None,
    };
    let Some((Some(low), Some(high))) = pair else {
        return Err(column.bad_bounds("must be a list of a low and a high end"));
    };
    match Bounds::new(low, high) {
        Some(bounds) => Ok(Some(bounds)),
        None => Err(column.bad_bounds("must be finite, the lower first")),
    }
}

fn end_from_json(json: &Json, kind: Type) -> Option<f64> {
    let Json::String(text) = json else {
        return json.as_f64();
    };
    match kind.read(text) {
        Value::Date(day) => Some(f64::from(day)),
        #[allow(clippy::cast_precision_loss, reason = "written only if exact")]
        Value::Timestamp(at) => Some(at as f64),
        _ => read::number(text),
    }
}

fn key_to_json(key: &Value) -> Json {
    match key {
        Value::Null => Json::Null,
        Value::Boolean(value) => Json::from(*value),
        Value::Integer(value) => Json::from(*value),
        Value::Number(value) => end_to_json(*value, Type::Number),
        Value::Text(value) => Json::from(value.as_str()),
        // Days outside of the calendar are written as numbers; reading refuses them.
        Value::Date(day) => time::day_text(*day).map_or_else(|| Json::from(*day), Json::from),
        Value::Timestamp(at) => time::time_text(*at).map_or_else(|| Json::from(*at), Json::from),
    }
}

fn key_from_json(json: &Json, kind: Type) -> Option<Value> {
    match (json, kind) {
        (Json::Null, _) => Some(Value::Null),
        (Json::Bool(value), Type::Boolean) => Some(Value::Boolean(*value)),
        (Json::Number(value), Type::Integer) => value.as_i64().map(Value::Integer),
        (Json::Number(value), Type::Number) => value.as_f64().map(Value::number),
        (Json::String(text), Type::Number | Type::Text | Type::Date | Type::Timestamp) => {
            Some(kind.read(text)).filter(|value| !value.is_null())
        }
        _ => None,
    }
}

fn malformed(at: &str, expected: &'static str) -> CatalogueError {
    CatalogueError::Malformed {
        at: at.to_owned(),
        expected,
    }
}

/// A JSON object that has known keys only.
struct Object<'a> {
    map: &'a Map<String, Json>,
    at: &'static str,
}

impl<'a> Object<'a> {
    fn new(json: &'a Json, at: &'static str, keys: &[&str]) -> Result<Self, CatalogueError> {
        let map = json
            .as_object()
            .ok_or_else(|| malformed(at, "a JSON object"))?;
        match map.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(Self { map, at }),
            Some(entry) => Err(CatalogueError::UnknownEntry {
                at: at.to_owned(),
                entry: super::check::shortened(entry),
            }),
        }
    }

    fn get(&self, key: &str) -> &'a Json {
        self.map.get(key).unwrap_or(&Json::Null)
    }

    fn malformed(&self, key: &str, expected: &'static str) -> CatalogueError {
        malformed(&format!("{key:?} in {}", self.at), expected)
    }

    fn text(&self, key: &str) -> Result<String, CatalogueError> {
        let text = self.get(key).as_str().map(str::to_owned);
        text.ok_or_else(|| self.malformed(key, "a text"))
    }

    fn list(&self, key: &str) -> Result<&'a [Json], CatalogueError> {
        let list = self.get(key).as_array().map(Vec::as_slice);
        list.ok_or_else(|| self.malformed(key, "a list"))
    }

    fn limit(&self, key: &str) -> Result<Option<u64>, CatalogueError> {
        match self.get(key) {
            Json::Null => Ok(None),
            value => match value.as_u64() {
                Some(value) => Ok(Some(value)),
                None => Err(self.malformed(key, "a whole number")),
            },
        }
    }
}
