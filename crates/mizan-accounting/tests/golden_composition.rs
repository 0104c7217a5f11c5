//! Composition and exact profiles against 25-digit arithmetic.
//!
//! Golden parameters are decimals. Events are read from their text, which
//! rounds every parameter to its costly side, and targets are rounded down, so
//! an upper bound must be at least the truth at the decimals. A lower bound is
//! one at the rounded parameters; hence the slack it gets.

use crate::common::{self, Truth, golden};
use mizan_accounting::methods::Method::{
    Advanced, Basic, Cdp, ConcentratedAdvanced, GaussianExact, Optimal, Pure, Renyi, Zcdp,
};
use mizan_accounting::methods::{self, Method, MethodBound, Refusal};
use mizan_core::{Delta, Epsilon, PrivacyEvent, Round, parse_decimal};
use serde_json::Value;

/// What rounding of decimal parameters may do to a lower bound.
const ROUNDING: f64 = 1e-12;

/// The largest relative excess of a method that is exact.
const EXCESS: f64 = 1e-10;

fn event(text: &str) -> PrivacyEvent {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn epsilon_at(method: Method, text: &str, delta: &str) -> MethodBound<Epsilon> {
    let delta = Delta::new(parse_decimal(delta, Round::Down).unwrap()).unwrap();
    methods::epsilon_by(method, &event(text), delta)
        .unwrap_or_else(|refusal| panic!("{text} by {method:?}: {refusal}"))
}

fn delta_at(method: Method, text: &str, epsilon: &str) -> MethodBound<Delta> {
    let epsilon = Epsilon::new(parse_decimal(epsilon, Round::Down).unwrap()).unwrap();
    methods::delta_by(method, &event(text), epsilon)
        .unwrap_or_else(|refusal| panic!("{text} by {method:?}: {refusal}"))
}

/// An upper bound that is tight, and a lower one on its side that is, too.
fn check_both(truth: &str, lower: f64, upper: f64, what: &str) {
    Truth(truth).check_upper(upper, EXCESS, &what);
    let value: f64 = truth.parse().unwrap();
    assert!(
        lower <= value * (1.0 + ROUNDING),
        "{what}: lower bound {lower:e} above {truth}"
    );
    assert!(
        lower >= value * (1.0 - EXCESS) - 1e-300,
        "{what}: lower bound {lower:e} falls short of {truth}"
    );
}

fn check_epsilon(method: Method, text: &str, delta: &str, truth: &str) {
    let bound = epsilon_at(method, text, delta);
    let what = format!("epsilon of {text} at {delta} by {method:?}");
    check_both(truth, bound.lower.unwrap().get(), bound.upper.get(), &what);
}

fn check_delta(method: Method, text: &str, epsilon: &str, truth: &str) {
    let bound = delta_at(method, text, epsilon);
    let what = format!("delta of {text} at {epsilon} by {method:?}");
    check_both(truth, bound.lower.unwrap().get(), bound.upper.get(), &what);
}

/// The records of reference.json about `what`.
fn reference(what: &str) -> Vec<Value> {
    let mut values = golden("reference.json", "values");
    values.retain(|record| record["what"] == what);
    assert!(!values.is_empty(), "nothing about {what}");
    values
}

/// The records of checks.json whose name starts so.
fn checks(prefix: &str) -> Vec<Value> {
    let mut values = golden("checks.json", "checks");
    values.retain(|record| record["id"].as_str().unwrap().starts_with(prefix));
    assert!(!values.is_empty(), "nothing called {prefix}");
    values
}

fn text<'a>(record: &'a Value, key: &str) -> &'a str {
    record[key]
        .as_str()
        .unwrap_or_else(|| panic!("{record} has no text {key}"))
}

fn value(record: &Value) -> &str {
    text(record, "value")
}

fn input(record: &Value, key: &str) -> String {
    match &record["inputs"][key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[test]
fn gaussian_delta_is_exact() {
    let mut checked = 0;
    for record in reference("delta_gaussian") {
        let (mu, epsilon) = (text(&record, "mu"), text(&record, "eps"));
        if epsilon.starts_with('-') {
            continue;
        }
        check_delta(
            GaussianExact,
            &format!("gdp({mu})"),
            epsilon,
            value(&record),
        );
        checked += 1;
    }
    for record in checks("gdp_delta") {
        let (mu, epsilon) = (input(&record, "mu"), input(&record, "eps"));
        let event = format!("gdp({mu})");
        check_delta(GaussianExact, &event, &epsilon, value(&record));
        checked += 1;
    }
    assert_eq!(checked, 28);
}

#[test]
fn gaussian_epsilon_is_exact() {
    let mut checked = 0;
    for record in reference("eps_gaussian") {
        let (sigma, delta) = (text(&record, "sigma"), text(&record, "delta"));
        let (event, truth) = (format!("gaussian({sigma})"), value(&record));
        check_epsilon(GaussianExact, &event, delta, truth);
        checked += 1;
    }
    for record in checks("gdp_eps") {
        let (mu, delta) = (input(&record, "mu"), input(&record, "delta"));
        let (event, truth) = (format!("gdp({mu})"), value(&record));
        check_epsilon(GaussianExact, &event, &delta, truth);
        checked += 1;
    }
    assert_eq!(checked, 16);
}

/// The calibrated σ costs what it was calibrated for, from either side.
#[test]
fn calibrated_gaussians_cost_their_epsilon() {
    let mut records: Vec<(String, String, String)> = reference("sigma_gaussian_calibrated")
        .iter()
        .map(|record| ["eps", "delta", "value"].map(|key| text(record, key).to_owned()))
        .map(|[epsilon, delta, sigma]| (epsilon, delta, sigma))
        .collect();
    records.extend(checks("agm_sigma").iter().map(|record| {
        let sigma = value(record).to_owned();
        (input(record, "eps"), input(record, "delta"), sigma)
    }));
    for (epsilon, delta, sigma) in records {
        let bound = epsilon_at(GaussianExact, &format!("gaussian({sigma})"), &delta);
        let wanted: f64 = epsilon.parse().unwrap();
        let (lower, upper) = (bound.lower.unwrap().get(), bound.upper.get());
        assert!(
            lower <= wanted * (1.0 + EXCESS) && upper >= wanted * (1.0 - ROUNDING),
            "{sigma}"
        );
        assert!(
            upper - lower <= EXCESS * wanted + 1e-14,
            "{sigma}: {lower} to {upper}"
        );
    }
}

/// Where e^ε or δ leave the doubles. Values from 50-digit bisection of the
/// definition.
#[test]
fn gaussian_at_the_edge_of_the_doubles() {
    for (mu, delta, truth) in EDGE {
        check_epsilon(GaussianExact, &format!("gdp({mu})"), delta, truth);
        check_delta(GaussianExact, &format!("gdp({mu})"), truth, delta);
    }
}

/// μ, δ and the exact ε.
const EDGE: [(&str, &str, &str); 8] = [
    ("20", "1e-300", "940.3761240049179245792822"),
    ("35", "1e-9", "821.5004254446945455414953"),
    ("37", "0.4", "692.877489558456284071818"),
    ("1", "1e-300", "37.44884791213910494101936"),
    ("0.001", "1e-300", "0.03676291669948786100039776"),
    ("100", "1e-250", "8379.097163831369788278749"),
    ("1e-8", "1e-20", "6.757159465227063898982735e-8"),
    ("1.5", "1e-307", "57.21360143896403779750744"),
];

/// A composition of Gaussians is one Gaussian.
#[test]
fn gaussians_compose_in_squares() {
    for (parts, whole) in [
        ("4 * gaussian(2)", "gaussian(1)"),
        ("gaussian(5, 3) + gaussian(5, 4)", "gdp(1)"),
        ("100 * (gdp(0.0625) + 3 * gaussian(16))", "gdp(1.25)"),
        ("group(4, gaussian(8))", "gaussian(2)"),
        ("16 * group(2, gdp(0.125))", "gdp(1)"),
    ] {
        for delta in ["1e-3", "1e-9", "1e-200"] {
            let by = |text| epsilon_at(GaussianExact, text, delta);
            let (parts, whole) = (by(parts), by(whole));
            assert!(parts.upper >= whole.lower.unwrap() && whole.upper >= parts.lower.unwrap());
            let gap = (parts.upper.get() - whole.upper.get()).abs();
            assert!(gap <= 1e-12 * whole.upper.get(), "{parts:?} {whole:?}");
        }
    }
}

/// The optimal conversion lies between the exact value of a mechanism that has
/// this guarantee (Gaussian noise) and the conversion of the golden value.
#[test]
fn concentrated_methods_lie_between_exact_and_the_papers_conversion() {
    for record in checks("zcdp_eps_cks") {
        let (rho, delta) = (input(&record, "rho"), input(&record, "delta"));
        between_exact_and(Zcdp, &format!("zcdp({rho})"), &rho, &delta, &record);
    }
    for record in reference("zcdp_to_eps_cks_optimal_alpha") {
        let (rho, delta) = (text(&record, "rho"), text(&record, "delta"));
        between_exact_and(Zcdp, &format!("zcdp({rho})"), rho, delta, &record);
    }
    for record in checks("zcdp_eps_closed") {
        let (rho, delta) = (input(&record, "rho"), input(&record, "delta"));
        between_exact_and(Zcdp, &format!("zcdp({rho})"), &rho, &delta, &record);
    }
    for prefix in ["cdp_cks", "cdp_tail"] {
        for record in checks(prefix) {
            let [mu, tau, delta] = ["mu", "tau", "delta"].map(|key| input(&record, key));
            let event = format!("cdp({mu}, {tau})");
            // Gaussian noise of this mean is (μ, √(2μ))-CDP, and √(2μ) <= τ here.
            between_exact_and(Cdp, &event, &mu, &delta, &record);
        }
    }
}

/// exact Gaussian at ρ <= the method <= the golden value.
fn between_exact_and(method: Method, event: &str, rho: &str, delta: &str, record: &Value) {
    let bound = epsilon_at(method, event, delta).upper.get();
    let mean: f64 = rho.parse().unwrap();
    let gaussian = format!("gdp({:e})", (2.0 * mean).sqrt() * (1.0 - 1e-15));
    let exact = epsilon_at(GaussianExact, &gaussian, delta)
        .lower
        .unwrap()
        .get();
    let paper: f64 = value(record).parse().unwrap();
    assert!(bound >= exact, "{record}: {bound} below the exact {exact}");
    assert!(bound <= paper * (1.0 + EXCESS), "{record}: {bound}");
    assert!(
        bound >= 0.5 * paper,
        "{record}: {bound} is suspiciously low"
    );
}

/// The optimum over orders of the optimal conversion, by 45-digit arithmetic.
#[test]
fn concentrated_methods_reach_the_optimal_conversion() {
    let mut checked = 0;
    for record in golden("renyi_account.json", "values") {
        let method = match record["event"]["event"].as_str() {
            _ if record["method"] != "optimal" => continue,
            Some("zcdp" | "gdp" | "gaussian") => Zcdp,
            Some("cdp") => Cdp,
            _ => continue,
        };
        let delta = Delta::new(record["delta"].as_f64().unwrap()).unwrap();
        let bound = methods::epsilon_by(method, &common::event(&record["event"]), delta).unwrap();
        Truth(text(&record, "epsilon")).check_upper(bound.upper.get(), EXCESS, &record);
        checked += 1;
    }
    assert!(checked >= 5, "only {checked}");
}

/// An event, a number of times: the inputs k and ε of a check.
fn repeated(record: &Value) -> String {
    format!("{} * pure({})", input(record, "k"), input(record, "eps"))
}

#[test]
fn advanced_composition_is_its_theorem() {
    for (prefix, method) in [("drv10", Advanced), ("dr16_thm1", ConcentratedAdvanced)] {
        for record in checks(prefix) {
            let bound = epsilon_at(method, &repeated(&record), &input(&record, "delta"));
            Truth(value(&record)).check_upper(bound.upper.get(), EXCESS, &record);
        }
    }
    for record in checks("tanh_adv") {
        let delta = input(&record, "delta");
        let optimal = epsilon_at(Optimal, &repeated(&record), &delta);
        assert!(optimal.upper.get() <= value(&record).parse().unwrap());
    }
}

#[test]
fn optimal_composition_of_equal_parts_is_exact() {
    for record in checks("kov_eps") {
        let (event, delta) = (repeated(&record), input(&record, "delta"));
        check_epsilon(Optimal, &event, &delta, value(&record));
    }
    let approximate =
        |k: &str, epsilon: &str, delta: &str| format!("{k} * approximate({epsilon}, {delta})");
    for record in checks("kov_delta") {
        let [k, epsilon, delta, target] =
            ["k", "eps", "delta", "eps_g"].map(|key| input(&record, key));
        let event = approximate(&k, &epsilon, &delta);
        check_delta(Optimal, &event, &target, value(&record));
    }
    for record in reference("kov_optimal_composition_eps") {
        let k = record["k"].to_string();
        let event = approximate(&k, text(&record, "eps0"), text(&record, "delta0"));
        check_epsilon(Optimal, &event, text(&record, "delta"), value(&record));
    }
}

#[test]
fn optimal_composition_of_different_parts_is_exact() {
    for record in checks("mv_delta") {
        let list = |key: &str| -> Vec<String> {
            let values = record["inputs"][key].as_array().unwrap().iter();
            values
                .map(|value| value.as_str().unwrap().to_owned())
                .collect()
        };
        let parts: Vec<String> = list("eps")
            .iter()
            .zip(list("delta"))
            .map(|(epsilon, delta)| format!("approximate({epsilon}, {delta})"))
            .collect();
        let target = input(&record, "eps_g");
        check_delta(Optimal, &parts.join(" + "), &target, value(&record));
    }
}

#[test]
fn randomized_response_composes_exactly() {
    for record in reference("eps_randomized_response_composed") {
        let event = format!("{} * rr({})", record["k"], text(&record, "p"));
        check_epsilon(Optimal, &event, text(&record, "delta"), value(&record));
    }
    for record in reference("delta_randomized_response_composed") {
        let event = format!("{} * rr({})", record["k"], text(&record, "p"));
        check_delta(Optimal, &event, text(&record, "eps"), value(&record));
    }
}

/// Tasks are called like `rr_p0.6_k100_d1e-6`.
#[test]
fn end_to_end_truths() {
    let mut checked = 0;
    for record in reference("end_to_end_truth") {
        let (task, truth) = (text(&record, "task"), value(&record));
        let words: Vec<&str> = task.split('_').collect();
        let after = |index: usize, prefix: &str| words[index].strip_prefix(prefix).unwrap();
        match words[0] {
            "gauss" => {
                let event = format!("{} * gaussian({})", after(2, "k"), after(1, "s"));
                check_epsilon(GaussianExact, &event, after(3, "d"), truth);
            }
            "rr" => {
                let event = format!("{} * rr({})", after(2, "k"), after(1, "p"));
                check_epsilon(Optimal, &event, after(3, "d"), truth);
            }
            "kov" => {
                let (k, epsilon, delta) = (after(3, "k"), after(1, "e"), after(2, "d"));
                let event = format!("{k} * approximate({epsilon}, {delta})");
                check_epsilon(Optimal, &event, after(4, "d"), truth);
            }
            "laplace" => {
                // No method here is exact for Laplace noise; none is below it.
                let event = format!("{} * laplace({})", after(2, "k"), after(1, "l"));
                never_below(&event, after(3, "d"), truth);
            }
            "fig3" => {
                let event = format!(
                    "{} * (rr(0.52) + laplace(20) + gaussian(10))",
                    after(1, "n")
                );
                never_below(&event, after(2, "d"), truth);
            }
            _ => continue,
        }
        checked += 1;
    }
    assert_eq!(checked, 19);
}

fn never_below(text: &str, delta: &str, truth: &str) {
    let truth: f64 = truth.parse().unwrap();
    let delta = Delta::new(parse_decimal(delta, Round::Down).unwrap()).unwrap();
    let account = methods::epsilon(&event(text), delta);
    assert!(!account.bounds.is_empty());
    for bound in account.bounds {
        // One truth has 13 digits only.
        assert!(
            bound.upper.get() >= truth * (1.0 - 1e-12),
            "{text}: {bound:?} below {truth}"
        );
    }
}

/// KOV for a hundred times (0.1, 1e-8): not 7.0.
#[test]
fn the_hundredfold_example() {
    let bound = epsilon_at(Optimal, "100 * approximate(0.1, 1e-8)", "1e-6");
    assert!((bound.upper.get() - 6.969_618_783_7).abs() < 7e-10);
    let best = methods::epsilon(
        &event("100 * approximate(0.1, 1e-8)"),
        Delta::new(1e-6).unwrap(),
    );
    assert_eq!(best.best().unwrap().method, Optimal);
}

/// A million equal parts. The normal limit of the loss, N(kε²/2, kε²), says
/// what to expect: an ε near that of `gdp(√k ε)`.
#[test]
fn a_million_parts() {
    let limit = epsilon_at(GaussianExact, "gdp(1)", "1e-6");
    let bound = epsilon_at(Optimal, "1000000 * pure(0.001)", "1e-6");
    assert!((bound.upper.get() - limit.upper.get()).abs() < 1e-3);
    assert!(bound.upper.get() - bound.lower.unwrap().get() <= EXCESS * bound.upper.get());
    let at = format!("{:e}", bound.upper.get());
    let back = delta_at(Optimal, "1000000 * pure(0.001)", &at);
    assert!((back.upper.get() - 1e-6).abs() < 1e-6 * 1e-8, "{back:?}");
    let failing = epsilon_at(Optimal, "1000000 * approximate(0.001, 1e-13)", "1e-6");
    assert!(failing.upper > bound.upper);
}

/// A thousand different epsilons: a bracket, and never worse than the closed
/// form M + √(2 S ln 1/δ).
#[test]
fn a_thousand_different_parts() {
    for (least, step) in [(0.001, 1e-4), (0.01, 1e-5), (0.02, 3.7e-5)] {
        let epsilons: Vec<f64> = (0..1000).map(|i| least + step * f64::from(i)).collect();
        let parts: Vec<String> = epsilons
            .iter()
            .map(|epsilon| format!("pure({epsilon})"))
            .collect();
        let text = parts.join(" + ");
        let mean: f64 = epsilons.iter().map(|e| e * (e / 2.0).tanh()).sum();
        let squares: f64 = epsilons.iter().map(|e| e * e).sum();
        for delta in ["1e-3", "1e-9", "1e-30"] {
            let bound = epsilon_at(Optimal, &text, delta);
            let (lower, upper) = (bound.lower.unwrap().get(), bound.upper.get());
            assert!(lower <= upper && upper - lower <= 0.1, "{lower} to {upper}");
            let target: f64 = delta.parse().unwrap();
            let closed = mean + (2.0 * squares * -target.ln()).sqrt();
            assert!(upper <= closed * (1.0 + ROUNDING), "{upper} above {closed}");
            let refined = mean
                + (2.0 * squares * (std::f64::consts::E + squares.sqrt() / target).ln()).sqrt();
            assert!(upper <= refined * (1.0 + ROUNDING));
        }
    }
}

/// Parts that fail more often than the target allows are refused.
#[test]
fn a_spent_delta_is_refused() {
    for method in [Basic, Advanced, ConcentratedAdvanced, Optimal] {
        let refusal = methods::epsilon_by(
            method,
            &event("10 * approximate(0.1, 1e-6)"),
            Delta::new(5e-6).unwrap(),
        );
        assert!(
            matches!(refusal, Err(Refusal::DeltaSpent { .. })),
            "{method:?}: {refusal:?}"
        );
    }
}

/// What may fail has no guarantee of the kinds that exclude it.
#[test]
fn what_may_fail_has_no_renyi_or_concentrated_guarantee() {
    for method in [Pure, Cdp, Zcdp, Renyi, GaussianExact] {
        let failing = event("gaussian(2) + approximate(0.1, 1e-6)");
        let refusal = methods::epsilon_by(method, &failing, Delta::new(1e-5).unwrap());
        assert!(
            matches!(refusal, Err(Refusal::Unsupported(_))),
            "{method:?}: {refusal:?}"
        );
        let refusal = methods::delta_by(method, &failing, Epsilon::new(1.0).unwrap());
        assert!(
            matches!(refusal, Err(Refusal::Unsupported(_))),
            "{method:?}: {refusal:?}"
        );
    }
}
