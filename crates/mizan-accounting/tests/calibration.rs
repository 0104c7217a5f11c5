//! Calibration: the value meets the target, and hardly any larger one does.

use mizan_accounting::{calibrate, methods};
use mizan_core::{
    Count, Delta, Domain, Epsilon, EventTemplate, ParameterValue, PrivacyEvent, Round,
};

fn cost(event: &PrivacyEvent, delta: Delta) -> f64 {
    let best = methods::epsilon(event, delta).best();
    best.map_or(f64::INFINITY, |best| best.upper.get())
}

/// The value a little on the costly side.
fn costlier(template: &EventTemplate, value: ParameterValue) -> ParameterValue {
    let up = template.costly() == Round::Up;
    match value {
        ParameterValue::Whole(count) => {
            let next = if up { count.get() + 1 } else { count.get() - 1 };
            ParameterValue::Whole(Count::new(next).unwrap())
        }
        ParameterValue::Real(value) => {
            let factor = if up { 1.0 + 1e-8 } else { 1.0 - 1e-8 };
            ParameterValue::Real(value * factor)
        }
    }
}

#[test]
fn the_value_keeps_the_promise_and_the_next_does_not() {
    for text in [
        "gaussian(?)",
        "10 * gaussian(?, 3)",
        "gaussian(3, ?)",
        "100 * laplace(?)",
        "rr(?)",
        "20 * rr(?, 5)",
        "rr(0.3, ?)",
        "? * gaussian(50)",
        "? * laplace(200)",
        "? * rr(0.503)",
        "100 * pure(?)",
        "50 * exponential(?)",
        "approximate(0.05, ?)",
        "zcdp(?)",
        "gdp(?)",
        "cdp(0.001, ?)",
        "rdp(20, ?)",
        "5 * gaussian(?) + laplace(100)",
        "group(?, gaussian(100))",
        "7 * discrete-gaussian(?)",
        "discrete-laplace(?, 2)",
        "discrete-laplace(300, ?)",
    ] {
        for epsilon in [0.1, 1.0, 5.0] {
            for delta in [1e-12, 1e-5] {
                let template = EventTemplate::parse(text).unwrap();
                let (target, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
                let found = match calibrate::solve(&template, target, delta) {
                    Ok(found) => found,
                    // One is too many already.
                    Err(error) => {
                        assert!(
                            matches!(template.domain(), Domain::Whole { .. }),
                            "{text}: {error}"
                        );
                        assert_eq!(error.code(), "MZ1401");
                        continue;
                    }
                };
                assert_eq!(template.fill(found.value), Ok(found.event.clone()));
                // The search stops at the first method that is tight.
                let (best, said) = (cost(&found.event, delta), found.cost.upper.get());
                assert!(
                    best <= said && said - best <= 1e-8 * said,
                    "{text}: {best} {said}"
                );
                assert!(found.cost.upper <= target, "{text}");
                let typed = template
                    .fill_typed(&found.value.as_f64().to_string())
                    .unwrap();
                assert!(cost(&typed, delta) <= epsilon, "{text} at {epsilon}");
                assert!(found.constrained, "{text}");
                let next = template.fill(costlier(&template, found.value)).unwrap();
                assert!(
                    cost(&next, delta) > epsilon,
                    "{text} at {epsilon}: {found:?}"
                );
            }
        }
    }
}

fn solve(text: &str, epsilon: f64) -> Result<calibrate::Calibration, calibrate::CalibrationError> {
    let template = EventTemplate::parse(text).unwrap();
    let (epsilon, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(1e-6).unwrap());
    calibrate::solve(&template, epsilon, delta)
}

#[test]
fn the_exact_gaussian_is_found() {
    for (epsilon, golden) in [(0.5, 8.057_618_480_725_044), (0.01, 306.350_376_153_817_7)] {
        let sigma = solve("gaussian(?)", epsilon).unwrap().value.as_f64();
        assert!(sigma >= golden && sigma < golden * (1.0 + 1e-11), "{sigma}");
        // k of them need √k times the noise.
        let many = solve("100 * gaussian(?)", epsilon).unwrap().value.as_f64();
        assert!((many / golden / 10.0 - 1.0).abs() < 1e-11, "{many}");
    }
}

#[test]
fn impossible_promises_say_what_costs_too_much() {
    let error = solve("5 * gaussian(?) + laplace(0.5)", 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no sigma is enough: even sigma = 1e300 costs epsilon 2, above 1"
    );
    assert!(
        error.help().contains("an epsilon of at least 2"),
        "{}",
        error.help()
    );
    let error = solve("? * pure(3)", 1.0).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("no count is enough: even count = 1 costs")
    );
    assert!(error.help().contains("smallest count"));
    let error = solve("gaussian(?) + approximate(0.1, 0.5)", 1.0).unwrap_err();
    assert!(
        error.to_string().starts_with("no sigma gives a bound"),
        "{error}"
    );
}

#[test]
fn promises_that_limit_nothing_say_so() {
    let found = solve("rr(?)", 100.0).unwrap();
    assert!(!found.constrained && found.value.as_f64() > 0.999_999);
    let found = solve("? * pure(0)", 1.0).unwrap();
    assert_eq!(found.value, ParameterValue::Whole(Count::MAX));
    assert!(!found.constrained);
    // The standard alone bounds it.
    assert!(!solve("cdp(?, 0.01)", 1.0).unwrap().constrained);
}

#[test]
fn nothing_may_be_lost_but_for_delta() {
    let found = solve("gaussian(?)", 0.0).unwrap();
    assert_eq!(found.cost.upper, Epsilon::ZERO);
    let found = solve("laplace(?) + gaussian(1e9)", 0.0);
    assert!(found.is_ok_and(|found| found.value.as_f64() > 1e5));
}

/// From the smallest targets to the largest: an answer or a reason.
#[test]
fn extreme_targets_end() {
    for text in [
        "gaussian(?)",
        "100 * laplace(?)",
        "rr(?, 3)",
        "? * gaussian(1e6)",
        "pure(?)",
    ] {
        for epsilon in [0.0, 1e-300, 1e-12, 50.0, 1e6, 1e300] {
            for delta in [1e-300, 1e-15, 0.5] {
                let template = EventTemplate::parse(text).unwrap();
                let (target, delta) = (Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
                match calibrate::solve(&template, target, delta) {
                    Ok(found) => assert!(found.cost.upper <= target),
                    Err(error) => assert!(!error.help().is_empty()),
                }
            }
        }
    }
}
