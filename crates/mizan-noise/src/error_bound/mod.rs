//! Error bounds: certified half-widths of two-sided confidence intervals, for one noise and for sums
//! of independent noises.
//!
//! - One noise (`laplace.rs`, `gaussian.rs`, `single.rs`): the smallest integer, decided by doubles
//!   with a proven error, and with more digits if they are too close (`gaussian_digits.rs`).
//! - A sum (`sum/`): a bracket, mostly of a single integer, from the
//!   characteristic function.
//!
//! Counts of randomized responses are not here: their error is not symmetric,
//! and depends on the answers.

mod circle;
mod confidence;
mod enclosure;
mod gaussian;
mod gaussian_digits;
mod laplace;
mod search;
mod single;
mod sum;
#[cfg(test)]
mod tests;

use mizan_core::Bracket;

pub use confidence::Confidence;

use crate::NoiseError;
use crate::samplers::decay::Decay;
use single::Single;

/// The smallest `a` with `P(|X| ≤ a) ≥ confidence`, exactly.
pub(crate) fn half_width(decay: &Decay, confidence: Confidence) -> Result<u128, NoiseError> {
    single::half_width(decay, confidence)
}

/// At least `P(|X| > a)`.
pub(crate) fn tail(decay: &Decay, a: u128) -> f64 {
    Single::new(decay).tail(a).upper()
}

/// The half-width of a sum of noises, each with a count.
pub(crate) fn half_width_of_sum(
    parts: &[(Decay, u64)],
    confidence: Confidence,
) -> Result<Bracket<u128>, NoiseError> {
    let mut present = parts.iter().filter(|(_, count)| *count > 0);
    let first = present.next().ok_or(NoiseError::Empty {
        what: "the sum of noises",
    })?;
    if let ((decay, 1), None) = (first, present.next()) {
        let exact = half_width(decay, confidence)?;
        return Ok(Bracket {
            lower: exact,
            upper: exact,
        });
    }
    let parts: Vec<_> = parts.iter().map(|(decay, count)| (decay, *count)).collect();
    sum::half_width(&parts, confidence)
}
