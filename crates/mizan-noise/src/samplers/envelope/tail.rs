//! The tail beyond the last bin, drawn without a table.
//!
//! `g` is convex: beyond `T` it rises at least as fast as its first step,
//! `d = g(T+1) - g(T)`. So a geometric draw of ratio `e^-d` from `T` on is an
//! envelope, and its excess is a coin of probability `e^-(rational)`.

use num_bigint::BigUint;

use crate::exact::exponential::exp_neg;
use crate::exact::lazy::LazyUniform;
use crate::exact::rational::{Rational, ceiling};
use crate::samplers::batch;
use crate::samplers::coins::Coins;
use crate::samplers::decay::Decay;
use crate::{Entropy, NoiseError};

#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// `T`, the first value.
    start: BigUint,
    /// `g(T)`.
    exponent: Rational,
    /// `d`.
    step: Rational,
}

impl Tail {
    pub(super) fn new(decay: &Decay, start: BigUint) -> Self {
        Self {
            exponent: decay.exponent(&start),
            step: decay.between(&start, &BigUint::from(1u8)),
            start,
        }
    }

    /// The first value beyond the bins.
    pub(super) fn start(&self) -> &BigUint {
        &self.start
    }

    /// At least `e^-g(T) / (1 - e^-d)`, by bins of `2^log_width`.
    ///
    /// `1 - e^-d ≥ d / (1 + d)`.
    pub(super) fn mass(&self, log_width: u32) -> Rational {
        let height = exp_neg(&self.exponent, 192).1;
        let Rational {
            numerator,
            denominator,
        } = &self.step;
        Rational::new(
            height * (numerator + denominator),
            numerator << (192 + log_width),
        )
    }

    /// `2^bits · per_place · e^-g(T) / (1 - e^-d)`, at least and at most.
    pub(super) fn share(&self, per_place: &Rational, bits: u64) -> (BigUint, BigUint) {
        // The divisor may be as small as 2^-140, the factor 2^64 large.
        let guarded = bits + 224;
        let (low, high) = exp_neg(&self.exponent, guarded);
        let (step_low, step_high) = exp_neg(&self.step, guarded);
        let one = BigUint::from(1u8) << guarded;
        let (less, more) = (&one - step_high, &one - step_low);
        let (n, d) = (&per_place.numerator, &per_place.denominator);
        (
            ((low * n) << bits) / (more * d),
            ceiling(&((high * n) << bits), &(less * d)),
        )
    }

    /// A value beyond the bins, or none. `per_place` is `μ / (2^k W)`.
    pub(super) fn attempt(
        &self,
        decay: &Decay,
        per_place: &Rational,
        uniform: LazyUniform,
        entropy: &mut Entropy,
    ) -> Result<Option<u128>, NoiseError> {
        if !uniform.falls_below(entropy, |bits| self.share(per_place, bits))? {
            return Ok(None);
        }
        let beyond = entropy.geometric(&self.step)?;
        // g(T + j) - g(T) - j d, which is not negative.
        let excess = decay
            .between(&self.start, &beyond)
            .distance(&self.step.times_integer(beyond.clone()));
        if !entropy.bernoulli_exp(&excess)? {
            return Ok(None);
        }
        Ok(Some(batch::saturated(&(&self.start + beyond))))
    }
}
