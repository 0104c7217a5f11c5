//! The catalogue: JSON round trips, command-line declarations, and refused descriptions.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "tests may panic"
)]

use crate::common::cases;
use mizan_sql::{
    Bounds, Catalogue, CatalogueError, Dataset, DatasetColumn, FileIdentity, Privacy, Type, Value,
};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn column(name: &str, kind: Type) -> DatasetColumn {
    DatasetColumn::new(name, kind)
}

fn visits() -> Dataset {
    Dataset {
        files: Vec::new(),
        name: "visits".into(),
        source: "data/visits.csv".into(),
        privacy: Some(Privacy {
            unit: vec!["person".into()],
            account: "visits".into(),
            rows_per_unit: Some(10),
            groups_per_unit: None,
        }),
        columns: vec![
            column("person", Type::Integer),
            column("age", Type::Integer),
            column("cost", Type::Number),
            column("city", Type::Text),
            column("day", Type::Date),
            column("at", Type::Timestamp),
            column("sick", Type::Boolean),
            column("a=b", Type::Integer),
        ],
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, CatalogueError>) -> &'static str {
    let error = result.unwrap_err();
    assert!(!error.help().is_empty() && !error.to_string().is_empty());
    error.code().as_str()
}

fn there_and_back(dataset: &Dataset) {
    let mut catalogue = Catalogue::default();
    catalogue.add(dataset.clone()).unwrap();
    let text = catalogue.to_json().to_string();
    let json: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(Catalogue::from_json(&json).unwrap(), catalogue, "{text}");
}

#[test]
fn declarations_are_parsed() {
    let mut dataset = visits();
    for text in [
        "age=0:110",
        "cost=-0.5:1e3",
        "day=2024-01-01:2024-12-31",
        "a=b=1:2",
    ] {
        dataset.declare_bounds(text).unwrap();
    }
    dataset
        .declare_bounds("at=2024-01-01T10:30:00:2024-12-31")
        .unwrap();
    dataset.declare_unit_bounds("cost=0:5000").unwrap();
    dataset
        .declare_keys(r#"city= Bern , "a,b","", "say ""hi""",NULL"#)
        .unwrap();
    dataset.declare_keys("sick=true,false").unwrap();
    dataset.declare_keys("day=2024-01-01,2024-02-29").unwrap();
    dataset.check().unwrap();
    let bounds = |name: &str| {
        let bounds = dataset.column(name).unwrap().bounds.unwrap();
        (bounds.low, bounds.high)
    };
    assert_eq!(bounds("age"), (0.0, 110.0));
    assert_eq!(bounds("cost"), (-0.5, 1000.0));
    assert_eq!(bounds("day"), (19_723.0, 20_088.0));
    assert_eq!(bounds("a=b"), (1.0, 2.0));
    let day = 86_400e6;
    assert_eq!(
        bounds("at"),
        (19_723.0 * day + 37_800e6, 20_089.0 * day - 1.0)
    );
    let keys = dataset.column("city").unwrap().keys.clone().unwrap();
    let texts = ["Bern", "a,b", "", r#"say "hi""#].map(|text| Value::Text(text.into()));
    assert_eq!(keys[..4], texts);
    assert_eq!(keys[4], Value::Null);
    there_and_back(&dataset);
    dataset.declare_type("age=FLOAT").unwrap();
    assert_eq!(dataset.column("age").unwrap().kind, Type::Number);
}

#[test]
fn malformed_declarations_are_refused() {
    let bounds = |text: &str| code(visits().declare_bounds(text));
    for (text, expected) in [
        ("age", "MZ1874"),
        ("Age=0:110", "MZ1868"),
        ("=0:110", "MZ1868"),
        ("age=0", "MZ1872"),
        ("age=0:", "MZ1872"),
        ("age=110:0", "MZ1872"),
        ("age=0.5:2", "MZ1872"),
        ("cost=0:inf", "MZ1872"),
        ("cost=nan:1", "MZ1872"),
        ("cost=0:1e999", "MZ1872"),
        ("day=0:1", "MZ1872"),
        ("day=2024-01-01:2023-12-31", "MZ1872"),
        ("city=a:b", "MZ1872"),
    ] {
        assert_eq!(bounds(text), expected, "{text}");
    }
    let keys = |text: &str| code(visits().declare_keys(text));
    for (text, expected) in [
        ("city", "MZ1874"),
        ("city=", "MZ1874"),
        ("city=a,,b", "MZ1874"),
        ("city=a,", "MZ1874"),
        (r#"city="a"#, "MZ1874"),
        (r#"city="a"b"#, "MZ1874"),
        (r#"city=a"b"#, "MZ1874"),
        ("age=one", "MZ1873"),
        ("town=a", "MZ1868"),
    ] {
        assert_eq!(keys(text), expected, "{text}");
    }
    assert_eq!(code(visits().declare_type("age=years")), "MZ1875");
    let error = visits().declare_bounds("Age=0:1").unwrap_err();
    assert_eq!(error.help(), "did you mean \"age\"?");
    let error = visits().declare_bounds("persn=0:1").unwrap_err();
    assert_eq!(error.help(), "did you mean \"person\"?");
}

#[test]
fn descriptions_that_are_refused() {
    let refused = |change: fn(&mut Dataset)| {
        let mut dataset = visits();
        change(&mut dataset);
        let json = dataset.to_json();
        assert!(Dataset::from_json(&json).is_err(), "{json}");
        code(dataset.check())
    };
    assert_eq!(refused(|d| d.name.clear()), "MZ1863");
    assert_eq!(refused(|d| d.name = "a\u{1b}[2J".into()), "MZ1863");
    assert_eq!(refused(|d| d.columns[1].name = "x".repeat(129)), "MZ1863");
    assert_eq!(refused(|d| d.source.clear()), "MZ1864");
    assert_eq!(refused(|d| d.columns[1].name = "a\nb".into()), "MZ1863");
    assert_eq!(refused(|d| d.columns[1].name = "city".into()), "MZ1867");
    assert_eq!(refused(|d| d.columns.clear()), "MZ1869");
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().unit.clear()),
        "MZ1870"
    );
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().unit.push("person".into())),
        "MZ1870"
    );
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().unit.push("who".into())),
        "MZ1868"
    );
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().rows_per_unit = Some(0)),
        "MZ1871"
    );
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().groups_per_unit = Some(1 << 40)),
        "MZ1871"
    );
    assert_eq!(
        refused(|d| d.privacy.as_mut().unwrap().account.clear()),
        "MZ1863"
    );
    assert_eq!(
        refused(|d| d.columns[3].bounds = Bounds::new(0.0, 1.0)),
        "MZ1872"
    );
    assert_eq!(
        refused(|d| d.columns[1].bounds = Bounds::new(0.5, 1.0)),
        "MZ1872"
    );
    assert_eq!(
        refused(|d| d.columns[4].bounds = Bounds::new(0.0, 3e6)),
        "MZ1872"
    );
    assert_eq!(
        refused(|d| d.columns[4].unit_bounds = Bounds::new(0.0, 3.0)),
        "MZ1872"
    );
    assert_eq!(refused(|d| d.columns[1].keys = Some(vec![])), "MZ1873");
    let twice = |d: &mut Dataset| d.columns[1].keys = Some(vec![Value::Integer(1); 2]);
    assert_eq!(refused(twice), "MZ1873");
    let wrong = |d: &mut Dataset| d.columns[1].keys = Some(vec![Value::Text("1".into())]);
    assert_eq!(refused(wrong), "MZ1873");
    let outside = |d: &mut Dataset| {
        d.columns[1].bounds = Bounds::new(0.0, 10.0);
        d.columns[1].keys = Some(vec![Value::Integer(11)]);
    };
    assert_eq!(refused(outside), "MZ1873");
}

#[test]
fn json_that_is_refused() {
    let parse = |json: Json| code(Catalogue::from_json(&json));
    assert_eq!(parse(json!([])), "MZ1860");
    assert_eq!(parse(json!({})), "MZ1862");
    assert_eq!(
        parse(json!({"mizan_catalogue": 2, "datasets": []})),
        "MZ1862"
    );
    assert_eq!(parse(json!({"mizan_catalogue": 1})), "MZ1860");
    assert_eq!(
        parse(json!({"mizan_catalogue": 1, "datasets": [], "x": 1})),
        "MZ1861"
    );
    let good = visits().to_json();
    let twice = json!({"mizan_catalogue": 1, "datasets": [good, good]});
    assert_eq!(parse(twice), "MZ1865");
    let with = |path: &str, value: Json| {
        let mut dataset = visits().to_json();
        *dataset.pointer_mut(path).unwrap() = value;
        parse(json!({"mizan_catalogue": 1, "datasets": [dataset]}))
    };
    assert_eq!(with("/name", json!(1)), "MZ1860");
    assert_eq!(with("/columns", json!({})), "MZ1860");
    assert_eq!(with("/columns/0/type", json!("int")), "MZ1860");
    assert_eq!(with("/columns/1/bounds", json!([1])), "MZ1872");
    assert_eq!(with("/columns/1/bounds", json!([2, 1])), "MZ1872");
    assert_eq!(with("/columns/1/bounds", json!(["a", 1])), "MZ1872");
    assert_eq!(with("/columns/1/keys", json!(["1"])), "MZ1873");
    assert_eq!(with("/columns/1/keys", json!([1.5])), "MZ1873");
    assert_eq!(with("/columns/4/keys", json!(["2024-02-30"])), "MZ1873");
    assert_eq!(with("/columns/1/keys", json!("a")), "MZ1860");
    assert_eq!(with("/privacy", json!([])), "MZ1860");
    assert_eq!(with("/privacy/unit", json!([1])), "MZ1860");
    assert_eq!(with("/privacy/rows_per_unit", json!(-1)), "MZ1860");
    assert_eq!(
        with(
            "/columns/0",
            json!({"name": "x", "type": "integer", "bound": 1})
        ),
        "MZ1861"
    );
    assert!(
        Dataset::from_json(&json!({
            "name": "n", "source": "s", "columns": [{"name": "x", "type": "integer"}],
        }))
        .is_ok()
    );
}

#[test]
fn names_are_found_and_suggested() {
    let mut catalogue = Catalogue::default();
    catalogue.add(visits()).unwrap();
    assert_eq!(code(catalogue.add(visits())), "MZ1865");
    assert!(catalogue.dataset("visits").is_ok());
    let error = catalogue.dataset("Visit").unwrap_err();
    assert_eq!(error.help(), "did you mean \"visits\"?");
    let error = catalogue.dataset(&"é".repeat(100_000)).unwrap_err();
    assert!(error.help().contains("dataset list"));
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn bounds_and_keys_survive_json(
        low in any::<f64>(),
        high in any::<f64>(),
        number in any::<f64>(),
        integer in any::<i64>(),
        day in -719_162_i32..=2_932_896,
        time in -62_135_596_800_000_000_i64..=253_402_300_799_999_999,
        text in any::<String>(),
    ) {
        let mut dataset = visits();
        dataset.columns[2].bounds = Bounds::new(low.min(high), low.max(high));
        dataset.columns[1].keys = Some(vec![Value::Integer(integer), Value::Null]);
        if number.is_finite() {
            dataset.columns[7].kind = Type::Number;
            dataset.columns[7].keys = Some(vec![Value::number(number)]);
        }
        dataset.columns[3].keys = Some(vec![Value::Text(text)]);
        dataset.columns[4].keys = Some(vec![Value::Date(day)]);
        dataset.columns[4].bounds = Bounds::new(f64::from(day), f64::from(day));
        dataset.columns[5].keys = Some(vec![Value::Timestamp(time)]);
        dataset.columns[5].bounds = Bounds::new(time as f64, time as f64);
        there_and_back(&dataset);
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>(), rest in r#"[a"', :=0-9NUL.-]{0,12}"#) {
        let mut dataset = visits();
        for name in ["age", "city", "cost", "day", "at", "sick"] {
            for rest in [&text, &rest] {
                let argument = format!("{name}={rest}");
                let _ = dataset.declare_bounds(&argument);
                let _ = dataset.declare_keys(&argument);
                let _ = dataset.declare_type(&argument);
            }
        }
        let _ = dataset.declare_keys(&text);
    }
}

/// The files of a dataset survive a round trip, and catalogues without them still open.
#[test]
fn files_of_a_dataset_survive_json() {
    let mut dataset = visits();
    let text = dataset.to_json().to_string();
    assert!(!text.contains("files"), "{text}");
    let file = |inode, created| FileIdentity {
        device: u64::MAX,
        inode,
        created,
    };
    dataset.files = vec![file(7, None), file(u64::MAX, Some(1))];
    there_and_back(&dataset);
    let mut json = dataset.to_json();
    json["files"] = json!([["x", 1]]);
    assert_eq!(code(Dataset::from_json(&json)), "MZ1860");
    // An inode number that is used again for another file.
    assert!(file(7, None).is_same(&file(7, Some(3))));
    assert!(file(7, Some(3)).is_same(&file(7, Some(3))));
    assert!(!file(7, Some(2)).is_same(&file(7, Some(3))));
    assert!(!file(6, None).is_same(&file(7, None)));
}
