//! Uniform integers.

use num_bigint::BigUint;

use crate::samplers::coins::Coins;
use crate::{Entropy, NoiseError};

/// An integer below `bound`: as many bits as the bound has, again if they are
/// too large. Less than two attempts on average.
pub(crate) fn below(
    coins: &mut (impl Coins + ?Sized),
    bound: &BigUint,
) -> Result<BigUint, NoiseError> {
    assert!(*bound > BigUint::ZERO);
    let bits = (bound - 1u8).bits();
    loop {
        let mut value = BigUint::ZERO;
        let mut missing = bits;
        while missing > 0 {
            let taken = missing.min(64);
            value = (value << taken) | BigUint::from(coins.word()? >> (64 - taken));
            missing -= taken;
        }
        if value < *bound {
            return Ok(value);
        }
    }
}

/// Integers below a 64-bit bound, quickly.
///
/// Multiplies a word by the bound: the upper half of the product is the result, and the lower half
/// decides whether it is rejected, so that all results are equally likely.
///
/// # Reference
///
/// Lemire, *Fast random integer generation in an interval*, 2019.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Below {
    bound: u64,
    /// The number of the 2^64 products that are rejected.
    spare: u64,
}

impl Below {
    /// Below `bound`, which is positive.
    pub(crate) fn new(bound: u64) -> Self {
        assert!(bound > 0);
        Self {
            bound,
            spare: bound.wrapping_neg() % bound,
        }
    }

    #[inline]
    pub(crate) fn draw(self, entropy: &mut Entropy) -> Result<u64, NoiseError> {
        loop {
            let product = u128::from(entropy.word()?) * u128::from(self.bound);
            #[expect(clippy::cast_possible_truncation, reason = "the halves of a product")]
            let (high, low) = ((product >> 64) as u64, product as u64);
            if low >= self.spare {
                return Ok(high);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// All words that matter, scripted: below three, two bits decide.
    #[test]
    fn every_two_bits() {
        for (bits, expected) in [(0u64, Some(0u8)), (1, Some(1)), (2, Some(2)), (3, None)] {
            let mut entropy = Entropy::scripted([bits << 62]);
            let drawn = below(&mut entropy, &BigUint::from(3u8));
            assert_eq!(drawn.ok(), expected.map(BigUint::from));
        }
    }

    #[test]
    fn one_needs_no_randomness() {
        let mut entropy = Entropy::failing();
        assert_eq!(
            below(&mut entropy, &BigUint::from(1u8)).unwrap(),
            BigUint::ZERO
        );
    }

    /// As many words lead to each answer: counted at the edges of the ranges.
    #[test]
    fn the_fast_one_is_fair() {
        for bound in [
            1u64,
            2,
            3,
            5,
            7,
            1000,
            (1 << 63) - 1,
            (1 << 63) + 1,
            u64::MAX,
        ] {
            let spare = bound.wrapping_neg() % bound;
            let fair = (u128::from(u64::MAX) + 1 - u128::from(spare)) / u128::from(bound);
            for answer in [0, bound / 3, bound - 1] {
                // Words w with ⌊w bound / 2^64⌋ = answer and a low half ≥ spare.
                let bound = u128::from(bound);
                let threshold = (u128::from(answer) << 64) + u128::from(spare);
                let first = threshold.div_ceil(bound);
                let end = ((u128::from(answer) + 1) << 64).div_ceil(bound);
                assert_eq!(end - first, fair, "{bound}: {answer}");
                for word in [first, end - 1] {
                    let mut entropy = Entropy::scripted([u64::try_from(word).unwrap()]);
                    let below = Below::new(u64::try_from(bound).unwrap());
                    assert_eq!(below.draw(&mut entropy).unwrap(), answer);
                }
            }
        }
    }
}
