//! What an earlier version stored still opens: a ledger, a catalogue and a token
//! file made by commit 62d2b23, kept in `testdata/stored`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::lab::Lab;
use serde_json::Value;

fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/stored")
}

/// A machine that has the stored files, with the dataset where it is now.
fn machine(name: &str) -> Lab {
    let (lab, stored) = (Lab::empty(name), stored());
    let books = lab.folder.join("books");
    fs::copy(stored.join("mizan.db"), books.join("mizan.db")).unwrap();
    fs::copy(
        stored.join("mizan.tokens.db"),
        books.join("mizan.tokens.db"),
    )
    .unwrap();
    let catalogue = fs::read_to_string(stored.join("mizan.datasets.json")).unwrap();
    let source = stored.join("visits.csv").canonicalize().unwrap();
    let catalogue = catalogue.replace("/tmp/fix/data/visits.csv", source.to_str().unwrap());
    fs::write(books.join("datasets.json"), catalogue).unwrap();
    let id = "b4b8be8047916a71d1a815115afef12b";
    let (from, to) = (
        stored.join("state").join(id),
        lab.folder.join("state").join(id),
    );
    fs::create_dir_all(&to).unwrap();
    for file in ["key", "key.pub", "mark"] {
        fs::copy(from.join(file), to.join(file)).unwrap();
    }
    #[cfg(unix)]
    for private in [to.join("key"), books.join("mizan.tokens.db")] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(private, fs::Permissions::from_mode(0o600)).unwrap();
    }
    lab
}

/// The keys and values of an answer's rows, without their intervals.
fn values(rows: &Value) -> Vec<Vec<(String, Value)>> {
    let value = |cell: &Value| cell.get("value").unwrap_or(cell).clone();
    let row = |row: &Value| {
        let cells = row.as_object().unwrap().iter();
        cells
            .map(|(name, cell)| (name.clone(), value(cell)))
            .collect()
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_stored_ledger_verifies_and_its_answers_are_found_at_no_cost() {
    let lab = machine("stored-ledger");
    lab.run(&["ledger", "verify"]).done();
    let before = lab.size();
    let mut found = 0;
    for file in fs::read_dir(stored().join("answers")).unwrap() {
        let asked: Value =
            serde_json::from_slice(&fs::read(file.unwrap().path()).unwrap()).unwrap();
        let (sql, id) = (
            asked["sql"].as_str().unwrap(),
            asked["id"].as_str().unwrap(),
        );
        let epsilon = asked["epsilon"].to_string();
        let answer = lab.json(&["query", sql, "--epsilon", &epsilon, "--id", id]);
        assert_eq!(answer["repeated"], true, "{id}");
        assert_eq!(values(&answer["rows"]), values(&asked["rows"]), "{id}");
        found += 1;
    }
    assert_eq!(found, 5);
    assert_eq!(lab.size(), before, "nothing was charged or written");
}

#[test]
fn stored_tokens_and_budgets_are_listed() {
    let lab = machine("stored-tokens");
    let file = lab.folder.join("books/mizan.tokens.db");
    let tokens = lab.json(&["token", "list", "--tokens", file.to_str().unwrap()]);
    let tokens = tokens.to_string();
    assert!(
        tokens.contains("amina") && tokens.contains("owner"),
        "{tokens}"
    );
    let budgets = lab.json(&["budget", "list"]).to_string();
    assert!(
        budgets.contains("visits") && budgets.contains("census"),
        "{budgets}"
    );
    // And they can be spent from.
    lab.run(&["spend", "census", "laplace(50)", "--id", "new"])
        .done();
    lab.run(&["ledger", "verify"]).done();
}
