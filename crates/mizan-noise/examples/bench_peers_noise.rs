//! Mizan's side of `scripts/bench-peers noise`: kind, scale and draws a second,
//! one measurement a line. One thread that does nothing else, so wall-clock
//! time is at least CPU time.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a measurement"
)]

use std::time::Instant;

use mizan_core::{Count, Probability};
use mizan_noise::{DiscreteGaussian, DiscreteLaplace, Entropy, ExactScale, RandomizedResponse};

const DRAWS: usize = 100_000;

fn main() {
    let mut entropy = Entropy::system().unwrap();
    let mut places = vec![0; DRAWS];
    for text in ["0.5", "3.7", "50", "1000", "1048576", "1e12"] {
        let scale: ExactScale = text.parse().unwrap();
        let noise = DiscreteLaplace::new(scale);
        let drawn = rate(|| noise.fill(&mut entropy, &mut places).unwrap());
        println!("laplace\t{text}\t{drawn}");
        let noise = DiscreteGaussian::new(scale);
        let drawn = rate(|| noise.fill(&mut entropy, &mut places).unwrap());
        println!("gaussian\t{text}\t{drawn}");
    }
    let half = Probability::new(0.75).unwrap();
    let event = mizan_core::RandomizedResponse::new(half, Count::TWO).unwrap();
    let response = RandomizedResponse::new(event);
    let mut answers = vec![1; DRAWS];
    let drawn = rate(|| response.respond(&mut entropy, &mut answers).unwrap());
    println!("rr\t0.75\t{drawn}");
}

/// Draws a second, the best of three times a third of a second.
fn rate(mut fill: impl FnMut()) -> f64 {
    fill();
    let measured = (0..3).map(|_| {
        let (start, mut drawn) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < 0.35 {
            fill();
            drawn += DRAWS;
        }
        drawn as f64 / start.elapsed().as_secs_f64()
    });
    measured.fold(0.0, f64::max)
}
