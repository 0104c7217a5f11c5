//! The decisions that the reference samplers are made of.
//!
//! Each sampler asks for coins, each coin is made of simpler ones, and the
//! simplest of 64 random bits. The tests put an enumerator in the place of any
//! level: it walks a sampler's decision tree with exact probabilities.

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
