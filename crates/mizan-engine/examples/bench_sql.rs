//! Private statements against plain DataFusion, interleaved in one run: TPC-H Q1, Q5, Q6, Q14
//! and Q19, where the unit is the customer, and a table of three million rows of 300,000
//! people. CPU time is of the whole process, memory is its peak.
//!
//! ```text
//! cargo run --release -p mizan-sql -p mizan-engine --example bench_sql -- [SCALE] [ROUNDS] [QUERY]...
//! ```
//!
//! Tables are generated once, as Parquet, in `target/tpch-SCALE` and `target/visits`.
//! `lineitem` contains the customer, because every private table needs a unit column.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark may panic"
)]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::config::TableParquetOptions;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use mizan_engine::{DataFusion, measure};
use mizan_sql::{Bounds, Catalogue, Dataset, DatasetColumn, Privacy, Type, Value};
use parquet::arrow::ArrowWriter;
use tpchgen::generators as tpch;

pub(crate) const TABLES: [&str; 7] = [
    "lineitem", "orders", "customer", "part", "supplier", "nation", "region",
];

/// Name, plain SQL, private SQL. Some sample the groups of people in too many groups (`-cap`),
/// as with Laplace noise, or clip them (`-clip`), as with Gaussian noise.
pub(crate) const QUERIES: [(&str, &str, &str); 14] = [
    ("q1", Q1, Q1),
    ("q1-cap", Q1_CAP, Q1_CAP),
    ("q1-clip", Q1_CAP, Q1_CAP),
    ("q5", Q5_PLAIN, Q5_PRIVATE),
    ("q6", Q6, Q6),
    ("q14", Q14, Q14),
    ("q19", Q19, Q19),
    ("3m-all", VISITS_ALL, VISITS_ALL),
    ("3m-group", VISITS_BY_WARD, VISITS_BY_WARD),
    ("3m-cap", VISITS_BY_KIND, VISITS_BY_KIND),
    ("3m-all-i", VISITS_ALL_AND_IDS, VISITS_ALL),
    ("3m-grp-i", VISITS_BY_WARD_AND_IDS, VISITS_BY_WARD),
    ("median", MEDIAN, MEDIAN),
    ("3m-clip", VISITS_BY_KIND, VISITS_BY_KIND),
];

const VISITS_ALL: &str = "SELECT COUNT(*) AS n, SUM(cost) AS cost FROM visits \
    WHERE day >= DATE '2023-03-01' AND minutes < 60";

/// The same, also reading the ids, which are most of the file's bytes: private queries have to
/// read them.
const VISITS_ALL_AND_IDS: &str = "SELECT COUNT(*) AS n, SUM(cost) AS cost, \
    MAX(person) AS last FROM visits WHERE day >= DATE '2023-03-01' AND minutes < 60";

const VISITS_BY_WARD_AND_IDS: &str = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost, \
    AVG(minutes) AS minutes, MAX(person) AS last FROM visits GROUP BY ward";

const MEDIAN: &str = "SELECT MEDIAN(minutes) AS middle FROM visits";

const VISITS_BY_WARD: &str = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost, \
    AVG(minutes) AS minutes FROM visits GROUP BY ward";

/// People have more groups of ward and kind than the limit.
const VISITS_BY_KIND: &str = "SELECT ward, kind, COUNT(*) AS n, SUM(cost) AS cost \
    FROM visits GROUP BY ward, kind";

const Q1: &str = "SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, \
    SUM(l_extendedprice) AS sum_base, SUM(l_extendedprice * (1 - l_discount)) AS sum_disc, \
    SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, \
    AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, \
    COUNT(*) AS n FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' \
    GROUP BY l_returnflag, l_linestatus";

/// The same with a key that has more values than a unit may have groups.
const Q1_CAP: &str = "SELECT l_shipmode, l_returnflag, SUM(l_quantity) AS sum_qty, \
    SUM(l_extendedprice) AS sum_base, SUM(l_extendedprice * (1 - l_discount)) AS sum_disc, \
    SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, \
    AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc, \
    COUNT(*) AS n FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' \
    GROUP BY l_shipmode, l_returnflag";

const Q5_PLAIN: &str = "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue \
    FROM customer, orders, lineitem, supplier, nation, region \
    WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey \
    AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey \
    AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' \
    AND o_orderdate < DATE '1995-01-01' GROUP BY n_name";

const Q5_PRIVATE: &str = "SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue \
    FROM customer JOIN orders ON c_custkey = o_custkey \
    JOIN lineitem ON l_custkey = o_custkey AND l_orderkey = o_orderkey \
    JOIN supplier ON l_suppkey = s_suppkey AND c_nationkey = s_nationkey \
    JOIN nation ON s_nationkey = n_nationkey JOIN region ON n_regionkey = r_regionkey \
    WHERE r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' \
    AND o_orderdate < DATE '1995-01-01' GROUP BY n_name";

const Q6: &str = "SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem \
    WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' \
    AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";

const Q14: &str = "SELECT SUM(CASE WHEN p_type LIKE 'PROMO%' \
    THEN l_extendedprice * (1 - l_discount) ELSE 0 END) AS promo, \
    SUM(l_extendedprice * (1 - l_discount)) AS revenue \
    FROM lineitem JOIN part ON l_partkey = p_partkey \
    WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'";

const Q19: &str = "SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue \
    FROM lineitem JOIN part ON p_partkey = l_partkey \
    WHERE l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON' AND ( \
    (p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') \
     AND l_quantity >= 1 AND l_quantity <= 11 AND p_size BETWEEN 1 AND 5) OR \
    (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') \
     AND l_quantity >= 10 AND l_quantity <= 20 AND p_size BETWEEN 1 AND 10) OR \
    (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') \
     AND l_quantity >= 20 AND l_quantity <= 30 AND p_size BETWEEN 1 AND 15))";

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scale: f64 = arguments.next().map_or(1.0, |scale| scale.parse().unwrap());
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let wanted: Vec<String> = arguments.collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let directory = make(scale, &runtime);
    let catalogue = catalogue(&directory);
    let engine = DataFusion::new().unwrap();
    println!("scale {scale}, {rounds} rounds, medians");
    println!("             wall clock, ms            CPU, ms                 peak, MB");
    println!("query      plain private ratio   plain private ratio   plain private ratio");
    for (name, plain, private) in QUERIES {
        if !wanted.is_empty() && !wanted.iter().any(|other| other == name) {
            continue;
        }
        let plan = match mizan_sql::plan(private, &catalogue) {
            Ok(plan) if name.ends_with("-clip") => plan.clipped().unwrap(),
            Ok(plan) => plan,
            Err(refusal) => {
                println!("{name}: {}", refusal.show(private));
                continue;
            }
        };
        let mut plains = Vec::new();
        let mut privates = Vec::new();
        for _ in 0..=rounds {
            plains.push(cost(|| run_plain(&runtime, &directory, plain)));
            privates.push(cost(|| measure(&engine, &plan, &catalogue).unwrap()));
        }
        // The first round warms the caches of the operating system.
        let (plain, private) = (medians(&plains[1..]), medians(&privates[1..]));
        print!("{name:9}");
        for (plain, private) in plain.into_iter().zip(private) {
            print!(" {plain:7.0} {private:7.0} {:5.2} ", private / plain);
        }
        println!();
    }
}

/// Wall-clock time and CPU time in milliseconds, peak memory in megabytes.
fn cost(run: impl FnOnce() -> Duration) -> [f64; 3] {
    reset_peak();
    let before = cpu();
    let wall = run().as_secs_f64() * 1e3;
    [wall, cpu() - before, peak()]
}

fn medians(costs: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|of| {
        let mut costs: Vec<f64> = costs.iter().map(|cost| cost[of]).collect();
        costs.sort_by(f64::total_cmp);
        costs[costs.len() / 2]
    })
}

/// The CPU time of the process in milliseconds, with a resolution of ten.
pub(crate) fn cpu() -> f64 {
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = status.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        * 10.0
}

/// Resets the peak memory of the process, where the system can.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The peak memory of the process in megabytes.
fn peak() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    kilobytes.unwrap_or(0.0_f64) / 1024.0
}

/// The same steps as a private run: a session, the tables, the query.
fn run_plain(runtime: &tokio::runtime::Runtime, directory: &Path, sql: &str) -> Duration {
    let start = Instant::now();
    runtime.block_on(async {
        let context = SessionContext::new();
        for table in TABLES {
            register(&context, table, &file(directory, table)).await;
        }
        register(&context, "visits", &visits_file()).await;
        context.sql(sql).await.unwrap().collect().await.unwrap();
    });
    start.elapsed()
}

async fn register(context: &SessionContext, name: &str, path: &Path) {
    let options = ParquetReadOptions::default();
    let path = path.to_str().unwrap();
    context.register_parquet(name, path, options).await.unwrap();
}

pub(crate) fn file(directory: &Path, table: &str) -> PathBuf {
    directory.join(format!("{table}.parquet"))
}

fn target() -> PathBuf {
    std::env::var("CARGO_TARGET_DIR").map_or_else(|_| "target".into(), PathBuf::from)
}

pub(crate) fn visits_file() -> PathBuf {
    target().join("visits").join("visits.parquet")
}

/// Generates three million visits unless they exist: the same every time.
fn make_visits(runtime: &tokio::runtime::Runtime) {
    make_rows(runtime, &visits_file(), 3_000_000, 300_007);
}

/// A table of this many visits of a tenth as many people, and a query over it.
#[allow(dead_code, reason = "for the benchmark of clusters")]
pub(crate) fn make_people(
    runtime: &tokio::runtime::Runtime,
    rows: u64,
) -> (Catalogue, &'static str) {
    let path = target()
        .join("visits")
        .join(format!("visits-{rows}.parquet"));
    make_rows(runtime, &path, rows, rows / 10 + 7);
    let mut catalogue = catalogue(Path::new("none"));
    catalogue.datasets.retain(|name, _| name == "visits");
    for dataset in catalogue.datasets.values_mut() {
        dataset.source = path.to_str().unwrap().to_owned();
    }
    (catalogue, VISITS_BY_WARD)
}

fn make_rows(runtime: &tokio::runtime::Runtime, path: &Path, rows: u64, people: u64) {
    if path.exists() {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Digits of a multiple of the row number replace random numbers. Most people have ten
    // visits; sixty people have a fiftieth of all visits.
    let sql = format!(
        "SELECT CASE WHEN x % 50 = 0 THEN x / 50 % 60 ELSE x % {people} END AS person, 'ward ' || (x / 7 % 6) AS ward, \
        'kind ' || (x / 1009 % 5) AS kind, CAST(x / 64 % 100000 AS DOUBLE) / 100 AS cost, \
        x / 13 % 240 AS minutes, arrow_cast(CAST(19358 + x / 11 % 365 AS INT), 'Date32') AS day \
        FROM (SELECT value * 7919 % 2147483647 AS x FROM range(1, {})) AS t",
        rows + 1
    );
    runtime.block_on(async {
        let context = SessionContext::new();
        let options = DataFrameWriteOptions::new().with_single_file_output(true);
        let rows = context.sql(&sql).await.unwrap();
        let path = path.to_str().unwrap();
        let mut parquet = TableParquetOptions::default();
        parquet.global.compression = Some("snappy".to_owned());
        rows.write_parquet(path, options, Some(parquet))
            .await
            .unwrap();
    });
}

/// Generates the tables unless they exist.
pub(crate) fn make(scale: f64, runtime: &tokio::runtime::Runtime) -> PathBuf {
    make_visits(runtime);
    let directory = target().join(format!("tpch-{scale}"));
    if file(&directory, "lineitem").exists() {
        return directory;
    }
    fs::create_dir_all(&directory).unwrap();
    macro_rules! table {
        ($name:expr, $arrow:ident, $generator:ident) => {
            let generator = tpch::$generator::new(scale, 1, 1);
            let batches = tpchgen_arrow::$arrow::new(generator);
            write(&file(&directory, $name), batches);
        };
    }
    println!("making tables in {}", directory.display());
    table!("orders", OrderArrow, OrderGenerator);
    table!("customer", CustomerArrow, CustomerGenerator);
    table!("part", PartArrow, PartGenerator);
    table!("supplier", SupplierArrow, SupplierGenerator);
    table!("nation", NationArrow, NationGenerator);
    table!("region", RegionArrow, RegionGenerator);
    table!("without", LineItemArrow, LineItemGenerator);
    runtime.block_on(async {
        let context = SessionContext::new();
        for table in ["orders", "without"] {
            register(&context, table, &file(&directory, table)).await;
        }
        let joined = "SELECT o_custkey AS l_custkey, without.* \
            FROM without JOIN orders ON l_orderkey = o_orderkey ORDER BY l_orderkey";
        let options = DataFrameWriteOptions::new().with_single_file_output(true);
        let joined = context.sql(joined).await.unwrap();
        let path = file(&directory, "lineitem");
        let path = path.to_str().unwrap();
        joined.write_parquet(path, options, None).await.unwrap();
    });
    fs::remove_file(file(&directory, "without")).unwrap();
    directory
}

fn write<E: std::fmt::Debug>(path: &Path, batches: impl Iterator<Item = Result<RecordBatch, E>>) {
    let mut writer = None;
    for batch in batches {
        let batch = batch.unwrap();
        let writer = writer.get_or_insert_with(|| {
            let file = File::create(path).unwrap();
            ArrowWriter::try_new(file, Arc::clone(&batch.schema()), None).unwrap()
        });
        writer.write(&batch).unwrap();
    }
    writer.unwrap().close().unwrap();
}

pub(crate) fn catalogue(directory: &Path) -> Catalogue {
    let text = |name| column(name, Type::Text, None, None);
    let integer = |name| column(name, Type::Integer, None, None);
    let number = |name, low, high| column(name, Type::Number, Some((low, high)), None);
    let date = |name| column(name, Type::Date, Some((8000.0, 11_000.0)), None);
    let keys = |name, keys: &[&str]| column(name, Type::Text, None, Some(keys));
    let tables = [
        (
            "lineitem",
            Some("l_custkey"),
            vec![
                integer("l_custkey"),
                integer("l_orderkey"),
                integer("l_partkey"),
                integer("l_suppkey"),
                number("l_quantity", 0.0, 50.0),
                number("l_extendedprice", 0.0, 105_000.0),
                number("l_discount", 0.0, 0.1),
                number("l_tax", 0.0, 0.08),
                keys("l_returnflag", &["A", "N", "R"]),
                keys("l_linestatus", &["F", "O"]),
                date("l_shipdate"),
                text("l_shipinstruct"),
                keys(
                    "l_shipmode",
                    &["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"],
                ),
            ],
        ),
        (
            "orders",
            Some("o_custkey"),
            vec![
                integer("o_custkey"),
                integer("o_orderkey"),
                date("o_orderdate"),
            ],
        ),
        (
            "customer",
            Some("c_custkey"),
            vec![integer("c_custkey"), integer("c_nationkey")],
        ),
        (
            "part",
            None,
            vec![
                integer("p_partkey"),
                text("p_type"),
                text("p_brand"),
                text("p_container"),
                integer("p_size"),
            ],
        ),
        (
            "supplier",
            None,
            vec![integer("s_suppkey"), integer("s_nationkey")],
        ),
        (
            "nation",
            None,
            vec![
                integer("n_nationkey"),
                keys(
                    "n_name",
                    &["CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"],
                ),
                integer("n_regionkey"),
            ],
        ),
        ("region", None, vec![integer("r_regionkey"), text("r_name")]),
    ];
    let mut catalogue = Catalogue::default();
    let sources = tables.map(|(name, unit, columns)| (name, unit, columns, file(directory, name)));
    for (name, unit, columns, source) in sources.into_iter().chain([visits()]) {
        let dataset = Dataset {
            files: Vec::new(),
            name: name.to_owned(),
            source: source.to_str().unwrap().to_owned(),
            privacy: unit.map(|unit| Privacy {
                unit: vec![unit.to_owned()],
                account: "all".to_owned(),
                rows_per_unit: Some(100),
                groups_per_unit: Some(6),
            }),
            columns,
        };
        catalogue.datasets.insert(name.to_owned(), dataset);
    }
    catalogue
}

type Table = (
    &'static str,
    Option<&'static str>,
    Vec<DatasetColumn>,
    PathBuf,
);

fn visits() -> Table {
    let keys = |name, keys: &[&str]| column(name, Type::Text, None, Some(keys));
    let columns = vec![
        column("person", Type::Integer, None, None),
        keys(
            "ward",
            &["ward 0", "ward 1", "ward 2", "ward 3", "ward 4", "ward 5"],
        ),
        keys("kind", &["kind 0", "kind 1", "kind 2", "kind 3", "kind 4"]),
        column("cost", Type::Number, Some((0.0, 1000.0)), None),
        column("minutes", Type::Integer, Some((0.0, 240.0)), None),
        column("day", Type::Date, Some((19_358.0, 19_723.0)), None),
    ];
    ("visits", Some("person"), columns, visits_file())
}

fn column(
    name: &str,
    kind: Type,
    bounds: Option<(f64, f64)>,
    keys: Option<&[&str]>,
) -> DatasetColumn {
    DatasetColumn {
        bounds: bounds.and_then(|(low, high)| Bounds::new(low, high)),
        keys: keys.map(|keys| {
            keys.iter()
                .map(|key| Value::Text((*key).to_owned()))
                .collect()
        }),
        ..DatasetColumn::new(name, kind)
    }
}
