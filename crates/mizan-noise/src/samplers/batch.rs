//! Many draws at once, into integers of the caller's width.

use num_bigint::BigUint;

use crate::{Entropy, NoiseError};

/// Fills a slice, or leaves it zero and returns the error.
pub(crate) fn fill_with<Integer: Copy + Default>(
    entropy: &mut Entropy,
    places: &mut [Integer],
    draw: impl Fn(&mut Entropy) -> Result<Integer, NoiseError>,
) -> Result<(), NoiseError> {
    let drawn = entropy.operation(|entropy| {
        places.iter_mut().try_for_each(|place| {
            *place = draw(entropy)?;
            Ok(())
        })
    });
    if drawn.is_err() {
        // A vector that is filled in part must not be used.
        places.fill(Integer::default());
    }
    drawn
}

/// A draw as 64 bits.
pub(crate) fn narrow(drawn: i128) -> Result<i64, NoiseError> {
    i64::try_from(drawn).map_err(|_| NoiseError::Overflow { bits: 64 })
}

/// A magnitude as 128 bits, clamped.
///
/// Noise of the largest scale is so large with probability `e^-2^62`. Answers
/// have 64 bits, so that after adding it is the same whether it was cut or not.
pub(crate) fn saturated(magnitude: &BigUint) -> u128 {
    const LARGEST: u128 = i128::MAX.unsigned_abs();
    u128::try_from(magnitude).unwrap_or(LARGEST).min(LARGEST)
}

/// A magnitude with a sign.
pub(crate) fn signed(magnitude: u128, negative: bool) -> i128 {
    let magnitude = i128::try_from(magnitude).unwrap_or(i128::MAX);
    if negative { -magnitude } else { magnitude }
}
