//! The public names of the library: a small flat facade over the crates below.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The most names that a reader has to look through.
const MOST: usize = 40;

/// The text of a source file without comments.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| line.split("//").next().unwrap());
    lines.collect::<Vec<_>>().join("\n")
}

/// The names that a `pub use` brings in: the last parts of its paths, or what follows `as`.
fn imported(item: &str) -> Vec<String> {
    let mut parts = item.split([',', '{', '}']).map(str::trim);
    let mut names = Vec::new();
    // What is left of a brace is a path that ends with `::`.
    for part in parts
        .by_ref()
        .filter(|part| !part.is_empty() && !part.ends_with("::"))
    {
        let name = part.rsplit_once(" as ").map(|(_, name)| name);
        let name = name.unwrap_or_else(|| part.rsplit("::").next().unwrap());
        names.push(name.trim().to_owned());
    }
    names
}

fn public_names() -> BTreeSet<String> {
    let root = code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    let mut names = BTreeSet::new();
    for item in root.split("pub use ").skip(1) {
        let (item, _) = item.split_once(';').unwrap();
        for name in imported(item) {
            assert!(names.insert(name.clone()), "{name} is public twice");
        }
    }
    names
}

#[test]
fn the_library_has_few_names() {
    assert_eq!(imported("a::{b::C, d::e as f, G}"), ["C", "f", "G"]);
    assert_eq!(imported("a::B"), ["B"]);
    let names = public_names();
    for name in ["Accountant", "calibrate", "Ledger", "QueryService", "Error"] {
        assert!(names.contains(name), "{name} is not in {names:?}");
    }
    assert!(names.len() <= MOST, "{} names: {names:?}", names.len());
}

/// Nothing is public but what `lib.rs` names.
#[test]
fn modules_are_private() {
    let root = code(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    for item in [
        "mod", "fn", "struct", "enum", "trait", "type", "const", "static", "extern",
    ] {
        assert!(
            !root.contains(&format!("pub {item} ")),
            "lib.rs has a public {item}"
        );
    }
    assert!(
        !root.contains("::*"),
        "lib.rs re-exports everything of a crate"
    );
}

/// The table at the top of the documentation names what a reader needs first.
#[test]
fn the_first_page_links_every_main_type() {
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let (page, _) = text.split_once("mod error;").unwrap();
    assert!(page.starts_with("//! Differential privacy for Rust"));
    for name in [
        "PrivacyEvent",
        "Accountant",
        "calibrate",
        "Mechanism",
        "Ledger",
        "QueryService",
    ] {
        assert!(page.contains(&format!("[`{name}`]")), "{name}");
    }
}
