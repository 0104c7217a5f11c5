//! The random decisions of the reference samplers.
//!
//! Each sampler is built from coins, each coin from simpler ones, and the simplest from 64 random
//! bits. Tests replace any level by an enumerator, which walks the decision tree of a sampler with
//! exact probabilities.

use num_bigint::BigUint;

use crate::exact::rational::Rational;
use crate::samplers::{bernoulli_exp, geometric, uniform};
use crate::{Entropy, NoiseError};

pub(crate) trait Coins {
    /// 64 random bits.
    fn word(&mut self) -> Result<u64, NoiseError>;

    /// Heads or tails.
    fn bit(&mut self) -> Result<bool, NoiseError> {
        Ok(self.word()? & 1 == 1)
    }

    /// An integer below `bound`, all as likely; `bound` is positive.
    fn below(&mut self, bound: &BigUint) -> Result<BigUint, NoiseError> {
        uniform::below(self, bound)
    }

    /// True with probability `p`, a fraction of at most one.
    fn bernoulli(&mut self, p: &Rational) -> Result<bool, NoiseError> {
        Ok(self.below(&p.denominator)? < p.numerator)
    }

    /// True with probability `e^-x`.
    fn bernoulli_exp(&mut self, x: &Rational) -> Result<bool, NoiseError> {
        bernoulli_exp::draw(self, x)
    }

    /// `k` with probability `(1 - e^-x) e^-kx`; `x` is positive.
    fn geometric(&mut self, x: &Rational) -> Result<BigUint, NoiseError> {
        geometric::draw(self, x)
    }
}

impl Coins for Entropy {
    #[inline]
    fn word(&mut self) -> Result<u64, NoiseError> {
        Entropy::word(self)
    }
}
