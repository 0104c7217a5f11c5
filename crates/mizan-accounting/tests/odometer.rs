//! The odometer against 60-digit arithmetic, and its properties.

use crate::common::random::{config, log_uniform};
use crate::common::{Truth, golden, number};
use mizan_accounting::{GaussianProfile, RenyiCurve, RenyiOdometer};
use mizan_core::{Delta, Epsilon, Order, PrivacyEvent, Sensitivity, Sigma};
use proptest::prelude::*;

/// The usual orders of an account.
fn orders() -> impl Iterator<Item = Order> {
    [
        1.5,
        1.7,
        2.0,
        2.4,
        3.0,
        3.8,
        5.0,
        6.6,
        9.0,
        12.3,
        17.0,
        24.0,
        33.0,
        46.0,
        65.0,
        92.0,
        129.0,
        182.0,
        257.0,
        363.0,
        513.0,
        725.0,
        1025.0,
        1449.0,
        2049.0,
        2897.0,
        4097.0,
        f64::INFINITY,
    ]
    .into_iter()
    .map(|order| Order::new(order).unwrap())
}

fn odometer(ln_delta: f64, epsilon: f64) -> Option<RenyiOdometer> {
    RenyiOdometer::new(ln_delta, Epsilon::new(epsilon).unwrap(), orders())
}

/// After Gaussian noise of this variance.
fn reading(ln_delta: f64, epsilon: f64, variance: f64) -> f64 {
    let total = |order: Order| {
        let total = order.get() * variance / 2.0;
        Epsilon::new(total).unwrap_or(Epsilon::INFINITE)
    };
    let reading = odometer(ln_delta, epsilon).unwrap();
    reading.reading(orders().map(total)).unwrap().get()
}

/// After an event.
fn after(odometer: &RenyiOdometer, event: &str) -> f64 {
    let event: PrivacyEvent = event.parse().unwrap();
    let curve = RenyiCurve::of(&event).unwrap();
    let reading = odometer.reading(orders().map(|order| curve.at(order).upper));
    reading.unwrap().get()
}

/// The exact ε of Gaussian noise of this variance that was fixed in advance, from below.
fn fixed_in_advance(delta: f64, variance: f64) -> f64 {
    let sigma = Sigma::new(variance.sqrt().recip()).unwrap();
    let profile = GaussianProfile::new(sigma, Sensitivity::new(1.0).unwrap());
    profile.epsilon(Delta::new(delta).unwrap()).lower.get()
}

#[test]
fn golden_readings() {
    let mut checked = 0;
    for record in golden("odometer.json", "values") {
        let at = |key: &str| number(&record[key]);
        let computed = reading(at("ln_delta"), at("epsilon"), at("variance"));
        Truth(record["reading"].as_str().unwrap()).check_upper(computed, 1e-10, &record);
        checked += 1;
    }
    assert!(checked > 100, "only {checked} values");
}

#[test]
fn useless_odometers_are_refused() {
    for (ln_delta, epsilon) in [
        (0.0, 1.0),
        (1.0, 1.0),
        (f64::NAN, 1.0),
        (f64::NEG_INFINITY, 1.0),
        (-14.0, 0.0),
    ] {
        assert_eq!(odometer(ln_delta, epsilon), None, "{ln_delta} {epsilon}");
    }
}

#[test]
fn the_largest_loss_is_a_reading_and_no_bound_is_none() {
    let odometer = odometer(-14.0, 1.0).unwrap();
    let with = |infinite: Epsilon, others: Epsilon| {
        let total = |order: Order| if order.is_finite() { others } else { infinite };
        odometer.reading(orders().map(total))
    };
    let quarter = Epsilon::new(0.25).unwrap();
    assert_eq!(with(Epsilon::ZERO, Epsilon::ZERO), Some(Epsilon::ZERO));
    assert_eq!(with(quarter, Epsilon::INFINITE), Some(quarter));
    assert_eq!(with(quarter, quarter), Some(quarter));
    assert_eq!(with(Epsilon::INFINITE, Epsilon::INFINITE), None);
    let large = Epsilon::new(f64::MAX).unwrap();
    assert_eq!(with(Epsilon::INFINITE, large), None);
    // One order with a bound is enough.
    let one = |order: Order| {
        let bounded = order.get() == 33.0;
        if bounded { quarter } else { Epsilon::INFINITE }
    };
    let reading = odometer.reading(orders().map(one)).unwrap().get();
    assert!((0.55..0.9).contains(&reading), "{reading}");
    // Orders of which none is usable, and none at all.
    let infinite = || std::iter::once(Order::INFINITE);
    let odometer = RenyiOdometer::new(-14.0, quarter, infinite()).unwrap();
    assert_eq!(odometer.reading([quarter]), Some(quarter));
    let odometer = RenyiOdometer::new(-14.0, quarter, []).unwrap();
    assert_eq!(odometer.reading([]), None);
}

/// The budget (1, 1e-6) of which a tenth is reserved. Its clock has the variance 0.054293.
#[test]
fn a_fifth_of_the_clock() {
    let ln_delta = 0.9e-6_f64.ln();
    let gaussian = reading(ln_delta, 1.0, 0.2 * 0.054_293);
    assert!(gaussian <= 0.490, "{gaussian}");
    // What has no price on the clock has a reading all the same, as tight.
    let odometer = odometer(ln_delta, 1.0).unwrap();
    let concentrated = after(&odometer, "zcdp(0.0054293)");
    assert!((concentrated - gaussian).abs() <= 1e-9, "{concentrated}");
    let training = after(&odometer, "800 * poisson(0.01, gaussian(2))");
    assert!(training <= 0.85, "{training}");
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn grows_with_the_total_and_is_never_below_the_exact_value(
        delta in log_uniform(1e-100, 0.3),
        epsilon in log_uniform(1e-3, 100.0),
        variance in log_uniform(1e-8, 1e3),
        growth in log_uniform(1e-9, 1.0),
    ) {
        let here = reading(delta.ln(), epsilon, variance);
        let later = reading(delta.ln(), epsilon, variance * (1.0 + growth));
        prop_assert!(later >= here * (1.0 - 1e-11), "{here} falls to {later}");
        // Continuous: relative changes of the total show at most as relative changes.
        prop_assert!(later <= here * (1.0 + growth) * (1.0 + 1e-11), "{here} jumps to {later}");
        prop_assert!(here >= fixed_in_advance(delta, variance));
    }

    /// What the guarantee costs over the exact value, in the range for which it is made.
    #[test]
    fn is_close_to_the_exact_value(
        delta in log_uniform(1e-12, 1e-5),
        epsilon in log_uniform(0.1, 20.0),
        share in 0.05..1.0_f64,
    ) {
        let variance = share * epsilon * epsilon / (2.0 * (epsilon - delta.ln()));
        let here = reading(delta.ln(), epsilon, variance);
        prop_assert!(here <= 1.3 * fixed_in_advance(delta, variance));
    }
}
