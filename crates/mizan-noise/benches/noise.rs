//! Draws per second: both samplers, and the other mechanisms.
//!
//! `scripts/bench` runs this and puts the figures beside the goals.
#![allow(missing_docs, reason = "criterion writes undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may stop")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mizan_core::{Count, Epsilon, Probability};
use mizan_noise::{
    DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, ExponentialMechanism, PermuteAndFlip,
    RandomizedResponse,
};

const DRAWS: usize = 100_000;

const SCALES: [&str; 7] = ["0.5", "3.7", "50", "1000", "1048576", "1e12", "1e15"];

fn fills(criterion: &mut Criterion) {
    let mut entropy = Entropy::system().unwrap();
    let mut places = vec![0; DRAWS];
    let mut group = criterion.benchmark_group("fill");
    group.throughput(Throughput::Elements(DRAWS as u64));
    for text in SCALES {
        let scale: ExactScale = text.parse().unwrap();
        let laplace = DiscreteLaplace::new(scale);
        group.bench_function(format!("laplace {text}"), |bencher| {
            bencher.iter(|| laplace.fill(&mut entropy, &mut places).unwrap());
        });
        let gaussian = DiscreteGaussian::new(scale);
        group.bench_function(format!("gaussian {text}"), |bencher| {
            bencher.iter(|| gaussian.fill(&mut entropy, &mut places).unwrap());
        });
    }
}

fn responses(criterion: &mut Criterion) {
    let mut entropy = Entropy::system().unwrap();
    let mut group = criterion.benchmark_group("respond");
    group.throughput(Throughput::Elements(DRAWS as u64));
    for categories in [2, 10] {
        let event = mizan_core::RandomizedResponse::new(
            Probability::new(0.75).unwrap(),
            Count::new(categories).unwrap(),
        );
        let response = RandomizedResponse::new(event.unwrap());
        let mut answers = vec![1; DRAWS];
        group.bench_function(format!("{categories} categories"), |bencher| {
            bencher.iter(|| response.respond(&mut entropy, &mut answers).unwrap());
        });
    }
}

/// One draw with a fresh key, the making of a table, a selection.
fn singles(criterion: &mut Criterion) {
    let mut entropy = Entropy::system().unwrap();
    let mut group = criterion.benchmark_group("single");
    for text in ["3.7", "1048576"] {
        let scale: ExactScale = text.parse().unwrap();
        let (laplace, gaussian) = (DiscreteLaplace::new(scale), DiscreteGaussian::new(scale));
        group.bench_function(format!("laplace {text}"), |bencher| {
            bencher.iter(|| laplace.draw(&mut entropy).unwrap());
        });
        group.bench_function(format!("gaussian {text}"), |bencher| {
            bencher.iter(|| gaussian.draw(&mut entropy).unwrap());
        });
        group.bench_function(format!("table of gaussian {text}"), |bencher| {
            bencher.iter(|| {
                let fresh = DiscreteGaussian::new(scale);
                fresh.fill(&mut entropy, &mut [0; 1]).unwrap();
            });
        });
    }
    let scores: Vec<i64> = (0..1000).map(|at| (at * 7919) % 1009).collect();
    let epsilon = Epsilon::new(0.1).unwrap();
    let exponential = ExponentialMechanism::new(epsilon, 1).unwrap();
    group.bench_function("exponential, 1000 scores", |bencher| {
        bencher.iter(|| exponential.select(&mut entropy, &scores).unwrap());
    });
    let permute = PermuteAndFlip::new(epsilon, 1).unwrap();
    group.bench_function("permute and flip, 1000 scores", |bencher| {
        bencher.iter(|| permute.select(&mut entropy, &scores).unwrap());
    });
}

criterion_group! {
    name = noise;
    config = Criterion::default().sample_size(20);
    targets = fills, responses, singles
}
criterion_main!(noise);
