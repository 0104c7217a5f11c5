//! `mizan account --profile`: the curves, the trade-off and the files.

use crate::common::{folder, json, run};
use serde_json::Value;

const DP_SGD: &str = "10000 * poisson(0.01, gaussian(1.1))";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn the_profile_falls_and_the_best_is_the_least() {
    for event in [DP_SGD, "gaussian(1.1)", "zcdp(0.1)", "2 * rr(0.75)"] {
        let answer = json(&["account", event, "--profile"]);
        let points = answer["profile"].as_array().unwrap();
        assert!(points.len() > 4, "{event}");
        let mut last = 1.0;
        for point in points {
            let upper = number(&point["delta"]["upper"]);
            assert!(upper <= last * (1.0 + 1e-9), "{event} {point}");
            last = upper;
            let methods = point["methods"].as_object().unwrap();
            assert!(methods.values().all(|delta| number(delta) >= upper));
            assert_eq!(
                point["methods"][point["delta"]["method"].as_str().unwrap()],
                upper
            );
            if !point["delta"]["lower"].is_null() {
                assert!(number(&point["delta"]["lower"]) <= upper);
            }
        }
        // The last point is where δ is 1e-12.
        assert!(last <= 1.0001e-12, "{event} {last:e}");
    }
}

/// Against G_μ(α) = Φ(Φ⁻¹(1 - α) - μ) of Dong, Roth and Su, μ = 1/1.1, and the
/// total variation 2Φ(μ/2) - 1; by `statistics.NormalDist` of Python.
#[test]
fn the_trade_off_of_gaussian_noise() {
    let answer = json(&["account", "gaussian(1.1)", "--profile"]);
    let advantage = 0.350_563_716_273_245;
    assert!((number(&answer["advantage"]["upper"]) - advantage).abs() < 1e-12);
    assert!((number(&answer["advantage"]["lower"]) - advantage).abs() < 1e-12);
    let rates = answer["trade_off"].as_array().unwrap();
    let at = |rate: f64| {
        let found = rates.iter().find(|point| point["false_positive"] == rate);
        &found.unwrap()["false_negative"]
    };
    for (alpha, beta) in [
        (0.01, 0.921_796_093_819_932),
        (0.1, 0.645_225_050_121_410),
        (0.5, 0.181_651_070_443_449),
    ] {
        let (lower, upper) = (number(&at(alpha)["lower"]), number(&at(alpha)["upper"]));
        assert!(
            lower <= beta + 1e-12 && beta - 1e-12 <= upper,
            "{alpha}: {lower} {upper}"
        );
        assert!(upper - lower < 2e-3, "{alpha}: {lower} {upper}");
    }
    assert!(number(&at(1.0)["upper"]) < 1e-15);
}

#[test]
fn an_upper_bound_is_labelled_as_such() {
    let answer = json(&["account", "zcdp(0.1)", "--profile"]);
    assert!(answer["advantage"]["lower"].is_null());
    assert!(answer["trade_off"][3]["false_negative"]["upper"].is_null());
    assert!(number(&answer["trade_off"][3]["false_negative"]["lower"]) > 0.9);
}

#[test]
fn pictures_and_points_are_written() {
    let out = folder("profile");
    let (svg, csv) = (out.join("p.svg"), out.join("p.csv"));
    let text = run(&[
        "account",
        DP_SGD,
        "--delta",
        "1e-5",
        "--profile",
        "--svg",
        svg.to_str().unwrap(),
        "--csv",
        csv.to_str().unwrap(),
    ])
    .done();
    assert!(text.contains("false-positive rate"), "{text}");
    assert!(
        text.lines()
            .all(|line| { line.chars().count() <= 80 || line.starts_with("Saved") })
    );
    let svg = std::fs::read_to_string(svg).unwrap();
    assert!(svg.contains("Privacy profile") && svg.contains("numeric"));
    let csv = std::fs::read_to_string(csv).unwrap();
    assert!(csv.starts_with("panel,series,x,y\n"));
    for series in ["numeric", "renyi", "exact at least", "guessing"] {
        assert!(csv.contains(&format!(",{series},")), "{series}");
    }
}

#[test]
fn awkward_events_have_a_profile_or_an_error() {
    for (event, more) in [
        ("pure(0)", vec![]),
        ("approximate(1, 0.95)", vec![]),
        ("gaussian(1)", vec!["--epsilon", "1e6"]),
        ("gaussian(1)", vec!["--delta", "1e-300"]),
        ("gaussian(1e-6)", vec![]),
        ("gaussian(1)", vec!["--method", "renyi"]),
    ] {
        let arguments = [&["account", event, "--profile"][..], &more[..]].concat();
        let answer = json(&arguments);
        assert!(number(&answer["advantage"]["upper"]) <= 1.0, "{event}");
    }
    let refused = run(&["account", "gaussian(1)", "--profile", "--method", "pure"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("error[MZ1202]"),
        "{}",
        refused.stderr
    );
    let alone = run(&["account", "gaussian(1)", "--delta", "0.1", "--svg", "x.svg"]);
    assert_eq!(alone.code, 2);
    let nothing = run(&["account", "gaussian(1)"]);
    assert!(nothing.stderr.contains("--profile"));
}
