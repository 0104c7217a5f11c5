//! The failure audit on the embedded engine.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use mizan_test_support::cases;

use super::*;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// How many pairs a suite compares: `quick`, fifty times as many in the long run, or the value
/// of `MIZAN_FAILURE_PAIRS`.
pub(crate) fn pairs(quick: u64) -> u64 {
    number("MIZAN_FAILURE_PAIRS").unwrap_or_else(|| cases(quick, 50))
}

/// The seeds of worlds. `MIZAN_FAILURE_SEED` selects a single world, `MIZAN_FAILURE_START`
/// starts another sequence.
pub(crate) fn seeds(start: u64) -> impl FnMut() -> u64 {
    let one = number("MIZAN_FAILURE_SEED");
    let mut numbers = SplitMix64::new(number("MIZAN_FAILURE_START").unwrap_or(start));
    move || one.unwrap_or_else(|| numbers.word())
}

/// The number of violations of each attack, and the first of each.
fn by_attack(found: &[Violation]) -> std::collections::BTreeMap<&str, (u64, String)> {
    let mut shown = std::collections::BTreeMap::new();
    for found in found {
        let attack = found.what.split(',').next().unwrap_or_default();
        let sql: String = found.sql.chars().take(700).collect();
        let first = format!("{}\n  {sql}", found.what);
        shown.entry(attack).or_insert((0, first)).0 += 1;
    }
    shown
}

/// Checks that there are no violations, no failures after the charge and no fallbacks.
pub(crate) fn clean(audit: &FailureAudit) {
    let FailureAudit {
        queries,
        refused,
        pairs,
        answered,
        failed,
        fallbacks,
        violations,
    } = audit;
    println!(
        "{pairs} pairs, {answered} with answers; {refused} of {queries} queries refused; {} \
         failures, {} fallbacks, {} violations",
        failed.len(),
        fallbacks.len(),
        violations.len()
    );
    let faults = [
        ("pairs differ", violations),
        ("pairs fail alike", failed),
        ("answers are fallbacks", fallbacks),
    ];
    for (what, found) in faults {
        let many = found.len();
        assert!(found.is_empty(), "{many} {what}: {:#?}", by_attack(found));
    }
    // Otherwise the test would cover too little.
    assert!(*refused < queries / 2, "{refused} of {queries}");
    assert!(*answered > pairs / 2, "{answered} of {pairs}");
}

#[test]
fn no_unit_decides_whether_there_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let audit = audit_failures(folder.path(), pairs(2_000), &mut seeds(1), |_| ()).unwrap();
    clean(&audit);
}
