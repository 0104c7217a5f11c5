//! The zCDP odometer against 60-digit arithmetic, and its properties.
#![allow(
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper may panic"
)]

mod common;
#[path = "common/random.rs"]
mod random;

use common::{Truth, golden, number};
use mizan_accounting::clock::Price;
use mizan_accounting::{GaussianProfile, RenyiCurve, ZeroConcentratedOdometer};
use mizan_core::{Delta, Order, PrivacyEvent, Rho, Sensitivity, Sigma};
use proptest::prelude::*;
use random::{config, log_uniform};

fn reading(ln_delta: f64, reference: f64, total: f64) -> f64 {
    let reference = Rho::new(reference).unwrap();
    let odometer = ZeroConcentratedOdometer::new(ln_delta, reference).unwrap();
    let reading = odometer.reading(Rho::new(total).unwrap());
    reading.unwrap().get()
}

/// The exact ε of Gaussian noise with this ρ that was fixed in advance, from below.
fn fixed_in_advance(delta: f64, total: f64) -> f64 {
    let sigma = Sigma::new((2.0 * total).sqrt().recip()).unwrap();
    let profile = GaussianProfile::new(sigma, Sensitivity::new(1.0).unwrap());
    profile.epsilon(Delta::new(delta).unwrap()).lower.get()
}

#[test]
fn golden_readings() {
    let mut checked = 0;
    for record in golden("odometer.json", "values") {
        let at = |key: &str| number(&record[key]);
        let computed = reading(at("ln_delta"), at("reference"), at("total"));
        Truth(record["reading"].as_str().unwrap()).check_upper(computed, 1e-10, &record);
        checked += 1;
    }
    assert!(checked > 130, "only {checked} values");
}

#[test]
fn nothing_spent_reads_zero_and_useless_odometers_are_refused() {
    assert_eq!(reading(-14.0, 0.03, 0.0), 0.0);
    let new =
        |ln_delta, reference| ZeroConcentratedOdometer::new(ln_delta, Rho::new(reference).unwrap());
    for (ln_delta, reference) in [
        (0.0, 1.0),
        (1.0, 1.0),
        (f64::NAN, 1.0),
        (f64::NEG_INFINITY, 1.0),
        (-14.0, 0.0),
    ] {
        assert_eq!(new(ln_delta, reference), None, "{ln_delta} {reference}");
    }
    let odometer = new(-14.0, 1.0).unwrap();
    assert_eq!(odometer.reading(Rho::new(f64::MAX).unwrap()), None);
}

/// The budget (1, 1e-6) with a fifth of its clock spent: its own δ is nine tenths, of which the clock
/// has 0.8.
#[test]
fn a_fifth_of_the_clock() {
    let reading = reading(0.72e-6_f64.ln(), 0.054_293 / 2.0, 0.2 * 0.054_293 / 2.0);
    assert!(reading <= 0.496, "{reading}");
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn grows_with_the_total_and_is_never_below_the_exact_value(
        delta in log_uniform(1e-100, 0.3),
        reference in log_uniform(1e-8, 1e3),
        share in log_uniform(1e-3, 10.0),
        growth in log_uniform(1e-9, 1.0),
    ) {
        let (ln_delta, total) = (delta.ln(), reference * share);
        let here = reading(ln_delta, reference, total);
        let later = reading(ln_delta, reference, total * (1.0 + growth));
        prop_assert!(later >= here * (1.0 - 1e-11), "{here} falls to {later}");
        // Continuous: relative changes of the total show at most as relative changes.
        prop_assert!(later <= here * (1.0 + growth) * (1.0 + 1e-11), "{here} jumps to {later}");
        prop_assert!(here >= fixed_in_advance(delta, total));
    }

    /// What the guarantee costs over the exact value, in the range for which it is made.
    #[test]
    fn is_close_to_the_exact_value(
        delta in log_uniform(1e-12, 1e-5),
        reference in log_uniform(1e-4, 20.0),
        share in 0.1..1.0_f64,
    ) {
        let here = reading(delta.ln(), reference, reference * share);
        prop_assert!(here <= 1.25 * fixed_in_advance(delta, reference * share));
    }
}

/// The ledger reads the sum of prices as twice a bound on ρ.
#[test]
fn a_price_is_twice_a_bound_on_rho() {
    for event in [
        "pure(0.01)",
        "laplace(20)",
        "rr(0.8)",
        "pure(3)",
        "discrete-gaussian(1)",
        "discrete-gaussian(30, 2)",
        "gaussian(10)",
        "exponential(0.5)",
        "5 * laplace(8) + gaussian(4)",
    ] {
        let event: PrivacyEvent = event.parse().unwrap();
        let curve = RenyiCurve::of(&event).unwrap();
        let least = Price::of(&event).unwrap().at().iter().flatten().min();
        let rho = *least.unwrap() as f64 / 2e15;
        for order in [1.001, 1.5, 2.0, 5.0, 33.0, 1025.0] {
            let loss = curve.at(Order::new(order).unwrap()).lower.get();
            assert!(loss <= order * rho * (1.0 + 1e-9), "{event} at {order}");
        }
    }
}
