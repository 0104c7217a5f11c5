//! What went wrong in other systems, and that it cannot go wrong here: one test
//! for each failure, with a line on what the other did. Those that need to look
//! inside are in `mizan-engine`, in `peers_failures.rs` and `release/tests`.

use std::fmt::Write as _;

use crate::common::lab::Lab;
use serde_json::Value;

/// 2,000 people with two rows each: they paid 10 once and 30 once.
fn rows() -> String {
    let mut csv = String::from("person,city,age,paid,note\n");
    for person in 0..2000 {
        let city = if person % 4 == 0 { "Aswan" } else { "Cairo" };
        for paid in [10, 30] {
            writeln!(csv, "{person},{city},{},{paid},n{paid}", person % 90).unwrap();
        }
    }
    csv
}

/// A ledger, and the dataset `visits` of these rows with a budget of 4.
fn lab(name: &str, csv: &str) -> Lab {
    let lab = Lab::empty(name);
    lab.run(&["init"]).done();
    let path = lab.folder.join("visits.csv");
    std::fs::write(&path, csv).unwrap();
    let declared = "--unit person --type person=integer --epsilon 4 --delta 1e-6 \
                    --own-delta 2.5e-7 --bound age=0:100 --bound paid=0:50 \
                    --keys city=Aswan,Cairo --max-rows-per-unit 2 --max-groups-per-unit 2";
    let declared: Vec<&str> = declared.split_whitespace().collect();
    let add = ["dataset", "add", "visits", "--from", path.to_str().unwrap()];
    lab.run(&[&add[..], &declared].concat()).done();
    lab
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

fn left(lab: &Lab) -> Value {
    lab.json(&["budget", "show", "visits"])["remaining"].clone()
}

/// OpenDP 0.16 answered counts through nullable casts and `cut` exactly, at ε 0.
#[test]
fn opendp_exact_counts_at_epsilon_zero() {
    let lab = lab("peers-exact", &rows());
    for sql in [
        "SELECT COUNT(CAST(city AS BIGINT)) AS n FROM visits",
        "SELECT COUNT(NULLIF(paid, paid)) AS n FROM visits",
        "SELECT COUNT(*) FILTER (WHERE CAST(note AS DOUBLE) IS NULL) AS n FROM visits",
        "SELECT bucket(age, 10) AS b, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT CASE WHEN age < 50 THEN 'young' ELSE 'old' END AS b, COUNT(*) AS n FROM visits GROUP BY 1",
    ] {
        let quote = lab.json(&["quote", sql, "--epsilon", "0.5"]);
        assert!(number(&quote["cost"]["epsilon"]) > 0.4, "{sql}: {quote}");
        // Counts of one to two rows a person, at ε 0.5: the noise is some steps wide.
        let width = number(&quote["predicted"]["n"]["half_width"]);
        assert!(width >= 5.0, "{sql}: {width}");
    }
}

/// Qrlew 0.9 computed a variance as E[x²] - E[x].
#[test]
fn qrlew_variance_is_of_squares() {
    let lab = lab("peers-variance", &rows());
    let sql = "SELECT VAR_POP(paid) AS spread FROM visits";
    let answer = lab.json(&["query", sql, "--epsilon", "3"]);
    // 10 and 30: 100. E[x²] - E[x] is 480.
    let spread = number(&answer["rows"][0]["spread"]["value"]);
    assert!((spread - 100.0).abs() < 60.0, "{spread}");
}

/// Qrlew 0.9 made noise in SQL, by Box and Muller from the engine's RANDOM().
#[test]
fn qrlew_noise_of_the_engine() {
    let lab = lab("peers-random", &rows());
    let size = lab.size();
    for random in ["random()", "rand()", "uuid()", "now()"] {
        let sql = format!("SELECT SUM(paid + {random}) AS s FROM visits");
        let run = lab.run(&["query", &sql, "--epsilon", "0.1"]);
        assert_eq!(run.code, 1, "{sql}: {run:?}");
        assert!(run.stderr.contains("error[MZ18"), "{sql}: {}", run.stderr);
    }
    assert_eq!(lab.size(), size, "nothing was charged");
    // Noise on integers: doubles of such a sum would show their last bits.
    let answer = lab.json(&[
        "query",
        "SELECT COUNT(*) AS n FROM visits",
        "--epsilon",
        "1",
    ]);
    assert!(answer["rows"][0]["n"]["value"].is_i64(), "{answer}");
}

/// Qrlew 0.9 scaled noise by the private number of rows.
#[test]
fn qrlew_noise_by_the_number_of_rows() {
    let few = "person,city,age,paid,note\n1,Cairo,30,10,n\n";
    let (few, many) = (lab("peers-few", few), lab("peers-many", &rows()));
    let sql = "SELECT city, AVG(paid) AS mean, MEDIAN(age) AS middle FROM visits GROUP BY city";
    let question = ["query", sql, "--epsilon", "1"];
    let (few, many) = (few.json(&question), many.json(&question));
    assert_eq!(few["spent"], many["spent"]);
}

/// Qrlew 0.9 spent δ twice, for noise and for the threshold, and reported it once.
#[test]
fn qrlew_delta_reported_once() {
    let lab = lab("peers-delta", &rows());
    let sql = "SELECT note, COUNT(*) AS n, SUM(paid) AS s FROM visits GROUP BY note";
    let answer = lab.json(&["query", sql, "--epsilon", "1"]);
    // The noise, and the chance that a group of one is shown, which is on top.
    let event = answer["spent"]["event"].as_str().unwrap();
    let (noise, threshold) = event.split_once(" + approximate(0, ").unwrap();
    let threshold: f64 = threshold.trim_end_matches(')').parse().unwrap();
    let delta = number(&answer["spent"]["delta"]) - threshold;
    assert!(threshold > 0.0 && delta > 0.0, "{answer}");
    let account = lab.json(&["account", noise, "--delta", &format!("{delta:e}")]);
    let certified = number(&account["epsilon"]["upper"]);
    let reported = number(&answer["spent"]["epsilon"]);
    assert!(
        certified <= reported * (1.0 + 1e-9),
        "{certified} {reported}"
    );
    assert!(reported <= 1.0, "{reported}");
}

/// SmartNoise charged AVG twice, for the sum and for the count, without a word.
#[test]
fn smartnoise_average_costs_twice() {
    let lab = lab("peers-average", &rows());
    let sql = "SELECT AVG(paid) AS mean, SUM(paid) AS s, COUNT(*) AS n FROM visits";
    let quote = lab.json(&["quote", sql, "--epsilon", "1"]);
    let answer = lab.json(&["query", sql, "--epsilon", "1"]);
    assert!(number(&quote["cost"]["epsilon"]) <= 1.0);
    assert_eq!(quote["cost"]["epsilon"], answer["spent"]["epsilon"]);
    assert_eq!(quote["remaining_after"], answer["remaining"]);
    // What was charged covers both: priced again it is no more than was said.
    let event = answer["spent"]["event"].as_str().unwrap();
    let delta = number(&answer["spent"]["delta"]);
    let account = lab.json(&["account", event, "--delta", &format!("{delta:e}")]);
    let certified = number(&account["epsilon"]["upper"]);
    assert!(certified <= 1.0 + 1e-9, "{certified}");
}

/// SmartNoise added no noise to a sum without bounds.
#[test]
fn smartnoise_missing_bound_means_no_noise() {
    let lab = lab("peers-bounds", &rows());
    let size = lab.size();
    let sql = "SELECT SUM(CAST(note AS DOUBLE)) AS s FROM visits";
    let run = lab.run(&["query", sql, "--epsilon", "1"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("needs bounds"), "{}", run.stderr);
    assert!(run.stderr.contains("\nhelp: "), "{}", run.stderr);
    assert_eq!(lab.size(), size, "nothing was charged");
}

/// SmartNoise let small groups vanish without a word.
#[test]
fn smartnoise_groups_vanish_unexplained() {
    let mut csv = rows();
    csv.push_str("5000,Cairo,30,1,rare\n");
    let lab = lab("peers-groups", &csv);
    let sql = "SELECT note, COUNT(DISTINCT person) AS n FROM visits GROUP BY note";
    let answer = lab.json(&["query", sql, "--epsilon", "1"]);
    assert_eq!(answer["rows"].as_array().unwrap().len(), 2, "{answer}");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("people are hidden"), "{notes}");
    let text = lab.run(&["query", sql, "--epsilon", "1"]).stdout;
    assert!(text.contains(" people hidden"), "{text}");
}

/// BigQuery gives the budget of a failed query back, so failures can be asked for.
#[test]
fn bigquery_refunds_failed_queries() {
    let mut csv = rows();
    for row in 0..300_000 {
        writeln!(csv, "{},Cairo,30,10,n", row % 5000).unwrap();
    }
    let lab = lab("peers-refund", &csv);
    let (before, size) = (left(&lab), lab.size());
    let question = [
        "query",
        "SELECT SUM(paid) AS s FROM visits",
        "--epsilon",
        "1",
    ];
    let mut child = lab.start(&question);
    while lab.size() == size && child.try_wait().unwrap().is_none() {}
    let _ = child.kill();
    child.wait().unwrap();
    // Killed on the way, or answered just before: it is paid for.
    let after = left(&lab);
    assert!(number(&after["epsilon"]) < number(&before["epsilon"]));
    // Sent again, it continues and is not charged again.
    lab.run(&question).done();
    assert_eq!(left(&lab), after);
}

/// Snowflake and AWS refresh budgets from time to time, on the same data.
#[test]
fn snowflake_and_aws_refresh_budgets() {
    let lab = lab("peers-refresh", &rows());
    let sql = "SELECT COUNT(*) AS n FROM visits";
    lab.run(&["query", sql, "--epsilon", "3"]).done();
    let spent = left(&lab);
    lab.refused(&["query", sql, "--epsilon", "2"]);
    // Neither new rows nor registering again give anything back.
    let path = lab.folder.join("visits.csv");
    std::fs::write(&path, rows() + "7777,Cairo,1,1,n\n").unwrap();
    let from = path.to_str().unwrap();
    for (name, code) in [("visits", "MZ18"), ("again", "MZ1876")] {
        let add = ["dataset", "add", name, "--from", from, "--unit", "person"];
        let run = lab.run(&[&add[..], &["--epsilon", "4", "--delta", "1e-6"]].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(code), "{run:?}");
    }
    lab.refused(&["query", sql, "--epsilon", "2"]);
    assert_eq!(left(&lab), spent);
}

/// DuckDB's `privacy` lets the analyst switch the noise off.
#[test]
fn duckdb_noise_can_be_switched_off() {
    let lab = lab("peers-switch", &rows());
    let size = lab.size();
    for sql in [
        "SET privacy_noise = false",
        "SET privacy_noise = false; SELECT COUNT(*) FROM visits",
        "PRAGMA disable_privacy",
    ] {
        let run = lab.run(&["query", sql, "--epsilon", "1"]);
        assert_eq!(run.code, 2, "{sql}: {run:?}");
    }
    // A hint is a remark: it has the price of the question without it.
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let cost = |sql| lab.json(&["quote", sql, "--epsilon", "1"])["cost"].clone();
    let hinted = "SELECT /*+ no_noise */ COUNT(*) AS n FROM visits";
    assert_eq!(cost(sql), cost(hinted));
    for off in [
        ["--epsilon", "inf"],
        ["--epsilon", "NaN"],
        ["--epsilon", "-1"],
        ["--accuracy", "0"],
        ["--seed", "1"],
        ["--no-noise", "1"],
    ] {
        let run = lab.run(&[&["query", sql][..], &off].concat());
        assert_ne!(run.code, 0, "{off:?}: {run:?}");
    }
    assert_eq!(lab.size(), size, "nothing was charged");
}
