//! Many draws at once, into integers of the caller's width.

use num_bigint::BigUint;

use crate::{Entropy, NoiseError};

/// Fills all places, or leaves them zero and says why.
pub(crate) fn fill_with(
    entropy: &mut Entropy,
    places: &mut [i64],
    draw: impl Fn(&mut Entropy) -> Result<i128, NoiseError>,
) -> Result<(), NoiseError> {
    entropy.begin();
    let drawn = places.iter_mut().try_for_each(|place| {
        *place = i64::try_from(draw(entropy)?).map_err(|_| NoiseError::Overflow { bits: 64 })?;
        Ok(())
    });
    if drawn.is_err() {
        // Half a vector of noise must not pass for a whole one.
        places.fill(0);
    }
    drawn
}

/// A magnitude with a sign.
pub(crate) fn signed((magnitude, negative): &(BigUint, bool)) -> Result<i128, NoiseError> {
    let magnitude = i128::try_from(magnitude).map_err(|_| NoiseError::Overflow { bits: 128 })?;
    Ok(if *negative { -magnitude } else { magnitude })
}
