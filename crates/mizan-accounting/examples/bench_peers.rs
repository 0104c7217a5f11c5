//! Mizan's side of `scripts/bench-peers`: ε by Rényi accounting and the CPU
//! time from the text of the event to the answer, as JSON, so that starting a
//! process does not count.
//!
//! Reads lines `NAME<tab>DELTA<tab>EXPRESSION` from standard input.
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::io::BufRead;

use mizan_accounting::account::{Method, epsilon_by};
use mizan_core::{Delta, PrivacyEvent};

/// Nanoseconds this process has spent on a processor; some kernels count in
/// steps of four milliseconds.
fn cpu_nanoseconds() -> u64 {
    let statistics = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    statistics.split(' ').next().unwrap().parse().unwrap()
}

fn epsilon(expression: &str, delta: Delta) -> f64 {
    let event: PrivacyEvent = expression.parse().unwrap();
    let bound = epsilon_by(Method::Renyi, &event, delta).unwrap();
    bound.upper.get()
}

/// The CPU seconds of one account: the best of three rounds, each so long that
/// the steps of the clock are within a percent.
fn seconds(expression: &str, delta: Delta) -> f64 {
    let round = |accounts: u32| {
        let start = cpu_nanoseconds();
        for _ in 0..accounts {
            std::hint::black_box(epsilon(std::hint::black_box(expression), delta));
        }
        std::time::Duration::from_nanos(cpu_nanoseconds() - start).as_secs_f64()
            / f64::from(accounts)
    };
    let accounts = (0..=16)
        .map(|power| 1 << power)
        .find(|&accounts| round(accounts) * f64::from(accounts) > 0.4)
        .unwrap_or(1 << 16);
    (0..3)
        .map(|_| round(accounts))
        .fold(f64::INFINITY, f64::min)
}

fn main() {
    for line in std::io::stdin().lock().lines().map(Result::unwrap) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, delta, expression] = fields.as_slice() else {
            continue;
        };
        let delta = Delta::new(delta.parse().unwrap()).unwrap();
        println!(
            r#"{{"name": "{name}", "epsilon": {}, "seconds": {:e}}}"#,
            epsilon(expression, delta),
            seconds(expression, delta)
        );
    }
}
