//! The memory and time limits of a query over files.

use std::time::Duration;

use mizan_core::Code;
use mizan_engine::{QueryLimits, bytes_text};

use crate::failure::Failure;

/// The least memory limit: what the program itself needs.
const LEAST: u64 = 64 << 20;

/// The longest time limit, in seconds: a year.
const LONGEST: u64 = 366 * 24 * 60 * 60;

/// The limits, as typed.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryLimitArguments {
    /// Memory of a query over files, such as 4GiB, at least 64MiB; else MIZAN_QUERY_MEMORY
    /// [default: half of the machine's memory, shared by all running queries, and at
    /// least 1GiB each]
    #[arg(
        long,
        value_name = "SIZE",
        verbatim_doc_comment,
        allow_negative_numbers = true
    )]
    query_memory: Option<String>,

    /// Seconds that a query over files may take, 1 to 31622400; else MIZAN_QUERY_TIMEOUT
    /// [default: 600]
    #[arg(
        long,
        value_name = "SECONDS",
        verbatim_doc_comment,
        allow_negative_numbers = true
    )]
    query_timeout: Option<String>,
}

impl QueryLimitArguments {
    /// The limits where so many queries run at once.
    pub(crate) fn limits(&self, at_once: usize) -> Result<QueryLimits, Failure> {
        let mut limits = QueryLimits::of_machine(at_once);
        if let Some((name, text)) = typed(&self.query_memory, "--query-memory") {
            limits.memory = size(&text).filter(|size| *size >= LEAST).ok_or_else(|| {
                bad(
                    name,
                    &text,
                    "a size of at least 64MiB in KiB, MiB, GiB or TiB, such as 4GiB",
                )
            })?;
        }
        if let Some((name, text)) = typed(&self.query_timeout, "--query-timeout") {
            let seconds = text.parse().ok();
            let seconds = seconds.filter(|seconds| (1..=LONGEST).contains(seconds));
            let seconds = seconds.ok_or_else(|| {
                bad(
                    name,
                    &text,
                    "a number of whole seconds from 1 to 31622400, such as 600",
                )
            })?;
            limits.time = Duration::from_secs(seconds);
        }
        Ok(limits)
    }
}

/// The limits, for people.
pub(crate) fn text(limits: &QueryLimits) -> String {
    format!(
        "at most {} of memory and {} s",
        bytes_text(limits.memory),
        limits.time.as_secs()
    )
}

/// What was typed, or is in the environment, and what it is called.
fn typed(given: &Option<String>, option: &'static str) -> Option<(&'static str, String)> {
    if let Some(given) = given {
        return Some((option, given.clone()));
    }
    let variable = match option {
        "--query-memory" => "MIZAN_QUERY_MEMORY",
        _ => "MIZAN_QUERY_TIMEOUT",
    };
    let set = std::env::var(variable).ok().filter(|set| !set.is_empty());
    set.map(|set| (variable, set))
}

fn bad(name: &str, text: &str, wanted: &str) -> Failure {
    Failure::new(
        Code::MZ0010,
        format!("{name}: {text:?} is not {wanted}"),
        format!("write {wanted}"),
    )
}

/// Bytes, or a number of KiB, MiB, GiB or TiB, in upper or lower case.
fn size(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let number: u64 = number.parse().ok()?;
    let power = match unit.trim().to_ascii_lowercase().as_str() {
        "" => 0,
        "kib" => 10,
        "mib" => 20,
        "gib" => 30,
        "tib" => 40,
        _ => return None,
    };
    number.checked_mul(1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(size("4GiB"), Some(4 << 30));
        assert_eq!(size("4gib"), Some(4 << 30));
        assert_eq!(size("512 MiB"), Some(512 << 20));
        assert_eq!(size("1073741824"), Some(1 << 30));
        for bad in ["", "GiB", "4GB", "-1GiB", "1.5GiB", "99999999TiB", "4GiBs"] {
            assert_eq!(size(bad), None, "{bad}");
        }
    }
}
