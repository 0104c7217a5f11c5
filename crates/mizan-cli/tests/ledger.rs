//! `mizan init`, `budget`, `spend` and `ledger`: their text and their JSON.

use crate::common::lab::{Lab, keys};
use crate::common::program;
use serde_json::Value;

/// The contract of docs/spec/command-line.md.
#[test]
fn the_json_of_a_spend() {
    let lab = Lab::new("spend-contract");
    let spent = lab.json(&["spend", "census", "gaussian(20)", "--id", "one"]);
    for key in [
        "receipt",
        "account",
        "event",
        "accepted",
        "spent",
        "remaining",
        "log",
    ] {
        assert!(keys(&spent).contains(&key), "{key}");
    }
    assert_eq!(spent["accepted"], true);
    assert_eq!(spent["account"], "census");
    assert_eq!(spent["event"], "gaussian(20)");
    assert_eq!(spent["log"]["size"], 5);
    assert!(spent["log"]["root"].as_str().unwrap().len() == 64);
    let alone = spent["spent"]["epsilon"].as_f64().unwrap();
    assert!((0.20..0.21).contains(&alone), "{alone}");
    assert_eq!(spent["spent"]["delta"], 1e-6);
    let left = spent["remaining"]["epsilon"].as_f64().unwrap();
    assert!((0.79..0.80).contains(&left), "{left}");

    // Again: free, and the same.
    let again = lab.json(&["spend", "census", "gaussian(20)", "--id", "one"]);
    assert_eq!(again["repeated"], true);
    assert_eq!(again["receipt"], spent["receipt"]);
    assert_eq!(lab.size(), 5);
    // With another body: an error, and nothing happens.
    lab.fails(
        &["spend", "census", "gaussian(21)", "--id", "one"],
        "MZ1732",
    );
    assert_eq!(lab.size(), 5);

    let refused = lab.refused(&["spend", "census", "100 * gaussian(20)", "--id", "two"]);
    assert_eq!(refused["accepted"], false);
    for key in ["asked", "remaining", "largest_that_fits"] {
        assert!(keys(&refused).contains(&key), "{key}");
    }
    // What is said to fit does fit, and a little more does not.
    let fewer = refused["largest_that_fits"]["fewer"].as_str().unwrap();
    let noisier = refused["largest_that_fits"]["noisier"].as_str().unwrap();
    let count: u64 = fewer.split(' ').next().unwrap().parse().unwrap();
    let more = format!("{} * gaussian(20)", count + 1);
    lab.refused(&["spend", "census", &more]);
    // The id stays denied, even when a new charge would fit.
    let raise = ["budget", "raise", "census", "--epsilon", "50"];
    lab.run(&raise).done();
    let refused = lab.refused(&["spend", "census", "100 * gaussian(20)", "--id", "two"]);
    assert_eq!(refused["repeated"], true);
    assert_eq!(lab.json(&["spend", "census", noisier])["accepted"], true);
    assert_eq!(lab.json(&["ledger", "verify"])["verified"], true);
}

#[test]
fn text_of_budgets_and_the_ledger_fits_eighty_columns() {
    let lab = Lab::new("story");
    lab.run(&[
        "budget",
        "create",
        "analysts",
        "--parent",
        "census",
        "--epsilon",
        "0.5",
        "--delta",
        "1e-6",
    ])
    .done();
    for noise in ["gaussian(20)", "laplace(30)", "discrete-gaussian(40)"] {
        lab.run(&["spend", "analysts", noise]).done();
    }
    let refused = lab.run(&["spend", "analysts", "gaussian(1)"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stdout.contains("nothing was charged"));
    let svg = lab.folder.join("burn.svg");
    let shown = lab.run(&["budget", "show", "census", "--svg", svg.to_str().unwrap()]);
    let shown = shown.done();
    assert!(
        shown.contains("if queries were fixed in advance")
            && shown.contains("guaranteed: at most ε")
    );
    assert!(shown.contains("about ") && shown.contains("Remaining budget of account census"));
    assert!(std::fs::read_to_string(svg).unwrap().starts_with("<svg"));
    let checkpoint = lab.folder.join("kept.txt");
    let checkpoint = checkpoint.to_str().unwrap();
    let key = lab.json(&["ledger", "checkpoint", "--out", checkpoint]);
    let key = key["public_key"].as_str().unwrap().to_owned();
    lab.run(&["spend", "census", "pure(0.001)"]).done();
    let verified = lab.json(&[
        "ledger",
        "verify",
        "--checkpoint",
        checkpoint,
        "--public-key",
        &key,
    ]);
    assert_eq!(verified["witnesses"], 1);
    assert_eq!(verified["charges"], 4);
    let texts = [
        lab.run(&["budget", "list"]).done(),
        lab.run(&["ledger", "log"]).done(),
        lab.run(&["ledger", "log", "--account", "analysts", "--last", "2"])
            .done(),
        lab.run(&["ledger", "verify"]).done(),
        lab.run(&["ledger", "at", "2999-01-01"]).done(),
        shown,
        refused.stdout,
    ];
    for text in texts {
        assert!(text.ends_with('\n'));
        for line in text.lines().filter(|line| !line.contains("root")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
    assert_eq!(lab.json(&["ledger", "at", "2001-01-01"])["entries"], 0);
    let export = lab.run(&["ledger", "export"]).done();
    assert_eq!(export.lines().count() as u64, lab.size());
}

/// A receipt is proven, wherever it was kept; one of another ledger is not.
#[test]
fn receipts_are_shown_with_proofs() {
    let lab = Lab::new("receipts");
    let spent = lab.json(&["spend", "census", "gaussian(20)", "--id", "kept"]);
    let receipt = spent["receipt"].as_str().unwrap();
    lab.run(&["spend", "census", "gaussian(30)"]).done();
    let shown = lab.json(&["ledger", "show", receipt]);
    assert_eq!(shown["charge"]["event"], "gaussian(20)");
    assert_eq!(shown["then"]["size"], 5);
    assert_eq!(shown["log"]["size"], 8);
    assert_eq!(
        lab.json(&["ledger", "show", "kept"])["entry"]["kind"],
        "committed"
    );
    let wrong = receipt.replace(":5:", ":6:");
    lab.fails(&["ledger", "show", &wrong], "MZ1782");
    let other = Lab::new("receipts-other");
    other.fails(&["ledger", "show", receipt], "MZ1784");
}

/// Restoring a backup is the easiest double spend.
#[test]
fn a_restored_copy_is_refused_and_then_marked() {
    let lab = Lab::new("restored");
    lab.run(&["spend", "census", "gaussian(20)"]).done();
    let backup = lab.folder.join("backup.db");
    lab.copy(&backup);
    lab.run(&["spend", "census", "gaussian(20)"]).done();
    std::fs::copy(&backup, lab.ledger()).unwrap();
    lab.fails(&["spend", "census", "gaussian(20)"], "MZ1775");
    // Nothing is said about it either, but it can be looked into.
    for statement in [&["ledger", "verify"][..], &["budget", "show", "census"]] {
        lab.fails(statement, "MZ1775");
    }
    let log = lab.run(&["ledger", "log"]);
    assert_eq!(log.code, 0);
    assert!(log.stderr.contains("warning[MZ1775]"), "{}", log.stderr);
    lab.fails(&["ledger", "restore"], "MZ1792");
    let restore = ["ledger", "restore", "--i-know-that-charges-are-lost"];
    assert_eq!(lab.json(&restore)["restored"], true);
    assert_eq!(lab.json(&restore)["restored"], false);
    lab.run(&["spend", "census", "gaussian(20)"]).done();
    let shown = lab.json(&["budget", "show", "census"]);
    assert_eq!(shown["gaps"][0]["known_size"], 8);
    let text = lab.run(&["budget", "show", "census"]).done();
    assert!(text.contains("since the gap"), "{text}");
    assert_eq!(lab.json(&["ledger", "verify"])["gaps"], 1);
    let list = lab.json(&["budget", "list"]);
    assert_eq!(list["gaps"][0]["known_size"], 8);
    let refused = lab.refused(&["spend", "census", "gaussian(1)"]);
    assert_eq!(refused["gaps"][0]["known_size"], 8);
    assert_eq!(
        lab.json(&["ledger", "at", "2999-01-01"])["gaps"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

/// An output option must not overwrite the ledger.
#[test]
fn nothing_is_written_over_a_ledger() {
    let lab = Lab::new("over");
    let ledger = lab.ledger();
    let ledger = ledger.to_str().unwrap();
    let link = lab.folder.join("link");
    std::os::unix::fs::symlink(ledger, &link).unwrap();
    for path in [ledger, link.to_str().unwrap()] {
        lab.fails(&["budget", "show", "census", "--svg", path], "MZ1793");
        lab.fails(&["ledger", "checkpoint", "--out", path], "MZ1793");
        lab.fails(&["ledger", "export", "--out", path], "MZ1793");
    }
    let other = Lab::new("over-other");
    lab.fails(
        &[
            "ledger",
            "export",
            "--out",
            other.ledger().to_str().unwrap(),
        ],
        "MZ1793",
    );
    assert_eq!(lab.json(&["ledger", "verify"])["verified"], true);
    assert_eq!(other.json(&["ledger", "verify"])["verified"], true);
}

/// The remaining budget includes the limits of the accounts above; raises are reported.
#[test]
fn statements_count_what_is_above_and_what_was_raised() {
    let lab = Lab::new("above");
    lab.run(&[
        "budget",
        "create",
        "kid",
        "--parent",
        "census",
        "--epsilon",
        "10",
        "--delta",
        "1e-6",
    ])
    .done();
    lab.run(&["spend", "census", "gaussian(7)"]).done();
    let kid = lab.json(&["budget", "show", "kid"]);
    assert_eq!(kid["remaining"]["account"], "census");
    assert!(kid["remaining"]["epsilon"].as_f64().unwrap() < 0.5);
    assert_ne!(
        lab.json(&["budget", "show", "census"])["guarantee"],
        Value::Null
    );
    lab.run(&["budget", "raise", "census", "--epsilon", "3"])
        .done();
    let raised = lab.json(&["budget", "show", "census"]);
    assert_eq!(
        (&raised["raised"], &raised["guarantee"]),
        (&true.into(), &Value::Null)
    );
    assert!(
        lab.run(&["budget", "show", "census"])
            .done()
            .contains("raised")
    );
    // An id again changes nothing, whatever was raised since.
    let raise = |epsilon, id| {
        [
            "budget",
            "raise",
            "census",
            "--epsilon",
            epsilon,
            "--id",
            id,
        ]
    };
    lab.run(&raise("4", "a")).done();
    lab.run(&raise("5", "b")).done();
    let size = lab.size();
    lab.run(&raise("4", "a")).done();
    lab.fails(&raise("6", "a"), "MZ1732");
    assert_eq!(lab.size(), size);
    // Entries 3 to 5 are the spend; 4 and 5 do not name the account.
    let log = [
        "ledger",
        "log",
        "--account",
        "census",
        "--from",
        "4",
        "--last",
        "2",
    ];
    let entries = lab.json(&log)["entries"].as_array().unwrap().len();
    assert_eq!(entries, 2);
    let log = lab.json(&["ledger", "log", "--from", "0", "--last", "3"]);
    assert_eq!(log["entries"][0]["kind"], "opened");
}

/// A way to damage a copy.
type Damage = fn(&mut Vec<u8>);

#[test]
fn files_that_are_not_ledgers() {
    let lab = Lab::new("bad-files");
    lab.run(&["spend", "census", "gaussian(20)"]).done();
    let good = std::fs::read(lab.ledger()).unwrap();
    let bad = lab.folder.join("bad.db");
    let bad = bad.to_str().unwrap();
    let cases: [(&str, Damage, &str); 5] = [
        ("empty", |bytes| bytes.clear(), "MZ1761"),
        (
            "text",
            |bytes| *bytes = b"not a database at all".repeat(99),
            "MZ1761",
        ),
        ("cut", |bytes| bytes.truncate(bytes.len() - 4096), "MZ1763"),
        (
            "half a page",
            |bytes| bytes.truncate(bytes.len() - 100),
            "MZ1763",
        ),
        ("newer", |bytes| bytes[63] = 99, "MZ1762"),
    ];
    for (what, damage, code) in cases {
        let mut bytes = good.clone();
        damage(&mut bytes);
        std::fs::write(bad, &bytes).unwrap();
        let run = lab.run(&["ledger", "verify", "--ledger", bad]);
        assert_eq!(run.code, 2, "{what}: {run:?}");
        assert!(run.stderr.contains(code), "{what}: {}", run.stderr);
    }
    let folder = lab.folder.to_str().unwrap();
    lab.fails(&["budget", "list", "--ledger", folder], "MZ1760");
    lab.fails(
        &["budget", "list", "--ledger", "/nowhere/at/all.db"],
        "MZ1794",
    );
    lab.fails(&["init", "--ledger", "/nowhere/at/all.db"], "MZ1760");
    lab.fails(&["init"], "MZ1773");
}

#[test]
fn bad_input_changes_nothing() {
    let lab = Lab::new("bad-input");
    let size = lab.size();
    let long = "x".repeat(10_240);
    let cases: [(&[&str], &str); 26] = [
        (&["budget", "create", "x"], "MZ0009"),
        (&["budget", "create", "x", "--epsilon", "1"], "MZ0009"),
        (&["budget", "create", "x", "--delta", "1e-6"], "MZ0009"),
        (
            &["budget", "create", "x", "--pure", "1", "--rho", "1"],
            "MZ0008",
        ),
        (
            &[
                "budget",
                "create",
                "x",
                "--epsilon",
                "-1",
                "--delta",
                "1e-6",
            ],
            "MZ1002",
        ),
        (
            &[
                "budget",
                "create",
                "x",
                "--epsilon",
                "NaN",
                "--delta",
                "1e-6",
            ],
            "MZ1011",
        ),
        (
            &["budget", "create", "x", "--epsilon", "1", "--delta", "0"],
            "MZ1004",
        ),
        (
            &["budget", "create", "x", "--epsilon", "1", "--delta", "1"],
            "MZ1004",
        ),
        (&["budget", "create", "x", "--pure", "0"], "MZ1710"),
        (&["budget", "create", "x", "--rho", "-0.1"], "MZ1002"),
        (&["budget", "create", "x", "--curve", "1:1"], "MZ1706"),
        (&["budget", "create", "x", "--curve", "2:inf"], "MZ1011"),
        (&["budget", "create", "", "--pure", "1"], "MZ1720"),
        (&["budget", "create", &long, "--pure", "1"], "MZ1721"),
        (&["budget", "create", "two\nlines", "--pure", "1"], "MZ1722"),
        (&["budget", "create", "census", "--pure", "1"], "MZ1736"),
        (
            &[
                "budget", "create", "x", "--pure", "1", "--parent", "unknown",
            ],
            "MZ1735",
        ),
        (&["budget", "raise", "census", "--epsilon", "0.5"], "MZ1713"),
        (&["budget", "raise", "census", "--pure", "5"], "MZ1714"),
        (&["spend", "unknown", "pure(1)"], "MZ1735"),
        (&["spend", "census", "gaussian(NaN)"], "MZ1109"),
        (&["spend", "census", "pure(-1)"], "MZ1110"),
        (&["spend", "census", ""], "MZ1101"),
        (&["spend", "census", "pure(0.1)", "--id", ""], "MZ1749"),
        (&["ledger", "at", "2026-02-30"], "MZ1790"),
        (&["ledger", "log", "--from", "-1"], "MZ1005"),
    ];
    for (arguments, code) in cases {
        let run = lab.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(code), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains("help: "), "{}", run.stderr);
    }
    assert_eq!(lab.size(), size);
    // What has no bound is refused, not an error.
    for event in ["pure(1e30)", "1e15 * gaussian(1)"] {
        assert_eq!(lab.refused(&["spend", "census", event])["accepted"], false);
    }
    // Costs nothing, and is charged nothing.
    assert_eq!(lab.json(&["spend", "census", "pure(0)"])["accepted"], true);
}

#[test]
fn names_of_every_script() {
    let lab = Lab::new("names");
    for name in ["مستشفى 'الملك'", "o\"quote; DROP TABLE log;--", "𓀀", "a b"] {
        lab.run(&["budget", "create", name, "--pure", "1"]).done();
        lab.run(&["spend", name, "pure(0.5)"]).done();
        assert_eq!(lab.json(&["budget", "show", name])["account"], name);
    }
    lab.run(&["budget", "list"]).done();
    lab.run(&["ledger", "log"]).done();
    assert_eq!(lab.json(&["ledger", "verify"])["committed"], 4);
}

/// Sixteen programs at once: exactly as many are admitted as fit.
#[test]
fn programs_at_once_never_overspend() {
    let lab = Lab::new("at-once");
    lab.run(&["budget", "create", "small", "--pure", "1"])
        .done();
    let started: Vec<_> = (0..16)
        .map(|_| lab.start(&["spend", "small", "pure(0.125)", "--format", "json"]))
        .collect();
    let mut accepted = 0;
    for child in started {
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => accepted += 1,
            Some(1) => {}
            _ => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        }
    }
    assert_eq!(accepted, 8);
    let verified = lab.json(&["ledger", "verify"]);
    assert_eq!(
        (&verified["committed"], &verified["denied"]),
        (&8.into(), &8.into())
    );
}

/// Without a place for the mark nothing is charged.
#[test]
fn a_state_directory_that_cannot_be_written() {
    let lab = Lab::new("no-state");
    let file = lab.folder.join("a-file");
    std::fs::write(&file, "in the way").unwrap();
    let output = program()
        .args(["spend", "census", "pure(0.1)"])
        .env("MIZAN_LEDGER", lab.ledger())
        .env("MIZAN_STATE_DIR", &file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("error[MZ1779]") && said.contains("MIZAN_STATE_DIR"),
        "{said}"
    );
    assert_eq!(lab.size(), 2);
}
