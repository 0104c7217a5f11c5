//! Basic composition: epsilons add, deltas add.
//!
//! # Reference
//! Dwork, Kenthapadi, McSherry, Mironov and Naor 2006, Theorem 1.

use mizan_core::directed::DirectedSum;
use mizan_core::{Bracket, Delta, Epsilon, Interval, Order, PrivacyEvent};

use crate::{Reason, RenyiCurve, Unsupported, walk};

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
    let mut epsilons = DirectedSum::default();
    let mut deltas = DirectedSum::default();
    walk::each_mechanism(event, |count, part, path| {
        let (epsilon, delta) = guarantee(part, path)?;
        let (epsilon, delta) = (count * epsilon, count * delta);
        epsilons.add(epsilon.lower(), epsilon.upper());
        deltas.add(delta.lower(), delta.upper());
        Ok(())
    })?;
    let epsilon = Interval::new(epsilons.lower(), epsilons.upper()).non_negative();
    Ok((epsilon.into(), Delta::saturating(deltas.upper())))
}

/// The (ε, δ) that a single mechanism comes with.
fn guarantee(
    event: &PrivacyEvent,
    path: &dyn Fn() -> String,
) -> Result<(Interval, Interval), Unsupported> {
    if let PrivacyEvent::Approximate { epsilon, delta } = event {
        return Ok((Interval::from(epsilon.get()), Interval::from(delta.get())));
    }
    let pure = RenyiCurve::of(event)
        .map_err(|error| Unsupported::new(event, path, error.reason()))?
        .enclosure(Order::INFINITE);
    if pure.upper() == f64::INFINITY {
        return Err(Unsupported::new(event, path, Reason::Unbounded));
    }
    Ok((pure, Interval::ZERO))
}
