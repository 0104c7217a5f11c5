//! Functions that the selection mechanisms share.

use mizan_core::Epsilon;

use crate::NoiseError;
use crate::exact::rational::Rational;

/// `ε / (divisor · Δ)`, exactly.
pub(crate) fn rate(
    epsilon: Epsilon,
    sensitivity: u64,
    divisor: u8,
) -> Result<Rational, NoiseError> {
    let epsilon = epsilon.get();
    if !(epsilon.is_finite() && epsilon > 0.0) {
        return Err(NoiseError::Epsilon { epsilon });
    }
    if sensitivity == 0 {
        return Err(NoiseError::Sensitivity { sensitivity: 0.0 });
    }
    Ok(Rational::from_f64(epsilon)
        .over_integer(sensitivity)
        .over_integer(divisor))
}

/// The best score.
pub(crate) fn best(scores: &[i64]) -> Result<i64, NoiseError> {
    scores
        .iter()
        .max()
        .copied()
        .ok_or(NoiseError::Empty { what: "the scores" })
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use num_bigint::BigUint;

    use crate::{Entropy, NoiseError};

    /// Where a coin turns from true to false, in units of 2^-128 of its
    /// uniform number: the probability that the algorithm itself gives.
    pub(crate) fn threshold(coin: impl Fn(&mut Entropy) -> Result<bool, NoiseError>) -> BigUint {
        let is_true = |uniform: u128| {
            let (high, low) = (uniform >> 64, uniform & u128::from(u64::MAX));
            let words = [u64::try_from(high).unwrap(), u64::try_from(low).unwrap()];
            // Words beyond are not reached unless the number ends there.
            coin(&mut Entropy::scripted(words.into_iter().chain([0; 8]))).unwrap()
        };
        let (mut low, mut high) = (0u128, u128::MAX);
        if is_true(high) {
            return BigUint::from(1u8) << 128u32;
        }
        if !is_true(low) {
            return BigUint::ZERO;
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_true(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        BigUint::from(high)
    }
}
