//! The places that every kind of event has and that compile without it. CONTRIBUTING.md lists all of
//! them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::round_trip::event;
use crate::PrivacyEvent;
use crate::event::names::EventKind;

fn names() -> BTreeSet<&'static str> {
    let named = EventKind::NAMED.into_iter();
    named.map(|kind| kind.syntax().name).collect()
}

/// The last kind that has a name in text is the one before `Repeat`.
#[test]
fn the_list_of_kinds_is_complete() {
    let listed = EventKind::NAMED.len();
    assert_eq!(
        listed,
        EventKind::Repeat as usize,
        "a kind is missing from EventKind::NAMED, or not before Repeat"
    );
    assert_eq!(names().len(), listed, "two kinds have the same name");
}

#[test]
fn random_events_are_of_every_kind() {
    let mut runner = TestRunner::deterministic();
    let mut missing = names();
    for _ in 0..2000 {
        let mut waiting: Vec<PrivacyEvent> = vec![event().new_tree(&mut runner).unwrap().current()];
        while let Some(event) = waiting.pop() {
            waiting.extend_from_slice(event.children());
            if let Some(name) = event.to_json()["event"].as_str() {
                missing.remove(name);
            }
        }
    }
    assert!(missing.is_empty(), "round_trip.rs makes no {missing:?}");
}

#[test]
fn the_page_of_events_has_every_kind() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/spec/command-line.md")).unwrap();
    let (_, events) = page.split_once("\n## Events\n").unwrap();
    let (events, _) = events.split_once("\n## ").unwrap();
    let rows = events.lines().filter(|line| line.starts_with("| `"));
    let first: Vec<&str> = rows.filter_map(|row| row.split(" | ").next()).collect();
    let missing: Vec<&str> = names()
        .into_iter()
        .filter(|name| !first.iter().any(|cell| cell.contains(&format!("`{name}`"))))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/spec/command-line.md, Events: no row of {missing:?}"
    );
}
