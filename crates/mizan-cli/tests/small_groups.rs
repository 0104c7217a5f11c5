//! Small groups on the command line: their quantiles, and the delta that hides them.

use crate::common::visits::{lab, people};

/// Groups that are found in the data: fractions cannot be listed beforehand.
const BY_PAID: &str = "SELECT paid, COUNT(*) AS n FROM visits GROUP BY paid";

/// A group without rows has no median, and says why. Two counts would both have to be
/// high by noise for it to have one: (1 / 2 (20 · 101)²)², below 10⁻¹³.
#[test]
fn an_empty_group_has_no_median() {
    let lab = lab("small-median", &people());
    let sql = "SELECT city, COUNT(*) AS n, COUNT(age) AS a, MEDIAN(age) AS m FROM visits \
               WHERE city <> 'Aswan' GROUP BY city ORDER BY city";
    let asked = ["query", sql, "--epsilon", "2"];
    let answer = lab.json(&asked);
    let (aswan, cairo) = (&answer["rows"][0]["m"], &answer["rows"][1]["m"]);
    assert!(aswan["value"].is_null(), "{answer}");
    assert_eq!((&aswan["low"], &aswan["high"]), (&0.into(), &100.into()));
    assert!(cairo["value"].is_number() && cairo["low"].is_null());
    assert!(cairo["rank_error"].as_u64().unwrap() > 0);
    assert_eq!(cairo["arbitrary_up_to_rows"], aswan["arbitrary_up_to_rows"]);
    let shown = lab.run(&asked).done();
    assert!(shown.contains("NULL (too few rows)"), "{shown}");
    let explained = lab.run(&[&asked[..], &["--explain"]].concat()).done();
    assert!(
        explained.contains("m is NULL in 1 of 2 groups"),
        "{explained}"
    );
}

/// A query chooses its share of the reserved delta; a refusal because of it says so.
#[test]
fn a_refusal_for_delta_names_delta() {
    let lab = lab("small-delta", &people());
    let ask = |share: &str| {
        [
            "query",
            BY_PAID,
            "--epsilon",
            "0.1",
            "--threshold-delta",
            share,
        ]
        .map(str::to_owned)
    };
    let asked = ask("1e-8");
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let quote = lab.json(&[&["quote"], &asked[1..]].concat());
    let reserved = &quote["reserved_delta"];
    assert_eq!(reserved["fits"], true);
    let all = reserved["reserved"].as_f64().unwrap();
    assert!((all - 2.5e-7).abs() < 1e-15, "{all}");
    let shown = lab.run(&[&["quote"], &asked[1..]].concat()).done();
    assert!(
        shown.contains("reserved δ for the threshold: 1e-8; 2.5"),
        "{shown}"
    );
    assert_eq!(lab.json(&asked)["repeated"], false);
    assert_eq!(lab.json(&asked)["repeated"], true);
    let usual = lab.json(&["quote", BY_PAID, "--epsilon", "0.1"]);
    let share = usual["reserved_delta"]["asked"].as_f64().unwrap();
    assert!(
        share > 1.1e-8 && share < 1.21e-8,
        "a twentieth of what is left: {share}"
    );

    let too_much = [
        "query",
        BY_PAID,
        "--epsilon",
        "0.1",
        "--threshold-delta",
        "2.45e-7",
    ];
    let refused = lab.refused(&too_much);
    assert_eq!(refused["reserved_delta"]["fits"], false);
    let left = refused["reserved_delta"]["left"].as_f64().unwrap();
    assert!(left > 2.39e-7 && left < 2.41e-7, "{left}");
    let shown = lab.run(&too_much);
    assert_eq!(shown.code, 1, "{shown:?}");
    for words in [
        "threshold of this query needs reserved δ 2.45e-7",
        "of the reserved\nδ 2.5e-7",
        "a smaller epsilon does not help",
        "--threshold-delta 2.4",
    ] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    // The advice helps.
    let advice = shown.stdout.split("--threshold-delta ").nth(1).unwrap();
    let advice = advice.split_whitespace().next().unwrap();
    lab.json(&[
        "query",
        BY_PAID,
        "--epsilon",
        "0.1",
        "--threshold-delta",
        advice,
    ]);
    for wrong in ["0", "-1", "1", "x"] {
        let run = lab.run(&[
            "query",
            BY_PAID,
            "--epsilon",
            "0.1",
            "--threshold-delta",
            wrong,
        ]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("--threshold-delta"), "{run:?}");
    }
    lab.run(&["ledger", "verify"]).done();
}
