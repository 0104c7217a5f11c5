//! From SQL to a bounded plan.
//!
//! - Any text is a plan or a refusal with a code and a next step. It is never a defect of the
//!   planner.
//! - A plan keeps the limits that the noise is chosen by, its own and those of its clipped form.
//! - The canonical bytes of a plan decode to everything that decides the release, and a plan is
//!   itself after a journey as JSON.
//! - The same text has the same plan, and a comment after it changes nothing.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use mizan_sql::{
    Aggregate, BoundedPlan, Catalogue, Groups, MAX_CONTRIBUTION, Measure, Reason, Refusal, plan,
};
use mizan_test_support::catalogues;

#[path = "../../crates/mizan-sql/tests/decoder/mod.rs"]
mod decoder;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(catalogues::catalogue);

/// Checks the properties for a query.
pub fn check(data: &[u8]) {
    let Ok(sql) = std::str::from_utf8(data) else {
        return;
    };
    match plan(sql, &CATALOGUE) {
        Ok(bounded) => {
            check_plan(&bounded);
            if let Some(clipped) = bounded.clipped() {
                check_plan(&clipped);
            }
            let same = |text: &str| match plan(text, &CATALOGUE) {
                Ok(other) => assert!(other == bounded, "another plan of {text:?}"),
                Err(refusal) => panic!("refused now: {}", refusal.show(text)),
            };
            same(sql);
            same(&format!("{sql}\n-- a comment"));
        }
        Err(refusal) => check_refusal(&refusal, sql),
    }
}

fn check_plan(plan: &BoundedPlan) {
    assert!(!plan.relation.unit.is_empty(), "rows without a unit");
    assert!(!plan.statistics.is_empty(), "nothing is released");
    assert!(plan.groups_per_unit >= 1);
    for statistic in &plan.statistics {
        assert!(statistic.low <= 0 && statistic.high >= 0, "{statistic:?}");
        assert!(statistic.sensitivity() >= 1, "{statistic:?}");
        let fineness = plan.fineness(statistic);
        assert!(fineness >= 1, "{statistic:?}");
        assert!(plan.sensitivity(statistic) <= MAX_CONTRIBUTION.unsigned_abs());
        if let Some(argument) = statistic.measure.argument() {
            let kind = argument.type_of(&plan.relation.columns);
            assert!(kind.is_ok(), "{kind:?} of {argument:?}");
        }
    }
    match &plan.groups {
        Groups::Private => assert_eq!(plan.statistics[0].measure, Measure::Units),
        Groups::Public(groups) => {
            let mut seen = BTreeSet::new();
            for group in groups {
                assert_eq!(group.len(), plan.keys.len());
                assert!(seen.insert(group), "a group that would be released twice");
            }
        }
    }
    let statistics = plan.statistics.len();
    for aggregate in &plan.output.aggregates {
        assert!(places(aggregate).iter().all(|place| *place < statistics));
    }
    let values = plan.keys.len() + plan.output.aggregates.len();
    for column in &plan.output.columns {
        assert!(
            column
                .expression
                .columns()
                .iter()
                .all(|place| *place < values)
        );
    }
    let bytes = plan.canonical();
    assert_eq!(decoder::plan(&bytes).canonical(), bytes);
    let json = serde_json::to_string(plan).expect("a plan as JSON");
    let read: BoundedPlan = serde_json::from_str(&json).expect("its JSON is read");
    assert!(read == *plan, "another plan from JSON");
}

/// The statistics that an aggregate is computed from.
fn places(aggregate: &Aggregate) -> Vec<usize> {
    match aggregate {
        Aggregate::Count { of } => vec![*of],
        Aggregate::Sum { sum, count, .. } => std::iter::once(*sum).chain(*count).collect(),
        Aggregate::Mean { sum, count } => vec![*sum, *count],
        Aggregate::Variance {
            sum,
            squares,
            count,
            ..
        } => vec![*sum, *squares, *count],
        Aggregate::Quantile { histogram, .. } => vec![*histogram],
    }
}

fn check_refusal(refusal: &Refusal, sql: &str) {
    let shown = refusal.show(sql);
    assert_ne!(refusal.reason, Reason::Internal, "of the planner: {shown}");
    assert!(refusal.code().as_str().starts_with("MZ18"), "{shown}");
    assert!(!refusal.help.is_empty(), "{shown}");
}

/// The queries of testdata/sql.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let accepted = include_str!("../../testdata/sql/accepted.sql");
    let refused = include_str!("../../testdata/sql/refused.sql");
    let cases = catalogues::cases(accepted)
        .into_iter()
        .chain(catalogues::cases(refused));
    cases.map(|case| case.sql.into_bytes()).collect()
}

/// The words of the queries.
#[must_use]
pub fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for seed in seeds() {
        let text = String::from_utf8_lossy(&seed);
        words.extend(text.split_whitespace().map(str::to_owned));
        let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.extend(names.filter(|name| name.len() > 1).map(str::to_owned));
    }
    words
}
