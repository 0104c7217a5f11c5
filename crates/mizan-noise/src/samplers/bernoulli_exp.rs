//! A coin that falls heads with probability `e^-x`, for a fraction `x`.
//!
//! # Reference
//!
//! Canonne, Kamath, Steinke, *The discrete Gaussian for differential privacy*,
//! arXiv 2004.00010, Algorithm 1.

use num_bigint::BigUint;

use crate::NoiseError;
use crate::exact::rational::Rational;
use crate::samplers::coins::Coins;

/// One coin for each whole unit of `x`, and one for what is left.
pub(crate) fn draw(coins: &mut (impl Coins + ?Sized), x: &Rational) -> Result<bool, NoiseError> {
    let (whole, rest) = x.split();
    let one = Rational::integer(1u8);
    let mut units = BigUint::ZERO;
    while units < whole {
        if !below_one(coins, &one)? {
            return Ok(false);
        }
        units += 1u8;
    }
    below_one(coins, &rest)
}

/// For `x ≤ 1`: coins of probability `x/1`, `x/2`, `x/3`, ... until the first
/// tails. That this is the k-th has probability `x^(k-1)/(k-1)! - x^k/k!`; the
/// odd ones sum to `1 - x + x²/2! - ...`.
fn below_one(coins: &mut (impl Coins + ?Sized), x: &Rational) -> Result<bool, NoiseError> {
    let mut index = 1u32;
    while coins.bernoulli(&x.over_integer(index))? {
        index += 1;
    }
    Ok(index % 2 == 1)
}
