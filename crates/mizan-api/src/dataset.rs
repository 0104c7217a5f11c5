//! The public description of datasets.

use mizan_sql::Dataset;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// All datasets that the client may see.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DatasetsAnswer {
    /// The datasets.
    pub datasets: Vec<DatasetJson>,
}

/// A dataset.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DatasetJson {
    /// The name in queries.
    pub name: String,
    /// Its location; only the data owner sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The privacy unit; null for a public table.
    pub privacy: Option<PrivacyJson>,
    /// Its columns, in order.
    pub columns: Vec<ColumnJson>,
}

/// The privacy unit of a dataset and the limits on its contribution.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PrivacyJson {
    /// The columns that identify the unit of a row.
    pub unit: Vec<String>,
    /// The account that pays for queries.
    pub account: String,
    /// The most rows of a unit that are counted in a group.
    pub rows_per_unit: Option<u64>,
    /// The most groups that a unit contributes to.
    pub groups_per_unit: Option<u64>,
}

/// A column.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ColumnJson {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// The bounds that values are clamped to.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub bounds: Option<Value>,
    /// The bounds that the total of a unit in a group is clamped to.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub unit_bounds: Option<Value>,
    /// The declared values, if the column may be a public key.
    #[schema(value_type = Option<Vec<serde_json::Value>>)]
    pub keys: Option<Value>,
}

impl DatasetJson {
    /// The JSON form of a dataset, with or without its location.
    #[must_use]
    pub fn of(dataset: &Dataset, with_source: bool) -> Self {
        // The catalogue defines the JSON form.
        let read = serde_json::from_value(dataset.to_json());
        let mut found: Self = read.unwrap_or_else(|_| Self {
            name: dataset.name.clone(),
            source: None,
            privacy: None,
            columns: Vec::new(),
        });
        if !with_source {
            found.source = None;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::json;

    #[test]
    fn a_dataset_has_the_json_of_the_catalogue() {
        let catalogue = serde_json::json!({"mizan_catalogue": 1, "datasets": [{
            "name": "visits", "source": "visits.csv",
            "privacy": {"unit": ["person"], "account": "visits", "rows_per_unit": 3, "groups_per_unit": null},
            "columns": [
                {"name": "person", "type": "integer", "bounds": null, "unit_bounds": null, "keys": null},
                {"name": "cost", "type": "number", "bounds": [0, 500], "unit_bounds": null, "keys": null},
                {"name": "ward", "type": "text", "bounds": null, "unit_bounds": null, "keys": ["a", "b"]},
            ],
        }]});
        let catalogue = mizan_sql::Catalogue::from_json(&catalogue).unwrap();
        let dataset = catalogue.dataset("visits").unwrap();
        assert_eq!(json(&DatasetJson::of(dataset, true)), dataset.to_json());
        let hidden = json(&DatasetJson::of(dataset, false));
        assert!(hidden.get("source").is_none(), "{hidden}");
    }
}
