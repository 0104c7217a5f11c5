//! Mizan's side of `scripts/bench-peers`: answers and the CPU time from the
//! text of the event to the answer, as JSON, so that starting a process does
//! not count.
//!
//! Reads lines `TASK<tab>DELTA<tab>EXPRESSION` from standard input, where TASK
//! is `account`, or `calibrate EPSILON` for the noise that `?` stands for.
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::io::BufRead;

use mizan_accounting::methods::{self, Method};
use mizan_core::{Delta, PrivacyEvent};

/// What is printed: the method, a lower bound where there is one, the value.
struct Answer {
    method: &'static str,
    lower: Option<f64>,
    value: f64,
}

/// Nanoseconds this process has spent on a processor; some kernels count in
/// steps of four milliseconds.
fn cpu_nanoseconds() -> u64 {
    let statistics = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    statistics.split(' ').next().unwrap().parse().unwrap()
}

/// ε by the numerical accountant, else by the best method there is.
fn epsilon(expression: &str, delta: Delta) -> Result<Answer, String> {
    let event: PrivacyEvent = expression
        .parse()
        .map_err(|error| format!("does not parse: {error}"))?;
    let bound = match Method::from_name("numeric") {
        Some(method) => methods::epsilon_by(method, &event, delta),
        None => {
            let account = methods::epsilon(&event, delta);
            account.best().ok_or_else(|| account.refusal())
        }
    }
    .map_err(|refusal| refusal.to_string())?;
    Ok(Answer {
        method: bound.method.name(),
        lower: bound.lower.map(|lower| lower.get()),
        value: bound.upper.get(),
    })
}

/// The smallest noise in place of `?` that is enough, within 1e-9.
fn calibrated(expression: &str, delta: Delta, target: f64) -> Result<Answer, String> {
    let at = |noise: f64| epsilon(&expression.replace('?', &format!("{noise:?}")), delta);
    let (mut low, mut high) = (1.0, 2.0);
    while at(high)?.value > target {
        (low, high) = (high, 2.0 * high);
    }
    while at(low)?.value <= target {
        (low, high) = (0.5 * low, low);
    }
    // The end that fails and the end that is enough, by how much: halving the
    // stale one keeps the line between them from sticking to one end.
    let (mut above, mut below) = (
        (at(low)?.value / target).ln(),
        (at(high)?.value / target).ln(),
    );
    let mut method = "numeric";
    while high > low * (1.0 + 1e-9) {
        let share = (above / (above - below)).clamp(1e-9, 1.0 - 1e-9);
        let noise = low * (high / low).powf(share);
        // A little further, so that the bracket closes from both sides.
        let noise = (noise * (1.0 + 2e-10)).min(0.5 * (noise + high));
        let answer = at(noise)?;
        method = answer.method;
        let excess = (answer.value / target).ln();
        if excess > 0.0 {
            (low, above, below) = (noise, excess, 0.5 * below);
        } else {
            (high, below, above) = (noise, excess, 0.5 * above);
        }
    }
    Ok(Answer {
        method,
        lower: None,
        value: high,
    })
}

/// The CPU seconds of one answer: the best of three rounds, each so long that
/// the steps of the clock are within a percent.
fn seconds(answer: impl Fn() -> Result<Answer, String>) -> f64 {
    let round = |answers: u32| {
        let start = cpu_nanoseconds();
        for _ in 0..answers {
            let _ = std::hint::black_box(answer());
        }
        std::time::Duration::from_nanos(cpu_nanoseconds() - start).as_secs_f64()
            / f64::from(answers)
    };
    let answers = (0..=16)
        .map(|power| 1 << power)
        .find(|&answers| round(answers) * f64::from(answers) > 0.4)
        .unwrap_or(1 << 16);
    (0..3).map(|_| round(answers)).fold(f64::INFINITY, f64::min)
}

fn main() {
    for line in std::io::stdin().lock().lines().map(Result::unwrap) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [task, delta, expression] = fields.as_slice() else {
            continue;
        };
        let delta = Delta::new(delta.parse().unwrap()).unwrap();
        let answer = || match task.strip_prefix("calibrate ") {
            Some(target) => calibrated(
                std::hint::black_box(expression),
                delta,
                target.parse().unwrap(),
            ),
            None => epsilon(std::hint::black_box(expression), delta),
        };
        match answer() {
            Ok(Answer {
                method,
                lower,
                value,
            }) => {
                let lower = lower.map_or("null".to_owned(), |lower| format!("{lower:e}"));
                println!(
                    r#"{{"method": "{method}", "lower": {lower}, "value": {value:e}, "seconds": {:e}}}"#,
                    seconds(answer)
                );
            }
            Err(refusal) => println!(r#"{{"fails": {refusal:?}}}"#),
        }
    }
}
