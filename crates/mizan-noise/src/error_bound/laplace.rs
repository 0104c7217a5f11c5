//! The tail of discrete Laplace noise: `P(|X| > a) = 2 r^(a+1) / (1 + r)` with
//! `r = e^-u`, `u = 1/scale`.

use mizan_core::Interval;
use num_bigint::BigUint;

use super::enclosure::of_integer;
use crate::exact::exponential::exp_neg;
use crate::exact::rational::{Rational, ceiling};

/// `P(|X| > a)` for rate `u`.
pub(super) fn tail(u: Interval, a: u128) -> Interval {
    let steps = of_integer(&(BigUint::from(a) + 1u8));
    let tail = (-(steps * u)).exp() * 2.0 / (Interval::ONE + (-u).exp());
    tail.min(Interval::ONE)
}

/// About the `a` whose tail is `missed`, and about how much the tail falls per
/// integer there.
pub(super) fn guess(u: f64, missed: f64) -> (f64, f64) {
    let logarithm = std::f64::consts::LN_2 - missed.ln() - (-u).exp().ln_1p();
    (logarithm / u - 1.0, missed * u)
}

/// `2^bits · P(|X| ≤ a)`, at least and at most.
pub(super) fn inside(rate: &Rational, a: u128, bits: u64) -> (BigUint, BigUint) {
    let guarded = bits + 16;
    let one = BigUint::from(1u8) << guarded;
    let (low, high) = exp_neg(&rate.times_integer(BigUint::from(a) + 1u8), guarded);
    let (ratio_low, ratio_high) = exp_neg(rate, guarded);
    let all = BigUint::from(1u8) << bits;
    let outside_low = (low << (bits + 1)) / (&one + ratio_high);
    let outside_high = ceiling(&(high << (bits + 1)), &(&one + ratio_low));
    (&all - outside_high.min(all.clone()), &all - outside_low)
}
