//! Typical queries for tests of every engine: every aggregate, keys, joins, unions, nested
//! queries, over people, their visits and wards.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Field, Schema as Fields};
use datafusion::datasource::MemTable;
use mizan_sql::{Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};

use super::generate::Rng;
use crate::oracle::{Data, Rows};

fn column(name: &str, kind: Type) -> DatasetColumn {
    DatasetColumn::new(name, kind)
}

fn bounded(name: &str, kind: Type, low: f64, high: f64) -> DatasetColumn {
    column(name, kind).bounded(low, high)
}

/// People, their visits, and the wards that visits are to.
pub(crate) fn catalogue() -> Catalogue {
    let private = |name: &str, columns: Vec<DatasetColumn>| Dataset {
        files: Vec::new(),
        name: name.to_owned(),
        source: String::new(),
        privacy: Some(Privacy {
            unit: vec!["person".into()],
            account: "all".into(),
            rows_per_unit: Some(4),
            groups_per_unit: Some(2),
        }),
        columns,
    };
    let mut ward = column("ward", Type::Text);
    ward.keys = Some(
        ["dental", "eyes", "é", ""]
            .map(|key| Value::Text(key.into()))
            .to_vec(),
    );
    let visits = private(
        "visits",
        vec![
            column("person", Type::Text),
            ward,
            bounded("cost", Type::Number, 0.0, 100.0),
            bounded("age", Type::Integer, 0.0, 120.0),
            bounded("day", Type::Date, 19_000.0, 19_100.0),
            bounded("at", Type::Timestamp, 1.6e15, 1.7e15),
            column("paid", Type::Boolean),
            column("note", Type::Text),
        ],
    );
    let people = private(
        "people",
        vec![
            column("person", Type::Text),
            column("city", Type::Text),
            bounded("born", Type::Integer, 1900.0, 2020.0),
        ],
    );
    let wards = Dataset {
        files: Vec::new(),
        name: "wards".into(),
        source: String::new(),
        privacy: None,
        columns: vec![column("ward", Type::Text), column("floor", Type::Integer)],
    };
    Catalogue::from_iter([visits, people, wards])
}

/// Rows, some with unusual values.
pub(crate) fn data(rng: &mut Rng) -> Data {
    let text = |text: &str| Value::Text(text.to_owned());
    let person = |rng: &mut Rng| match rng.below(25) {
        0 => Value::Null,
        1 => text(""),
        n => Value::Text(format!("p{n}")),
    };
    let mut visits = Rows::new();
    for _ in 0..400 {
        let mut row = vec![
            person(rng),
            text(rng.one(&["dental", "eyes", "é", "", "other", "Dental"])),
            Value::number(rng.one(&[0.0, 12.5, 99.99, -3.0, 1e300, f64::INFINITY, 0.1, 5e-324])),
            Value::Integer(rng.one(&[0, 17, 18, 65, 119, i64::MAX, i64::MIN])),
            Value::Date(rng.one(&[19_000, 19_031, 19_050, 19_099, 0, 30_000])),
            Value::Timestamp(rng.one(&[1_650_000_000_123_456, 1_700_000_000_000_000, 0, -1])),
            Value::Boolean(rng.chance(60)),
            text(rng.one(&["", "a", "12", " 7 ", "1e3", "x'y", "🦀", "2022-02-03"])),
        ];
        let place = 1 + rng.below(7);
        if rng.chance(20) {
            row[place] = Value::Null;
        }
        visits.push(row);
    }
    let mut people = Rows::new();
    for _ in 0..60 {
        let city = text(rng.one(&["Cairo", "Aswan", "cairo"]));
        people.push(vec![
            person(rng),
            city,
            Value::Integer(rng.one(&[1900, 1980, 2019, 3000])),
        ]);
    }
    let wards = ["dental", "eyes", "é"].map(|ward| vec![text(ward), Value::Integer(1)]);
    Data::from([
        ("visits".to_owned(), visits),
        ("people".to_owned(), people),
        ("wards".to_owned(), wards.to_vec()),
    ])
}

/// The rows of a dataset as a DataFusion batch.
pub(crate) fn batch(dataset: &Dataset, rows: &Rows) -> RecordBatch {
    use super::datafusion::values::{array_of, data_type};
    let fields = dataset.columns.iter();
    let fields = fields.map(|column| Field::new(&column.name, data_type(column.kind), true));
    let schema = Arc::new(Fields::new(fields.collect::<Vec<_>>()));
    let arrays = dataset.columns.iter().enumerate();
    let arrays = arrays
        .map(|(place, column)| array_of(column.kind, rows.iter().map(|row| row[place].clone())));
    RecordBatch::try_new(schema, arrays.collect()).unwrap()
}

/// All rows as tables in memory.
pub(crate) fn tables(catalogue: &Catalogue, data: &Data) -> super::datafusion::Tables {
    let mut tables = super::datafusion::Tables::new();
    for (name, dataset) in &catalogue.datasets {
        let batch = batch(dataset, &data[name]);
        let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
        tables.insert(name.clone(), Arc::new(table));
    }
    tables
}

/// The queries.
pub(crate) const TEST_QUERIES: [&str; 24] = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(DISTINCT person), COUNT(cost), COUNT(DISTINCT note) FROM visits",
    "SELECT ward, COUNT(*), SUM(cost), AVG(cost), VAR_SAMP(cost), STDDEV(age) FROM visits GROUP BY ward",
    "SELECT ward, SUM(age), AVG(age) FROM visits WHERE paid AND cost > 10 GROUP BY ward",
    "SELECT MIN(cost), MAX(cost), MEDIAN(age), quantile(cost, 0.9) FROM visits",
    "SELECT MEDIAN(day), MAX(at) FROM visits",
    "SELECT note, COUNT(*) FROM visits GROUP BY note",
    "SELECT note, ward, COUNT(DISTINCT age) FROM visits GROUP BY note, ward",
    "SELECT bucket(age, 10) AS decade, COUNT(*) FROM visits GROUP BY decade",
    "SELECT date_trunc('month', day) AS month, COUNT(*), SUM(cost) FROM visits GROUP BY month",
    "SELECT date_trunc('hour', at) AS hour, COUNT(*) FROM visits GROUP BY hour",
    "SELECT EXTRACT(dow FROM day) AS d, COUNT(*) FROM visits GROUP BY d",
    "SELECT CASE WHEN cost / age > 1 THEN 'dear' WHEN age IS NULL THEN 'unknown' ELSE 'cheap' END AS k, COUNT(*) FROM visits GROUP BY k",
    "SELECT COUNT(*) FILTER (WHERE note LIKE '%a%'), SUM(cost * 2 - age) FROM visits WHERE COALESCE(note, 'x') <> 'a'",
    "SELECT paid, SUM(CAST(note AS INTEGER) % 5) FROM (SELECT person, paid, CASE WHEN note IN ('12', ' 7 ') THEN note END AS note FROM visits) GROUP BY paid",
    "SELECT upper(ward) AS w, COUNT(*) FROM visits WHERE length(note) < 3 GROUP BY w",
    "SELECT p.city, COUNT(*), SUM(v.cost) FROM visits v JOIN people p ON v.person = p.person GROUP BY p.city",
    "SELECT p.city, COUNT(v.cost) FROM people p LEFT JOIN visits v ON v.person = p.person AND v.age > 17 GROUP BY p.city",
    "SELECT w.floor, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY w.floor",
    "SELECT COUNT(*), SUM(x) FROM (SELECT person, cost AS x FROM visits UNION ALL SELECT person, CAST(born AS DOUBLE) FROM people)",
    "SELECT AVG(n) FROM (SELECT person, LEAST(COUNT(*), 5) AS n FROM visits GROUP BY person)",
    "SELECT c, COUNT(*) FROM (SELECT person, COUNT(DISTINCT ward) AS c, MAX(paid) AS p, MIN(note) AS m FROM visits GROUP BY person) WHERE p AND m < 'b' GROUP BY c",
    "WITH dear AS (SELECT person, SUM(cost) AS total FROM visits GROUP BY person) SELECT bucket(LEAST(total, 200), 50) AS b, COUNT(*) FROM dear WHERE total > 20 GROUP BY b",
    "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 3 ORDER BY 2 DESC LIMIT 2",
];
