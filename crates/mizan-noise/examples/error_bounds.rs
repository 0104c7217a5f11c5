//! The time of error bounds: `cargo run --release --example error_bounds`.
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "an example may panic"
)]

use mizan_noise::ExactScale;
use mizan_noise::{Confidence, DiscreteGaussian, DiscreteLaplace, Noise};
use std::time::Instant;

fn main() {
    let scale = |x: f64| ExactScale::from_f64(x).unwrap();
    let laplace = |x: f64| Noise::Laplace(DiscreteLaplace::new(scale(x)));
    let gaussian = |x: f64| Noise::Gaussian(DiscreteGaussian::new(scale(x)));
    println!("one noise          scale   at 95 %   at 99.9 %");
    for x in [5e-4, 0.3, 3.0, 50.0, 1e3, 1e6, 1e12, 1e16, 1.8e19] {
        for (name, noise) in [("laplace", laplace(x)), ("gaussian", gaussian(x))] {
            let mut times = Vec::new();
            let mut answers = Vec::new();
            for c in [0.95, 0.999] {
                let begin = Instant::now();
                for _ in 0..20 {
                    answers.push(noise.half_width(Confidence::new(c).unwrap()).unwrap());
                }
                times.push(begin.elapsed().as_secs_f64() / 20.0 * 1e6);
            }
            println!(
                "{name:10} {x:12e}  {:8.1} µs {:8.1} µs  {:?}",
                times[0],
                times[1],
                answers.last()
            );
        }
    }
    let sums: Vec<(&str, Vec<(Noise, u64)>)> = vec![
        ("31 laplace(10)", vec![(laplace(10.0), 31)]),
        ("2 laplace(10)", vec![(laplace(10.0), 2)]),
        ("10^6 laplace(1)", vec![(laplace(1.0), 1_000_000)]),
        (
            "gaussian(3) + gaussian(4)",
            vec![(gaussian(3.0), 1), (gaussian(4.0), 1)],
        ),
        (
            "laplace(1000) + gaussian(1)",
            vec![(laplace(1e3), 1), (gaussian(1.0), 1)],
        ),
        (
            "laplace(1e9) + gaussian(1)",
            vec![(laplace(1e9), 1), (gaussian(1.0), 1)],
        ),
        (
            "laplace(1e9) + laplace(1)",
            vec![(laplace(1e9), 1), (laplace(1.0), 1)],
        ),
        ("2 laplace(1e18)", vec![(laplace(1e18), 2)]),
        (
            "10 laplace(1e18) + 3 gaussian(1e18)",
            vec![(laplace(1e18), 10), (gaussian(1e18), 3)],
        ),
        ("1e6 gaussian(1e19)", vec![(gaussian(1e19), 1_000_000)]),
        ("1e6 gaussian(0.3)", vec![(gaussian(0.3), 1_000_000)]),
        ("1000 laplace(0.0005)", vec![(laplace(5e-4), 1000)]),
        (
            "1..8",
            (1..=8)
                .map(|i| {
                    (
                        if i % 2 == 0 {
                            laplace(f64::from(i))
                        } else {
                            gaussian(f64::from(i))
                        },
                        10,
                    )
                })
                .collect(),
        ),
    ];
    for (name, sum) in sums {
        for c in [0.5, 0.9, 0.95, 0.99, 0.999, 1.0 - 1e-9, 1.0 - 1e-14] {
            let confidence = Confidence::new(c).unwrap();
            let begin = Instant::now();
            let bracket = Noise::half_width_of_sum(&sum, confidence).unwrap();
            let time = begin.elapsed().as_secs_f64() * 1e3;
            let gap = (bracket.upper - bracket.lower) as f64 / bracket.upper.max(1) as f64;
            println!(
                "{name:36} {c:<8} {} {} gap {gap:.1e}  {time:.2} ms",
                bracket.lower, bracket.upper
            );
        }
    }
}
