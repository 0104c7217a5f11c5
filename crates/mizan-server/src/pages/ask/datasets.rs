//! Datasets below the form: privacy unit, contribution bounds, columns and examples.

use mizan_api::dataset::DatasetJson;
use mizan_api::query::plain;
use mizan_sql::Type;
use serde_json::Value;

use crate::locale::{Markup, Strings, fill, plural};
use crate::pages::budgets::quoted;
use crate::pages::frame::link;
use crate::pages::numbers;

/// The most declared groups that are shown.
const MOST_KEYS: usize = 24;

/// A dataset.
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) about: Markup,
    pub(super) columns: Vec<Column>,
    pub(super) tries: Vec<Try>,
}

/// A column.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) bounds: String,
    pub(super) keys: String,
}

/// An example query.
pub(super) struct Try {
    pub(super) sql: String,
    pub(super) address: String,
}

/// A dataset as the page shows it.
pub(super) fn dataset_of(t: &'static Strings, dataset: &DatasetJson) -> Dataset {
    let mut about = String::new();
    match &dataset.privacy {
        None => about.push_str(t.ask_public),
        Some(privacy) => {
            about.push_str(&fill(t.ask_unit, &[("unit", &privacy.unit.join(", "))]).0);
            if let Some(limit) = privacy.rows_per_unit {
                let rows = numbers::counted(t, limit, plural::ROWS);
                about.push_str(" · ");
                about.push_str(&fill(t.ask_rows_per_unit, &[("rows", &rows)]).0);
            }
            if let Some(limit) = privacy.groups_per_unit {
                let groups = numbers::counted(t, limit, plural::GROUPS);
                about.push_str(" · ");
                about.push_str(&fill(t.ask_groups_per_unit, &[("groups", &groups)]).0);
            }
        }
    }
    let columns = dataset.columns.iter().map(|column| Column {
        name: column.name.clone(),
        kind: kind(t, &column.kind),
        bounds: bounds(column.bounds.as_ref()),
        keys: keys(column.keys.as_ref()),
    });
    Dataset {
        name: dataset.name.clone(),
        about: Markup(about),
        columns: columns.collect(),
        tries: tries(dataset),
    }
}

/// The type of a column in the language of the page.
fn kind(t: &Strings, name: &str) -> String {
    let text = match Type::parse(name) {
        Ok(Type::Boolean) => t.type_boolean,
        Ok(Type::Integer) => t.type_integer,
        Ok(Type::Number) => t.type_number,
        Ok(Type::Text) => t.type_text,
        Ok(Type::Date) => t.type_date,
        Ok(Type::Timestamp) => t.type_timestamp,
        // A catalogue of a newer version.
        Err(_) => name,
    };
    text.to_owned()
}

fn bounds(value: Option<&Value>) -> String {
    match value {
        Some(Value::Array(ends)) => match ends.as_slice() {
            [low, high] => format!("{} … {}", numbers::value(low), numbers::value(high)),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn keys(value: Option<&Value>) -> String {
    let Some(Value::Array(keys)) = value else {
        return String::new();
    };
    let mut shown: Vec<String> = keys
        .iter()
        .take(MOST_KEYS)
        .map(|key| plain(&numbers::value(key)))
        .collect();
    if keys.len() > MOST_KEYS {
        shown.push(format!("… ({})", keys.len()));
    }
    shown.join(", ")
}

/// Example queries: a count, a count per declared group, a mean.
fn tries(dataset: &DatasetJson) -> Vec<Try> {
    let name = quoted(&dataset.name);
    let mut all = vec![format!("SELECT COUNT(*) AS n FROM {name}")];
    let keyed = dataset.columns.iter().find(|column| column.keys.is_some());
    if let Some(column) = keyed {
        let key = quoted(&column.name);
        all.push(format!(
            "SELECT {key}, COUNT(*) AS n FROM {name} GROUP BY {key}"
        ));
    }
    let bounded = dataset
        .columns
        .iter()
        .find(|column| column.bounds.is_some());
    if let Some(column) = bounded {
        let value = quoted(&column.name);
        all.push(format!("SELECT AVG({value}) AS mean FROM {name}"));
    }
    let one = |sql: String| Try {
        address: link("/ask", &[("sql", &sql)]),
        sql,
    };
    all.into_iter().map(one).collect()
}
