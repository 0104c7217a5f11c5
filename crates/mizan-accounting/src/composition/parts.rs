//! The (ε, δ) of the parts of an event, which the classical theorems compose.

use mizan_core::directed::DirectedSum;
use mizan_core::{Interval, Order, PrivacyEvent};

use crate::{Reason, RenyiCurve, Unsupported, walk};

/// A mechanism that is (ε, δ)-DP, and how often it ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) count: Interval,
    pub(crate) epsilon: Interval,
    pub(crate) delta: Interval,
}

/// The parts of an event, in order, equal neighbours not merged.
///
/// Fails where a part has no ε without choosing a δ first, as Gaussian noise.
pub(crate) fn parts(event: &PrivacyEvent) -> Result<Vec<Part>, Unsupported> {
    let mut parts = Vec::new();
    walk::each_mechanism(event, |count, mechanism, path| {
        let (epsilon, delta) = guarantee(mechanism, path)?;
        parts.push(Part {
            count,
            epsilon,
            delta,
        });
        Ok(())
    })?;
    Ok(parts)
}

/// Σ count f(part).
pub(crate) fn sum(parts: &[Part], f: impl Fn(&Part) -> Interval) -> Interval {
    let mut sum = DirectedSum::default();
    for part in parts {
        let term = part.count * f(part);
        sum.add(term.lower(), term.upper());
    }
    Interval::new(sum.lower(), sum.upper())
}

/// What is left of a target δ after the parts' own: 1 - (1-δ)/Π(1-δ_i).
pub(crate) fn delta_left(parts: &[Part], target: Interval) -> Interval {
    let own = sum(parts, |part| (-part.delta).ln_1p());
    -((-target).ln_1p() - own).exp_m1()
}

/// The total δ when the composition without failures has this one:
/// 1 - (1-δ) Π(1-δ_i).
pub(crate) fn delta_total(parts: &[Part], inner: Interval) -> Interval {
    let own = sum(parts, |part| (-part.delta).ln_1p());
    -((-inner.min(Interval::ONE)).ln_1p() + own).exp_m1()
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
