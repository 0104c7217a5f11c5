//! The cost of planning in PostgreSQL at the limits of the binder. All of it is before the
//! charge.
//!
//! ```text
//! MIZAN_TEST_POSTGRES=$(scripts/postgres start) cargo test --release -p mizan-engine \
//!     --all-features --lib planning_in_postgres -- --ignored --nocapture
//! ```

use std::time::Instant;

use mizan_sql::plan;
use mizan_test_support::catalogues;
use mizan_test_support::families::{FAMILIES, largest};

use super::super::Postgres;
use super::server::Schema;
use crate::engine::Engine as _;
use crate::oracle::Data;

/// The peak memory of the newest backend, in MB.
fn backend_peak(schema: &mut Schema) -> f64 {
    let newest = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' \
                  AND pid <> pg_backend_pid() ORDER BY backend_start DESC LIMIT 1";
    let row = schema.client.query_opt(newest, &[]).unwrap();
    let pid: i32 = row.map_or(0, |row| row.get(0));
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let words = line.and_then(|line| line.split_whitespace().next());
    words.map_or(0.0, |kb| kb.parse::<f64>().unwrap() / 1024.0)
}

#[test]
#[ignore = "a measurement of minutes"]
fn planning_in_postgres() {
    let Some(mut schema) = Schema::new() else {
        return;
    };
    let mut catalogue = catalogues::catalogue();
    // Names that need quotes are tested with the binder.
    let is_plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_lowercase());
    catalogue.datasets.retain(|name, _| is_plain(name));
    let tables = catalogue.datasets.keys().cloned();
    let data: Data = tables.map(|name| (name, Vec::new())).collect();
    schema.fill(&mut catalogue, &data, || false);
    println!("{:28} {:>6} {:>10} {:>10}", "family", "size", "ms", "MB");
    for (name, family) in FAMILIES {
        let most = largest(*family, &catalogue);
        let Ok(plan) = plan(&family(most.max(1)), &catalogue) else {
            continue;
        };
        let engine = Postgres::default();
        let start = Instant::now();
        let outcome = match engine.prepare(&plan, &catalogue) {
            Ok(()) => "planned",
            Err(error) => error.code().as_str(),
        };
        let took = start.elapsed().as_secs_f64() * 1e3;
        let peak = backend_peak(&mut schema);
        println!("{name:28} {most:6} {took:10.1} {peak:10.1} {outcome}");
    }
}
