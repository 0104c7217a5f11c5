//! Metrics in the text format of Prometheus.
//!
//! Labels are routes, methods, statuses and codes: never the name of a dataset, an account
//! or a person. The duration of queries depends on the data, so it is not measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{Method, StatusCode};
use mizan_api::version::Version;
use mizan_core::Code;

/// The upper bounds of the histogram buckets, in seconds.
const ENDS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];

/// Routes whose durations depend on data.
const UNTIMED: [&str; 3] = ["/api/v1/queries", "/api/v1/events", "/ask"];

/// The counters of a server.
#[derive(Debug)]
pub(crate) struct Metrics {
    begun: Instant,
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    requests: BTreeMap<(&'static str, &'static str, u16), u64>,
    problems: BTreeMap<Code, u64>,
    failures_after_charge: BTreeMap<Code, u64>,
    times: BTreeMap<&'static str, Times>,
}

#[derive(Debug, Default)]
struct Times {
    below: [u64; ENDS.len()],
    count: u64,
    sum: Duration,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            counted: Mutex::default(),
        }
    }
}

impl Metrics {
    /// Counts a request that was answered.
    pub(crate) fn request(
        &self,
        path: &'static str,
        method: &Method,
        status: StatusCode,
        code: Option<Code>,
        start: Instant,
    ) {
        let method = match *method {
            Method::GET => "GET",
            Method::POST => "POST",
            Method::HEAD => "HEAD",
            _ => "other",
        };
        let took = start.elapsed();
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path, method, status.as_u16());
        *counted.requests.entry(key).or_default() += 1;
        if let Some(code) = code {
            *counted.problems.entry(code).or_default() += 1;
        }
        if !UNTIMED.contains(&path) {
            let times = counted.times.entry(path).or_default();
            times.count += 1;
            times.sum = times.sum.saturating_add(took);
            let seconds = took.as_secs_f64();
            for (below, end) in times.below.iter_mut().zip(ENDS) {
                *below += u64::from(seconds <= end);
            }
        }
    }

    /// Counts a query that failed after its charge.
    pub(crate) fn failed_after_charge(&self, code: Code) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted.failures_after_charge.entry(code).or_default() += 1;
    }

    /// The metrics as text. `pools` has the name of each worker pool with its busy threads
    /// and waiting requests, `log` is the number of entries in the ledger.
    pub(crate) fn text(
        &self,
        version: &Version,
        pools: &[(&str, usize, usize)],
        log: u64,
    ) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let (name, help) = ("mizan_build_info", "The program that serves; always 1.");
        head(&mut text, name, "gauge", help);
        let (commit, features) = (version.commit_text(), version.features.join(","));
        let version = version.version;
        let labels = format!("version=\"{version}\",commit=\"{commit}\",features=\"{features}\"");
        let _ = writeln!(text, "{name}{{{labels}}} 1");
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        head(
            &mut text,
            "mizan_requests_total",
            "counter",
            "Requests answered.",
        );
        for ((path, method, status), count) in &counted.requests {
            let labels = format!("path=\"{path}\",method=\"{method}\",status=\"{status}\"");
            let _ = writeln!(text, "mizan_requests_total{{{labels}}} {count}");
        }
        head(
            &mut text,
            "mizan_problems_total",
            "counter",
            "Problems, by their code.",
        );
        for (code, count) in &counted.problems {
            let _ = writeln!(text, "mizan_problems_total{{code=\"{code}\"}} {count}");
        }
        let name = "mizan_failures_after_charge_total";
        let help = "Queries that failed after their charge, by their code.";
        head(&mut text, name, "counter", help);
        for (code, count) in &counted.failures_after_charge {
            let _ = writeln!(text, "{name}{{code=\"{code}\"}} {count}");
        }
        let name = "mizan_request_seconds";
        let help = "Durations of requests that do not depend on data.";
        head(&mut text, name, "histogram", help);
        for (path, times) in &counted.times {
            for (below, end) in times.below.iter().zip(ENDS) {
                let _ = writeln!(
                    text,
                    "{name}_bucket{{path=\"{path}\",le=\"{end}\"}} {below}"
                );
            }
            let (count, sum) = (times.count, times.sum.as_secs_f64());
            let _ = writeln!(text, "{name}_bucket{{path=\"{path}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{path=\"{path}\"}} {sum}");
            let _ = writeln!(text, "{name}_count{{path=\"{path}\"}} {count}");
        }
        drop(counted);
        head(
            &mut text,
            "mizan_lane_busy",
            "gauge",
            "Threads at work, by worker pool.",
        );
        for (pool, busy, _) in pools {
            let _ = writeln!(text, "mizan_lane_busy{{lane=\"{pool}\"}} {busy}");
        }
        head(
            &mut text,
            "mizan_lane_waiting",
            "gauge",
            "Requests that wait for a thread, by worker pool.",
        );
        for (pool, _, waiting) in pools {
            let _ = writeln!(text, "mizan_lane_waiting{{lane=\"{pool}\"}} {waiting}");
        }
        head(
            &mut text,
            "mizan_log_entries",
            "gauge",
            "Entries of the ledger.",
        );
        let _ = writeln!(text, "mizan_log_entries {log}");
        head(
            &mut text,
            "mizan_operator_fallbacks_total",
            "counter",
            "Answers that plain SQL computed because the engine's operators failed.",
        );
        let fallbacks = mizan_engine::operator_fallbacks();
        let _ = writeln!(text, "mizan_operator_fallbacks_total {fallbacks}");
        head(
            &mut text,
            "mizan_uptime_seconds",
            "gauge",
            "Seconds since the start.",
        );
        let _ = writeln!(
            text,
            "mizan_uptime_seconds {}",
            self.begun.elapsed().as_secs()
        );
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_queries_are_not_measured() {
        let metrics = Metrics::default();
        let now = Instant::now();
        for path in ["/api/v1/queries", "/ask", "/api/v1/quotes"] {
            metrics.request(path, &Method::POST, StatusCode::OK, None, now);
        }
        metrics.request(
            "other",
            &Method::GET,
            StatusCode::NOT_FOUND,
            Some(Code::MZ2003),
            now,
        );
        metrics.failed_after_charge(Code::MZ1961);
        let version = Version {
            version: "1.2.3",
            commit: None,
            features: &[],
            target: "test",
            is_static: false,
        };
        let text = metrics.text(&version, &[("ledger", 1, 0)], 7);
        assert!(text.contains("mizan_failures_after_charge_total{code=\"MZ1961\"} 1"));
        assert!(text.contains(
            "mizan_requests_total{path=\"/api/v1/queries\",method=\"POST\",status=\"200\"} 1"
        ));
        assert!(text.contains("mizan_request_seconds_count{path=\"/api/v1/quotes\"} 1"));
        assert!(!text.contains("mizan_request_seconds_count{path=\"/api/v1/queries\"}"));
        assert!(!text.contains("mizan_request_seconds_count{path=\"/ask\"}"));
        assert!(text.contains("mizan_problems_total{code=\"MZ2003\"} 1"));
        assert!(
            text.contains("\nmizan_operator_fallbacks_total 0\n"),
            "{text}"
        );
        assert!(text.ends_with("mizan_uptime_seconds 0\n"), "{text}");
    }
}
