//! The memory limit and the time limit of a query. Both are public: they do not depend on rows.

use std::fs;
use std::time::Duration;

/// The least memory of a query if the data owner sets no limit.
const LEAST_MEMORY: u64 = 1 << 30;

/// The memory of the machine if the system does not report it.
const UNKNOWN_MACHINE: u64 = 8 << 30;

/// The time limit of a query if the data owner sets none.
const TIME: Duration = Duration::from_secs(600);

/// The limits of one query over files, in a worker process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryLimits {
    /// Bytes of memory.
    pub memory: u64,
    /// The time.
    pub time: Duration,
}

impl QueryLimits {
    /// The limits for this many concurrent queries on this machine: half of its memory shared
    /// by all of them, at least 1 GiB for each, and 600 s.
    #[must_use]
    pub fn of_machine(at_once: usize) -> Self {
        let share = machine_memory() / 2 / at_once.max(1) as u64;
        Self {
            memory: share.max(LEAST_MEMORY),
            time: TIME,
        }
    }
}

/// The memory of this machine, or of the control group of the program.
fn machine_memory() -> u64 {
    let total = fs::read_to_string("/proc/meminfo").ok();
    let total = total.as_deref().and_then(total_memory);
    let group = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok());
    let known = total.into_iter().chain(group).min();
    known.unwrap_or(UNKNOWN_MACHINE)
}

/// The total memory in `/proc/meminfo`, in bytes.
fn total_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kibibytes: u64 = line?.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A number of bytes as text, rounded up in the third digit.
#[must_use]
pub fn bytes_text(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (bytes.max(1).ilog2() / 10).min(6);
    let unit = units.get(power as usize).copied().unwrap_or("bytes");
    let one = 1_u64 << (10 * power);
    let (whole, rest) = (bytes / one, bytes % one);
    // Tenths, rounded up.
    let tenths = u128::from(rest) * 10;
    let tenths = tenths.div_ceil(u128::from(one));
    match tenths {
        0 => format!("{whole} {unit}"),
        10 => format!("{} {unit}", whole + 1),
        _ => format!("{whole}.{tenths} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_shared_by_the_queries_that_run_at_once() {
        let one = QueryLimits::of_machine(1);
        assert!(one.memory >= LEAST_MEMORY);
        assert_eq!(QueryLimits::of_machine(usize::MAX).memory, LEAST_MEMORY);
        assert_eq!(QueryLimits::of_machine(0), one);
        assert_eq!(
            total_memory("MemTotal:       24000 kB\n"),
            Some(24_000 * 1024)
        );
        assert_eq!(total_memory("MemFree: 1 kB"), None);
    }

    #[test]
    fn bytes_are_rounded_up() {
        let all = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1025, "1.1 KiB"),
            (3 << 29, "1.5 GiB"),
            ((4 << 30) - 1, "4 GiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (bytes, text) in all {
            assert_eq!(bytes_text(bytes), text);
        }
    }
}
