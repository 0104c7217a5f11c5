//! The hunt on the embedded engine.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;

/// How many pairs a suite compares: `quick`, or fifty times as many in the long one.
pub(crate) fn pairs(quick: u64) -> u64 {
    let cases = std::env::var("PROPTEST_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse::<u64>().ok());
    match cases.is_some_and(|cases| cases >= 10_000) {
        true => 50 * quick,
        false => quick,
    }
}

/// The numbers of a hunt; `MIZAN_FAILURE_SEED` is the seed of a single world.
pub(crate) fn seeds(start: u64) -> impl FnMut() -> u64 {
    let one = std::env::var("MIZAN_FAILURE_SEED").ok();
    let one = one.and_then(|seed| seed.parse().ok());
    let mut numbers = split_mix(start);
    move || one.unwrap_or_else(&mut numbers)
}

/// No violation; otherwise the first of each attack.
pub(crate) fn clean(audit: &FailureAudit) {
    let mut shown = std::collections::BTreeMap::new();
    for found in &audit.violations {
        let attack = found.what.split(',').next().unwrap_or_default();
        let sql: String = found.sql.chars().take(700).collect();
        let entry = shown
            .entry(attack.to_owned())
            .or_insert((0, format!("{}\n  {sql}", found.what)));
        entry.0 += 1;
    }
    let (pairs, many) = (audit.pairs, audit.violations.len());
    assert!(
        shown.is_empty(),
        "{many} of {pairs} pairs differ: {shown:#?}"
    );
    // Otherwise this would test little.
    assert!(audit.refused < audit.queries * 2 / 3, "{audit:?}");
    assert!(audit.failed < audit.pairs / 100, "{audit:?}");
}

#[test]
fn no_unit_decides_whether_there_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let audit = audit_failures(folder.path(), pairs(1_600), &mut seeds(1), |_| ()).unwrap();
    println!(
        "{} pairs, {} refused of {}",
        audit.pairs, audit.refused, audit.queries
    );
    clean(&audit);
}
