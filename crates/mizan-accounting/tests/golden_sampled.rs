//! Curves of sampled events against direct integration in 50 digits.

use crate::common::{Truth, golden, number};
use mizan_accounting::RenyiCurve;
use mizan_core::Order;

/// The reference values are at decimals: the event rounds q up and sigma down.
#[test]
fn poisson_sampled_gaussian_noise() {
    let mut checked = 0;
    for record in golden("reference.json", "values") {
        let field = |name: &str| record[name].as_str().unwrap_or_default();
        if field("what") != "rdp_poisson_gaussian_max" {
            continue;
        }
        let text = format!("poisson({}, gaussian({}))", field("q"), field("sigma"));
        let curve = RenyiCurve::of(&text.parse().unwrap()).unwrap();
        let order = Order::new(number(&record["alpha"])).unwrap();
        let bracket = curve.at(order);
        Truth(field("value")).check_upper(bracket.upper.get(), 2e-11, &record);
        let width = bracket.upper.get() - bracket.lower.get();
        assert!(
            width <= 4e-11 * bracket.upper.get(),
            "{record}: {bracket:?}"
        );
        checked += 1;
    }
    assert!(checked > 150, "only {checked} values");
}
