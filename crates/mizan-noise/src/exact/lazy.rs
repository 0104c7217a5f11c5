//! A uniform number that is drawn bit by bit, as far as a comparison needs.

use num_bigint::BigUint;

use crate::exact::exponential::exp_neg;
use crate::exact::rational::{Rational, ceiling};
use crate::{Entropy, NoiseError};

/// `U` in [0, 1), of which the first bits are known.
pub(crate) struct LazyUniform {
    prefix: BigUint,
    bits: u64,
}

impl LazyUniform {
    pub(crate) fn new(prefix: u64, bits: u32) -> Self {
        Self {
            prefix: prefix.into(),
            bits: bits.into(),
        }
    }

    /// Whether `U < p`, where `enclosure(bits)` holds `2^bits · p`.
    ///
    /// Undecided, as long as `U` and `p` share all bits that are known: each
    /// word leaves that possible with probability 2⁻⁶³.
    pub(crate) fn falls_below(
        mut self,
        entropy: &mut Entropy,
        enclosure: impl Fn(u64) -> (BigUint, BigUint),
    ) -> Result<bool, NoiseError> {
        loop {
            let (low, high) = enclosure(self.bits);
            if self.prefix < low {
                return Ok(true);
            }
            if self.prefix >= high {
                return Ok(false);
            }
            self.prefix = (self.prefix << 64u32) | BigUint::from(entropy.word()?);
            self.bits += 64;
        }
    }
}

/// `2^bits · factor · e^-exponent`, at least and at most.
pub(crate) fn product(factor: &Rational, exponent: &Rational, bits: u64) -> (BigUint, BigUint) {
    // The factor may be as large as 2^64.
    let guarded = bits + 72;
    let (low, high) = exp_neg(exponent, guarded);
    let divisor = &factor.denominator << 72u32;
    (
        low * &factor.numerator / &divisor,
        ceiling(&(high * &factor.numerator), &divisor),
    )
}
