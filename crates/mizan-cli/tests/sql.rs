//! `mizan dataset`, `quote`, `query` and `demo`: their text and their JSON.

use std::fmt::Write as _;

use crate::common::lab::{Lab, keys};
use crate::common::visits::{add, lab, people};
use serde_json::Value;

fn value(answer: &Value, row: usize, column: &str) -> f64 {
    answer["rows"][row][column]["value"].as_f64().unwrap()
}

/// The contract of docs/spec/command-line.md.
#[test]
fn the_json_of_quotes_and_answers() {
    let lab = lab("sql-contract", &people());
    let sql =
        "SELECT city, COUNT(*) AS n, SUM(paid) AS paid FROM visits GROUP BY city ORDER BY city";
    let quote = lab.json(&["quote", sql, "--epsilon", "1"]);
    for key in [
        "event",
        "cost",
        "predicted",
        "remaining_after",
        "fits",
        "about_more",
    ] {
        assert!(keys(&quote).contains(&key), "{key}");
    }
    assert_eq!(quote["fits"], true);
    assert!(quote["cost"]["epsilon"].as_f64().unwrap() <= 1.0);
    assert!(quote["cost"]["epsilon"].as_f64().unwrap() > 0.97);
    let half = quote["predicted"]["n"]["half_width"].as_f64().unwrap();
    assert!(half > 0.0 && half < 100.0);

    let answer = lab.json(&["query", sql, "--epsilon", "1"]);
    for key in ["receipt", "rows", "spent", "remaining", "clamping", "notes"] {
        assert!(keys(&answer).contains(&key), "{key}");
    }
    assert_eq!(keys(&answer["rows"][0]), ["city", "n", "paid"]);
    assert_eq!(answer["rows"][0]["city"], "Aswan");
    assert_eq!(answer["rows"][1]["city"], "Cairo");
    // 500 people in Aswan and 1,500 in Cairo, two rows on average.
    assert!((value(&answer, 0, "n") - 1000.0).abs() < 20.0 * half);
    assert!((value(&answer, 1, "n") - 3000.0).abs() < 20.0 * half);
    let low = answer["rows"][0]["n"]["low"].as_f64().unwrap();
    assert!(low < value(&answer, 0, "n"));
    assert_eq!(answer["spent"]["event"], quote["event"]);
    let left = answer["remaining"]["epsilon"].as_f64().unwrap();
    assert!(left < 4.0);

    // The same again, in another order and cut, is free and the same.
    let other = "select city, count(*) as n, sum(paid) as paid from visits group by city order by city desc limit 1";
    let again = lab.json(&["query", other, "--epsilon", "1"]);
    assert_eq!(again["repeated"], true);
    assert_eq!(again["rows"].as_array().unwrap().len(), 1);
    assert_eq!(value(&again, 0, "n"), value(&answer, 1, "n"));
    assert_eq!(again["spent"]["epsilon"], 0.0);
    assert_eq!(again["remaining"], answer["remaining"]);
    // Fresh noise under an id of one's own, for a price.
    let fresh = lab.json(&["query", sql, "--epsilon", "1", "--id", "mine"]);
    assert_eq!(fresh["repeated"], false);
    assert!(fresh["remaining"]["epsilon"].as_f64().unwrap() < left);
    let fresh_again = lab.json(&["query", sql, "--epsilon", "1", "--id", "mine"]);
    assert_eq!(fresh_again["rows"], fresh["rows"]);
    lab.fails(
        &[
            "query",
            "SELECT COUNT(*) FROM visits",
            "--epsilon",
            "1",
            "--id",
            "mine",
        ],
        "MZ1732",
    );
    lab.run(&["ledger", "verify"]);
}

#[test]
fn every_aggregate_is_about_right() {
    let lab = lab("sql-aggregates", &people());
    let sql = "SELECT COUNT(DISTINCT person) AS people, AVG(age) AS age, STDDEV(age) AS spread, \
               MEDIAN(age) AS middle, quantile(age, 0.9) AS old, COUNT(DISTINCT age) AS ages FROM visits";
    let answer = lab.json(&["query", sql, "--epsilon", "3"]);
    let within = |column: &str, truth: f64, slack: f64| {
        let value = value(&answer, 0, column);
        assert!(
            (value - truth).abs() <= slack,
            "{column}: {value}, not {truth}"
        );
    };
    within("people", 2000.0, 60.0);
    within("age", 44.3, 6.0);
    within("spread", 26.0, 8.0);
    within("middle", 44.0, 6.0);
    within("old", 80.0, 6.0);
    within("ages", 90.0, 60.0);
}

/// A person with more rows than the limit contributes copies of their mean row.
#[test]
fn a_mean_is_that_of_people_with_many_rows_too() {
    let mut csv = String::from("person,city,age,paid\n");
    for person in 0..300 {
        for _ in 0..40 {
            writeln!(csv, "{person},Cairo,50,30").unwrap();
        }
    }
    let lab = lab("sql-many-rows", &csv);
    let sql = "SELECT AVG(paid) AS mean, VAR_POP(paid) AS spread FROM visits";
    let answer = lab.json(&["query", sql, "--epsilon", "3"]);
    // Off by one on average; with all rows in the sum and few in the count it
    // would be at the bound, 50.
    assert!((value(&answer, 0, "mean") - 30.0).abs() < 6.0, "{answer}");
}

#[test]
fn partition_selection_hides_small_groups() {
    let mut csv = people();
    csv.push_str("5000,Luxor,30,1\n");
    let lab = lab("sql-private", &csv);
    let sql = "SELECT UPPER(TRIM(city)) AS town, COUNT(DISTINCT person) AS n FROM visits GROUP BY 1 ORDER BY n DESC";
    // Keys declared for city make expressions of it public; a text of another
    // column would be private: concatenation with the unit's age is neither.
    let answer = lab.json(&["query", sql, "--epsilon", "1"]);
    let towns: Vec<&str> = answer["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["town"].as_str().unwrap())
        .collect();
    assert_eq!(towns, ["CAIRO", "ASWAN"]);
}

#[test]
fn what_does_not_fit_is_refused_and_costs_nothing() {
    let lab = lab("sql-refused", &people());
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let before = lab.json(&["budget", "show", "visits"]);
    let refused = lab.refused(&["query", sql, "--epsilon", "40"]);
    assert_eq!(refused["accepted"], false);
    for key in ["asked", "remaining", "largest_that_fits"] {
        assert!(keys(&refused).contains(&key), "{key}");
    }
    let after = lab.json(&["budget", "show", "visits"]);
    assert_eq!(before["remaining"], after["remaining"]);
    // A budget that was raised since lets the same question through.
    lab.run(&["budget", "raise", "visits", "--epsilon", "60"])
        .done();
    lab.run(&["query", sql, "--epsilon", "40"]).done();
}

#[test]
fn accuracy_chooses_epsilon() {
    let lab = lab("sql-accuracy", &people());
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let quote = lab.json(&["quote", sql, "--accuracy", "40"]);
    let half = quote["predicted"]["n"]["half_width"].as_f64().unwrap();
    assert!(half <= 40.0 && half > 30.0, "{half}");
    for bad in ["0", "-1", "NaN", "inf", "x", ""] {
        lab.fails(&["quote", sql, "--accuracy", bad], "MZ1951");
    }
}

#[test]
fn queries_that_identify_people_are_refused_with_a_caret() {
    let lab = lab("sql-policy", &people());
    let size = lab.size();
    // What may not be asked is refused (1); the others are mistakes (2).
    for (sql, code) in [
        ("SELECT * FROM visits", 1),
        ("SELECT person FROM visits LIMIT 1", 1),
        (
            "SELECT COUNT(*) FROM visits ORDER BY (SELECT MAX(age) FROM visits)",
            1,
        ),
        ("SELECT COUNT(*) OVER () FROM visits", 1),
        ("SELECT random() FROM visits", 1),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM visits", 2),
        ("DROP TABLE visits", 2),
        (
            "SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits",
            2,
        ),
        ("SELECT SUM(person) FROM visits", 2),
        (
            "SELECT COUNT(*) FROM \"visits\"\"; DROP TABLE visits; --\"",
            2,
        ),
        ("", 2),
        ("🙂", 2),
    ] {
        let run = lab.run(&["query", sql, "--epsilon", "0.1"]);
        assert_eq!(run.code, code, "{sql}: {run:?}");
        assert!(run.stderr.contains("error[MZ18"), "{sql}: {}", run.stderr);
        assert!(run.stderr.contains("\nhelp: "), "{sql}: {}", run.stderr);
    }
    let long = format!(
        "SELECT COUNT(*) FROM visits WHERE age IN ({})",
        "1,".repeat(600_000) + "1"
    );
    let path = lab.folder.join("long.sql");
    std::fs::write(&path, long).unwrap();
    assert_eq!(lab.size(), size, "nothing was charged");
}

#[test]
fn files_that_are_not_quite_right_are_read_or_named() {
    let header = "person,city,age,paid";
    for (name, csv) in [
        (
            "ragged",
            format!("{header}\n1,Cairo\n2,Cairo,3,4,5,6\n\n3,Aswan,9,1\n"),
        ),
        (
            "types",
            format!("{header}\nx,Cairo,old,NaN\n2,Cairo,1e400,inf\n3,\"a\nb\",-5,1e3\n"),
        ),
        ("bom", format!("\u{feff}{header}\r\n1,Cairo,3,4\r\n")),
        ("none", format!("{header}\n")),
        ("big", format!("{header}\n1,{},3,4\n", "x".repeat(10 << 20))),
    ] {
        let lab = lab(&format!("sql-file-{name}"), &csv);
        let answer = lab.json(&[
            "query",
            "SELECT COUNT(*) AS n, SUM(paid) AS s FROM visits",
            "--epsilon",
            "1",
        ]);
        assert!(value(&answer, 0, "n").abs() < 500.0, "{name}");
    }
    for (name, csv) in [
        ("twice", "person,city,age,age,paid\n"),
        ("missing", "who,city,age,paid\n"),
        ("empty", ""),
    ] {
        let lab = Lab::empty(&format!("sql-file-{name}"));
        lab.run(&["init"]).done();
        let run = add(&lab, csv);
        assert_eq!(run.code, 2, "{name}: {run:?}");
        assert!(run.stderr.contains("\nhelp: "), "{name}: {}", run.stderr);
        assert!(
            lab.json(&["dataset", "list"])["datasets"]
                .as_array()
                .unwrap()
                .is_empty()
        );
    }
    let lab = lab("sql-file-gone", &people());
    std::fs::remove_file(lab.folder.join("visits.csv")).unwrap();
    let size = lab.size();
    let run = lab.run(&["query", "SELECT COUNT(*) FROM visits", "--epsilon", "1"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(lab.size(), size, "nothing was charged");
    // A column that is gone is noticed before anything is charged, too.
    std::fs::write(
        lab.folder.join("visits.csv"),
        "person,city,paid\n1,Cairo,3\n",
    )
    .unwrap();
    let run = lab.run(&["query", "SELECT AVG(age) FROM visits", "--epsilon", "1"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!(lab.size(), size, "nothing was charged");
}

#[test]
fn new_data_make_a_new_charge() {
    let lab = lab("sql-version", &people());
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let first = lab.json(&["query", sql, "--epsilon", "0.5"]);
    let mut csv = people();
    csv.push_str("9999,Cairo,1,1\n");
    std::fs::write(lab.folder.join("visits.csv"), csv).unwrap();
    let second = lab.json(&["query", sql, "--epsilon", "0.5"]);
    assert_eq!(second["repeated"], false);
    assert_ne!(first["receipt"], second["receipt"]);
}

#[test]
fn bounds_are_found_privately_and_kept() {
    let lab = lab("sql-bounds", &people());
    let found = lab.json(&["dataset", "bounds", "visits", "paid", "--epsilon", "1"]);
    let (low, high) = (
        found["low"].as_f64().unwrap(),
        found["high"].as_f64().unwrap(),
    );
    assert!((-2.0..=0.0).contains(&low), "{low}");
    assert!((16.0..=64.0).contains(&high), "{high}");
    let shown = lab.json(&["dataset", "show", "visits"]);
    let paid = &shown["columns"][3];
    assert_eq!(paid["name"], "paid");
    assert_eq!(paid["bounds"][1].as_f64().unwrap(), high);
    // What was declared or found before is named.
    let again = lab.run(&["dataset", "bounds", "visits", "age", "--epsilon", "1"]);
    assert!(again.done().contains("they replace the bounds"));
    // The same look is free, and bounds that were wrong do not hide what is beyond.
    let path = lab.folder.join("visits.csv");
    let add = ["dataset", "add", "narrow", "--from", path.to_str().unwrap()];
    let terms = ["--unit", "person", "--account", "visits"];
    let wrong = ["--bound", "paid=0:1", "--max-rows-per-unit", "1"];
    lab.run(&[&add[..], &terms, &wrong].concat()).done();
    let look = ["dataset", "bounds", "narrow", "paid", "--epsilon", "1"];
    for repeated in [false, true] {
        let found = lab.json(&look);
        assert!(found["high"].as_f64().unwrap() >= 16.0, "{found}");
        assert_eq!(found["repeated"], repeated);
    }
    lab.fails(&["dataset", "bounds", "visits", "city"], "MZ1995");
    lab.fails(&["dataset", "bounds", "visits", "nothing"], "MZ1995");
    lab.fails(&["dataset", "bounds", "unknown", "paid"], "MZ1866");
}

/// Which limits may have changed an answer, and what the answer hints at.
#[test]
fn answers_name_the_limits_that_apply() {
    let lab = lab("sql-clamping", &people());
    let sql = "SELECT MAX(LEAST(paid, 5)) AS most, AVG(age) AS age FROM visits";
    let quote = lab.json(&["quote", sql, "--epsilon", "2"]);
    let answer = lab.json(&["query", sql, "--epsilon", "2"]);
    let said = answer["clamping"].as_array().unwrap();
    let limits = quote["clamping"].as_array().unwrap();
    assert_eq!(said[..limits.len()], limits[..]);
    let all = answer["clamping"].to_string();
    assert!(
        all.contains("visits.age is clamped to the range 0 to 100."),
        "{all}"
    );
    assert!(all.contains("at most 3 rows per group"), "{all}");
    // Nearly all people paid 5 or more; the mean age is not near a bound.
    assert!(all.contains("most is at its upper bound"), "{all}");
    assert!(!all.contains("age is at"), "{all}");
    // A grid and an estimate at its bound are remarks, not bounds.
    let is_bound = |effect: &&Value| effect["kind"] != "grid" && effect["kind"] != "at_bound";
    let effects = answer["clamping_data"].as_array().unwrap();
    let bounds = effects.iter().filter(is_bound).count();
    let text = lab.run(&["query", sql, "--epsilon", "2"]).stdout;
    assert!(
        text.contains(&format!("{bounds} contribution bounds apply")),
        "{text}"
    );
    assert!(text.contains("details"), "{text}");
    let explained = lab
        .run(&["query", sql, "--epsilon", "2", "--explain"])
        .stdout;
    assert!(
        explained.contains("Contribution bounds (their effect"),
        "{explained}"
    );
    for text in [text, explained] {
        let lines = text.lines().filter(|line| !line.starts_with("receipt "));
        let widest = lines.map(|line| line.chars().count()).max();
        assert!(widest.unwrap() <= 80, "{text}");
    }
    let people = ["query", "SELECT COUNT(DISTINCT person) AS n FROM visits"];
    let none = lab.json(&people)["clamping"].clone();
    assert_eq!(none, serde_json::json!([]));
    let text = lab.run(&people).stdout;
    assert!(text.contains("no contribution bound applies"), "{text}");
    let explained = lab.run(&[&people[..], &["--why"]].concat()).stdout;
    let none = "No contribution bound can affect this answer.\n";
    assert!(explained.contains(none), "{explained}");
}

/// 4·10¹⁰ rows otherwise: this would not end.
#[test]
fn a_self_join_of_a_person_with_very_many_rows_ends() {
    let mut csv = people();
    for row in 0..200_000 {
        writeln!(csv, "7,Cairo,30,{}", row % 50).unwrap();
    }
    let lab = lab("sql-self-join", &csv);
    let sql = "SELECT COUNT(*) AS n, SUM(b.paid) AS s FROM visits a JOIN visits b \
               ON a.person = b.person AND a.paid <= b.paid";
    let answer = lab.json(&["query", sql, "--epsilon", "2"]);
    assert!(
        answer["clamping"].to_string().contains("1,024 rows"),
        "{answer}"
    );
    // Of 2,000 people a third each have 1, 3 and 6 pairs, of which 3 count: 4,667.
    let n = value(&answer, 0, "n");
    assert!((n - 4667.0).abs() < 100.0, "{n}");
}

#[test]
fn the_demo_runs_to_its_end() {
    let lab = Lab::empty("sql-demo");
    let folder = lab.folder.join("story");
    let arguments = ["demo", "--folder", folder.to_str().unwrap()];
    let story = lab.json(&arguments);
    assert_eq!(story["answers"].as_array().unwrap().len(), 6);
    assert_eq!(story["refused"].as_array().unwrap().len(), 2);
    assert_eq!(story["verified"], true);
    for file in [
        "people.csv",
        "visits.csv",
        "mizan.db",
        "burn-down.svg",
        "visits-by-month.svg",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    lab.fails(&arguments, "MZ0011");
}

/// Where a file of the project's test data is.
fn testdata(name: &str) -> std::path::PathBuf {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../testdata/sql").join(name)
}

#[test]
fn parquet_is_queried_like_csv_and_its_schema_may_not_change() {
    let lab = Lab::empty("sql-parquet");
    lab.run(&["init"]).done();
    let path = lab.folder.join("visits.parquet");
    let put = |name: &str| std::fs::copy(testdata(name), &path).unwrap();
    put("visits.parquet");
    let from = path.to_str().unwrap();
    let limits = [
        "--unit",
        "person",
        "--bound",
        "age=0:100",
        "--bound",
        "paid=0:50",
    ];
    let budget = [
        "--epsilon",
        "4",
        "--delta",
        "1e-6",
        "--max-rows-per-unit",
        "2",
    ];
    let add = ["dataset", "add", "visits", "--from", from];
    lab.run(&[&add[..], &limits, &budget].concat()).done();
    let ask = |sql| ["query", sql, "--epsilon", "1"];
    let answer = lab.json(&ask(
        "SELECT COUNT(*) AS n, SUM(paid) AS s, AVG(age) AS a FROM visits",
    ));
    for (column, truth, within) in [
        ("n", 5000.0, 100.0),
        ("s", 47_500.0, 5000.0),
        ("a", 44.1, 4.0),
    ] {
        let found = value(&answer, 0, column);
        assert!((found - truth).abs() < within, "{column}: {found}");
    }
    let size = lab.size();
    put("visits-renamed.parquet");
    let run = lab.run(&ask("SELECT AVG(age) FROM visits"));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("\nhelp: "), "{}", run.stderr);
    // Cut off in the middle, and something else.
    let whole = std::fs::read(testdata("visits.parquet")).unwrap();
    for bytes in [&whole[..whole.len() / 2], b"no parquet", b""] {
        std::fs::write(&path, bytes).unwrap();
        let run = lab.run(&ask("SELECT AVG(age) FROM visits"));
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("\nhelp: "), "{}", run.stderr);
    }
    assert_eq!(lab.size(), size, "nothing was charged");
}

#[test]
fn a_file_has_one_budget() {
    let lab = lab("sql-again", &people());
    let path = lab.folder.join("visits.csv");
    let (link, hard) = (lab.folder.join("link.csv"), lab.folder.join("hard.csv"));
    std::os::unix::fs::symlink(&path, &link).unwrap();
    std::fs::hard_link(&path, &hard).unwrap();
    let directory = lab.folder.join("all");
    std::fs::create_dir_all(directory.join("below")).unwrap();
    std::os::unix::fs::symlink(&path, directory.join("a.csv")).unwrap();
    let budget = ["--unit", "person", "--epsilon", "4", "--delta", "1e-6"];
    let size = lab.size();
    for from in [&path, &link, &hard, &directory] {
        let add = ["dataset", "add", "again", "--from", from.to_str().unwrap()];
        for terms in [&budget[..], &["--public"]] {
            let run = lab.run(&[&add[..], terms].concat());
            assert!(run.stderr.contains("MZ1876"), "{run:?}");
        }
    }
    assert_eq!(lab.size(), size, "no account was made");
    // On the same budget, or one below it, it may have other limits; and another
    // file is another file, wherever it lies.
    lab.run(&[
        "budget",
        "create",
        "ann",
        "--parent",
        "visits",
        "--epsilon",
        "1",
        "--delta",
        "1e-7",
    ])
    .done();
    let add = [
        "dataset",
        "add",
        "--from",
        path.to_str().unwrap(),
        "--unit",
        "person",
    ];
    let add = [&add[..], &["--max-rows-per-unit", "1"]].concat();
    for (name, account) in [("same", "visits"), ("below", "ann")] {
        lab.run(&[&add[..], &["--account", account, name]].concat())
            .done();
    }
    // Units of another column are other people: who has many rows would be charged
    // for one.
    let other = [
        &add[..4],
        &["--unit", "city", "--account", "visits", "by-city"],
    ]
    .concat();
    let run = lab.run(&other);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("MZ1876") && run.stderr.contains("--unit person"),
        "{run:?}"
    );
    let other = directory.join("below/cities.csv");
    std::fs::write(&other, "city\nCairo\n").unwrap();
    let add = [
        "dataset",
        "add",
        "cities",
        "--public",
        "--from",
        other.to_str().unwrap(),
    ];
    assert_eq!(lab.run(&add).code, 0);
}

/// An id that was denied stays denied, and says so; the same question without it is
/// asked anew.
#[test]
fn an_id_that_was_denied_stays_denied() {
    let lab = lab("sql-denied-id", &people());
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let asked = ["query", sql, "--epsilon", "30", "--id", "late"];
    let first = lab.run(&asked);
    assert_eq!(first.code, 1, "{first:?}");
    // The epsilon that the refusal names fits, and one of a digit more does not.
    let (_, largest) = first.stdout.split_once("try --epsilon ").unwrap();
    let largest = largest.split([',', '\n']).next().unwrap();
    let fits = |epsilon: f64| {
        lab.run(&["quote", sql, "--epsilon", &epsilon.to_string()])
            .code
    };
    let largest: f64 = largest.parse().unwrap();
    assert!(largest < 30.0, "{first:?}");
    assert_eq!(fits(largest), 0, "{first:?}");
    assert_eq!(fits(largest + 0.1), 1, "{first:?}");
    lab.run(&[
        "budget",
        "raise",
        "visits",
        "--epsilon",
        "90",
        "--delta",
        "1e-6",
    ])
    .done();
    let again = lab.run(&asked);
    assert_eq!(again.code, 1, "{again:?}");
    assert!(again.stdout.contains("stays refused"), "{again:?}");
    let json = lab.run(&[&asked[..], &["--format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["repeated"], true);
    lab.run(&["query", sql, "--epsilon", "30"]).done();
}

/// What is paid for is shown, also if it cannot be drawn.
#[test]
fn an_answer_that_cannot_be_drawn_is_shown() {
    let lab = lab("sql-undrawn", &people());
    let svg = lab.folder.join("a.svg");
    let sql = "SELECT COUNT(*) AS n FROM visits";
    let run = lab.run(&["query", sql, "--svg", svg.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("receipt"), "{run:?}");
    assert!(run.stderr.contains("nothing was drawn"), "{run:?}");
    assert!(!svg.exists());
}
