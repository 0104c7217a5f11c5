//! The distribution of the fast sampler, from its own decisions.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use num_bigint::BigUint;

use super::*;
use crate::ExactScale;
use crate::exact::exponential::exp_neg;
use crate::mechanisms::selection::tests::threshold;

fn exact(numerator: u64, denominator: u64) -> ExactScale {
    ExactScale::new(numerator, denominator).unwrap()
}

fn decays() -> Vec<Decay> {
    let mut decays = Vec::new();
    for scale in [
        exact(1, 1000),
        exact(1, 3),
        exact(1, 1),
        exact(37, 10),
        exact(63, 1),
        exact(1000, 1),
        exact(1 << 20, 1),
        exact(u64::MAX, 7),
        exact(u64::MAX, 1),
    ] {
        decays.push(Decay::laplace(scale));
        decays.push(Decay::gaussian(scale));
    }
    decays
}

/// Each weight is at least what it stands for, and less than two more; and the
/// alias table owns as many values as the weights say.
#[test]
fn weights_stand_above_the_distribution() {
    for decay in decays() {
        let envelope = Envelope::new(decay.clone());
        let owned = envelope.alias.owned();
        assert_eq!(&owned[..envelope.weights.len()], &envelope.weights[..]);
        assert!(
            owned[envelope.weights.len()..]
                .iter()
                .all(|&none| none == 0)
        );
        let nothing = *envelope.weights.last().unwrap();
        assert!(
            nothing < TOTAL >> 12,
            "attempts are lost: {nothing} {decay:?}"
        );
        for bin in 0..envelope.bins() {
            let start = BigUint::from(1u8) + (BigUint::from(bin) << envelope.log_width);
            let (low, high) = exp_neg(&decay.exponent(&start), 128);
            let weight =
                BigUint::from(envelope.weights[usize::try_from(bin).unwrap() + 1]) << 128u32;
            let two = BigUint::from(2u8) << 128u32;
            assert!(weight >= low * envelope.height, "bin {bin} {decay:?}");
            assert!(
                weight <= high * envelope.height + two,
                "bin {bin} {decay:?}"
            );
        }
    }
}

/// The 63 bits of some word that chooses an outcome.
fn bits_of(envelope: &Envelope, outcome: u64) -> u64 {
    let columns = 1u64 << envelope.alias.owned().len().ilog2();
    let size = TOTAL / columns;
    (0..columns)
        .flat_map(|column| [column * size, (column + 1) * size - 1])
        .find(|&bits| envelope.alias.outcome(bits) == outcome)
        .unwrap()
}

/// The probability that a place of an outcome is kept, times 2^128: where the
/// sampler's own decision turns.
fn kept(envelope: &Envelope, outcome: u64, place: u64) -> BigUint {
    let bits = bits_of(envelope, outcome);
    let width = envelope.log_width;
    assert!(width <= SHARED_BITS);
    // A place and 128 bits of U: the second word holds the place, and the rest
    // of it begins U.
    let coin = |entropy: &mut Entropy| {
        let (first, second) = (entropy.word()?, entropy.word()?);
        let uniform = u128::from(first) << 64 | u128::from(second);
        let top = u64::try_from(uniform >> 64).unwrap() >> width << width;
        let rest = uniform << (64 - width);
        let word = top | place;
        let words = [
            u64::try_from(rest >> 64).unwrap(),
            u64::try_from(rest & u128::from(u64::MAX)).unwrap(),
        ];
        let mut scripted = Entropy::scripted(words.into_iter().chain([0; 4]));
        Ok(matches!(
            envelope.attempt::<false>(bits, word, &mut scripted)?,
            Attempt::Drawn(_)
        ))
    };
    threshold(coin)
}

/// The whole table of probabilities is the definition to 2^-100: weight times
/// the probability of being kept, by place, against `e^-g`.
#[test]
fn the_decision_tree_is_the_definition() {
    for decay in [
        Decay::laplace(exact(1, 3)),
        Decay::laplace(exact(37, 10)),
        Decay::laplace(exact(200, 1)),
        Decay::gaussian(exact(1, 3)),
        Decay::gaussian(exact(37, 10)),
        Decay::gaussian(exact(1000, 1)),
    ] {
        let envelope = Envelope::new(decay.clone());
        let width = 1u64 << envelope.log_width;
        let bins = envelope.bins();
        let height = Rational::new(envelope.height, 1u8);
        for bin in (0..bins).step_by(usize::try_from(bins / 150 + 1).unwrap()) {
            let weight = envelope.weights[usize::try_from(bin).unwrap() + 1];
            for place in [0, width / 3, width - 1] {
                let found = BigUint::from(weight) * kept(&envelope, bin + 1, place);
                let magnitude = BigUint::from(1 + bin * width + place);
                let (low, high) = lazy::product(&height, &decay.exponent(&magnitude), 128);
                // 2^-100 of all, which is 2^63 weights.
                let slack = BigUint::from(1u8) << (128u32 + 63 - 100);
                assert!(
                    found <= high + &slack && found + slack >= low,
                    "{bin} {place} {decay:?}"
                );
            }
        }
        // Zero has half the height of a place, and is always kept.
        let zero = BigUint::from(envelope.weights[0]) * kept(&envelope, 0, 0);
        assert_eq!(
            zero,
            BigUint::from(envelope.height) << (128 - 1 - envelope.log_width)
        );
    }
}

/// Wide bins: place and U have words of their own.
#[test]
fn the_decision_of_wide_bins_is_the_definition() {
    for decay in [
        Decay::laplace(exact(u64::MAX, 1)),
        Decay::gaussian(exact(u64::MAX, 1)),
        Decay::gaussian(exact(u64::MAX, 1 << 20)),
    ] {
        let envelope = Envelope::new(decay.clone());
        let width = 1u64 << envelope.log_width;
        let height = Rational::new(envelope.height, 1u8);
        for bin in [0, 1, 7, 100, envelope.bins() / 2, envelope.bins() - 1] {
            for place in [0, 1, width / 3, width - 1] {
                let bits = bits_of(&envelope, bin + 1);
                let coin = |entropy: &mut Entropy| {
                    let words = [entropy.word()?, entropy.word()?, 0, 0];
                    let mut scripted = Entropy::scripted(words);
                    let attempt = envelope.attempt::<true>(bits, place, &mut scripted)?;
                    Ok(matches!(attempt, Attempt::Drawn(_)))
                };
                let weight = envelope.weights[usize::try_from(bin).unwrap() + 1];
                let found = BigUint::from(weight) * threshold(coin);
                let magnitude =
                    BigUint::from(1u8) + (BigUint::from(bin) << envelope.log_width) + place;
                let (low, high) = lazy::product(&height, &decay.exponent(&magnitude), 128);
                let slack = BigUint::from(1u8) << (128u32 + 63 - 100);
                assert!(
                    found <= high + &slack && found + slack >= low,
                    "{bin} {place} {decay:?}"
                );
            }
        }
    }
}

/// Zero among wide bins: kept always, or as its rounded weight asks for.
#[test]
fn the_zero_of_wide_bins_is_the_definition() {
    for (scale, exact_zero) in [
        (exact(1 << 40, 1), true),
        (exact(1 << 45, 1), true),
        (exact(u64::MAX, 1), false),
    ] {
        for decay in [Decay::laplace(scale), Decay::gaussian(scale)] {
            let envelope = Envelope::new(decay);
            let bits = bits_of(&envelope, 0);
            let kept = threshold(|entropy| {
                let words = [entropy.word()?, entropy.word()?, 0, 0, 0];
                let mut scripted = Entropy::scripted(words);
                // Whatever the place says, zero has none.
                let attempt = envelope.attempt::<true>(bits, u64::MAX, &mut scripted)?;
                assert!(matches!(attempt, Attempt::Drawn(0) | Attempt::Rejected));
                Ok(matches!(attempt, Attempt::Drawn(_)))
            });
            let found = (BigUint::from(envelope.weights[0]) * kept) << (envelope.log_width + 1);
            let expected = BigUint::from(envelope.height) << 128u32;
            let off = if found > expected {
                &found - &expected
            } else {
                &expected - &found
            };
            // One unit of the bisection.
            let unit = BigUint::from(envelope.weights[0]) << (envelope.log_width + 1);
            assert!(off <= unit, "{found} for {expected}");
            assert_eq!(envelope.first_heavy == 0, exact_zero);
        }
    }
}

/// Beyond the bins: the mass of the tail, and what is drawn there.
#[test]
fn the_tail_is_the_definition() {
    for decay in [
        Decay::laplace(exact(1, 10)),
        Decay::laplace(exact(5, 2)),
        Decay::gaussian(exact(5, 2)),
        Decay::gaussian(exact(1 << 30, 1)),
    ] {
        // Cut early, so that the tail has weight.
        let log_width = u32::try_from(decay.log2_scale() - 5).unwrap_or(0);
        let envelope = Envelope::with(decay.clone(), log_width, 1 << 125);
        let outcome = envelope.bins() + 1;
        let weight = *envelope
            .weights
            .get(usize::try_from(outcome).unwrap())
            .unwrap();
        let per_place = Rational::new(envelope.height, BigUint::from(weight) << log_width);
        // The probability that the geometric is tried, by its own coin.
        let found = threshold(|entropy| {
            let uniform = LazyUniform::new(entropy.word()?, 64);
            uniform.falls_below(entropy, |bits| envelope.tail.share(&per_place, bits))
        });
        let start = envelope.tail.start();
        let (height, _) = lazy::product(&per_place, &decay.exponent(start), 400);
        let step = exp_neg(&decay.between(start, &BigUint::from(1u8)), 400).0;
        let one = BigUint::from(1u8) << 400u32;
        let expected = (height << 128u32) / (one - step);
        let off = if found > expected {
            &found - &expected
        } else {
            &expected - &found
        };
        assert!(
            off <= BigUint::from(4u8),
            "{found} for {expected} {decay:?}"
        );
        assert!(found <= BigUint::from(1u8) << 128u32);
    }
}

/// With the cut at a half, tails are as common as bins, and the frequencies of
/// all values agree with the definition.
///
/// False alarm: each of 61 frequencies and one sum of 50,000 draws strays by
/// 7.5 standard deviations with probability below 1e-13. Power: a tail of 4 %
/// too much or too little mass moves the sum by 9 standard deviations.
#[test]
fn an_early_cut_changes_nothing() {
    for decay in [Decay::laplace(exact(7, 2)), Decay::gaussian(exact(7, 2))] {
        let envelope = Envelope::with(decay.clone(), 0, 1 << 126);
        assert!(envelope.bins() < 6);
        let mut entropy = Entropy::seeded(11);
        let draws = 50_000;
        let mut counts = std::collections::HashMap::new();
        for _ in 0..draws {
            *counts
                .entry(envelope.draw(&mut entropy).unwrap())
                .or_insert(0u32) += 1;
        }
        let rate = if decay.squared { 2.0 / 49.0 } else { 2.0 / 7.0 };
        let height = |x: i128| {
            let x = x as f64;
            (-rate * if decay.squared { x * x } else { x.abs() }).exp()
        };
        let total: f64 = (-400..=400).map(height).sum();
        let agree = |p: f64, found: u32| {
            let expected = p * f64::from(draws);
            let allowed = 7.5 * (expected * (1.0 - p)).sqrt() + 15.0;
            (f64::from(found) - expected).abs() <= allowed
        };
        for x in -30..=30 {
            let found = counts.get(&x).copied().unwrap_or(0);
            assert!(agree(height(x) / total, found), "{x}: {found}");
        }
        let cut = i128::from(envelope.bins());
        let beyond = (-400..=400).filter(|x: &i128| x.abs() > cut);
        let p = beyond.map(height).sum::<f64>() / total;
        let found = counts.iter().filter(|(x, _)| x.abs() > cut);
        assert!(p > 0.1 && agree(p, found.map(|(_, count)| count).sum()));
    }
}
