//! Prices that are certified: of plans that are fixed in advance, and of mechanisms of bounded range.

use mizan_core::{Delta, Epsilon, Interval, PrivacyEvent};

use super::super::band::ln_delta;
use super::super::{REMAINDERS, femto, limit, opening_price, plan_price, pure, range};
use crate::PrivacyProfile;

/// The price of a plan is enough at places that the certificate did not look at.
fn check_plan(text: &str, eta: f64) -> [Option<u64>; 24] {
    let event: PrivacyEvent = text.parse().unwrap();
    let priced = plan_price(&event, Delta::new(eta).unwrap()).unwrap();
    assert_eq!(priced.eta.get(), eta);
    let profile = PrivacyProfile::of(&event).unwrap();
    for (&left, price) in REMAINDERS.iter().zip(priced.price.at()) {
        let Some(price) = price else { continue };
        let (w, v) = (femto::variance(left), femto::variance(left + price));
        let with_noise = profile.with_gaussian(w);
        for place in [0.0, 0.37, 1.1, 2.3, 3.9, 5.7] {
            let e = place * v.sqrt().middle();
            let Some(delta) = with_noise.delta(Epsilon::new(e).unwrap()) else {
                continue;
            };
            let bound = ln_delta(e, v).exp().upper() + eta;
            assert!(
                delta.lower.get() <= bound,
                "{text} {left} {e}: {delta:?} {bound:e}"
            );
        }
    }
    *priced.price.at()
}

#[test]
fn a_gaussian_plan_costs_what_gaussian_noise_costs() {
    let at = check_plan("4 * gaussian(20)", 1e-12);
    let near = at.iter().flatten().next().unwrap();
    let truth = 10_000_000_000_000.0;
    let price = *near as f64;
    assert!(price >= 0.999 * truth && price <= 1.01 * truth, "{price}");
}

#[test]
fn a_training_run_costs_less_than_its_steps() {
    let run = "100 * poisson(0.01, gaussian(2))";
    let price = check_plan(run, 1e-10)
        .iter()
        .flatten()
        .copied()
        .next()
        .unwrap() as f64
        * 1e-15;
    // About n q² (e^(1/σ²) - 1), the variance of the loss.
    let variance = 100.0 * 1e-4 * 0.25f64.exp_m1();
    assert!(
        price > variance && price < 1.3 * variance,
        "{price} {variance}"
    );
    let heavy = check_plan("10 * poisson(0.01, gaussian(1))", 1e-9);
    assert!(heavy.iter().any(Option::is_some));
    let mixed = check_plan("20 * (laplace(20) + rr(0.51))", 1e-12);
    let pure = super::price_of("20 * (laplace(20) + rr(0.51))");
    assert!(mixed[0].unwrap() < pure.at()[0].unwrap());
}

#[test]
fn the_first_charge_may_be_exactly_the_budget() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), 1e-6);
    let left = limit(epsilon, Interval::from(delta).ln());
    let opening = |count: u32| {
        let text = format!("{count} * poisson(0.004, gaussian(1.1))");
        opening_price(&text.parse().unwrap(), epsilon, left).unwrap()
    };
    // The exact number for the whole δ is 2,372.
    assert!(opening(2372).is_some_and(|price| price <= left));
    assert_eq!(opening(2390), None);
    let half = opening(1000).unwrap();
    assert!(half < left * 9 / 10, "{half} of {left}");
    // Gaussian noise takes its variance.
    let noise = opening_price(&"gaussian(10)".parse().unwrap(), epsilon, left).unwrap();
    let excess = noise.unwrap() - 10_000_000_000_000;
    assert!(excess <= left / 8_000, "{excess}");
}

#[test]
fn bounded_range_costs_hardly_more_than_half_the_loss() {
    for range in [0.01, 0.1, 1.0, 4.0] {
        let mut certified = 0;
        for left in REMAINDERS {
            let half = pure::price(0.5 * range, left).unwrap();
            let Some(price) = range::price(range, left) else {
                continue;
            };
            assert!(price >= half);
            if left > 0 {
                certified += 1;
                assert!(price as f64 <= 1.06 * half as f64, "{range} {left}");
                check_range(range, left, price);
            }
        }
        assert!(certified >= 4, "{range}: {certified}");
    }
}

/// No pair of losses t and t - η is above the bound.
fn check_range(range: f64, left: u64, price: u64) {
    let (w, v) = (femto::variance(left), femto::variance(left + price));
    for i in 1..16 {
        let t = range * f64::from(i) / 16.0;
        let p = (t - range).exp_m1() / (-range).exp_m1();
        for place in [0.0, 0.31, 0.9, 1.7, 3.1, 5.3] {
            let e = place * v.sqrt().middle();
            let delta = p * ln_delta(e - t, w).exp().middle()
                + (1.0 - p) * ln_delta(e - t + range, w).exp().middle();
            let bound = ln_delta(e, v).exp().middle();
            assert!(
                delta <= bound * (1.0 + 1e-12),
                "{range} {left} {t} {e}: {delta:e} {bound:e}"
            );
        }
    }
}
