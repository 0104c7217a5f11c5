//! The cost of planning at the limits of the binder: in the binder, and in DataFusion over
//! empty tables.
//!
//! ```text
//! cargo test --release -p mizan-engine --all-features --lib planning_at_the_limits -- --ignored --nocapture
//! ```

use std::process::Command;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use mizan_sql::{Catalogue, plan};
use mizan_test_support::catalogues;
use mizan_test_support::families::{FAMILIES, largest};

use super::super::values::data_type;
use super::super::{DataFusion, Tables};

/// The size of the family of queries that a child process measures.
const SIZE: &str = "MIZAN_PLANNING_SIZE";

fn empty_tables(catalogue: &Catalogue) -> Tables {
    let tables = catalogue.datasets.iter().map(|(name, dataset)| {
        let columns = dataset.columns.iter();
        let fields = columns.map(|column| Field::new(&column.name, data_type(column.kind), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let table = MemTable::try_new(schema, vec![vec![]]).unwrap();
        (
            name.clone(),
            Arc::new(table) as Arc<dyn datafusion::catalog::TableProvider>,
        )
    });
    tables.collect()
}

/// The peak memory of this process, in MB.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    words.map_or(0.0, |kb| kb.parse::<f64>().unwrap() / 1024.0)
}

/// The CPU time of this process, in ms.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks = after.split_whitespace().skip(11).take(2);
    ticks
        .map(|ticks| ticks.parse::<f64>().unwrap() * 10.0)
        .sum()
}

/// Plans a query of a family. Prints the CPU time of the binder and of the engine, in ms, and
/// the memory of both, in MB.
fn measure(family: usize, n: usize) {
    let catalogue = catalogues::catalogue();
    let engine = DataFusion::with_partitions(2).unwrap();
    let tables = empty_tables(&catalogue);
    let simple = plan("SELECT COUNT(*) AS n FROM visits", &catalogue).unwrap();
    engine
        .run_on(&simple, &catalogue, &tables, &[7; 16])
        .unwrap();
    let before = peak_mb();
    let sql = FAMILIES[family].1(n);
    let start = cpu_ms();
    let planned = plan(&sql, &catalogue);
    let bound = cpu_ms() - start;
    let bound_mb = peak_mb() - before;
    let start = cpu_ms();
    let outcome = match planned {
        Ok(plan) => match engine.run_on(&plan, &catalogue, &tables, &[7; 16]) {
            Ok(_) => "planned".to_owned(),
            Err(error) => format!("{error:?}"),
        },
        Err(refusal) => refusal.code().to_string(),
    };
    let run = cpu_ms() - start;
    let mb = peak_mb() - before;
    println!("MEASURED {bound:9.1} ms {bound_mb:7.1} MB {run:9.1} ms {mb:7.1} MB {outcome}");
}

#[test]
#[ignore = "a measurement of minutes"]
fn planning_at_the_limits() {
    if let Ok(size) = std::env::var(SIZE) {
        let (family, n) = size.split_once(' ').unwrap();
        return measure(family.parse().unwrap(), n.parse().unwrap());
    }
    let only = std::env::var("MIZAN_PLANNING_ONLY").unwrap_or_default();
    let catalogue = catalogues::catalogue();
    println!(
        "{:28} {:>6} {:>24} {:>24}",
        "family", "size", "binder", "and the engine"
    );
    for (place, (name, family)) in FAMILIES.iter().enumerate() {
        if !name.contains(&only) {
            continue;
        }
        let most = largest(*family, &catalogue);
        for n in [most.max(1), most * 2 + 1] {
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["planning_at_the_limits", "--ignored", "--nocapture"])
                .env(SIZE, format!("{place} {n}"))
                .output()
                .unwrap();
            let out = String::from_utf8_lossy(&child.stdout);
            let line = out.lines().find_map(|line| line.split_once("MEASURED "));
            let said =
                line.map_or_else(|| format!("{}", child.status), |(_, said)| said.to_owned());
            println!("{name:28} {n:6} {said}");
        }
    }
}
