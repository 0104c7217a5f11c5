//! Queries that are killed or interrupted.

use crate::common::visits::{lab, people};
use serde_json::Value;

/// Killed anywhere, a question is not charged, or charged and answered when it is
/// sent again: never answered and not charged.
#[test]
fn a_killed_query_is_charged_once_at_most() {
    let lab = lab("sql-killed", &people());
    let sql = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY city";
    let question = ["query", sql, "--epsilon", "0.02"];
    let mut charged_before = 0;
    for round in 0..40_u64 {
        let id = format!("round {round}");
        let arguments = [&question[..], &["--id", &id]].concat();
        let mut child = lab.start(&[&arguments[..], &["--format", "json"]].concat());
        std::thread::sleep(std::time::Duration::from_micros(700 * round));
        let _ = child.kill();
        let killed = child.wait_with_output().unwrap();
        let told = serde_json::from_slice::<Value>(&killed.stdout).ok();
        let again = lab.json(&arguments);
        if let Some(told) = told {
            assert_eq!(
                told["rows"], again["rows"],
                "an answer that was out changed"
            );
            assert_eq!(again["repeated"], true);
        }
        let log = lab.json(&["ledger", "log"]);
        let charged = log.to_string().matches("\"committed\"").count();
        assert!(charged <= charged_before + 1, "charged twice");
        charged_before = charged;
    }
    lab.run(&["ledger", "verify"]).done();
}

/// An interrupted query says what became of its charge; asking again pays once.
#[test]
fn an_interrupted_query_reports_its_charge() {
    let lab = lab("sql-interrupted", &people());
    let sql = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city ORDER BY city";
    let mut told = false;
    for round in 0..400_u64 {
        let id = format!("round {}", round % 4);
        let arguments = ["query", sql, "--epsilon", "0.02", "--id", &id];
        let child = lab.start(&arguments);
        std::thread::sleep(std::time::Duration::from_micros(500 * round));
        let signal = if round % 2 == 0 { "-INT" } else { "-TERM" };
        let pid = child.id().to_string();
        // It may have ended.
        let _ = std::process::Command::new("kill")
            .args([signal, &pid])
            .stderr(std::process::Stdio::null())
            .status();
        let ended = child.wait_with_output().unwrap();
        let words = String::from_utf8(ended.stderr).unwrap();
        match ended.status.code() {
            Some(0) => assert!(words.is_empty(), "{words}"),
            Some(2) => {
                assert!(
                    words.contains("MZ0007") && words.contains("charge"),
                    "{words}"
                );
                assert!(ended.stdout.is_empty());
                told = true;
            }
            // Before anything could be charged.
            code => assert_eq!(code, None, "{words}"),
        }
        if told && round > 8 {
            break;
        }
    }
    assert!(told, "no run was told of its charge");
    lab.run(&["ledger", "verify"]).done();
}
