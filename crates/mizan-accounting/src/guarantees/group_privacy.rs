//! Group privacy: the event whose cost is that of a release for a group.
//!
//! It is exact if the mechanism has a sensitivity (for a group of s it is s times as large) and for
//! every notion with a scaling law:
//!
//! | event | for a group of s |
//! | --- | --- |
//! | noise of sensitivity Δ | noise of sensitivity sΔ |
//! | `pure(ε)`, `exponential(ε)` | sε |
//! | `approximate(ε, δ)` | (sε, δ (e^(sε) - 1)/(e^ε - 1)), by iterating the definition |
//! | `zcdp(ρ)` | s²ρ (Bun and Steinke 2016, Proposition 1.9) |
//! | `gdp(μ)` | sμ |
//! | `cdp(μ, τ)` | through ρ = τ²/2: s²τ²/2, with no lower-order loss |
//! | `rr(p)` | s answers: the composition of s |
//! | `tree(...)`, `matrix(...)` | the sensitivity times s |
//! | `finite(...)`, `shuffle(...)` | s times the largest loss, if it is finite |
//! | `poisson(q, ...)` | 1 - (1-q)^s, and inside it the group |
//! | `without-replacement(n, m, ...)` | sm of n, and inside it the group |
//! | `rdp(...)` | the weak triangle inequality, see `group_report.rs` |
//!
//! A sample contains either no member of the group, or some of them and at most all. The divergence
//! from the first to a mixture of the two is bounded by that of a sample at the rate of the second
//! (Balle, Barthe and Gaboardi 2018, Theorem 2): the rate is the probability that the sample contains
//! any member of the group.
//! For `poisson` the group is added or removed as a whole, for
//! `without-replacement` and `shuffle` it is replaced.
//!
//! Compositions are taken part by part, which is sound since the parts' group
//! guarantees compose like any others.

use mizan_core::directed::mul_up;
use mizan_core::{
    Count, Delta, DiscreteGaussian, DiscreteLaplace, Epsilon, Interval, Mu, Order, PrivacyEvent,
    Probability, Rho, Sensitivity, WithoutReplacement,
};

use super::group_report::group_report;
use crate::numeric::local_epsilon;
use crate::{Reason, RenyiCurve, walk};

/// An event whose cost for one person covers that of `event` for a group.
///
/// # Errors
///
/// The event has no group guarantee that this version can compute.
///
/// ```
/// use mizan_accounting::group_privacy;
/// use mizan_core::{Count, PrivacyEvent};
///
/// let event: PrivacyEvent = "gaussian(2) + 10 * pure(0.5)".parse()?;
/// let group = group_privacy(Count::new(3)?, &event)?;
/// assert_eq!(group.to_string(), "gaussian(2, 3) + 10 * pure(1.5)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn group_privacy(size: Count, event: &PrivacyEvent) -> Result<PrivacyEvent, Reason> {
    if walk::nests_deeper_than(event, DEEPEST) {
        return Err(Reason::TooDeep);
    }
    grouped(size, event)
}

/// How deep an event may nest to be rewritten; the readers allow far less.
const DEEPEST: usize = 1000;

fn grouped(size: Count, event: &PrivacyEvent) -> Result<PrivacyEvent, Reason> {
    let s = size.as_f64();
    Ok(match event {
        PrivacyEvent::Group { size: inner, event } => {
            let whole = size
                .get()
                .checked_mul(inner.get())
                .and_then(|whole| Count::new(whole).ok());
            grouped(whole.ok_or(Reason::GroupOverflow)?, event)?
        }
        PrivacyEvent::Compose(events) => PrivacyEvent::Compose(
            events
                .iter()
                .map(|event| grouped(size, event))
                .collect::<Result<_, _>>()?,
        ),
        PrivacyEvent::Repeat { count, event } => PrivacyEvent::Repeat {
            count: *count,
            event: Box::new(grouped(size, event)?),
        },
        PrivacyEvent::Poisson { q, event } => PrivacyEvent::Poisson {
            q: any_member(*q, s),
            event: Box::new(grouped(size, event)?),
        },
        PrivacyEvent::WithoutReplacement(sampling) => {
            let (people, sample) = (sampling.population(), sampling.sample());
            let touched = sample.get().saturating_mul(size.get()).min(people.get());
            let touched = Count::new(touched).map_err(|_| Reason::GroupOverflow)?;
            replacing(people, touched, grouped(size, sampling.event())?)?
        }
        leaf if size == Count::ONE => leaf.clone(),
        PrivacyEvent::Gaussian { sigma, sensitivity } => PrivacyEvent::Gaussian {
            sigma: *sigma,
            sensitivity: scaled(*sensitivity, s)?,
        },
        PrivacyEvent::Laplace { scale, sensitivity } => PrivacyEvent::Laplace {
            scale: *scale,
            sensitivity: scaled(*sensitivity, s)?,
        },
        PrivacyEvent::DiscreteGaussian(noise) => PrivacyEvent::DiscreteGaussian(
            DiscreteGaussian::new(noise.sigma(), scaled(noise.sensitivity(), s)?)
                .map_err(|_| Reason::GroupOverflow)?,
        ),
        PrivacyEvent::DiscreteLaplace(noise) => PrivacyEvent::DiscreteLaplace(
            DiscreteLaplace::new(noise.scale(), scaled(noise.sensitivity(), s)?)
                .map_err(|_| Reason::GroupOverflow)?,
        ),
        PrivacyEvent::Tree {
            sigma,
            steps,
            sensitivity,
        } => PrivacyEvent::Tree {
            sigma: *sigma,
            steps: *steps,
            sensitivity: scaled(*sensitivity, s)?,
        },
        PrivacyEvent::Matrix { sigma, norm } => PrivacyEvent::Matrix {
            sigma: *sigma,
            norm: scaled(*norm, s)?,
        },
        // A pair of distributions is about one person. Of a second person it
        // says that the loss is bounded again.
        PrivacyEvent::Finite(_) => {
            let curve = RenyiCurve::of(event).map_err(|_| Reason::NoGroup)?;
            let largest = curve.at(Order::INFINITE).upper;
            if largest.get() == f64::INFINITY {
                return Err(Reason::NoGroup);
            }
            PrivacyEvent::Pure {
                epsilon: times(largest, s)?,
            }
        }
        // The same mechanism, still for replaced people: the sample has all of them.
        PrivacyEvent::Shuffle { people, event } => {
            let pure = PrivacyEvent::Pure {
                epsilon: times(Epsilon::saturating(local_epsilon(event)?), s)?,
            };
            replacing(*people, *people, pure)?
        }
        PrivacyEvent::RandomizedResponse(_) => PrivacyEvent::Repeat {
            count: size,
            event: Box::new(event.clone()),
        },
        PrivacyEvent::Exponential { epsilon } => PrivacyEvent::Exponential {
            epsilon: times(*epsilon, s)?,
        },
        PrivacyEvent::Pure { epsilon } => PrivacyEvent::Pure {
            epsilon: times(*epsilon, s)?,
        },
        PrivacyEvent::Approximate { epsilon, delta } => PrivacyEvent::Approximate {
            epsilon: times(*epsilon, s)?,
            delta: group_delta(*epsilon, *delta, s),
        },
        PrivacyEvent::Renyi(points) => PrivacyEvent::Renyi(group_report(size, points)?),
        PrivacyEvent::ZeroConcentrated { rho } => PrivacyEvent::ZeroConcentrated {
            rho: rho_of(Interval::from(rho.get()), s)?,
        },
        PrivacyEvent::Concentrated { tau, .. } => {
            let rho = Interval::from(tau.get()).square() * 0.5;
            PrivacyEvent::ZeroConcentrated {
                rho: rho_of(rho, s)?,
            }
        }
        PrivacyEvent::GaussianDp { mu } => PrivacyEvent::GaussianDp {
            mu: Mu::new(product(mu.get(), s)).map_err(|_| Reason::GroupOverflow)?,
        },
        _ => return Err(Reason::NotYet),
    })
}

/// Whether the groups of an event are priced by what some mechanism reaches,
/// and not by a bound only.
pub(crate) fn groups_are_exact(event: &PrivacyEvent) -> bool {
    let mut waiting = vec![(event, false)];
    while let Some((event, inside)) = waiting.pop() {
        let bounded = matches!(
            event,
            PrivacyEvent::Poisson { .. }
                | PrivacyEvent::WithoutReplacement(_)
                | PrivacyEvent::Shuffle { .. }
                | PrivacyEvent::Finite(_)
                | PrivacyEvent::Pure { .. }
                | PrivacyEvent::Exponential { .. }
                | PrivacyEvent::Approximate { .. }
        );
        if inside && bounded {
            return false;
        }
        let group = matches!(event, PrivacyEvent::Group { size, .. } if *size > Count::ONE);
        waiting.extend(
            event
                .children()
                .iter()
                .map(|child| (child, inside || group)),
        );
    }
    true
}

/// An upper bound on the probability that a sample contains any of s people.
fn any_member(q: Probability, s: f64) -> Probability {
    if s == 1.0 || q.get() >= 1.0 {
        return q;
    }
    let ln_none = (-Interval::from(q.get())).ln_1p() * s;
    let rate = (-ln_none.exp_m1()).upper().clamp(q.get(), 1.0);
    Probability::new(rate).unwrap_or(q)
}

fn replacing(people: Count, sample: Count, event: PrivacyEvent) -> Result<PrivacyEvent, Reason> {
    WithoutReplacement::new(people, sample, event)
        .map(PrivacyEvent::WithoutReplacement)
        .map_err(|_| Reason::GroupOverflow)
}

/// a * b rounded up, without losing exact products.
fn product(a: f64, b: f64) -> f64 {
    (Interval::from(a) * b).upper()
}

fn scaled(sensitivity: Sensitivity, s: f64) -> Result<Sensitivity, Reason> {
    Sensitivity::new(product(sensitivity.get(), s)).map_err(|_| Reason::GroupOverflow)
}

fn times(epsilon: Epsilon, s: f64) -> Result<Epsilon, Reason> {
    Epsilon::new(product(epsilon.get(), s)).map_err(|_| Reason::GroupOverflow)
}

fn rho_of(rho: Interval, s: f64) -> Result<Rho, Reason> {
    Rho::new((rho * s * s).upper()).map_err(|_| Reason::GroupOverflow)
}

/// δ (e^(sε) - 1)/(e^ε - 1): δ + e^ε δ + ... + e^((s-1)ε) δ.
fn group_delta(epsilon: Epsilon, delta: Delta, s: f64) -> Delta {
    if delta == Delta::ZERO {
        return Delta::ZERO;
    }
    let epsilon = Interval::from(epsilon.get());
    let terms = if epsilon == Interval::ZERO {
        Interval::from(s)
    } else {
        (epsilon * s).exp_m1() / epsilon.exp_m1()
    };
    Delta::saturating(mul_up(delta.get(), terms.upper()))
}
