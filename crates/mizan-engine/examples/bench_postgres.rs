//! The statements of `bench_sql` in PostgreSQL: private against plain, interleaved in one run.
//!
//! ```text
//! cargo run --release -p mizan-sql -p mizan-engine --example bench_postgres -- [--without-index] URL [SCALE] [ROUNDS] [QUERY]...
//! ```
//!
//! Tables are generated once, as in `bench_sql`, and copied into the database. The unit columns
//! have an index, as keys usually have; `--without-index` drops it. The time is wall-clock
//! time: the server does the work. Every private run starts without cached counts.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark may panic"
)]

#[allow(dead_code, reason = "the part that is about files")]
#[path = "bench_sql.rs"]
mod bench_sql;

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use bench_sql::{QUERIES, TABLES, catalogue, file, make, visits_file};
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use futures::StreamExt as _;
use mizan_engine::{EngineSet, measure};
use postgres::{Client, NoTls};

/// Private tables and their unit columns.
const UNITS: [(&str, &str); 4] = [
    ("lineitem", "l_custkey"),
    ("orders", "o_custkey"),
    ("customer", "c_custkey"),
    ("visits", "person"),
];

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let without_index = arguments.next_if_eq("--without-index").is_some();
    let url = arguments.next().expect("the address of a database");
    let scale: f64 = arguments.next().map_or(1.0, |scale| scale.parse().unwrap());
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let wanted: Vec<String> = arguments.collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = make(scale, &runtime);
    let mut client = Client::connect(&url, NoTls).unwrap();
    let schema = format!("tpch_{}", scale.to_string().replace('.', "_"));
    let found = client.query("SELECT FROM pg_namespace WHERE nspname = $1", &[&schema]);
    if found.unwrap().is_empty() {
        client
            .batch_execute(&format!("CREATE SCHEMA {schema}"))
            .unwrap();
        for table in TABLES {
            copy(
                &runtime,
                &mut client,
                &schema,
                table,
                &file(&directory, table),
            );
        }
        copy(&runtime, &mut client, &schema, "visits", &visits_file());
        client.batch_execute("VACUUM ANALYZE").unwrap();
    }
    client
        .batch_execute(&format!("SET search_path = {schema}"))
        .unwrap();
    for (table, column) in UNITS {
        let index = format!("{table}_of_person");
        let sql = match without_index {
            true => format!("DROP INDEX IF EXISTS {index}"),
            false => format!("CREATE INDEX IF NOT EXISTS {index} ON {table} ({column})"),
        };
        client.batch_execute(&sql).unwrap();
    }
    let mut catalogue = catalogue(&directory);
    for (name, dataset) in &mut catalogue.datasets {
        dataset.source = format!("{url}/{schema}.{name}?timeout=3600");
    }
    println!("scale {scale}, {rounds} rounds, medians, ms");
    println!("query      plain private ratio");
    for (name, plain, private) in QUERIES {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        let plan = mizan_sql::plan(private, &catalogue).unwrap();
        let (mut plains, mut privates) = (Vec::new(), Vec::new());
        for _ in 0..=rounds {
            let start = Instant::now();
            client.query(plain, &[]).unwrap();
            plains.push(start.elapsed().as_secs_f64() * 1e3);
            let engine = EngineSet::new().unwrap();
            privates.push(measure(&engine, &plan, &catalogue).unwrap().as_secs_f64() * 1e3);
        }
        // The first round warms the caches.
        let (plain, private) = (median(&plains[1..]), median(&privates[1..]));
        println!("{name:9} {plain:7.0} {private:7.0} {:5.2}", private / plain);
    }
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Copies a file into a table with the types of the specification.
fn copy(
    runtime: &tokio::runtime::Runtime,
    client: &mut Client,
    schema: &str,
    table: &str,
    path: &Path,
) {
    let context = SessionContext::new();
    let options = ParquetReadOptions::default();
    let frame = runtime
        .block_on(context.read_parquet(path.to_str().unwrap(), options))
        .unwrap();
    let columns: Vec<String> = frame
        .schema()
        .fields()
        .iter()
        .map(|field| format!("{} {}", field.name(), declared(field.data_type())))
        .collect();
    let create = format!("CREATE TABLE {schema}.{table} ({})", columns.join(", "));
    client.batch_execute(&create).unwrap();
    let mut writer = client
        .copy_in(&format!("COPY {schema}.{table} FROM STDIN"))
        .unwrap();
    let mut stream = runtime.block_on(frame.execute_stream()).unwrap();
    while let Some(batch) = runtime.block_on(stream.next()) {
        let batch = batch.unwrap();
        let options = FormatOptions::default();
        let columns: Vec<ArrayFormatter<'_>> = batch
            .columns()
            .iter()
            .map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = columns
                .iter()
                .map(|cell| cell.value(row).to_string())
                .collect();
            writeln!(writer, "{}", cells.join("\t")).unwrap();
        }
    }
    writer.finish().unwrap();
}

fn declared(kind: &DataType) -> String {
    match kind {
        DataType::Int32 => "integer".to_owned(),
        DataType::Int64 => "bigint".to_owned(),
        DataType::Float64 => "double precision".to_owned(),
        DataType::Date32 => "date".to_owned(),
        DataType::Decimal128(precision, scale) => format!("numeric({precision}, {scale})"),
        _ => "text".to_owned(),
    }
}
