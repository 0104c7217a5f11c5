//! `mizan audit`: bounds from below, reconstruction, and what is refused.
//!
//! False alarms: a bound above the claim comes with probability at most 1e-6 a
//! run by its theorem, and only if the runs are more than five standard
//! deviations off; the shares that are asserted lie further away.

use crate::common::{folder, json, run};

fn fits_a_terminal(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn lower_bounds_stay_below_the_claim() {
    for (event, claimed, delta) in [
        ("discrete-laplace(2)", 0.5, 0.0),
        ("rr(0.75)", 3f64.ln(), 0.0),
        ("rr(0.4, 4)", 2f64.ln(), 0.0),
        ("exponential(1)", 1.0, 0.0),
        (
            "2 * rr(0.6) + discrete-laplace(4)",
            2.0 * 1.5f64.ln() + 0.25,
            0.0,
        ),
    ] {
        let found = json(&["audit", event, "--samples", "4e4"]);
        assert_eq!(found["event"], event);
        assert_eq!(found["violation"], false, "{found}");
        assert_eq!(found["samples"], 40_000);
        assert_eq!(found["confidence"], 0.999_999);
        assert_eq!(found["claimed"]["delta"], delta);
        let epsilon = found["claimed"]["epsilon"].as_f64().unwrap();
        assert!((epsilon / claimed - 1.0).abs() < 1e-9, "{found}");
        let bound = found["lower_bound"].as_f64().unwrap();
        assert!(bound > 0.3 * epsilon && bound <= epsilon, "{found}");
        assert!(found["threshold"].is_number());
        assert_eq!(found["attack"]["runs"], 20_000);
    }
}

#[test]
fn gaussian_noise_has_a_delta() {
    let found = json(&["audit", "discrete-gaussian(1)", "--samples", "100000"]);
    assert_eq!(found["claimed"]["delta"], 1e-5);
    assert_eq!(found["violation"], false);
    let account = json(&["account", "discrete-gaussian(1)", "--delta", "1e-5"]);
    assert_eq!(found["claimed"]["epsilon"], account["epsilon"]["upper"]);
    let found = json(&[
        "audit",
        "discrete-gaussian(1)",
        "--delta",
        "0.1",
        "--samples",
        "1e5",
    ]);
    assert_eq!(found["claimed"]["delta"], 0.1);
    assert!(found["lower_bound"].as_f64().unwrap() > 0.5, "{found}");
}

/// A false claim: epsilon 0.1 for noise that costs 0.5.
#[test]
fn a_false_claim_is_a_violation() {
    let asked = [
        "audit",
        "discrete-laplace(2)",
        "--epsilon",
        "0.1",
        "--samples",
        "1e5",
    ];
    let refused = run(&asked);
    assert_eq!((refused.code, refused.stderr.as_str()), (1, ""));
    assert!(refused.stdout.contains("\nVIOLATION: "), "{refused:?}");
    fits_a_terminal(&refused.stdout);
    let refused = run(&[&asked[..], &["--format", "json"]].concat());
    assert_eq!(refused.code, 1);
    let found: serde_json::Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(found["violation"], true);
    assert_eq!(found["claimed"]["epsilon"], 0.1);
    // With few runs nothing is proven, and no violation reported.
    assert_eq!(run(&[&asked[..4], &["--samples", "100"]].concat()).code, 0);
}

#[test]
fn the_text_of_an_audit() {
    for event in [
        "discrete-laplace(10)",
        "discrete-gaussian(1e15)",
        "3 * rr(0.6)",
        "rr(0.5)",
        "discrete-laplace(0.1, 1e15)",
        "1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * (1 * rr(0.6))))))))))))))",
    ] {
        let text = run(&["audit", event, "--samples", "10000"]).done();
        for part in [
            "claimed  ",
            "lower bound  ",
            "attack  ",
            "Consistent: ",
            "with the person",
        ] {
            assert!(text.contains(part), "{text}");
        }
        fits_a_terminal(&text);
    }
}

#[test]
fn an_audit_draws_both_inputs() {
    let folder = folder("audit-picture");
    let svg = folder.join("audit.svg");
    let path = svg.to_str().unwrap();
    let text = run(&["audit", "rr(0.6)", "--samples", "1000", "--svg", path]).done();
    assert!(text.contains("Saved "), "{text}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
}

#[test]
fn an_event_without_a_sampler_names_those_with_one() {
    for (event, code, help) in [
        ("gaussian(1)", "MZ1501", "discrete-gaussian(SIGMA)"),
        ("laplace(1)", "MZ1501", "discrete-laplace(SCALE)"),
        ("tree(1, 8)", "MZ1501", "discrete-gaussian"),
        ("pure(1)", "MZ1501", "audit a mechanism"),
        ("zcdp(1)", "MZ1501", "audit a mechanism"),
        ("approximate(1, 1e-6)", "MZ1501", "audit a mechanism"),
        (
            "rr(0.6) + finite(0.5:0.4, 0.5:0.6)",
            "MZ1501",
            "audit a mechanism",
        ),
        (
            "poisson(0.1, discrete-gaussian(1))",
            "MZ1501",
            "mechanism inside",
        ),
        ("group(2, rr(0.6))", "MZ1501", "mechanism inside"),
        ("shuffle(100, rr(0.6))", "MZ1501", "mechanism inside"),
        ("10001 * rr(0.6)", "MZ1502", "fewer rounds"),
        (
            "9007199254740992 * (9007199254740992 * rr(0.6))",
            "MZ1502",
            "fewer rounds",
        ),
        ("discrete-laplace(1e-5)", "MZ1602", "0.0005"),
        ("discrete-laplace(1, 1e300)", "MZ1604", "coarser grid"),
        ("exponential(0)", "MZ1603", "such as 0.5"),
        ("", "MZ1101", "write an event"),
        ("rr(½)", "MZ1", "help: "),
        ("ميزان", "MZ1103", "the events are"),
        ("rr(nan)", "MZ1", "help: "),
    ] {
        let refused = run(&["audit", event]);
        assert_eq!((refused.code, refused.stdout.as_str()), (2, ""), "{event}");
        assert!(
            refused.stderr.contains(&format!("error[{code}")),
            "{refused:?}"
        );
        assert!(refused.stderr.contains(help), "{refused:?}");
    }
    let kinds: Vec<String> = (1..=65)
        .map(|scale| format!("discrete-laplace({scale})"))
        .collect();
    let refused = run(&["audit", &kinds.join("+")]);
    assert!(refused.stderr.contains("MZ1503"), "{refused:?}");
}

#[test]
fn bad_options_of_an_audit() {
    for (options, code, says) in [
        (
            ["--samples", "1e18"],
            "MZ1005",
            "from 100 to 10000000000, got 1e18",
        ),
        (["--samples", "0"], "MZ1005", "from 100 to"),
        (["--samples", "-5"], "MZ1005", "got -5"),
        (["--samples", "99"], "MZ1005", "got 99"),
        (["--samples", "1000.5"], "MZ1005", "whole number"),
        (["--samples", "many"], "MZ1011", "not a decimal number"),
        (["--samples", "١٠٠٠"], "MZ1011", "not a decimal number"),
        (["--samples", "nan"], "MZ1011", "not a decimal number"),
        (["--samples", ""], "MZ1", "--samples"),
        (["--confidence", "1"], "MZ1505", "above 0 and below 1"),
        (
            ["--confidence", "0.99999999999999999999"],
            "MZ1505",
            "above 0 and below 1",
        ),
        (["--confidence", "0"], "MZ1505", "above 0 and below 1"),
        (["--confidence", "-1"], "MZ1505", "above 0 and below 1"),
        (["--confidence", "NaN"], "MZ1011", "not a decimal number"),
        (["--delta", "1"], "MZ1004", "below 1, got 1"),
        (["--delta", "-0.1"], "MZ1002", "between 0 and 1"),
        (["--delta", "inf"], "MZ1011", "not a decimal number"),
        (["--epsilon", "-1"], "MZ1002", "epsilon"),
        (["--epsilon", "1e999"], "MZ1", "--epsilon"),
        (
            ["--svg", "/nonexistent/folder/a.svg"],
            "MZ0002",
            "cannot write",
        ),
    ] {
        let refused = run(&["audit", "rr(0.6)", options[0], options[1]]);
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (2, ""),
            "{options:?}"
        );
        assert!(
            refused.stderr.contains(&format!("error[{code}")),
            "{refused:?}"
        );
        assert!(refused.stderr.contains(says), "{refused:?}");
    }
    let refused = run(&["audit", "1000 * rr(0.6)", "--samples", "1e9"]);
    assert!(refused.stderr.contains("error[MZ1504]"), "{refused:?}");
    let refused = run(&["audit", "discrete-gaussian(1)", "--delta", "0"]);
    assert!(
        refused.stderr.contains("such as --delta 1e-5"),
        "{refused:?}"
    );
    for (arguments, code) in [
        (&["audit"][..], "error[MZ0001]"),
        (&["audit", "rr(0.6)", "reconstruct"], "error[MZ0008]"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.code, 2);
        assert!(refused.stderr.contains(code), "{refused:?}");
    }
}

#[test]
fn reconstruction_needs_little_noise() {
    let folder = folder("reconstruct");
    let (svg, csv) = (folder.join("law.svg"), folder.join("law.csv"));
    let text = run(&[
        "audit",
        "reconstruct",
        "--n",
        "64",
        "--svg",
        svg.to_str().unwrap(),
        "--csv",
        csv.to_str().unwrap(),
    ])
    .done();
    fits_a_terminal(&text);
    assert!(text.starts_with("64 secret bits, 256 queries"), "{text}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg"));
    let csv = std::fs::read_to_string(&csv).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("sigma,noise_over_sqrt_n,recovered,epsilon")
    );
    assert_eq!(
        lines.filter(|line| line.split(',').count() == 4).count(),
        13
    );
}

#[test]
fn reconstruction_as_json() {
    let found = json(&["audit", "reconstruct", "--n", "100", "--queries", "300"]);
    assert_eq!((&found["n"], &found["queries"]), (&100.into(), &300.into()));
    let points = found["points"].as_array().unwrap();
    let number = |point: &serde_json::Value, key: &str| point[key].as_f64().unwrap();
    for point in points {
        let ratio = number(point, "sigma") / 10.0 / number(point, "noise_over_sqrt_n");
        assert!((ratio - 1.0).abs() < 1e-12, "{point}");
        assert!((0.0..=1.0).contains(&number(point, "recovered")));
        assert!(number(point, "epsilon") > 0.0);
    }
    // Of 2000 bits: chance alone is e^-40 away from either.
    assert!(number(&points[0], "recovered") > 0.99, "{found}");
    assert!(
        number(points.last().unwrap(), "recovered") < 0.65,
        "{found}"
    );
    // A global option may stand before the attack.
    let before = run(&["audit", "--format", "json", "reconstruct", "--n", "8"]);
    assert_eq!(before.json()["queries"], 32);
}

#[test]
fn bad_sizes_of_a_reconstruction() {
    for (options, code) in [
        (["--n", "0"], "MZ1005"),
        (["--n", "7"], "MZ1005"),
        (["--n", "4096"], "MZ1005"),
        (["--n", "1e18"], "MZ1005"),
        (["--n", "-8"], "MZ1005"),
        (["--n", "٣٢"], "MZ1011"),
        (["--n", "NaN"], "MZ1011"),
        (["--n", ""], "MZ1"),
        (["--queries", "0"], "MZ1005"),
        (["--queries", "65537"], "MZ1005"),
        (["--queries", "1.5"], "MZ1005"),
        (["--svg", "/nonexistent/folder/a.svg"], "MZ0002"),
        (["--csv", "/nonexistent/folder/a.csv"], "MZ0002"),
    ] {
        let mut arguments = vec!["audit", "reconstruct"];
        if options[0] != "--n" {
            arguments.extend(["--n", "8"]);
        }
        arguments.extend(options);
        let refused = run(&arguments);
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (2, ""),
            "{options:?}"
        );
        assert!(
            refused.stderr.contains(&format!("error[{code}")),
            "{refused:?}"
        );
    }
}
