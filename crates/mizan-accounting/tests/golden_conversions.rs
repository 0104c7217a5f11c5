//! Conversions to (ε, δ) against 60-digit arithmetic.

use crate::common::{Truth, event, golden, number, order};
use mizan_accounting::{RenyiConversion, RenyiCurve};
use mizan_core::{Delta, Epsilon};
use serde_json::Value;

fn conversion(record: &Value) -> RenyiConversion {
    match record["method"].as_str().unwrap() {
        "mironov" => RenyiConversion::Mironov,
        "cks" => RenyiConversion::CanonneKamathSteinke,
        "line" => RenyiConversion::SupportingLine,
        "optimal" => RenyiConversion::Optimal,
        other => panic!("no conversion {other}"),
    }
}

fn check(text: &str, computed: f64, tolerance: f64, record: &Value) {
    if text.starts_with('-') || text.trim_matches(['0', '.']).is_empty() {
        assert!((0.0..1e-13).contains(&computed), "{record}: {computed:e}");
    } else {
        Truth(text).check_upper(computed, tolerance, record);
    }
}

#[test]
fn epsilon_from_one_order() {
    let mut checked = 0;
    for record in golden("conversions.json", "values") {
        let renyi = Epsilon::new(number(&record["rho"])).unwrap();
        let delta = Delta::new(number(&record["delta"])).unwrap();
        let computed = conversion(&record)
            .epsilon(order(&record["order"]), renyi, delta)
            .get();
        // Below 1e-3 the logarithm of a number near one decides.
        let text = record["epsilon"].as_str().unwrap();
        let tolerance = if text.parse::<f64>().unwrap() > 1e-3 {
            1e-12
        } else {
            1e-6
        };
        check(text, computed, tolerance, &record);
        checked += 1;
    }
    assert!(checked > 1000, "only {checked} values");
}

#[test]
fn delta_from_one_order() {
    let mut checked = 0;
    for record in golden("conversions.json", "inverse") {
        let renyi = Epsilon::new(number(&record["rho"])).unwrap();
        let epsilon = Epsilon::new(number(&record["epsilon"])).unwrap();
        let computed = conversion(&record)
            .delta(order(&record["order"]), renyi, epsilon)
            .get();
        // An error of one unit in α ε is multiplied by the order.
        let text = record["delta"].as_str().unwrap();
        if text.parse::<f64>().unwrap() >= 1.0 {
            assert_eq!(computed, 1.0, "{record}");
        } else {
            check(text, computed, 1e-9, &record);
        }
        checked += 1;
    }
    assert!(checked >= 30, "only {checked} values");
}

#[test]
fn epsilon_over_all_orders() {
    let mut checked = 0;
    for record in golden("renyi_account.json", "values") {
        let curve = RenyiCurve::of(&event(&record["event"])).unwrap();
        let delta = Delta::new(number(&record["delta"])).unwrap();
        let best = curve.epsilon(delta, conversion(&record));
        check(
            record["epsilon"].as_str().unwrap(),
            best.bound.get(),
            1e-12,
            &record,
        );
        checked += 1;
    }
    assert!(checked >= 40, "only {checked} values");
}

/// The shared references are at decimals; delta is rounded to the safe side.
#[test]
fn conversions_of_the_shared_reference() {
    let mut checked = 0;
    for record in golden("reference.json", "values") {
        let (way, digits) = match record["what"].as_str().unwrap() {
            "rdp_to_eps_mironov" => (RenyiConversion::Mironov, 1e-12),
            "rdp_to_eps_cks_balle" => (RenyiConversion::CanonneKamathSteinke, 1e-12),
            // Known to twelve digits only.
            "rdp_to_eps_optimal_asoodeh" => (RenyiConversion::Optimal, 2e-11),
            _ => continue,
        };
        let decimal = |name: &str, round| {
            mizan_core::parse_decimal(record[name].as_str().unwrap(), round).unwrap()
        };
        let renyi = Epsilon::new(decimal("rdp", mizan_core::Round::Up)).unwrap();
        let delta = Delta::new(decimal("delta", mizan_core::Round::Down)).unwrap();
        let computed = way.epsilon(order(&record["alpha"]), renyi, delta).get();
        let truth: f64 = record["value"].as_str().unwrap().parse().unwrap();
        assert!(
            computed >= truth * (1.0 - if digits > 1e-12 { 2e-11 } else { 0.0 }),
            "{record}: {computed}"
        );
        assert!(computed <= truth * (1.0 + digits), "{record}: {computed}");
        checked += 1;
    }
    assert_eq!(checked, 21);
}
