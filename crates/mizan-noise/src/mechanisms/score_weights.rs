//! The weights `e^(-rate · gap)` of candidates in selection mechanisms, for integer gaps to the best
//! score.

use std::hint::select_unpredictable;

use num_bigint::BigUint;

use crate::exact::exponential::exp_neg;
use crate::exact::fixed;
use crate::exact::lazy::{self, LazyUniform};
use crate::exact::rational::Rational;
use crate::{Entropy, NoiseError};

/// The weight of a gap of zero.
pub(crate) const FULL: u64 = 1 << 62;

/// What is below 2⁻⁶² by far, in units of 2⁻¹²⁷.
const NEGLIGIBLE: u128 = 1 << 40;

/// Upper bounds of `e^(-rate · gap)` in units of 2⁻⁶², and the exact
/// comparison behind them.
#[derive(Clone, Debug)]
pub(crate) struct ScoreWeights {
    rate: Rational,
    /// `e^(-rate · 2^j)` in units of 2⁻¹²⁷, rounded up, as far as it is more
    /// than a few units.
    powers: Vec<u128>,
}

impl ScoreWeights {
    pub(crate) fn new(rate: Rational) -> Self {
        let power = |j: u32| {
            let exponent = rate.times_integer(BigUint::from(1u8) << j);
            let high = exp_neg(&exponent, 127).1;
            u128::try_from(&high).unwrap_or(1 << 127).min(1 << 127)
        };
        let powers = (0..64)
            .map(power)
            .take_while(|&power| power >= NEGLIGIBLE)
            .collect();
        Self { rate, powers }
    }

    /// At least `2^62 · e^(-rate · gap)` and less than two more; at least one.
    ///
    /// A factor for each bit of the gap. Each of at most 64 products is rounded
    /// up by three units of 2⁻¹²⁷, which 2⁶² times is nothing beside one. The
    /// same work for every gap.
    pub(crate) fn weight(&self, gap: u64) -> u64 {
        let mut product = 1u128 << 127;
        let mut left = gap;
        for &power in &self.powers {
            let times = fixed::times_up(product, power);
            product = select_unpredictable(left & 1 == 1, times, product);
            left >>= 1;
        }
        // With a bit beyond, less than one in units of 2^-62.
        product = select_unpredictable(left == 0, product, 0);
        let weight = (product >> 65) as u64;
        (weight + 1).min(FULL)
    }

    /// True with probability `2^62 e^(-rate · gap) / weight`: makes up for
    /// what the weight was rounded.
    pub(crate) fn corrects(
        &self,
        gap: u64,
        weight: u64,
        entropy: &mut Entropy,
    ) -> Result<bool, NoiseError> {
        let word = entropy.word()?;
        // At least 1 - 2 / weight.
        let surely = u128::from(weight.saturating_sub(2)) << 64;
        if gap == 0 || (u128::from(word) + 1) * u128::from(weight) <= surely {
            return Ok(true);
        }
        let factor = Rational::new(FULL, weight);
        let exponent = self.rate.times_integer(gap);
        LazyUniform::new(word, 64)
            .falls_below(entropy, |bits| lazy::product(&factor, &exponent, bits))
    }

    /// True with probability `e^(-rate · gap)`.
    pub(crate) fn flip(&self, gap: u64, entropy: &mut Entropy) -> Result<bool, NoiseError> {
        let weight = self.weight(gap);
        // One of 2^62 values, of which the weight owns its share.
        let lands = entropy.word()? >> 2 < weight;
        Ok(lands && self.corrects(gap, weight, entropy)?)
    }
}
