//! Reads the repository: what a newcomer relies on holds in every file.
#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

use std::path::{Path, PathBuf};

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_says_what_lives_in_it_and_fits_a_sitting() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    rust_files(crates, &mut files);
    assert!(files.len() > 30, "{} files found", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.display();
        assert!(text.starts_with("//!"), "{name} does not open with //!");
        let lines = text.lines().count();
        assert!(lines <= 600, "{name} has {lines} lines: split it");
    }
}

#[test]
fn the_map_names_every_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    for entry in std::fs::read_dir(root.join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            map.contains(&format!("`{name}`")),
            "ARCHITECTURE.md does not mention {name}"
        );
    }
}
