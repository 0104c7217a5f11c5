//! The time of accounting: one point of a curve, a million different events at the orders of the
//! paper, and one comparison of all methods from the event to the answer.
//!
//! `scripts/bench` runs this and puts the figures beside the goals.
#![allow(missing_docs, reason = "criterion writes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use mizan_accounting::clock::{
    Price, conditional_price, epsilon as dominating_epsilon, limit, plan_price,
};
use mizan_accounting::methods::{Method, epsilon_by};
use mizan_accounting::{OrderGrid, RenyiCurve};
use mizan_core::{
    Count, Delta, Epsilon, Interval, Order, PrivacyEvent, Probability, RandomizedResponse, Scale,
    Sensitivity, Sigma,
};

fn curve_point(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("curve point");
    // A small and a large loss each: the formulas differ.
    for (name, event) in [
        ("gaussian", "gaussian(3)"),
        ("laplace", "laplace(20)"),
        ("laplace, strong", "laplace(0.5)"),
        ("rr", "rr(0.52)"),
        ("rr, strong", "rr(0.9)"),
        ("rr of ten", "rr(0.5, 10)"),
        ("discrete-gaussian", "discrete-gaussian(3)"),
        ("discrete-gaussian, narrow", "discrete-gaussian(0.8)"),
        ("discrete-laplace", "discrete-laplace(20)"),
        ("exponential", "exponential(0.5)"),
    ] {
        let event: PrivacyEvent = event.parse().unwrap();
        let curve = RenyiCurve::of(&event).unwrap();
        // Not a whole number, where discrete noise is simpler.
        let order = Order::new(8.5).unwrap();
        group.bench_function(name, |bencher| {
            bencher.iter(|| curve.at(black_box(order)));
        });
    }
    group.finish();
}

fn clock_price(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("clock price");
    for text in [
        "gaussian(40)",
        "discrete-gaussian(40)",
        "laplace(20)",
        "laplace(0.5)",
        "10 * discrete-gaussian(40) + approximate(0, 1e-9)",
        "100 * (rr(0.52) + laplace(20) + gaussian(10))",
    ] {
        let event: PrivacyEvent = text.parse().unwrap();
        group.bench_function(text, |bencher| {
            bencher.iter(|| Price::of(black_box(&event)).unwrap());
        });
    }
    let (epsilon, ln_delta) = (Epsilon::new(1.0).unwrap(), Interval::from(1e-6).ln());
    let left = limit(epsilon, ln_delta);
    for (text, losses) in [
        ("pure(0.1)", 0.3),
        ("laplace(20)", 0.3),
        ("10 * laplace(200)", 0.3),
        // Not pure: a first charge.
        ("laplace(8) + gaussian(40)", 0.0),
        ("100 * poisson(0.01, gaussian(2))", 0.0),
    ] {
        let event: PrivacyEvent = text.parse().unwrap();
        let losses = Epsilon::new(losses).unwrap();
        group.bench_function(format!("conditional, {text}"), |bencher| {
            bencher.iter(|| conditional_price(black_box(&event), epsilon, losses, left).unwrap());
        });
    }
    group.bench_function("limit", |bencher| {
        bencher.iter(|| limit(black_box(epsilon), ln_delta));
    });
    let run: PrivacyEvent = "100 * poisson(0.01, gaussian(2))".parse().unwrap();
    let eta = Delta::new(1e-10).unwrap();
    group.bench_function("training run", |bencher| {
        bencher.iter(|| plan_price(black_box(&run), eta).unwrap());
    });
    // No two ranges are alike: prices of ranges are stored.
    let mut range = 0.1;
    group.bench_function("exponential, new", |bencher| {
        bencher.iter(|| {
            range *= 1.000_1;
            let epsilon = Epsilon::new(black_box(range)).unwrap();
            Price::of(&PrivacyEvent::Exponential { epsilon }).unwrap()
        });
    });
    let delta = Delta::new(1e-6).unwrap();
    for text in ["100 * discrete-gaussian(40)", "100 * laplace(100)"] {
        let event: PrivacyEvent = text.parse().unwrap();
        group.bench_function(format!("epsilon of {text}"), |bencher| {
            bencher.iter(|| dominating_epsilon(black_box(&event), delta).unwrap());
        });
    }
    group.finish();
}

/// A million events, no two of them alike.
fn different_events() -> PrivacyEvent {
    const EACH: u32 = 333_333;
    let share = |i: u32| f64::from(i) / f64::from(EACH);
    let gaussian = |i| PrivacyEvent::Gaussian {
        sigma: Sigma::new(5.0 + 45.0 * share(i)).unwrap(),
        sensitivity: Sensitivity::ONE,
    };
    let laplace = |i| PrivacyEvent::Laplace {
        scale: Scale::new(5.0 + 45.0 * share(i)).unwrap(),
        sensitivity: Sensitivity::ONE,
    };
    let response = |i| {
        let p = Probability::new(0.51 + 0.09 * share(i)).unwrap();
        PrivacyEvent::RandomizedResponse(RandomizedResponse::new(p, Count::TWO).unwrap())
    };
    let events = (0..EACH).flat_map(|i| [gaussian(i), laplace(i), response(i)]);
    let last = PrivacyEvent::Laplace {
        scale: Scale::new(100.0).unwrap(),
        sensitivity: Sensitivity::ONE,
    };
    PrivacyEvent::Compose(events.chain([last]).collect())
}

fn a_million_events(criterion: &mut Criterion) {
    let event = different_events();
    let orders = OrderGrid::paper();
    let mut group = criterion.benchmark_group("composition");
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_secs(10));
    group.bench_function("a million events at 13 orders", |bencher| {
        bencher.iter(|| {
            let curve = RenyiCurve::of(black_box(&event)).unwrap();
            let prices = orders.orders().iter().map(|&order| curve.at(order));
            prices.map(|price| price.upper.get()).fold(0.0, f64::max)
        });
    });
    group.finish();
}

fn one_account(criterion: &mut Criterion) {
    let delta = Delta::new(1e-6).unwrap();
    let mut group = criterion.benchmark_group("account");
    group.bench_function("three mechanisms, renyi", |bencher| {
        bencher.iter(|| {
            let text = black_box("100*(rr(0.52)+laplace(20)+gaussian(10))");
            let event: PrivacyEvent = text.parse().unwrap();
            epsilon_by(Method::Renyi, &event, delta).unwrap().upper
        });
    });
    group.finish();
}

criterion_group!(
    benches,
    curve_point,
    clock_price,
    a_million_events,
    one_account
);
criterion_main!(benches);
