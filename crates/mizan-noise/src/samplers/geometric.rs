//! Geometric: `k` with probability `(1 - e^-x) e^-kx`.
//!
//! # Reference
//!
//! Canonne, Kamath, Steinke, arXiv 2004.00010, Algorithm 2, its first half.

use num_bigint::BigUint;

use crate::NoiseError;
use crate::exact::rational::Rational;
use crate::samplers::coins::Coins;

/// A geometric of ratio `e^(-1/t)` has independent remainder and quotient by
/// `t`: the remainder is uniform thinned by `e^(-remainder/t)`, the quotient
/// geometric of ratio `1/e`. Dividing by `s` gives ratio `e^(-s/t)`.
pub(crate) fn draw(coins: &mut (impl Coins + ?Sized), x: &Rational) -> Result<BigUint, NoiseError> {
    let remainder = loop {
        let remainder = coins.below(&x.denominator)?;
        let thinned = Rational::new(remainder.clone(), x.denominator.clone());
        if coins.bernoulli_exp(&thinned)? {
            break remainder;
        }
    };
    let one = Rational::integer(1u8);
    let mut quotient = BigUint::ZERO;
    while coins.bernoulli_exp(&one)? {
        quotient += 1u8;
    }
    Ok((remainder + quotient * &x.denominator) / &x.numerator)
}
