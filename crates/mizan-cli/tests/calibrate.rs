//! `mizan calibrate` for every parameter: the printed event meets the target.

use crate::common::{json, run, run_with};

fn calibrate<'a>(expression: &'a str, epsilon: &'a str, delta: &'a str) -> [&'a str; 6] {
    [
        "calibrate",
        expression,
        "--epsilon",
        epsilon,
        "--delta",
        delta,
    ]
}

#[test]
fn the_calibrated_event_meets_its_target() {
    for (expression, parameter) in [
        ("10 * gaussian(?)", "sigma"),
        ("100 * laplace(?)", "scale"),
        ("rr(?)", "p"),
        ("rr(?, 7)", "p"),
        ("? * gaussian(5)", "count"),
        ("100*pure(?)", "epsilon"),
        ("gaussian(3, ?)", "sensitivity"),
        ("5*gaussian(?) + laplace(2)", "sigma"),
        ("group( ? , gaussian(100))", "size"),
        ("30 * zcdp(?)", "rho"),
    ] {
        for (epsilon, delta) in [("1", "1e-6"), ("3.3", "1e-11")] {
            let found = json(&calibrate(expression, epsilon, delta));
            assert_eq!(found["expression"], expression);
            assert_eq!(found["parameter"], parameter);
            assert_eq!(found["constrained"], true);
            let target: f64 = epsilon.parse().unwrap();
            let upper = found["epsilon"]["upper"].as_f64().unwrap();
            assert!(upper <= target, "{found}");
            if parameter != "count" && parameter != "size" {
                assert!(upper > target * (1.0 - 1e-9), "{found}");
            }
            if let Some(lower) = found["epsilon"]["lower"].as_f64() {
                assert!(lower <= upper, "{found}");
            }
            let value = found["value"].to_string();
            for typed in [
                expression.replace('?', &value),
                found["event"].as_str().unwrap().to_owned(),
            ] {
                let account = json(&["account", &typed, "--delta", delta]);
                let reached = account["epsilon"]["upper"].as_f64().unwrap();
                assert!(reached <= target, "{typed}: {reached}");
            }
        }
    }
}

#[test]
fn words_fit_the_parameter() {
    let text = |expression, epsilon| run(&calibrate(expression, epsilon, "1e-6")).done();
    let noise = text("10 * gaussian(?)", "1");
    assert!(
        noise.starts_with("sigma = 13.3597 is enough for (1, "),
        "{noise}"
    );
    assert!(!noise.contains("classical"), "{noise}");
    let count = text("? * gaussian(50)", "1");
    assert!(
        count.starts_with("count = 140 is the most for (1, "),
        "{count}"
    );
    assert!(count.contains("\n  140 * gaussian(50)\n"), "{count}");
    let any = text("rr(?)", "100");
    assert!(any.starts_with("any p keeps (100, "), "{any}");
    assert!(text("gaussian(?)", "0.5").contains("the classical rule asks for 10.5"));
}

#[test]
fn impossible_targets_are_explained() {
    let refused = |expression: &str, code: &str, words: &str| {
        let run = run(&calibrate(expression, "1", "1e-6"));
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.starts_with(&format!("error[{code}]")), "{run:?}");
        assert!(run.stderr.contains(words), "{run:?}");
        assert!(run.stderr.contains("\nhelp: "), "{run:?}");
    };
    refused(
        "gaussian(?) + laplace(0.5)",
        "MZ1401",
        "costs epsilon 2, above 1",
    );
    refused("? * pure(2)", "MZ1401", "even count = 1 costs");
    refused("gaussian(1)", "MZ1118", "no `?`");
    refused("gaussian(?, ?)", "MZ1119", "            ^");
    refused("rdp(?, 1)", "MZ1120", "an order");
    refused(
        "laplace(?) + approximate(1, 0.5)",
        "MZ1204",
        "no scale gives a bound",
    );
    refused(
        r#"{"event": "pure", "epsilon": 1}"#,
        "MZ1102",
        "expected an event",
    );
}

#[test]
fn the_template_may_come_from_standard_input() {
    let run = run_with(&calibrate("-", "1", "1e-6"), b"\xef\xbb\xbf 2 * pure(?)\n");
    assert!(run.done().starts_with("epsilon = 0.5"));
}
