//! Joins with public tables on neighbouring datasets, for tests of every engine.

use std::fs::File;
use std::path::Path;

use mizan_sql::{BoundedPlan, Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};
use parquet::arrow::ArrowWriter;

use crate::engine::EngineError;
use crate::engines::test_queries::batch;
use crate::exact::ExactAggregates;
use crate::oracle::{self, Data, Rows};

/// The number of rows of the large public table; its key `k` is unique.
const LARGE: i64 = 10_000;

/// Private visits; public labels of people (one each) and months of wards (twelve each, and
/// many without a ward).
pub(crate) fn catalogue() -> Catalogue {
    let column = |name: &str, kind: Type| DatasetColumn {
        bounds: match kind {
            Type::Number => Bounds::new(0.0, 100.0),
            _ => None,
        },
        ..DatasetColumn::new(name, kind)
    };
    let private = Privacy {
        unit: vec!["person".into()],
        account: "all".into(),
        rows_per_unit: Some(60),
        groups_per_unit: Some(24),
    };
    let datasets = [
        (
            "visits",
            Some(private),
            vec![
                column("person", Type::Integer),
                column("ward", Type::Text),
                column("cost", Type::Number),
            ],
        ),
        (
            "large",
            None,
            vec![column("k", Type::Integer), column("label", Type::Text)],
        ),
        (
            "months",
            None,
            vec![column("ward", Type::Text), column("month", Type::Integer)],
        ),
    ];
    let datasets = datasets.map(|(name, privacy, columns)| {
        let dataset = Dataset {
            name: name.to_owned(),
            source: String::new(),
            files: Vec::new(),
            privacy,
            columns,
        };
        (name.to_owned(), dataset)
    });
    Catalogue {
        datasets: datasets.into(),
    }
}

/// Rows with or without the only person of the ward `rare`.
pub(crate) fn data(with: bool) -> Data {
    let text = |text: &str| Value::Text(text.to_owned());
    let wards = ["dental", "eyes", "none"];
    let mut visits = Rows::new();
    for visit in 0..120_u8 {
        visits.push(vec![
            Value::Integer(i64::from(visit % 50)),
            text(wards[usize::from(visit) % 3]),
            Value::number(f64::from(visit) / 2.0),
        ]);
    }
    if with {
        visits.push(vec![Value::Integer(999), text("rare"), Value::number(7.0)]);
    }
    let large = (0..LARGE).map(|k| vec![Value::Integer(k), Value::Text(format!("l{}", k % 7))]);
    let wards = ["dental", "eyes", "rare"].into_iter();
    let months = wards.flat_map(|ward| {
        (1..=12).map(move |month| vec![Value::Text(ward.to_owned()), Value::Integer(month)])
    });
    // A NULL key equals nothing.
    let nowhere = (0..2000).map(|month| vec![Value::Null, Value::Integer(month % 12)]);
    Data::from([
        ("visits".to_owned(), visits),
        ("large".to_owned(), large.collect()),
        ("months".to_owned(), months.chain(nowhere).collect()),
    ])
}

/// Queries refused because of the fan-out, which depends on public rows only.
pub(crate) const REFUSED: [&str; 6] = [
    "SELECT COUNT(*) FROM visits v CROSS JOIN large a WHERE v.ward = 'rare'",
    "SELECT COUNT(*) FROM visits v CROSS JOIN large a CROSS JOIN large b WHERE v.ward = 'rare'",
    "SELECT SUM(v.cost) FROM visits v CROSS JOIN large a CROSS JOIN large b CROSS JOIN large c WHERE v.ward = 'rare'",
    "SELECT COUNT(*) FROM visits v LEFT JOIN large a ON a.k > v.person WHERE v.ward = 'rare'",
    "SELECT COUNT(*) FROM visits v JOIN months a ON v.ward = a.ward JOIN months b ON v.ward = b.ward JOIN months c ON v.ward = c.ward",
    "SELECT COUNT(*) FROM (SELECT person FROM visits UNION ALL SELECT v.person FROM visits v CROSS JOIN large a WHERE v.ward = 'rare')",
];

/// Queries that are answered, with the integers of the oracle.
pub(crate) const ANSWERED: [&str; 6] = [
    "SELECT l.label, COUNT(*), SUM(v.cost) FROM visits v JOIN large l ON v.person = l.k GROUP BY l.label",
    "SELECT COUNT(l.k), SUM(v.cost) FROM visits v LEFT JOIN large l ON v.person = l.k AND l.label = 'l3'",
    "SELECT m.month, COUNT(*), SUM(v.cost) FROM visits v JOIN months m ON v.ward = m.ward GROUP BY m.month",
    "SELECT COUNT(*), COUNT(m.month) FROM visits v LEFT JOIN months m ON v.ward = m.ward WHERE v.ward <> 'eyes'",
    "SELECT AVG(n) FROM (SELECT v.person, LEAST(COUNT(*), 50) AS n FROM visits v JOIN months m ON v.ward = m.ward GROUP BY v.person)",
    "SELECT COUNT(*) FROM visits v JOIN months m ON v.ward = m.ward JOIN visits w ON v.person = w.person WHERE m.month < 3",
];

/// Both neighbours have the same outcome: a refusal with the same message, or the integers of
/// the oracle.
pub(crate) fn neighbours(
    mut fill: impl FnMut(&str, &mut Catalogue, &Data),
    run: impl Fn(&BoundedPlan, &Catalogue, [u8; 16]) -> Result<ExactAggregates, EngineError>,
) {
    let mut refused: Vec<Vec<String>> = Vec::new();
    for with in [false, true] {
        let (mut catalogue, data) = (catalogue(), data(with));
        fill(if with { "with" } else { "without" }, &mut catalogue, &data);
        let plan = |sql: &str| mizan_sql::plan(sql, &catalogue).unwrap();
        let messages = REFUSED.iter().map(|sql| {
            let error = run(&plan(sql), &catalogue, [3; 16]).unwrap_err();
            assert_eq!(error.code(), "MZ1940", "{sql}: {error}");
            error.to_string()
        });
        refused.push(messages.collect());
        for sql in ANSWERED {
            let plan = plan(sql);
            let expected = oracle::run(&plan, &catalogue, &data, &[3; 16]);
            assert!(!expected.is_empty(), "{sql}");
            assert_eq!(run(&plan, &catalogue, [3; 16]), Ok(expected), "{sql}");
        }
    }
    assert_eq!(refused[0], refused[1]);
}

/// Writes these rows as Parquet files, and their paths into the catalogue.
pub(crate) fn write_files(directory: &Path, catalogue: &mut Catalogue, data: &Data) {
    std::fs::create_dir_all(directory).unwrap();
    for (name, dataset) in &mut catalogue.datasets {
        let path = directory.join(format!("{name}.parquet"));
        let batch = batch(dataset, &data[name]);
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        dataset.source = path.to_str().unwrap().to_owned();
    }
}
