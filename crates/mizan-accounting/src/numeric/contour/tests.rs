//! The contour against exact values.

use std::time::Instant;

use mizan_core::Interval;

use super::Contour;
use crate::numeric::pair::{Base, Pair, Sampling};

fn gaussian(sigma: f64, sampling: Sampling) -> Pair {
    Pair {
        base: Base::Gaussian {
            m: Interval::ONE / sigma,
        },
        sampling,
    }
}

#[test]
fn brackets_the_epsilon_of_dp_sgd() {
    let rows = [
        (2.0, 0.01, 3000, 1e-5, true, 1.119538949900296792),
        (2.0, 0.01, 2951, 1e-15, true, 2.309045375027054038),
        (2.0, 0.01, 1500, 1e-15, true, 1.6553534717241252503),
        (1.0, 0.01, 10000, 1e-8, true, 8.185122967799852578),
        (2.0, 0.01, 3000, 1e-5, false, 1.072201712994026361),
        (1.0, 0.01, 10000, 1e-8, false, 7.238131458160432207),
        (0.6, 0.001, 100000, 1e-9, true, 9.374981483949081374),
        (4.0, 0.00033, 10000, 1.1e-18, false, 0.06582283563904116484),
        (0.8, 0.005, 1000, 1e-6, true, 2.004106293170688250),
        (1.1, 0.01, 10000, 1e-5, true, 5.19258344588315784),
        (1.1, 256.0 / 60000.0, 14062, 1e-5, true, 2.38159692142439725),
        (0.8, 0.001, 100000, 1e-6, true, 2.91447833498853789),
        (0.6, 1e-4, 1000000, 1e-7, true, 2.34636442806470775),
        (1.1, 0.01, 10000, 1e-14, true, 9.517905951784659),
        (1.0, 1e-4, 1000000, 1e-12, true, 0.8611898405589615),
    ];
    for (sigma, q, count, delta, remove, exact) in rows {
        let sampling = if remove {
            Sampling::Remove { q }
        } else {
            Sampling::Add { q }
        };
        let pairs = [(gaussian(sigma, sampling), count)];
        for cut in [false] {
            let mut best = f64::INFINITY;
            let mut result = None;
            for _ in 0..5 {
                let start = Instant::now();
                result = Some((Contour::epsilon_of(&pairs, delta.into()), format!("")));
                best = best.min(start.elapsed().as_secs_f64());
            }
            let Some((Some(bracket), info)) = &result else {
                println!("none {sigma} {q} {count} {delta} {result:?}");
                continue;
            };
            println!(
                "{sigma} {q} {count} {delta} {remove}: [{:.17}, {:.17}] exact {exact:.17} width {:.1e} off {:+.1e} {:.0} us {info}",
                bracket.lower,
                bracket.upper,
                (bracket.upper - bracket.lower) / exact,
                (bracket.upper - exact) / exact,
                best * 1e6
            );
            assert!(
                bracket.lower <= exact * (1.0 + 3e-16) && exact * (1.0 - 3e-16) <= bracket.upper
            );
        }
    }
}
