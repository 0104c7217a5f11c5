//! Accounts with a Gaussian clock: what the command line tells of it agrees with the ledger.

use crate::common::lab::Lab;
use serde_json::Value;

/// Prices that hold in one state of the account only: the number that fits, before and after, agrees
/// with what is admitted.
#[test]
fn what_fits_only_in_this_state_is_told() {
    let lab = Lab::new("one-state");
    let run = "2200 * poisson(0.004, gaussian(1.1))";
    let more = |event: &str| {
        lab.json(&["budget", "show", "census", "--event", event])["about_more"].clone()
    };
    assert_eq!(more(run)["count"], 1);
    assert_eq!(more(run)["at_least"], false);
    let text = lab
        .run(&["budget", "show", "census", "--event", run])
        .done();
    assert!(text.contains("one more charge like"), "{text}");

    // As long as all charges are pure, the number is a lower bound.
    let (mut told, mut admitted) = (Vec::new(), 0);
    loop {
        let more = more("laplace(20)");
        told.push((more["count"].as_u64().unwrap(), more["at_least"] == true));
        let run = lab.run(&["spend", "census", "laplace(20)", "--format", "json"]);
        if run.code == 1 {
            break;
        }
        admitted += 1;
        let spent = run.json();
        assert!(spent["about_more"].is_u64() && spent["about_more_at_least"].is_boolean());
    }
    for (before, &(count, at_least)) in (0..).zip(&told) {
        let left = admitted - before;
        assert!(
            count <= left && (at_least || count == left),
            "{told:?} {admitted}"
        );
        assert_eq!(count == 0, left == 0, "{told:?} {admitted}");
    }
    assert_eq!(lab.json(&["ledger", "verify"])["verified"], true);
}

/// A refusal says of the clock what is true: that it lacks variance, or that only the reserved δ does.
#[test]
fn the_clock_of_a_refusal_is_told() {
    let lab = Lab::new("refused-clock");
    lab.json(&["spend", "census", "60 * gaussian(40)"]);
    let by_delta = ["spend", "census", "gaussian(100) + approximate(0, 9e-7)"];
    let refused = lab.refused(&by_delta);
    assert_eq!(refused["clock"]["fits"], true);
    assert_eq!(refused["clock"]["asked"], refused["clock"]["needed"]);
    assert_eq!(refused["clock"]["tail"], 0.0);
    let text = lab.run(&[&by_delta[..], &["--explain"]].concat()).stdout;
    let clock = text.lines().find(|line| line.starts_with("clock"));
    assert!(clock.unwrap().trim_end().ends_with("fits"), "{text}");
    assert!(
        text.contains("reserved δ: the charge asks for 9.01e-7"),
        "{text}"
    );

    let by_clock = ["spend", "census", "laplace(3)"];
    let refused = lab.refused(&by_clock);
    let number = |name: &str| refused["clock"][name].as_f64().unwrap();
    assert_eq!(refused["clock"]["fits"], false);
    assert!(number("spent") + number("pending") + number("needed") > number("limit"));
    assert!(number("needed") > number("asked"));
    let text = lab.run(&[&by_clock[..], &["--explain"]].concat()).stdout;
    let clock = text.lines().find(|line| line.starts_with("clock"));
    assert!(clock.unwrap().trim_end().ends_with("too much"), "{text}");
    assert!(!text.contains("reserved δ: the charge asks"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Only the tail of a plan does not fit.
#[test]
fn the_tail_of_a_refused_plan_is_told() {
    let lab = Lab::new("refused-tail");
    lab.json(&["spend", "census", "gaussian(1000) + approximate(0, 9.9e-8)"]);
    for (plan, told) in [
        (
            "1400 * poisson(0.004, gaussian(1.1))",
            "the tail of the plan asks for 2",
        ),
        (
            "1400 * poisson(0.004, gaussian(1.1)) + approximate(0, 1e-11)",
            "and the tail of its plan for 2",
        ),
    ] {
        let refused = lab.refused(&["spend", "census", plan]);
        assert_eq!(refused["clock"]["fits"], true);
        let tail = refused["clock"]["tail"].as_f64().unwrap();
        let delta = |name: &str| refused["own_delta"][name].as_f64().unwrap();
        assert!(
            delta("asked") + delta("taken") < delta("limit"),
            "{refused}"
        );
        assert!(
            delta("asked") + delta("taken") + tail > delta("limit"),
            "{refused}"
        );
        let text = lab.run(&["spend", "census", plan, "--explain"]).stdout;
        assert!(text.replace("\n  ", " ").contains(told), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}

/// The totals of an account follow from the JSON of its entries.
#[test]
fn an_auditor_adds_up_the_clock_from_json() {
    let lab = Lab::new("auditor");
    // A first charge, a plan with a tail, and others.
    for event in [
        "pure(0.1)",
        "laplace(20)",
        "gaussian(40) + approximate(0, 1e-9)",
        "300 * poisson(0.004, gaussian(1.1))",
        "discrete-gaussian(50)",
    ] {
        lab.json(&["spend", "census", event]);
    }
    lab.refused(&["spend", "census", "laplace(1)"]);
    lab.run(&["budget", "raise", "census", "--epsilon", "2"])
        .done();
    let log = lab.json(&["ledger", "log", "--last", "1000"]);
    let entries = log["entries"].as_array().unwrap();
    let of = |kind: &'static str| entries.iter().filter(move |entry| entry["kind"] == kind);

    let created = &of("created").next().unwrap()["limits"];
    assert_eq!(created["clock"]["weight"], 0.8);
    let own = created["own_delta"].as_f64().unwrap();
    assert!((own / 1e-7 - 1.0).abs() < 1e-9, "{own}");
    assert!(created["orders"].as_array().unwrap().len() > 20);
    let raised = &of("raised").next().unwrap()["limits"];
    assert!(raised["clock"]["limit"].as_f64() > created["clock"]["limit"].as_f64());

    let sum = |at: &dyn Fn(&Value) -> f64| of("reserved").map(at).sum::<f64>();
    let own = sum(&|entry| entry["cost"]["own_delta"].as_f64().unwrap());
    let tails = sum(&|entry| entry["tails"][0].as_f64().unwrap());
    let taken = sum(&|entry| entry["clock"][0].as_f64().unwrap());
    let saved = sum(&|entry| match &entry["states"][0] {
        Value::Null => 0.0,
        state => state["saved"].as_f64().unwrap(),
    });
    assert!(tails > 0.0 && saved > 0.0);
    let shown = lab.json(&["budget", "show", "census"]);
    let equal = |a: f64, b: &Value| (a / b.as_f64().unwrap() - 1.0).abs() < 1e-9;
    assert!(
        equal(own + tails, &shown["own_delta"]["taken"]),
        "{own} {tails} {shown}"
    );
    // The larger clock pays for what conditional prices saved.
    assert!(
        equal(taken + saved, &shown["clock"]["spent"]),
        "{taken} {saved} {}",
        shown["clock"]
    );
    assert_eq!(raised["clock"]["limit"], shown["clock"]["limit"]);

    // What a charge took is one of its prices.
    for entry in of("reserved") {
        let steps = entry["price"]["steps"].as_array().unwrap();
        let taken = &entry["clock"][0];
        let is_price = steps.iter().any(|step| step["variance"] == *taken);
        assert_eq!(is_price, entry["states"][0].is_null(), "{entry}");
    }
    let denied = of("denied").next().unwrap();
    assert!(!denied["price"]["steps"].as_array().unwrap().is_empty());

    // The receipt of a charge has them too.
    let receipt = lab.json(&["spend", "census", "gaussian(90)"])["receipt"].clone();
    let shown = lab.json(&["ledger", "show", receipt.as_str().unwrap()]);
    assert_eq!(shown["entry"]["kind"], "committed");
    let took = shown["charge"]["clock"][0].as_f64().unwrap();
    assert!((took * 8100.0 - 1.0).abs() < 1e-6, "{shown}");
    assert_eq!(shown["charge"]["price"]["steps"][0]["remainder"], 0.0);
}
