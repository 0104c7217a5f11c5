//! Random rows for random queries, with the worst values that files can hold.

use mizan_sql::{Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};

use super::dice::Dice;

/// A cell of a file: a text, which may not be a number.
pub(crate) type Text = Option<String>;

/// The rows of each dataset.
pub(crate) type Tables = Vec<(String, Vec<Vec<Text>>)>;

/// The catalogue: limits are random, sources are files in `folder`.
pub(crate) fn catalogue(dice: &mut Dice<'_>, folder: &str) -> Catalogue {
    let privacy = |rows, groups| {
        Some(Privacy {
            unit: vec!["u".to_owned()],
            account: "all".to_owned(),
            rows_per_unit: Some(rows),
            groups_per_unit: Some(groups),
        })
    };
    let keys = |names: &[&str]| {
        let keys = names.iter().map(|name| Value::Text((*name).to_owned()));
        Some(keys.collect())
    };
    let limits = (1 + dice.below(4), 1 + dice.below(3));
    let visits = vec![
        column("u", Type::Integer, None, None),
        column("a", Type::Integer, Bounds::new(0.0, 10.0), None),
        column("big", Type::Integer, Bounds::new(-1e15, 1e15), None),
        column("x", Type::Number, Bounds::new(-5.0, 5.0), None),
        column("y", Type::Number, Bounds::new(0.0, 1e-3), None),
        column("c", Type::Text, None, keys(&["k1", "k2", "k3"])),
        column("word", Type::Text, None, None),
        column("day", Type::Date, Bounds::new(19_700.0, 19_800.0), None),
        column("yes", Type::Boolean, None, None),
    ];
    let people = vec![
        column("u", Type::Integer, None, None),
        column("age", Type::Integer, Bounds::new(0.0, 110.0), None),
        column("income", Type::Number, Bounds::new(0.0, 1e6), None),
        column("city", Type::Text, None, keys(&["k1", "k2"])),
    ];
    let labels = vec![
        column("k", Type::Integer, None, None),
        column("label", Type::Text, None, None),
    ];
    let datasets = [
        ("visits", privacy(limits.0, limits.1), visits),
        ("people", privacy(limits.0, limits.1), people),
        ("labels", None, labels),
    ];
    let datasets = datasets.map(|(name, privacy, columns)| {
        let dataset = Dataset {
            files: Vec::new(),
            name: name.to_owned(),
            source: format!("{folder}/{name}.csv"),
            privacy,
            columns,
        };
        (name.to_owned(), dataset)
    });
    Catalogue {
        datasets: datasets.into_iter().collect(),
    }
}

pub(crate) fn column(
    name: &str,
    kind: Type,
    bounds: Option<Bounds>,
    keys: Option<Vec<Value>>,
) -> DatasetColumn {
    DatasetColumn {
        bounds,
        keys,
        ..DatasetColumn::new(name, kind)
    }
}

/// Random rows of a few units.
pub(crate) fn tables(dice: &mut Dice<'_>, catalogue: &Catalogue) -> Tables {
    let units = 1 + dice.below(7);
    let mut tables = Tables::new();
    for dataset in catalogue.datasets.values() {
        let mut rows = Vec::new();
        let count = if dice.one_in(20) { 400 } else { dice.below(40) };
        for _ in 0..count {
            let cells = dataset.columns.iter().map(|column| match &*column.name {
                "u" => unit(dice, units),
                _ => cell(dice, column.kind),
            });
            rows.push(cells.collect());
        }
        tables.push((dataset.name.clone(), rows));
    }
    tables
}

fn unit(dice: &mut Dice<'_>, units: u64) -> Text {
    match dice.below(20) {
        0 => None,
        1 => Some(dice.word(&["unnamed", ""]).to_owned()),
        2 => Some(i64::MIN.to_string()),
        // One unit has most of the rows.
        3..=9 => Some("0".to_owned()),
        _ => Some(dice.below(units).to_string()),
    }
}

fn cell(dice: &mut Dice<'_>, kind: Type) -> Text {
    if dice.one_in(8) {
        return None;
    }
    let text = match kind {
        Type::Integer if dice.one_in(4) => dice.word(&[
            "-9223372036854775808",
            "9223372036854775807",
            "-1",
            "1e3",
            "x",
            " 7",
        ]),
        Type::Number if dice.one_in(3) => dice.word(&[
            "NaN", "inf", "-inf", "-0.0", "1e308", "-1e308", "5e-324", "abc", "0.0005",
        ]),
        Type::Integer => return Some(dice.between(-2, 13).to_string()),
        Type::Number => return Some(format!("{}e-3", dice.between(-6000, 6000))),
        Type::Text => dice.word(&["k1", "k2", "k3", "k4", "", "K1", "é", "a,b", "a\"b", "a%"]),
        Type::Date => dice.word(&[
            "2024-01-15",
            "2024-02-29",
            "2023-12-31",
            "0000-00-00",
            "2024-03-05",
        ]),
        Type::Timestamp => dice.word(&["2024-01-15T12:00:00", "never"]),
        Type::Boolean => dice.word(&["true", "false", "perhaps"]),
    };
    Some(text.to_owned())
}
