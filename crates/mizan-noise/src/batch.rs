//! Many draws at once, into integers of the caller's width.

use num_bigint::BigUint;

use crate::envelope::Envelope;
use crate::{Entropy, NoiseError};

/// Fills all places, or leaves them zero and says why.
pub(crate) fn fill(
    table: &Envelope,
    entropy: &mut Entropy,
    places: &mut [i64],
) -> Result<(), NoiseError> {
    entropy.begin();
    let mut draw_all = || {
        for place in places.iter_mut() {
            *place = i64::try_from(table.draw(entropy)?)
                .map_err(|_| NoiseError::Overflow { bits: 64 })?;
        }
        Ok(())
    };
    let drawn = draw_all();
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
