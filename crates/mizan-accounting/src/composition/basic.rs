//! Basic composition: epsilons add, deltas add.
//!
//! # Reference
//! Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, Theorem 1.

use mizan_core::{Bracket, Delta, Epsilon, PrivacyEvent};

use super::parts::{parts, sum};
use crate::Unsupported;

/// The (Σ ε, Σ δ) of an event whose parts all have an ε of their own.
///
/// # Errors
///
/// Some part has no (ε, δ) without choosing a δ first, as Gaussian noise.
///
/// ```
/// use mizan_accounting::basic_composition;
/// use mizan_core::PrivacyEvent;
///
/// let event: PrivacyEvent = "3 * approximate(0.5, 1e-9) + laplace(2)".parse()?;
/// let (epsilon, delta) = basic_composition(&event)?;
/// assert!(epsilon.upper.get() >= 2.0 && epsilon.upper.get() < 2.0 + 1e-12);
/// assert!(delta.get() >= 3e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn basic_composition(event: &PrivacyEvent) -> Result<(Bracket<Epsilon>, Delta), Unsupported> {
    let parts = parts(event)?;
    let epsilon = sum(&parts, |part| part.epsilon).non_negative();
    let delta = sum(&parts, |part| part.delta);
    Ok((epsilon.into(), Delta::saturating(delta.upper())))
}
