//! Whether the time of a draw leaks its size: the correlation of both, for single draws by the
//! reference sampler and for batches of fixed work.
//!
//! `cargo run --release -p mizan-noise --example timing_leak`
//!
//! A correlation more than four standard errors from zero is a leak. Prints a table for SECURITY.md.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::time::Instant;

use mizan_noise::{DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, Noise};

const SAMPLES: usize = 300_000;
const BATCH: usize = 16;

fn main() {
    println!("correlation of time with magnitude, {SAMPLES} samples each:");
    println!("standard error {:.4}\n", 1.0 / (SAMPLES as f64).sqrt());
    println!("| noise | single draws | batches of {BATCH} |\n| --- | --- | --- |");
    for text in ["3.7", "50", "1048576"] {
        let scale: ExactScale = text.parse().unwrap();
        for (name, noise) in [
            (
                "discrete-laplace",
                Noise::Laplace(DiscreteLaplace::new(scale)),
            ),
            (
                "discrete-gaussian",
                Noise::Gaussian(DiscreteGaussian::new(scale)),
            ),
        ] {
            let single = correlation(|entropy| {
                let start = Instant::now();
                let drawn = noise.draw(entropy).unwrap();
                (
                    start.elapsed().as_nanos() as f64,
                    drawn.unsigned_abs() as f64,
                )
            });
            let mut places = [0; BATCH];
            let batch = correlation(|entropy| {
                let start = Instant::now();
                noise.fill(entropy, &mut places).unwrap();
                let time = start.elapsed().as_nanos() as f64;
                (time, places.iter().map(|x| x.unsigned_abs() as f64).sum())
            });
            println!("| {name}({text}) | {single:+.4} | {batch:+.4} |");
        }
    }
}

/// The correlation of ranks below the 99th percentile of time: an interrupt is not a leak.
fn correlation(mut sample: impl FnMut(&mut Entropy) -> (f64, f64)) -> f64 {
    let mut entropy = Entropy::system().unwrap();
    for _ in 0..1000 {
        sample(&mut entropy);
    }
    let mut samples: Vec<(f64, f64)> = (0..SAMPLES).map(|_| sample(&mut entropy)).collect();
    let mut times: Vec<f64> = samples.iter().map(|sample| sample.0).collect();
    times.sort_by(f64::total_cmp);
    let cut = times.get(SAMPLES * 99 / 100).copied().unwrap_or(f64::MAX);
    samples.retain(|sample| sample.0 <= cut);
    let n = samples.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / n;
    let (time, size) = (mean(|s| s.0), mean(|s| s.1));
    let moment = |of: &dyn Fn(f64, f64) -> f64| {
        samples
            .iter()
            .map(|s| of(s.0 - time, s.1 - size))
            .sum::<f64>()
            / n
    };
    moment(&|t, s| t * s) / (moment(&|t, _| t * t) * moment(&|_, s| s * s)).sqrt()
}
