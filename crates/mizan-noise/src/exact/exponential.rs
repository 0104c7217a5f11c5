//! `e^-x` of a fraction between two integers, to any number of bits.
//!
//! It decides a draw in the rare case that 64 bits do not. Every step rounds to a stated side, so
//! the enclosure is valid at every precision.

use num_bigint::BigUint;

use crate::exact::rational::{Rational, ceiling};

/// Integers `low` and `high` with `low ≤ 2^bits · e^-x ≤ high`, apart by one or
/// two.
pub(crate) fn exp_neg(x: &Rational, bits: u64) -> (BigUint, BigUint) {
    let whole = x.floor();
    // e^-x ≤ 2^-x ≤ 2^-bits.
    if whole >= BigUint::from(bits) {
        return (BigUint::ZERO, BigUint::from(1u8));
    }
    // e^-x = (e^(-x / 2^halvings))^(2^halvings), with an argument below 2^-7
    // for the series. Each squaring doubles the error: a bit each.
    let halvings = whole.bits() + 7;
    let guarded = bits + halvings + 16;
    let one = BigUint::from(1u8) << guarded;
    let argument = x.over_integer(BigUint::from(1u8) << halvings);
    // e^-x falls with x: the larger argument belongs to the lower end.
    let mut low = series(&argument.scaled_up(guarded), guarded).0;
    let mut high = series(&argument.scaled_down(guarded), guarded).1;
    for _ in 0..halvings {
        low = (&low * &low) >> guarded;
        high = ceiling(&(&high * &high), &one);
    }
    let dropped = guarded - bits;
    (
        low >> dropped,
        ceiling(&high, &(BigUint::from(1u8) << dropped)),
    )
}

/// The exponential series of `-argument / 2^bits`, an argument below a half:
/// terms alternate and shrink, so partial sums enclose the limit.
fn series(argument: &BigUint, bits: u64) -> (BigUint, BigUint) {
    let one = BigUint::from(1u8) << bits;
    // Sums of the positive and of the negative terms, each from both sides.
    let mut plus = (one.clone(), one.clone());
    let mut minus = (BigUint::ZERO, BigUint::ZERO);
    let mut term = (one.clone(), one.clone());
    let mut index = 1u32;
    loop {
        let divisor = &one * index;
        term = (
            (&term.0 * argument) / &divisor,
            ceiling(&(&term.1 * argument), &divisor),
        );
        let sum = if index % 2 == 1 {
            &mut minus
        } else {
            &mut plus
        };
        sum.0 += &term.0;
        sum.1 += &term.1;
        // What follows is smaller than the last term, and of the other sign.
        if index.is_multiple_of(2) && term.0 == BigUint::ZERO {
            break;
        }
        index += 1;
    }
    // The last term was added: the limit is at most the sum, and at least the
    // sum less that term.
    let high = &plus.1 - &minus.0;
    let low = &plus.0 - &minus.1 - &term.1;
    (low, high)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::cast_precision_loss)]
    use super::*;

    /// Digits from tables of the constants.
    #[test]
    fn known_values() {
        for (x, digits) in [
            (
                Rational::integer(1u8),
                "367879441171442321595523770161460867445",
            ),
            (
                Rational::new(1u8, 2u8),
                "606530659712633423603799534991180453441",
            ),
            (
                Rational::new(1u8, 10u8),
                "904837418035959573164249059446436621194",
            ),
            (Rational::integer(20u8), "2061153622438557827965940380155"),
        ] {
            let (low, high) = exp_neg(&x, 200);
            let scale = BigUint::from(10u8).pow(39);
            let expected: BigUint = digits.parse().unwrap();
            let at = |value: &BigUint| (value * &scale) >> 200u32;
            assert!(
                at(&low) <= &expected + 1u8 && expected <= at(&high) + 1u8,
                "{x:?}"
            );
            assert!(&high - &low <= BigUint::from(2u8));
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        let (low, high) = exp_neg(&Rational::integer(0u8), 64);
        assert_eq!(
            (low, high),
            (BigUint::from(1u8) << 64u32, BigUint::from(1u8) << 64u32)
        );
        let (low, high) = exp_neg(&Rational::integer(u64::MAX), 64);
        assert_eq!((low, high), (BigUint::ZERO, BigUint::from(1u8)));
        // Close to one, and close to the cut.
        for x in [Rational::new(1u8, u64::MAX), Rational::new(639u32, 10u32)] {
            let (low, high) = exp_neg(&x, 64);
            assert!(low <= high && &high - &low <= BigUint::from(2u8));
        }
    }

    #[test]
    fn enclosures_of_more_bits_lie_within() {
        for numerator in 0..200u32 {
            let x = Rational::new(numerator * numerator, 997u32);
            let (low, high) = exp_neg(&x, 96);
            let (finer_low, finer_high) = exp_neg(&x, 160);
            assert!(low.clone() << 64u32 <= finer_high && finer_low <= high << 64u32);
        }
    }
}
