//! The two computations of a tail, in doubles and in digits, agree within their error bounds.
#![allow(clippy::unwrap_used, reason = "a test helper may panic")]

use num_bigint::BigUint;

use super::enclosure::of_integer;
use super::gaussian_digits::Digits;
use super::laplace;
use super::single::Single;
use crate::ExactScale;
use crate::samplers::decay::Decay;

/// `2^bits · P(|X| ≤ a)`.
fn inside(decay: &Decay, a: u128, bits: u64) -> (BigUint, BigUint) {
    if decay.squared {
        Digits::default().inside(&decay.rate, a, bits)
    } else {
        laplace::inside(&decay.rate, a, bits)
    }
}

fn decays() -> impl Iterator<Item = (f64, Decay)> {
    [
        0.01, 0.4, 1.0, 3.7, 63.99, 64.01, 65.0, 300.0, 1e5, 1e10, 1e15, 1.7e19,
    ]
    .into_iter()
    .flat_map(|scale| {
        let exact = ExactScale::from_f64(scale).unwrap();
        [
            (scale, Decay::laplace(exact)),
            (scale, Decay::gaussian(exact)),
        ]
    })
}

fn places(scale: f64) -> impl Iterator<Item = u128> {
    [0.0, 0.3, 0.99, 1.01, 1.72, 1.74, 3.0, 8.0]
        .into_iter()
        .map(move |share| super::enclosure::rounded_up(share * scale).unwrap())
}

#[test]
fn doubles_and_digits_agree() {
    for (scale, decay) in decays() {
        let single = Single::new(&decay);
        for a in places(scale) {
            let (low, high) = inside(&decay, a, 256);
            assert!(low <= high && &high - &low <= BigUint::from(8u8));
            let all = BigUint::from(1u8) << 256u32;
            let unit = 2f64.powi(-256);
            let least = of_integer(&(&all - high)).lower() * unit;
            let most = of_integer(&(&all - low)).upper() * unit;
            let tail = single.tail(a);
            assert!(
                tail.lower() <= most && least <= tail.upper(),
                "{scale} {a}: {tail:?} {least:e}"
            );
        }
    }
}

#[test]
fn more_digits_lie_within_fewer() {
    for (scale, decay) in decays() {
        for a in places(scale) {
            let (low, high) = inside(&decay, a, 128);
            let (finer_low, finer_high) = inside(&decay, a, 512);
            assert!(
                low << 384u32 <= finer_high && finer_low <= high << 384u32,
                "{scale} {a}"
            );
            assert!(&finer_high - &finer_low <= BigUint::from(8u8));
        }
    }
}

/// On both sides of the change from sums to frequencies the digits are those
/// of neighbouring scales.
#[test]
fn both_ways_to_digits_meet() {
    let at = |numerator: u64| {
        let sigma = ExactScale::new(numerator, 1 << 32).unwrap();
        inside(&Decay::gaussian(sigma), 100, 128).0
    };
    let (below, above) = (at((64 << 32) - 1), at((64 << 32) + 1));
    // Wider noise is less inside, by a part in 2^37 here.
    assert!(above < below);
    assert!((below - above).bits() < 128 - 34);
}
