//! Guarantees for a person and for groups against 25-digit arithmetic and the
//! numbers that the paper prints.

use crate::common::{Truth, golden};
use mizan_accounting::{BadOutcome, Increase, RenyiCurve, closed_forms, posterior};
use mizan_core::{Count, Delta, Order, PrivacyEvent, Probability, Round, parse_decimal};
use serde_json::Value;

/// The largest relative excess of a bound in closed form.
const EXCESS: f64 = 1e-10;

fn curve(text: &str) -> RenyiCurve {
    let event: PrivacyEvent = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    RenyiCurve::of(&event).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

/// The records of checks.json whose name starts so.
fn checks(prefix: &str) -> Vec<Value> {
    let mut values = golden("checks.json", "checks");
    values.retain(|record| record["id"].as_str().unwrap().starts_with(prefix));
    assert!(!values.is_empty(), "nothing called {prefix}");
    values
}

/// An input as it was written.
fn input(record: &Value, key: &str) -> String {
    match &record["inputs"][key] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn value(record: &Value) -> &str {
    record["value"].as_str().unwrap()
}

/// A probability from below and from above.
fn both_sides(text: &str) -> [Probability; 2] {
    [Round::Down, Round::Up].map(|side| probability(parse_decimal(text, side).unwrap()))
}

/// low <= truth, and close.
fn check_lower(truth: &str, low: f64, what: &str) {
    let (below, _) = Truth(truth).sides();
    assert!(low <= below, "{what}: {low:e} above {truth}");
    assert!(
        low >= below * (1.0 - EXCESS),
        "{what}: {low:e} falls short of {truth}"
    );
}

/// high >= truth, or certain, and close.
fn check_upper(truth: &str, high: f64, what: &str) {
    if truth.parse::<f64>().unwrap() >= 1.0 {
        assert_eq!(high, Probability::ONE.get(), "{what}");
    } else {
        Truth(truth).check_upper(high, EXCESS, &what);
    }
}

#[test]
fn proposition_10() {
    let (mut lows, mut highs) = (0, 0);
    for record in golden("reference.json", "values") {
        let field = |key: &str| record[key].as_str().unwrap();
        let what = field("what");
        if !what.starts_with("mironov_interval") {
            continue;
        }
        let curve = curve(&format!("rdp({}, {})", field("alpha"), field("eps")));
        let [below, above] = both_sides(field("p")).map(|p| curve.bad_outcome_by_proposition_10(p));
        let label = record.to_string();
        if what.ends_with("lower") {
            check_lower(value(&record), below.low.get(), &label);
            lows += 1;
        } else {
            check_upper(value(&record), above.high.get(), &label);
            highs += 1;
        }
    }
    assert_eq!((lows, highs), (16, 21));
}

#[test]
fn proposition_10_and_the_exact_region_of_the_example() {
    for record in checks("bad_") {
        let curve = curve(&format!(
            "rdp({}, {})",
            input(&record, "alpha"),
            input(&record, "eps")
        ));
        let [below, above] = both_sides(&input(&record, "Q"));
        let name = record["id"].as_str().unwrap();
        let range = |q| match name.contains("exact") {
            true => curve.bad_outcome(q),
            false => curve.bad_outcome_by_proposition_10(q),
        };
        if name.contains("lower") {
            check_lower(value(&record), range(below).low.get(), name);
        } else {
            check_upper(value(&record), range(above).high.get(), name);
        }
    }
}

/// Section VII of the paper for (10, 0.1)-RDP, to the digits that it prints,
/// and the exact region inside.
#[test]
fn the_papers_numbers() {
    let curve = curve("rdp(10, 0.1)");
    for (baseline, paper, exact) in [
        (0.5, (0.419, 0.586, 5e-4), (0.421_511, 0.578_489, 5e-7)),
        (
            0.001,
            (0.000_42, 0.002_18, 5e-6),
            (0.000_444_86, 0.002_073_81, 5e-9),
        ),
        (
            1e-6,
            (0.195e-6, 4.36e-6, 5e-9),
            (0.206_578e-6, 4.134_514e-6, 5e-13),
        ),
    ] {
        let close = |range: BadOutcome, (low, high, digits): (f64, f64, f64)| {
            assert!(
                (range.low.get() - low).abs() < digits && (range.high.get() - high).abs() < digits,
                "{baseline}: {range:?}"
            );
        };
        close(
            curve.bad_outcome_by_proposition_10(probability(baseline)),
            paper,
        );
        close(curve.bad_outcome(probability(baseline)), exact);
    }
}

/// Any baseline a double can hold.
#[test]
fn extreme_baselines() {
    for text in [
        "rdp(10, 0.1)",
        "rdp(2:0.5, 8:1, inf:3)",
        "rdp(1.5, 1e-9)",
        "gaussian(1)",
        "gaussian(0.01)",
        "gaussian(1000000)",
        "laplace(2)",
        "rr(0.75)",
        "pure(0.1)",
        "pure(700)",
        "pure(0)",
        "zcdp(0.1)",
        "cdp(0.02, 0.3)",
        "exponential(1)",
        "100 * (rr(0.52) + laplace(20) + gaussian(10))",
        "1000000 * gaussian(1)",
    ] {
        let curve = curve(text);
        for baseline in [
            0.0,
            1e-300,
            1e-100,
            1e-16,
            1e-6,
            0.1,
            0.5,
            0.9,
            1.0 - 1e-9,
            1.0 - 1e-16,
            1.0,
        ] {
            let paper = curve.bad_outcome_by_proposition_10(probability(baseline));
            let exact = curve.bad_outcome(probability(baseline));
            for range in [paper, exact] {
                let (low, high) = (range.low.get(), range.high.get());
                assert!(
                    0.0 <= low && low <= baseline && baseline <= high && high <= 1.0,
                    "{text} at {baseline:e}: {range:?}"
                );
            }
            // Where a probability is within rounding of one the two agree to that.
            let ulp = 1e-12;
            assert!(
                exact.low.get() >= paper.low.get() * (1.0 - ulp)
                    && exact.high.get() <= paper.high.get() * (1.0 + ulp),
                "{text} at {baseline:e}: exact {exact:?}, Proposition 10 {paper:?}"
            );
        }
    }
}

/// For pure differential privacy the exact region is known: P <= e^ε Q and
/// 1 - P >= e^-ε (1 - Q).
#[test]
fn the_exact_region_of_pure_privacy() {
    for epsilon in [1e-6, 0.1, 1.0, 5.0_f64] {
        for q in [1e-300, 1e-9, 0.01, 0.5, 0.99] {
            let range = curve(&format!("pure({epsilon})")).bad_outcome(probability(q));
            let high = (epsilon.exp() * q).min(1.0 - (1.0 - q) * (-epsilon).exp());
            let low = ((-epsilon).exp() * q).max(1.0 - (1.0 - q) * epsilon.exp());
            assert!(
                range.high.get() >= high * (1.0 - 1e-13),
                "{epsilon} {q}: {range:?}"
            );
            assert!(
                range.low.get() <= low * (1.0 + 1e-13),
                "{epsilon} {q}: {range:?}"
            );
            assert!(
                (range.high.get() - high).abs() < 1e-9 * high,
                "{epsilon} {q}: {range:?}"
            );
            assert!(
                (range.low.get() - low).abs() < 1e-9 * low,
                "{epsilon} {q}: {range:?}"
            );
        }
    }
}

/// docs/spec/mathematics.md 3.9: for zCDP Proposition 10 at the best order is
/// P <= exp(-(√ln 1/Q - √ρ)²).
#[test]
fn proposition_10_of_zero_concentrated_privacy() {
    for rho in [1e-6, 0.01, 0.5, 3.0_f64] {
        for q in [1e-300, 1e-100, 1e-9, 1e-3] {
            let l = -f64::ln(q);
            let closed = if l > rho {
                (-(l.sqrt() - rho.sqrt()).powi(2)).exp()
            } else {
                1.0
            };
            let range =
                curve(&format!("zcdp({rho})")).bad_outcome_by_proposition_10(probability(q));
            let high = range.high.get();
            assert!(
                high >= closed * (1.0 - 1e-11) && high <= closed * (1.0 + 1e-9),
                "{rho} {q}: {high:e} {closed:e}"
            );
        }
    }
}

#[test]
fn bayes_factor_tails() {
    for record in checks("bayes_tail") {
        let text = format!(
            "rdp({}, {})",
            input(&record, "alpha"),
            input(&record, "eps")
        );
        let factor = parse_decimal(&input(&record, "beta"), Round::Down).unwrap();
        let bound = curve(&text).bayes_factor(factor);
        Truth(value(&record)).check_upper(bound.probability.get(), EXCESS, &record);
        assert_eq!(
            bound.order,
            Order::new(input(&record, "alpha").parse().unwrap()).unwrap()
        );
    }
}

/// A loss that has a largest value is never exceeded; any factor is a bound.
#[test]
fn bayes_factors_at_the_ends() {
    assert_eq!(curve("pure(1)").bayes_factor(2.72).probability.get(), 0.0);
    assert!(curve("pure(1)").bayes_factor(2.71).probability.get() > 0.0);
    for text in ["pure(1)", "gaussian(1)", "rdp(10, 0.1)", "pure(0)"] {
        for factor in [0.0, 1e-300, 0.5, 1.0, 1.5, 1e10, 1e300, f64::INFINITY] {
            let bound = curve(text).bayes_factor(factor).probability.get();
            assert!((0.0..=1.0).contains(&bound), "{text} {factor}: {bound}");
            if factor < 1.0 {
                assert_eq!(bound, Probability::ONE.get(), "{text} {factor}");
            }
        }
    }
    // Gaussian loss: Pr[L > l] <= exp(-(l - m²/2)²/2m²), the best Markov bound.
    let bound = curve("gaussian(1)").bayes_factor(5f64.exp()).probability;
    let chernoff = (-0.5 * 4.5 * 4.5_f64).exp();
    assert!(bound.get() >= chernoff * (1.0 - 1e-12) && bound.get() <= chernoff * (1.0 + 1e-9));
}

#[test]
fn expected_log_odds_are_the_divergence_at_one() {
    for (text, truth) in [
        ("gaussian(1)", 0.5),
        ("gaussian(4)", 1.0 / 32.0),
        ("rr(0.75)", 0.549_306_144_334_054_8),
        ("laplace(1)", (-1f64).exp()),
        ("pure(1)", 0.5f64.tanh()),
    ] {
        let bound = curve(text).expected_log_odds().get();
        assert!(
            bound >= truth * (1.0 - 1e-15) && bound <= truth * (1.0 + 1e-12),
            "{text}: {bound}"
        );
    }
}

#[test]
fn posterior_beliefs() {
    for (prior, factor, truth) in [
        (0.5, 1.0, 0.5),
        (0.5, 3.0, 0.75),
        (0.001, 1000.0, 1.0 / 1.999),
        (1e-300, 1e290, 1e-10 / (1.0 + 1e-10)),
        (0.0, 5.0, 0.0),
        (1.0, 1e-9, 1.0),
        (0.25, 0.0, 0.0),
    ] {
        let belief = posterior(probability(prior), factor).get();
        assert!(
            belief >= truth * (1.0 - 1e-16),
            "{prior} {factor}: {belief}"
        );
        assert!(
            belief <= truth * (1.0 + 1e-12) + 1e-300,
            "{prior} {factor}: {belief}"
        );
    }
    for prior in [1e-300, 1e-16, 0.5, 1.0 - 1e-16] {
        for factor in [1e-300, 1.0, 1e300, f64::INFINITY] {
            let belief = posterior(probability(prior), factor).get();
            assert!((0.0..=1.0).contains(&belief), "{prior} {factor}: {belief}");
        }
        let certain = posterior(probability(prior), f64::INFINITY);
        assert_eq!(certain, Probability::ONE, "{prior}");
    }
}

/// (ε, δ) for a group: the exact iteration, within the simple form.
#[test]
fn groups_of_approximate_privacy() {
    for record in checks("group_delta_simple") {
        let [s, epsilon, delta] = ["s", "eps", "delta"].map(|key| input(&record, key));
        let (size, e): (f64, f64) = (s.parse().unwrap(), epsilon.parse().unwrap());
        let text = format!("group({s}, approximate({epsilon}, {delta}))");
        let (whole, failing) = mizan_accounting::basic_composition(&text.parse().unwrap()).unwrap();
        let simple: f64 = value(&record).parse().unwrap();
        let exact = delta.parse::<f64>().unwrap() * (size * e).exp_m1() / e.exp_m1();
        assert!(failing.get() <= simple, "{text}: {failing}");
        assert!(
            failing.get() >= exact * (1.0 - 1e-12) && failing.get() <= exact * (1.0 + 1e-12),
            "{text}: {failing}, exactly {exact}"
        );
        assert!(whole.upper.get() >= size * e && whole.upper.get() <= size * e * (1.0 + 1e-12));
    }
    // The misprint s e^(s-1) δ is another number wherever ε is not one.
    let misprint: f64 = value(&checks("group_delta_seed_s3")[0]).parse().unwrap();
    let simple: f64 = value(&checks("group_delta_simple_s3")[0]).parse().unwrap();
    assert!(misprint > 2.0 * simple);
}

/// Proposition 2 and its sharper form, for a single reported order.
#[test]
fn groups_of_reported_points_are_within_proposition_2() {
    for record in checks("group_prop2") {
        let alpha: f64 = input(&record, "alpha").parse().unwrap();
        let doublings = input(&record, "c").parse().unwrap_or(1);
        let size = 1_u64 << doublings;
        let text = format!("group({size}, rdp({alpha}, {}))", input(&record, "eps"));
        let at = Order::new(alpha / 2f64.powi(doublings)).unwrap();
        let ours = curve(&text).at(at).upper.get();
        let golden: f64 = value(&record).parse().unwrap();
        assert!(ours <= golden * (1.0 + 1e-12), "{text} at {at}: {ours}");
    }
}

/// The papers' own closed forms, beside the methods.
#[test]
fn closed_forms_are_their_theorems() {
    for (prefix, event, reference) in [
        ("tanh_adv", "{k} * pure({eps})", "the tight mean"),
        ("cor1", "{n} * pure({eps})", "Mironov 2017, Corollary 1"),
        ("zcdp_eps_closed", "zcdp({rho})", "Bun and Steinke 2016"),
        ("cdp_tail", "cdp({mu}, {tau})", "Corollary 3.1"),
    ] {
        for record in checks(prefix) {
            let mut text = event.to_owned();
            for key in record["inputs"].as_object().unwrap().keys() {
                text = text.replace(&format!("{{{key}}}"), &input(&record, key));
            }
            let delta = parse_decimal(&input(&record, "delta"), Round::Down).unwrap();
            let forms = closed_forms(&text.parse().unwrap(), Delta::new(delta).unwrap());
            let form = forms.iter().find(|form| form.reference.contains(reference));
            let epsilon = form
                .unwrap_or_else(|| panic!("{text} has no form by {reference}"))
                .epsilon;
            Truth(value(&record)).check_upper(epsilon.get(), EXCESS, &record);
        }
    }
}

/// Proposition 4 as corrected, as the increase P/Q.
#[test]
fn proposition_4_in_figure_2() {
    let mut checked = 0;
    for record in checks("prop4_n") {
        let round = curve(&format!("pure({})", input(&record, "eps")));
        let n = Count::new(input(&record, "n").parse().unwrap()).unwrap();
        let [q, _] = both_sides(&input(&record, "Q"));
        let increase = Increase::after(&round, n, q).generic;
        let truth = value(&record).parse::<f64>().unwrap() / q.get();
        assert!(
            increase >= truth * (1.0 - 1e-14) && increase <= truth * (1.0 + EXCESS),
            "{record}: {increase}"
        );
        checked += 1;
    }
    assert_eq!(checked, 3);
}
