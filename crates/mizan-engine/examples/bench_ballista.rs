//! The statements of `bench_sql` on a Ballista cluster: private against plain, interleaved in
//! one run.
//!
//! ```text
//! SCHEDULER=$(scripts/cluster start 2)
//! cargo run --release --all-features -p mizan-sql -p mizan-engine --example bench_ballista -- $SCHEDULER [SCALE] [ROUNDS] [QUERY]...
//! scripts/cluster stop $SCHEDULER
//! ```
//!
//! The time is wall-clock time: executors do the work. `rows=N` in place of a query uses a
//! table of N rows of N/10 people, which is generated once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a benchmark may panic"
)]

#[allow(dead_code, reason = "the part that is about this machine")]
#[path = "bench_sql.rs"]
mod bench_sql;

use bench_sql::{QUERIES, catalogue, make, make_people};
use mizan_engine::{Ballista, measure};
use mizan_sql::Catalogue;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let scheduler = arguments.next().expect("the address of a scheduler");
    let scale: f64 = arguments.next().map_or(1.0, |scale| scale.parse().unwrap());
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let wanted: Vec<String> = arguments.collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let engine = Ballista::new(scheduler.parse().unwrap());
    println!("scale {scale}, {rounds} rounds, medians, ms");
    println!("query           plain private ratio");
    for rows in wanted.iter().filter_map(|word| word.strip_prefix("rows=")) {
        let (catalogue, sql) = make_people(&runtime, rows.parse().unwrap());
        compare(&engine, &catalogue, rounds, rows, sql, sql);
    }
    let wanted: Vec<&String> = wanted.iter().filter(|word| !word.contains('=')).collect();
    if wanted.is_empty() && std::env::args().any(|word| word.contains('=')) {
        return;
    }
    let directory = make(scale, &runtime);
    let catalogue = catalogue(&directory);
    for (name, plain, private) in QUERIES {
        if wanted.is_empty() || wanted.iter().any(|other| *other == name) {
            compare(&engine, &catalogue, rounds, name, plain, private);
        }
    }
}

fn compare(
    engine: &Ballista,
    catalogue: &Catalogue,
    rounds: usize,
    name: &str,
    plain: &str,
    private: &str,
) {
    let plan = match mizan_sql::plan(private, catalogue) {
        Ok(plan) if name.ends_with("-clip") => plan.clipped().unwrap(),
        Ok(plan) => plan,
        Err(refusal) => return println!("{name}: {}", refusal.show(private)),
    };
    let (mut plains, mut privates) = (Vec::new(), Vec::new());
    for _ in 0..=rounds {
        plains.push(ms(engine.measure_plain(catalogue, plain).unwrap()));
        privates.push(ms(measure(engine, &plan, catalogue).unwrap()));
    }
    // The first round warms the caches.
    let (plain, private) = (median(&plains[1..]), median(&privates[1..]));
    println!(
        "{name:14} {plain:7.0} {private:7.0} {:5.2}",
        private / plain
    );
}

fn ms(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
