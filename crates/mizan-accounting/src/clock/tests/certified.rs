//! Prices that are certified: of plans that are fixed in advance, and of mechanisms of bounded range.

use mizan_core::{Delta, Epsilon, Interval, PrivacyEvent};

use super::super::range::{self, ln_delta};
use super::super::symmetric::Symmetric;
use super::super::{Price, REMAINDERS, conditional_price, femto, limit, plan_price};
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
    let sampled = "50 * (poisson(0.1, laplace(1)) + rr(0.51))";
    let mixed = check_plan(sampled, 1e-12).into_iter().flatten().next();
    let parts = super::price_of(sampled);
    assert!(mixed.unwrap() < parts.at()[0].unwrap());
}

#[test]
fn bounded_range_costs_hardly_more_than_half_the_loss() {
    for range in [0.01, 0.1, 1.0, 4.0] {
        let mut certified = 0;
        for left in REMAINDERS {
            let half = Symmetric::Response.price(0.5 * range, left).unwrap();
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

/// How many equal releases a budget has room for, by the clock alone.
fn releases(text: &str, epsilon: f64, delta: f64) -> u32 {
    let event: PrivacyEvent = text.parse().unwrap();
    let price = Price::of(&event).unwrap();
    let whole = Epsilon::new(epsilon).unwrap();
    let mut left = limit(whole, Interval::from(delta).ln());
    let mut count = 0;
    loop {
        let Some(taken) = price.taken(left) else {
            return count;
        };
        left -= taken;
        count += 1;
    }
}

/// The column of the design with three quarters of δ, which was computed with exact prices.
#[test]
fn releases_that_fit() {
    let budgets = [(0.5, 1e-6), (1.0, 1e-6), (3.0, 1e-7)];
    for (text, counts) in [
        ("gaussian(40)", [23, 87, 551]),
        ("discrete-gaussian(40)", [23, 87, 551]),
        ("laplace(20)", [5, 21, 139]),
        ("laplace(100)", [148, 543, 3446]),
        ("exponential(0.1)", [5, 20, 136]),
        ("laplace(100) + gaussian(100)", [74, 272, 1723]),
        ("10 * discrete-gaussian(40)", [2, 8, 55]),
    ] {
        for ((epsilon, delta), count) in budgets.into_iter().zip(counts) {
            let found = releases(text, epsilon, 0.75 * delta);
            println!("{text} ({epsilon}, {delta}): {found}, exact prices {count}");
            let least = f64::from(count) * 0.985 - 1.0;
            // The design prices Laplace noise as pure.
            let most = count + 1 + count / 200;
            assert!(
                f64::from(found) >= least && found <= most,
                "{text} {epsilon}: {found}"
            );
        }
    }
}

#[test]
fn the_first_charge_may_be_exactly_the_budget() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), 1e-6);
    let left = limit(epsilon, Interval::from(delta).ln());
    let opening = |text: String, losses: f64| {
        let losses = Epsilon::new(losses).unwrap();
        conditional_price(&text.parse().unwrap(), epsilon, losses, left)
    };
    let run = |count: u32| format!("{count} * poisson(0.004, gaussian(1.1))");
    // The exact number for the whole δ is 2,372.
    assert!(opening(run(2372), 0.0).is_some_and(|price| price <= left));
    assert_eq!(opening(run(2390), 0.0), None);
    let half = opening(run(1000), 0.0).unwrap();
    assert!(half < left * 9 / 10, "{half} of {left}");
    // Only before the first charge.
    assert_eq!(opening(run(1000), 0.1), None);
    // What leaves nothing of ε has no such price, nor has a mechanism without a bound on its loss.
    assert_eq!(opening("pure(0.1)".to_owned(), 1.0), None);
    assert_eq!(opening("gaussian(100)".to_owned(), 0.0), None);
    // Laplace noise beside Gaussian noise is cheaper as a first charge, if it is large.
    let mixed = "laplace(20) + gaussian(20)";
    let anywhere = Price::of(&mixed.parse().unwrap())
        .unwrap()
        .taken(left)
        .unwrap();
    let first = opening(mixed.to_owned(), 0.0).unwrap();
    assert!(first < anywhere - anywhere / 20, "{first} of {anywhere}");
    assert_eq!(
        opening("laplace(200) + gaussian(200)".to_owned(), 0.0),
        None
    );
}
