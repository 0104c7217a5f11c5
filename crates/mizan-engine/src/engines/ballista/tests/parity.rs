//! Typical queries, random plans and CSV: the integers before the noise are those of the oracle
//! and of the embedded engine.

use std::fmt::Write as _;
use std::fs;

use mizan_sql::{Type, Value};

use super::cluster::{Cluster, run};
use crate::DataFusion;
use crate::engines::datafusion::tests::files::{by_last, catalogue};
use crate::engines::datafusion::tests::parquet::{layouts, write_texts};
use crate::engines::generate::{self, Rng, plan_variants};
use crate::engines::test_queries::{self, TEST_QUERIES};
use crate::oracle;

#[test]
fn queries_have_the_same_integers_on_every_engine() {
    let cluster = Cluster::of(2);
    let (engine, embedded) = (cluster.engine(), DataFusion::with_partitions(2).unwrap());
    let mut rng = Rng::new(11);
    let mut catalogue = test_queries::catalogue();
    let data = test_queries::data(&mut rng);
    cluster.fill("questions", &mut catalogue, &data, || 3);
    for sql in TEST_QUERIES {
        let plan = mizan_sql::plan(sql, &catalogue).unwrap();
        let salt = rng.salt();
        let expected = oracle::run(&plan, &catalogue, &data, &salt);
        assert!(!expected.is_empty(), "{sql}");
        let found = run(&embedded, &plan, &catalogue, salt);
        assert_eq!(found.as_ref(), Ok(&expected), "{sql}");
        let found = run(&engine, &plan, &catalogue, salt);
        assert_eq!(found.as_ref(), Ok(&expected), "{sql}");
    }
}

#[test]
fn a_cluster_agrees_with_the_oracle() {
    let cluster = Cluster::of(2);
    let engine = cluster.engine();
    let rounds = std::env::var("MIZAN_ENGINE_ROUNDS").map_or(60, |rounds| rounds.parse().unwrap());
    let from: u64 = std::env::var("MIZAN_ENGINE_SEED").map_or(0, |seed| seed.parse().unwrap());
    let mut failures: Vec<(usize, u64, String)> = Vec::new();
    // First the seeds on which DataFusion failed, and plans with parts that have no rows.
    let tripped = [
        1554, 2223, 3010, 5186, 101_085, 1384, 1070, 1346, 1359, 1232,
    ];
    for seed in tripped.into_iter().chain(from..from + rounds) {
        let mut rng = Rng::new(seed);
        let mut catalogue = generate::catalogue(&mut rng);
        let data = generate::data(&mut rng, &catalogue);
        let plan = generate::plan(&mut rng, &catalogue);
        let plan = plan_variants::first_rows(&mut Rng::new(!seed), plan);
        let plan = plan_variants::clipped(&mut Rng::new(!seed ^ 1), plan);
        let plan = plan_variants::uncapped(&mut Rng::new(!seed ^ 2), plan);
        let salt = rng.salt();
        cluster.fill(&seed.to_string(), &mut catalogue, &data, || {
            rng.one(&[1, 2, 5])
        });
        let expected = oracle::run(&plan, &catalogue, &data, &salt);
        let found = run(&engine, &plan, &catalogue, salt);
        if found.as_ref() != Ok(&expected) {
            let size = format!("{plan:?}").len();
            let text = format!("seed {seed}\n{plan:?}\n{found:?}\n{expected:?}");
            failures.push((size, seed, text));
        }
        fs::remove_dir_all(cluster.path(&seed.to_string())).unwrap();
    }
    failures.sort();
    for (_, _, text) in failures.iter().take(3) {
        eprintln!("{text}\n");
    }
    let seeds: Vec<u64> = failures.iter().map(|(_, seed, _)| *seed).collect();
    assert!(failures.is_empty(), "{} differ: {seeds:?}", failures.len());
}

/// CSV files, some with malformed rows: executors read them like this machine.
#[test]
fn executors_read_csv_like_this_machine() {
    let cluster = Cluster::of(2);
    let (engine, embedded) = (cluster.engine(), DataFusion::with_partitions(2).unwrap());
    let mut rng = Rng::new(5);
    let mut catalogue = test_queries::catalogue();
    let data = test_queries::data(&mut rng);
    for (name, dataset) in &mut catalogue.datasets {
        let directory = cluster.path("csv é").join(name);
        fs::create_dir_all(&directory).unwrap();
        let header: Vec<&str> = dataset.columns.iter().map(|c| c.name.as_str()).collect();
        for (place, rows) in data[name].chunks(data[name].len().div_ceil(3)).enumerate() {
            let mut text = format!("{}\n", header.join(","));
            for row in rows {
                let fields: Vec<String> = row.iter().map(field).collect();
                writeln!(text, "{}", fields.join(",")).unwrap();
            }
            text.push_str("p1,short\n,,,,,,,,too long,\n\"p2\u{0}\n");
            fs::write(directory.join(format!("{place}.csv")), text).unwrap();
        }
        dataset.source = directory.to_str().unwrap().to_owned();
        for column in &mut dataset.columns {
            if column.kind == Type::Boolean {
                column.bounds = None;
            }
        }
    }
    for sql in TEST_QUERIES {
        let plan = mizan_sql::plan(sql, &catalogue).unwrap();
        let salt = rng.salt();
        let expected = run(&embedded, &plan, &catalogue, salt).unwrap();
        assert!(!expected.is_empty(), "{sql}");
        let found = run(&engine, &plan, &catalogue, salt);
        assert_eq!(found.as_ref(), Ok(&expected), "{sql}");
    }
}

/// A Parquet file with one text that is not UTF-8: executors read it like this machine.
#[test]
fn text_that_is_not_utf8_is_null_on_a_cluster() {
    let cluster = Cluster::of(2);
    let (engine, embedded) = (cluster.engine(), DataFusion::with_partitions(2).unwrap());
    let directory = cluster.path("bytes é");
    fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.parquet");
    let columns = [("u", Type::Integer), ("x", Type::Text)];
    for cell in [b"word 7".to_vec(), b"\xff".to_vec()] {
        let mut texts: Vec<_> = (0..3000)
            .map(|unit| Some(format!("word {}", unit % 9).into_bytes()))
            .collect();
        texts[1700] = Some(cell.clone());
        write_texts(&path, "(UTF8)", &texts, 700, layouts().remove(0));
        let catalogue = catalogue(&path, &columns);
        let plan = by_last(&catalogue);
        let expected = run(&embedded, &plan, &catalogue, [3; 16]).unwrap();
        let found = run(&engine, &plan, &catalogue, [3; 16]);
        assert_eq!(found.as_ref(), Ok(&expected));
        assert_eq!(expected.len(), if cell == b"\xff" { 10 } else { 9 });
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) => format!("\"{}\"", text.replace('"', "\"\"")),
        other => other.to_string(),
    }
}
