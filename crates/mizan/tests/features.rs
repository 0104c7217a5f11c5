//! What the features compile: a program that only accounts does not compile DataFusion.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The crates that the library compiles with these arguments of cargo, without those for tests.
fn compiled(arguments: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--package",
            "mizan",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .args(["--format", "{p}", "--offline", "--locked"])
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn accounting_compiles_neither_datafusion_nor_a_database() {
    let crates = compiled(&["--no-default-features"]);
    let own = crates.iter().filter(|name| name.starts_with("mizan"));
    let own: Vec<&str> = own.map(String::as_str).collect();
    assert_eq!(own, ["mizan", "mizan-accounting", "mizan-core"]);
    for heavy in [
        "datafusion",
        "arrow",
        "parquet",
        "rusqlite",
        "postgres",
        "tokio",
    ] {
        let found = crates.iter().find(|name| name.starts_with(heavy));
        assert_eq!(found, None);
    }
    assert!(crates.len() < 30, "{} crates: {crates:?}", crates.len());
}

#[test]
fn the_default_features_compile_no_engine() {
    let crates = compiled(&[]);
    assert!(crates.contains("mizan-ledger") && crates.contains("mizan-noise"));
    assert!(!crates.contains("mizan-engine") && !crates.contains("datafusion"));
}

#[test]
fn queries_compile_datafusion() {
    let crates = compiled(&["--features", "query"]);
    assert!(crates.contains("mizan-engine") && crates.contains("datafusion"));
    // Not the command line, nor the server.
    for other in ["mizan-cli", "mizan-server", "mizan-api", "axum", "clap"] {
        assert!(!crates.contains(other), "{other}");
    }
}
