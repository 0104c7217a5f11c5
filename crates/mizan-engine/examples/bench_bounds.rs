//! The memory bound of a query beside the peak memory of a process that runs it, and the
//! estimate of its time beside the CPU time that it took.
//!
//! ```text
//! cargo run --release -p mizan-sql -p mizan-engine --example bench_bounds -- [SCALE] [QUERY]...
//! ```
//!
//! The queries are those of `bench_sql`, and others over tables in which every row is a unit,
//! which is the worst case for the memory of operators. Each runs in its own process.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a benchmark may panic"
)]

#[allow(dead_code, reason = "the part that is about time")]
#[path = "bench_sql.rs"]
mod bench_sql;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bench_sql::{QUERIES, catalogue, make};
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::SessionContext;
use mizan_engine::{DataFusion, plan_bound, run_within};
use mizan_sql::{BoundedPlan, Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type};

/// The rows of the tables in which every row is a unit: a power of two, so that rounding to a
/// size class does not increase it.
const PEOPLE: u64 = 1 << 20;

/// The environment variable of the measured child process: the name of its query.
const CHILD: &str = "MIZAN_BOUND_OF";

/// Queries over `people` (Parquet) and `people_csv`. `@` is a text of 2,000 bytes.
const OTHERS: [(&str, &str); 22] = [
    ("count", "SELECT COUNT(*) FROM people"),
    (
        "sums",
        "SELECT SUM(cost), SUM(minutes), AVG(cost), AVG(minutes) FROM people",
    ),
    (
        "by ward",
        "SELECT ward, COUNT(*), AVG(cost), SUM(minutes) FROM people GROUP BY ward",
    ),
    (
        "by age",
        "SELECT minutes, COUNT(*), SUM(cost) FROM people GROUP BY minutes",
    ),
    ("by note", "SELECT note, COUNT(*) FROM people GROUP BY note"),
    (
        "by lower note",
        "SELECT lower(note) AS l, COUNT(*) FROM people GROUP BY lower(note)",
    ),
    ("distinct", "SELECT COUNT(DISTINCT note) FROM people"),
    ("median", "SELECT MEDIAN(cost) FROM people"),
    (
        "median by ward",
        "SELECT ward, MEDIAN(cost), MEDIAN(minutes) FROM people GROUP BY ward",
    ),
    (
        "like",
        "SELECT COUNT(*) FROM people WHERE note LIKE '%9%8%7%'",
    ),
    (
        "lower like",
        "SELECT COUNT(*) FROM people WHERE lower(note) LIKE '%note 99%'",
    ),
    (
        "per unit",
        "SELECT AVG(m) FROM (SELECT person, MAX(cost) AS m FROM people GROUP BY person) t",
    ),
    (
        "per unit text",
        "SELECT COUNT(*) FROM (SELECT person, MAX(note) AS m FROM people GROUP BY person) t WHERE m > 'n'",
    ),
    (
        "per unit distinct",
        "SELECT AVG(m) FROM (SELECT person, LEAST(COUNT(DISTINCT minutes), 9) AS m, MAX(cost) AS c FROM people GROUP BY person) t WHERE c > 1",
    ),
    (
        "per unit distinct text",
        "SELECT AVG(m) FROM (SELECT person, LEAST(COUNT(DISTINCT note), 9) AS m, MAX(cost) AS c FROM people GROUP BY person) t WHERE c > 1",
    ),
    (
        "self join",
        "SELECT COUNT(*) FROM people a JOIN people b ON a.person = b.person WHERE a.cost < b.cost",
    ),
    (
        "self join median",
        "SELECT MEDIAN(a.cost) FROM people a JOIN people b ON a.person = b.person",
    ),
    (
        "attack",
        "SELECT COUNT(*) FROM (SELECT person, MAX(note || '@') AS m FROM people GROUP BY person) t WHERE m > 'n'",
    ),
    ("csv count", "SELECT COUNT(*) FROM people_csv"),
    (
        "csv by ward",
        "SELECT ward, COUNT(*), AVG(cost), SUM(minutes) FROM people_csv GROUP BY ward",
    ),
    (
        "csv by note",
        "SELECT note, COUNT(*) FROM people_csv GROUP BY note",
    ),
    ("csv median", "SELECT MEDIAN(cost) FROM people_csv"),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scale: f64 = arguments.next().map_or(1.0, |scale| scale.parse().unwrap());
    let wanted: Vec<String> = arguments.collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = make(scale, &runtime);
    make_people(&directory, &runtime);
    drop(runtime);
    let catalogue = all(&directory);
    if let Ok(name) = std::env::var(CHILD) {
        return child(&plan(&name, &catalogue), &catalogue);
    }
    println!("query                     bound, MB  peak, MB  ratio   estimate, s  CPU, s  ratio");
    let names = QUERIES.iter().map(|(name, ..)| *name);
    for name in names.chain(OTHERS.iter().map(|(name, _)| *name)) {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        let engine = DataFusion::new().unwrap();
        let bound = plan_bound(&engine, &plan(name, &catalogue), &catalogue);
        let (bytes, time) = bound.unwrap();
        let bound = bytes as f64 / f64::from(1 << 20);
        let time = time.as_secs_f64();
        let (peak, cpu, path) = measured(name, scale);
        let below = if peak > bound || cpu > time {
            "  BELOW"
        } else {
            ""
        };
        println!(
            "{name:24} {bound:10.0} {peak:9.0} {:6.1} {time:13.2} {cpu:7.2} {:6.1}{below}{path}",
            bound / peak,
            time / cpu.max(0.01)
        );
    }
}

fn plan(name: &str, catalogue: &Catalogue) -> BoundedPlan {
    let of_others = OTHERS.iter().find(|(other, _)| *other == name);
    let private = QUERIES.iter().find(|(other, ..)| *other == name);
    let sql = of_others
        .map(|(_, sql)| *sql)
        .or(private.map(|query| query.2));
    let sql = sql.expect("a query").replace('@', &"x".repeat(2_000));
    let planned = mizan_sql::plan(&sql, catalogue);
    let planned = planned.unwrap_or_else(|refusal| panic!("{}", refusal.show(&sql)));
    match name.ends_with("-clip") {
        true => planned.clipped().unwrap(),
        false => planned,
    }
}

/// The peak memory of a process that runs a query, in MB, its CPU time in seconds, and whether
/// it failed.
fn measured(name: &str, scale: f64) -> (f64, f64, String) {
    let child = Command::new(std::env::current_exe().unwrap())
        .arg(scale.to_string())
        .env(CHILD, name)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&child.stdout);
    let line = out.lines().find_map(|line| line.strip_prefix("MEASURED "));
    let line = line.unwrap_or_else(|| panic!("{name}: {}", String::from_utf8_lossy(&child.stderr)));
    let mut words = line.splitn(3, ' ');
    let mut number = || words.next().unwrap().parse().unwrap();
    let (peak, cpu) = (number(), number());
    (peak, cpu, words.next().unwrap_or_default().to_owned())
}

/// Runs a query, and samples the memory of this process meanwhile.
fn child(plan: &BoundedPlan, catalogue: &Catalogue) {
    let (done, most) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let looking = {
        let (done, most) = (Arc::clone(&done), Arc::clone(&most));
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                most.fetch_max(anonymous_memory(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(1));
            }
        })
    };
    let engine = DataFusion::new().unwrap();
    let before = bench_sql::cpu();
    let (bound, _) = plan_bound(&engine, plan, catalogue).unwrap();
    // With the bound as its limit, the engine's own operators must answer it.
    let path = match run_within(&engine, plan, catalogue, bound) {
        Ok(true) => "",
        Ok(false) => "  FALLBACK",
        Err(_) => "  FAILED",
    };
    let cpu = (bench_sql::cpu() - before) / 1e3;
    done.store(true, Ordering::Relaxed);
    looking.join().unwrap();
    println!(
        "MEASURED {} {cpu} {path}",
        most.load(Ordering::Relaxed) as f64 / 1024.0
    );
}

/// Heaps and stacks of this process, in kilobytes.
fn anonymous_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0)
}

fn people(directory: &Path) -> [PathBuf; 2] {
    ["people.parquet", "people.csv"].map(|name| directory.join(name))
}

/// Generates a table in which every row is a unit, unless it exists, as Parquet and CSV.
fn make_people(directory: &Path, runtime: &tokio::runtime::Runtime) {
    let [parquet, csv] = people(directory);
    if parquet.exists() && csv.exists() {
        return;
    }
    let note = "y".repeat(40);
    // Ids are far apart.
    let sql = format!(
        "SELECT value * 104729 AS person, 'ward ' || (value % 6) AS ward, \
         CAST(value % 100000 AS DOUBLE) / 100 AS cost, value * 7919 % 241 AS minutes, \
         'note ' || (value * 7919 % 1000003) || ' {note}' AS note \
         FROM range(1, {PEOPLE})"
    );
    runtime.block_on(async {
        let context = SessionContext::new();
        let options = || DataFrameWriteOptions::new().with_single_file_output(true);
        let rows = context.sql(&sql).await.unwrap();
        let path = parquet.to_str().unwrap();
        rows.write_parquet(path, options(), None).await.unwrap();
    });
    let mut text = String::from("person,ward,cost,minutes,note\n");
    for value in 1..PEOPLE {
        let (person, ward, number) = (value * 104_729, value % 6, value * 7919 % 1_000_003);
        let (cost, minutes) = (value % 100_000, value * 7919 % 241);
        writeln!(
            text,
            "{person},ward {ward},{}.{:02},{minutes},note {number} {note}",
            cost / 100,
            cost % 100
        )
        .unwrap();
    }
    fs::write(csv, text).unwrap();
}

fn all(directory: &Path) -> Catalogue {
    let mut catalogue = catalogue(directory);
    let column = |name: &str, kind, bounds: Option<(f64, f64)>| DatasetColumn {
        bounds: bounds.and_then(|(low, high)| Bounds::new(low, high)),
        ..DatasetColumn::new(name, kind)
    };
    let ward = catalogue.datasets["visits"].columns[1].clone();
    for (path, name) in people(directory).iter().zip(["people", "people_csv"]) {
        let dataset = Dataset {
            files: Vec::new(),
            name: name.to_owned(),
            source: path.to_str().unwrap().to_owned(),
            privacy: Some(Privacy {
                unit: vec!["person".to_owned()],
                account: "all".to_owned(),
                rows_per_unit: Some(10),
                groups_per_unit: Some(4),
            }),
            columns: vec![
                column("person", Type::Integer, None),
                ward.clone(),
                column("cost", Type::Number, Some((0.0, 1000.0))),
                column("minutes", Type::Integer, Some((0.0, 240.0))),
                column("note", Type::Text, None),
            ],
        };
        catalogue.datasets.insert(name.to_owned(), dataset);
    }
    catalogue
}
