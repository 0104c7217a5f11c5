//! Clipping of units in too many groups, as the command line reports it.

use std::fmt::Write as _;

use crate::common::lab::Lab;

/// 300 people, each seen at 1 to 40 of the ages from 0 to 99; of 50 groups 15 count.
/// The account has a clock of this weight.
fn lab(name: &str, clock: &str) -> Lab {
    let lab = Lab::empty(name);
    lab.run(&["init"]).done();
    let mut csv = String::from("person,age\n");
    for person in 0..300 {
        for visit in 0..=person % 40 {
            writeln!(csv, "{person},{}", (person + 2 * visit) % 100).unwrap();
        }
    }
    let path = lab.folder.join("visits.csv");
    std::fs::write(&path, csv).unwrap();
    let limits = [
        "--unit",
        "person",
        "--epsilon",
        "4",
        "--delta",
        "1e-6",
        "--clock",
        clock,
        "--bound",
        "age=0:99",
        "--type",
        "age=integer",
        "--max-rows-per-unit",
        "2",
        "--max-groups-per-unit",
        "15",
    ];
    let from = path.to_str().unwrap();
    lab.run(&[&["dataset", "add", "visits", "--from", from], &limits[..]].concat())
        .done();
    lab
}

const QUESTION: &str =
    "SELECT bucket(age, 2) AS age, COUNT(*) AS n FROM visits GROUP BY bucket(age, 2)";

#[test]
fn quotes_and_answers_say_that_units_are_clipped() {
    let lab = lab("clipping", "0");
    let quote = lab.json(&["quote", QUESTION, "--epsilon", "1"]);
    let event = quote["event"].as_str().unwrap();
    assert!(event.starts_with("zcdp("), "{event}");
    let said = "A person in more than 15 groups contributes to all of them, clipped in L2 \
                norm to the weight of 15 groups.";
    assert_eq!(quote["clamping"][0], said);
    let data = serde_json::json!({
        "kind": "groups_clipped",
        "fields": {"limit": 15},
        "text": said,
    });
    assert_eq!(quote["clamping_data"][0], data);
    let answer = lab.json(&["query", QUESTION, "--epsilon", "1"]);
    assert_eq!(answer["clamping"], quote["clamping"]);
    assert_eq!(answer["spent"]["event"], quote["event"]);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 50);
    for row in rows {
        for part in ["value", "low", "high"] {
            assert!(row["n"][part].is_u64(), "{row}");
        }
    }
    // The same query again has the same answer.
    let again = lab.json(&["query", QUESTION, "--epsilon", "1"]);
    assert_eq!(
        (again["repeated"].as_bool(), &again["rows"]),
        (Some(true), &answer["rows"])
    );
    // The event that was charged is what an auditor can price.
    let account = lab.json(&["account", event, "--delta", "1e-6"]);
    let epsilon = account["epsilon"]["upper"].as_f64().unwrap();
    assert!(epsilon <= 1.0 && epsilon > 0.9, "{epsilon}");
}

/// zCDP has no price on the clock, and discrete Gaussian noise over a norm has one.
#[test]
fn an_account_with_a_clock_is_charged_discrete_gaussian_noise() {
    let lab = lab("clipping-clock", "0.8");
    let quote = lab.json(&["quote", QUESTION, "--epsilon", "1", "--why"]);
    let event = quote["event"].as_str().unwrap();
    assert!(event.starts_with("discrete-gaussian("), "{event}");
    let reasons = quote["why_data"].as_array().unwrap();
    let share = reasons
        .iter()
        .find(|reason| reason["kind"] == "share_of_account")
        .unwrap_or_else(|| panic!("{quote}"));
    let taken = share["fields"]["share"].as_f64().unwrap();
    assert!(0.0 < taken && taken < 0.25, "{taken}");
    let answer = lab.json(&["query", QUESTION, "--epsilon", "1"]);
    assert_eq!(answer["spent"]["event"], quote["event"]);
    let account = lab.json(&["budget", "show", "visits"]);
    let clock = &account["clock"];
    let left = clock["share"].as_f64().unwrap();
    assert!((left + taken - 1.0).abs() < 1e-3, "{left} {taken} {clock}");
    let again = lab.json(&["query", QUESTION, "--epsilon", "1"]);
    assert_eq!(
        (again["repeated"].as_bool(), &again["rows"]),
        (Some(true), &answer["rows"])
    );
}

#[test]
fn the_reason_for_clipping_fits_eighty_columns() {
    let labs = [("clipping-why", "0"), ("clipping-why-clock", "0.8")];
    let [lab, _] = labs.map(|(name, clock)| {
        let lab = lab(name, clock);
        let run = lab.run(&["quote", QUESTION, "--epsilon", "1", "--why"]);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.stdout.contains("clipped in L2"), "{}", run.stdout);
        assert!(
            run.stdout.lines().all(|line| line.chars().count() <= 80),
            "{}",
            run.stdout
        );
        lab
    });
    // No person can be in more than 15 of two groups.
    let sql = "SELECT bucket(age, 50) AS age, COUNT(*) AS n FROM visits GROUP BY bucket(age, 50)";
    let quote = lab.json(&["quote", sql, "--epsilon", "1"]);
    assert!(!quote["clamping"].to_string().contains("clipped"));
}
