//! Every curve against values from the definition in 60-digit arithmetic:
//! both bounds on their side, both within 1e-12.

use crate::common::{Truth, event, golden, number, order};
use mizan_accounting::RenyiCurve;
use mizan_core::Order;

const TOLERANCE: f64 = 1e-12;

#[test]
fn curves_from_the_definition() {
    let mut checked = 0;
    for list in ["values", "discrete-gaussian-vector"] {
        for record in golden("curves.json", list) {
            let curve = RenyiCurve::of(&event(&record["event"])).unwrap();
            let value = record["value"].as_str().unwrap();
            Truth(value).check(curve.at(order(&record["order"])), TOLERANCE, &record);
            checked += 1;
        }
    }
    assert!(checked > 6000, "only {checked} values");
}

/// The shared reference values are at decimals, so the events are read from
/// text, which rounds each parameter to the costly side.
#[test]
fn curves_of_the_shared_reference() {
    let mut checked = 0;
    for record in golden("reference.json", "values") {
        let field = |name: &str| record[name].as_str().unwrap_or_default();
        let text = match field("what") {
            "rdp_gaussian" => format!("gaussian({}, {})", field("sigma"), field("sensitivity")),
            "rdp_laplace" => format!("laplace({}, {})", field("scale"), field("sensitivity")),
            "rdp_randomized_response" => format!("rr({})", field("p_decimal")),
            _ => continue,
        };
        let curve = RenyiCurve::of(&text.parse().unwrap()).unwrap();
        // Near p = 1/2 and p = 1 one unit in the last place of p is more than
        // 1e-12 of the price: there the bound holds and tightness is measured
        // at the double (curves.json).
        let tolerance = match field("p") {
            "0.5+1e-9" => 1e-6,
            "0.5+1e-6" => 1e-9,
            "0.5001" => 1e-11,
            "1-1e-9" => 1e-6,
            "1-1e-6" => 1e-9,
            _ => TOLERANCE,
        };
        let upper = curve
            .at(Order::new(number(&record["alpha"])).unwrap())
            .upper
            .get();
        Truth(field("value")).check_upper(upper, tolerance, &record);
        checked += 1;
    }
    assert!(checked > 600, "only {checked} values");
}

#[test]
fn curves_of_the_shared_checks() {
    let mut checked = 0;
    for record in golden("checks.json", "checks") {
        let id = record["id"].as_str().unwrap();
        let input = |name: &str| record["inputs"][name].as_str().unwrap_or_default();
        let text = if id.starts_with("rdp_rr_") || id.starts_with("kl_rr_") {
            format!("rr({})", input("p"))
        } else if id.starts_with("rdp_laplace_group3") {
            format!("laplace({}, {})", input("lam"), input("sens"))
        } else if id.starts_with("rdp_laplace_") || id.starts_with("kl_laplace_") {
            format!("laplace({})", input("lam"))
        } else if id.starts_with("rdp_pure_") {
            format!("pure({})", input("eps"))
        } else if id.starts_with("rdp_boundedrange_") {
            format!("exponential({})", input("eta"))
        } else {
            continue;
        };
        let order = if id.starts_with("kl_") {
            "1"
        } else {
            input("alpha")
        };
        let curve = RenyiCurve::of(&text.parse().unwrap()).unwrap();
        let upper = curve
            .at(Order::new(order.parse().unwrap()).unwrap())
            .upper
            .get();
        Truth(record["value"].as_str().unwrap()).check_upper(upper, TOLERANCE, &record);
        checked += 1;
    }
    assert_eq!(checked, 11);
}
