//! `π`, sines and cosines to any number of bits, as integers in units of
//! `2^-bits`.

use num_bigint::{BigInt, BigUint};

/// `π`, within one unit.
pub(super) fn pi(bits: u64) -> BigUint {
    // Machin: π = 16 atan(1/5) - 4 atan(1/239). A term loses a unit at most,
    // and there are fewer than bits of them.
    let guard = 64 - u64::from(bits.leading_zeros()) + 6;
    let guarded = bits + guard;
    let pi: BigInt = inverse_tangent(5, guarded) * 16 - inverse_tangent(239, guarded) * 4;
    pi.magnitude() >> guard
}

/// `atan(1/n)`.
fn inverse_tangent(n: u32, bits: u64) -> BigInt {
    let mut power = (BigInt::from(1) << bits) / n;
    let mut sum = BigInt::ZERO;
    let mut odd = 1u32;
    while power != BigInt::ZERO {
        let term = &power / odd;
        if odd % 4 == 1 {
            sum += term;
        } else {
            sum -= term;
        }
        power /= n * n;
        odd += 2;
    }
    sum
}

/// Cosine and sine of an angle from 0 to π, each within `32 (bits + 16)` units:
/// fewer than `bits + 16` terms, which lose two units each that may grow by
/// `π^n/n! < 16`.
pub(super) fn cos_sin(angle: &BigUint, bits: u64) -> (BigInt, BigInt) {
    let angle = BigInt::from(angle.clone());
    let (mut cos, mut sin) = (BigInt::ZERO, BigInt::ZERO);
    let mut term = BigInt::from(1) << bits;
    let mut index = 0u32;
    while term != BigInt::ZERO {
        match index % 4 {
            0 => cos += &term,
            1 => sin += &term,
            2 => cos -= &term,
            _ => sin -= &term,
        }
        index += 1;
        term = ((term * &angle) >> bits) / index;
    }
    (cos, sin)
}

/// `sin(x)/x` for `x² < 2`, within `bits + 16` units; the argument is `x²`.
pub(super) fn sinc(square: &BigUint, bits: u64) -> BigUint {
    let (mut plus, mut minus) = (BigUint::ZERO, BigUint::ZERO);
    let mut term = BigUint::from(1u8) << bits;
    let mut index = 0u32;
    while term != BigUint::ZERO {
        if index.is_multiple_of(4) {
            plus += &term;
        } else {
            minus += &term;
        }
        index += 2;
        term = ((term * square) >> bits) / (index * (index + 1));
    }
    plus - minus
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn digits_of_pi() {
        let digits: BigUint = "314159265358979323846264338327950288419716939937510"
            .parse()
            .unwrap();
        for bits in [200, 1000] {
            let ours = (pi(bits) * BigUint::from(10u8).pow(50)) >> bits;
            let apart = if ours > digits {
                &ours - &digits
            } else {
                &digits - &ours
            };
            assert!(apart <= BigUint::from(2u8), "{ours}");
        }
    }

    #[test]
    fn the_circle_is_round() {
        let bits = 256;
        let one = BigInt::from(1) << (2 * bits);
        for step in 0..=20u8 {
            let angle = pi(bits) * step / 20u8;
            let (cos, sin) = cos_sin(&angle, bits);
            let apart: BigInt = (&cos * &cos + &sin * &sin - &one) >> bits;
            assert!(apart.magnitude().bits() < 14);
            if step > 0 && step < 9 {
                // sin(x) from both series.
                let square = (&angle * &angle) >> bits;
                let other = BigInt::from((sinc(&square, bits) * &angle) >> bits);
                let apart: BigInt = other - sin;
                assert!(apart.magnitude().bits() < 14);
            }
        }
        let (cos, sin) = cos_sin(&(pi(bits) / 6u8), bits);
        let apart: BigInt = (sin << 1) - (BigInt::from(1) << bits);
        assert!(apart.magnitude().bits() < 14);
        assert!(cos > BigInt::ZERO);
    }
}
