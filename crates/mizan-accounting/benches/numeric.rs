//! The time of the numerical accountant: the events of the peer comparison, a whole profile, a
//! calibration.
//!
//! `scripts/bench` runs this and puts the figures beside the goals.
#![allow(missing_docs, reason = "criterion writes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mizan_accounting::methods::{Method, epsilon_by};
use mizan_accounting::{PrivacyProfile, calibrate};
use mizan_core::{Delta, Epsilon, EventTemplate, PrivacyEvent};

/// A row, its expression and its δ.
const ROWS: [(&str, &str, f64); 12] = [
    ("gaussian", "gaussian(1.1)", 1e-5),
    ("100 gaussian", "100 * gaussian(10)", 1e-6),
    ("1000 laplace", "1000 * laplace(2)", 1e-6),
    ("1000 rr", "1000 * rr(0.6)", 1e-6),
    ("dp-sgd 1e4", "10000 * poisson(0.01, gaussian(1.1))", 1e-5),
    (
        "dp-sgd mnist",
        "14062 * poisson(0.00426666666666666667, gaussian(1.1))",
        1e-5,
    ),
    ("dp-sgd 1e5", "100000 * poisson(0.001, gaussian(0.8))", 1e-6),
    (
        "dp-sgd 1e6",
        "1000000 * poisson(0.0001, gaussian(0.6))",
        1e-7,
    ),
    ("dp-sgd 1e-15", "2951 * poisson(0.01, gaussian(2))", 1e-15),
    (
        "dp-sgd 1e9",
        "1000000000 * poisson(0.00001, gaussian(1.1))",
        1e-5,
    ),
    (
        "mixture",
        "100 * poisson(0.005, gaussian(0.8)) + 200 * gaussian(8) + 100 * laplace(10)",
        1e-6,
    ),
    (
        "without replacement",
        "1000 * without-replacement(1000, 10, gaussian(1.1))",
        1e-5,
    ),
];

fn rows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("numeric");
    group.sample_size(30);
    for (name, text, delta) in ROWS {
        let (event, delta): (PrivacyEvent, _) = (text.parse().unwrap(), Delta::new(delta).unwrap());
        group.bench_function(name, |bencher| {
            bencher.iter(|| epsilon_by(Method::Numeric, black_box(&event), delta).unwrap());
        });
    }
    let spread = |from: f64, to: f64, i: u32| from + (to - from) * f64::from(i) / 499.0;
    let kinds = [
        ("gaussian", 5.0, 50.0),
        ("laplace", 5.0, 50.0),
        ("rr", 0.51, 0.6),
    ];
    let parts = kinds.iter().flat_map(|&(name, from, to)| {
        (0..500).map(move |i| format!("{name}({})", spread(from, to, i)))
    });
    let text = parts.collect::<Vec<_>>().join(" + ");
    let (event, delta): (PrivacyEvent, _) = (text.parse().unwrap(), Delta::new(1e-6).unwrap());
    group.bench_function("1500 different", |bencher| {
        bencher.iter(|| epsilon_by(Method::Numeric, black_box(&event), delta).unwrap());
    });
    group.finish();
}

fn whole_profile(criterion: &mut Criterion) {
    let event: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse().unwrap();
    let profile = PrivacyProfile::of(&event).unwrap();
    let epsilons: Vec<Epsilon> = (0..1000)
        .map(|i| Epsilon::new(f64::from(i) * 0.01).unwrap())
        .collect();
    criterion.bench_function("profile of 1000 points", |bencher| {
        bencher.iter(|| profile.deltas(black_box(&epsilons)).unwrap());
    });
}

fn calibration(criterion: &mut Criterion) {
    let template = EventTemplate::parse("10000 * poisson(0.01, gaussian(?))").unwrap();
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-5).unwrap());
    criterion.bench_function("calibrate dp-sgd", |bencher| {
        bencher.iter(|| calibrate::solve(black_box(&template), epsilon, delta).unwrap());
    });
}

criterion_group!(benches, rows, whole_profile, calibration);
criterion_main!(benches);
