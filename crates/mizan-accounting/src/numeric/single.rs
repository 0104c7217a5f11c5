//! Closed forms for one mechanism that runs once.
//!
//! With δ₀ the profile of the base, a sample at the rate q has
//!
//! > δ(ε) = q δ₀(ln(1 + (e^ε - 1)/q))          one person removed or replaced,
//! > δ(ε) = w δ₀(ε + ln(q/w)),  w = 1 - e^ε (1-q)      one person added,
//!
//! and nothing where w is not positive.
//!
//! # Reference
//! Balle, Barthe and Gaboardi 2018, Theorem 8, for the first; the definition for
//! the second.

use mizan_core::{Bracket, Delta, Epsilon, Interval};

use super::pair::{Base, Pair, Sampling};
use crate::GaussianProfile;
use crate::minimize::first_that_holds;

/// δ at a given ε; None where there is no closed form.
pub(super) fn delta(pair: &Pair, epsilon: f64) -> Option<Interval> {
    let epsilon = Interval::from(epsilon);
    match pair.sampling {
        Sampling::Whole => base_delta(&pair.base, epsilon),
        Sampling::Remove { q } => removed(&pair.base, q.into(), epsilon),
        Sampling::Replace { q } => removed(&pair.base, q, epsilon),
        Sampling::Add { q } => {
            let q = Interval::from(q);
            // 1 - e^ε (1-q) = q - (1-q)(e^ε - 1).
            let w = q - (Interval::ONE - q) * epsilon.exp_m1();
            // The more there is of Q the larger: the worst test gets
            // w Q(S) - e^ε q P(S).
            let at = |w: f64| {
                if w <= 0.0 {
                    return Some(Interval::ZERO);
                }
                let w = Interval::from(w);
                Some(w * base_delta(&pair.base, epsilon - (w / q).ln())?)
            };
            Some(Interval::new(
                at(w.lower())?.lower(),
                at(w.upper())?.upper(),
            ))
        }
    }
}

fn removed(base: &Base, q: Interval, epsilon: Interval) -> Option<Interval> {
    let inner = if epsilon.upper() > 600.0 {
        epsilon - q.ln() + ((q - 1.0) * (-epsilon).exp()).ln_1p()
    } else {
        (epsilon.exp_m1() / q).ln_1p()
    };
    Some(q * base_delta(base, inner)?)
}

/// ε at a given δ; None where there is no closed form.
pub(super) fn epsilon(pair: &Pair, delta: Interval) -> Option<Bracket<f64>> {
    let q = match pair.sampling {
        Sampling::Whole => Interval::ONE,
        Sampling::Remove { q } => q.into(),
        Sampling::Replace { q } => q,
        Sampling::Add { q } => return added(pair, q, delta),
    };
    let inner = base_epsilon(&pair.base, delta / q)?;
    let mixed = |epsilon: f64| {
        let epsilon = Interval::from(epsilon);
        if pair.sampling == Sampling::Whole {
            epsilon
        } else if epsilon.upper() > 600.0 {
            epsilon + (q + (Interval::ONE - q) * (-epsilon).exp()).ln()
        } else {
            (q * epsilon.exp_m1()).ln_1p()
        }
    };
    Some(Bracket {
        lower: mixed(inner.lower).lower().max(0.0),
        upper: mixed(inner.upper).upper(),
    })
}

/// The loss is at most -ln(1-q); between there and zero δ falls.
fn added(pair: &Pair, q: f64, target: Interval) -> Option<Bracket<f64>> {
    delta(pair, 0.0)?;
    let most = (-(-Interval::from(q)).ln_1p()).upper();
    let side = |end: fn(Interval) -> f64, target: f64| {
        let falls = |epsilon: f64| {
            epsilon >= most || delta(pair, epsilon).is_some_and(|delta| end(delta) <= target)
        };
        first_that_holds(0.0, most, falls)
    };
    Some(Bracket {
        lower: side(Interval::lower, target.upper())?.next_down().max(0.0),
        upper: side(Interval::upper, target.lower())?,
    })
}

fn base_delta(base: &Base, epsilon: Interval) -> Option<Interval> {
    match base {
        Base::Gaussian { m } => {
            let profile = GaussianProfile::from_ratio(*m);
            let at = |epsilon: f64| profile.delta(Epsilon::saturating(epsilon));
            // δ falls.
            Some(Interval::new(
                at(epsilon.upper()).lower.get(),
                at(epsilon.lower()).upper.get(),
            ))
        }
        // 1 - e^((ε-t)/2) up to t.
        Base::Laplace { t } => Some((-((epsilon - *t) * 0.5).exp_m1()).non_negative()),
        Base::Finite(_) => None,
    }
}

fn base_epsilon(base: &Base, delta: Interval) -> Option<Bracket<f64>> {
    match base {
        Base::Gaussian { m } => {
            let profile = GaussianProfile::from_ratio(*m);
            let at = |delta: f64| profile.epsilon(Delta::saturating(delta));
            Some(Bracket {
                lower: at(delta.upper()).lower.get(),
                upper: at(delta.lower()).upper.get(),
            })
        }
        Base::Laplace { t } => {
            let epsilon = (*t + (-delta.min(Interval::ONE)).ln_1p() * 2.0).non_negative();
            Some(Bracket {
                lower: epsilon.lower(),
                upper: epsilon.upper(),
            })
        }
        Base::Finite(_) => None,
    }
}
