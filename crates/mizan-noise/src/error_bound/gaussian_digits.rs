//! `P(|X| ≤ a)` of discrete Gaussian noise to any number of bits.
//!
//! - Narrow noise: the sum of its terms, by their ratios.
//! - Wide noise: with `N = 2^m` the probability of `|X mod N| ≤ a` is
//!
//!   ```text
//!   (2a+1)/N + (2/N) Σ_{0<j<N/2} φ(2πj/N) sin((2a+1)πj/N) / sin(πj/N) + ...
//!   ```
//!
//!   where `φ(t) = e^(-σ²t²/2)` but for parts that are too small to matter:
//!   about a hundred terms, whatever the scale.
//!
//! Everything is rounded somehow, with 64 bits more than asked for, and
//! [`SLACK`] bounds what all of that can amount to.

use num_bigint::{BigInt, BigUint};

use super::circle::{cos_sin, pi, sinc};
use super::gaussian::WIDE;
use crate::exact::exponential::exp_neg;
use crate::exact::rational::{Rational, ceiling};

/// Bits beyond those asked for.
const GUARD: u64 = 64;

/// In units of the last of all bits, `2^48`. Ratios are off by three units a
/// term, terms by the sum of these: `1.5 n²` units after `n` terms. Angles are
/// off by 32 (bits + 16) units and as much a turn. There are at most 2^14 terms
/// of size one, so 2^44 bounds the error of every sum.
const SLACK: u64 = 1 << 48;

/// Evaluates, and keeps what the next evaluation can use.
#[derive(Default)]
pub(super) struct Digits {
    spectrum: Option<Spectrum>,
}

impl Digits {
    /// `2^bits · P(|X| ≤ a)`, at least and at most, for `rate = 1/2σ²`.
    pub(super) fn inside(&mut self, rate: &Rational, a: u128, bits: u64) -> (BigUint, BigUint) {
        // σ² = 1/2rate.
        let variance = &rate.denominator / (&rate.numerator * 2u8);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small integer"
        )]
        let wide = BigUint::from((WIDE * WIDE) as u64);
        if variance < wide {
            return narrow(rate, a, bits);
        }
        let fits = |spectrum: &Spectrum| spectrum.bits == bits && a <= spectrum.reach;
        let spectrum = match self.spectrum.take().filter(fits) {
            Some(spectrum) => spectrum,
            None => Spectrum::new(rate, &variance.sqrt(), a + a / 8 + 8, bits),
        };
        self.spectrum.insert(spectrum).inside(a)
    }
}

fn narrow(rate: &Rational, a: u128, bits: u64) -> (BigUint, BigUint) {
    let guarded = bits + GUARD;
    let times = |x: &BigUint, y: &BigUint| (x * y) >> guarded;
    let mut ratio = exp_neg(rate, guarded).0;
    let fall = times(&ratio, &ratio);
    let one = BigUint::from(1u8) << guarded;
    let (mut term, mut inside, mut all) = (one.clone(), one.clone(), one);
    let mut x = 1u128;
    loop {
        term = times(&term, &ratio);
        if term == BigUint::ZERO {
            break;
        }
        all += &term * 2u8;
        if x <= a {
            inside += &term * 2u8;
        }
        ratio = times(&ratio, &fall);
        x += 1;
    }
    let slack = BigUint::from(SLACK);
    let low = ((&inside - &slack) << bits) / (&all + &slack);
    let high = ceiling(&((inside + &slack) << bits), &(all - slack));
    (low, high.min(BigUint::from(1u8) << bits))
}

/// The terms of the sum over frequencies, for all `a` up to `reach`.
struct Spectrum {
    bits: u64,
    reach: u128,
    log_period: u64,
    pi: BigUint,
    /// `φ / (j sin(x)/x)` at `x = πj/N`.
    weights: Vec<BigInt>,
}

impl Spectrum {
    fn new(rate: &Rational, sigma: &BigUint, reach: u128, bits: u64) -> Self {
        let guarded = bits + GUARD;
        // P(|X| ≥ Lσ) ≤ 2 e^(-L²/2) ≤ 2^-bits.
        let far = BigUint::from(2 * (bits + 4)).sqrt() + 1u8;
        // And all of -reach ..= reach are different modulo N.
        let far = (far * (sigma + 1u8)).max(BigUint::from(reach) + 1u8);
        let log_period = (far + reach).bits();
        let pi = pi(guarded);
        // (π/N)², and σ²(2π/N)²/2 = (π/N)²/rate.
        let square = |factor: &BigUint, divisor: &BigUint| {
            (&pi * &pi * factor) / (divisor << (2 * log_period + guarded))
        };
        let exponent = square(&rate.denominator, &rate.numerator);
        let times = |x: &BigUint, y: &BigUint| (x * y) >> guarded;
        let first = exp_neg(
            &Rational::new(exponent, BigUint::from(1u8) << guarded),
            guarded,
        )
        .0;
        let fall = times(&first, &first);
        let mut ratio = times(&first, &fall);
        let mut height = first;
        let mut weights = Vec::new();
        let mut j = 1u64;
        while height != BigUint::ZERO {
            let angle = square(&BigUint::from(u128::from(j) * u128::from(j)), &1u8.into());
            let weight = (&height << guarded) / (sinc(&angle, guarded) * j);
            weights.push(BigInt::from(weight));
            height = times(&height, &ratio);
            ratio = times(&ratio, &fall);
            j += 1;
        }
        Self {
            bits,
            reach,
            log_period,
            pi,
            weights,
        }
    }

    fn inside(&self, a: u128) -> (BigUint, BigUint) {
        let guarded = self.bits + GUARD;
        let places = BigUint::from(a) * 2u8 + 1u8;
        let turn = cos_sin(&((&places * &self.pi) >> self.log_period), guarded);
        let (mut cos, mut sin) = turn.clone();
        let mut sum = BigInt::ZERO;
        for weight in &self.weights {
            sum += (weight * &sin) >> guarded;
            (cos, sin) = (
                (&cos * &turn.0 - &sin * &turn.1) >> guarded,
                (&sin * &turn.0 + &cos * &turn.1) >> guarded,
            );
        }
        let flat = BigInt::from((places << guarded) >> self.log_period);
        let inside = flat + (sum << (guarded + 1)) / BigInt::from(self.pi.clone());
        let all = BigInt::from(1) << self.bits;
        // What is folded in from beyond the period is at most a unit.
        let low = ((&inside - SLACK) >> GUARD) - 1;
        let high = ((inside + SLACK) >> GUARD) + 1;
        let within = |x: BigInt| x.clamp(BigInt::ZERO, all.clone()).magnitude().clone();
        (within(low), within(high))
    }
}
