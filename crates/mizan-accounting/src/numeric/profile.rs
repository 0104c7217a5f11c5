//! The privacy profile of an event, by whichever engine tells it best.

use mizan_core::{Bracket, Delta, Epsilon, Interval, PrivacyEvent};

use super::contour::Contour;
use super::lattice::{Aim, LatticeProfile};
use super::mechanism::{Mechanism, Neighbours};
use super::pair::{Base, Pair, Sampling};
use super::single;
use crate::guarantees::groups_are_exact;
use crate::{GaussianProfile, Reason, Unsupported, walk};

/// The exact δ(ε) of an event, bracketed.
///
/// Every bracket is a proof: the upper end is a guarantee, and where
/// [`is_exact`](Self::is_exact) the lower end says that nothing better is true.
///
/// ```
/// use mizan_accounting::PrivacyProfile;
/// use mizan_core::{Delta, PrivacyEvent};
///
/// let event: PrivacyEvent = "10000 * poisson(0.01, gaussian(1.1))".parse()?;
/// let profile = PrivacyProfile::of(&event)?;
/// let epsilon = profile.epsilon(Delta::new(1e-5)?).expect("finite");
/// assert!(epsilon.upper.get() < 5.192_583_446);
/// assert!(epsilon.lower.get() > 5.192_583_445);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrivacyProfile {
    /// One person removed (or replaced), and added where that is another thing:
    /// apart over the whole composition, for the worse of two sums is better
    /// than the sum of the worse.
    directions: Vec<Vec<(Pair, u64)>>,
    exact: bool,
}

/// A bracket narrower than this, relative, is not improved upon.
const NARROW: f64 = 1e-9;

impl PrivacyProfile {
    /// Prepares the profile of an event.
    ///
    /// # Errors
    ///
    /// A part is known by a bound only, or the parts are about different
    /// neighbours; the error names the part.
    pub fn of(event: &PrivacyEvent) -> Result<Self, Unsupported> {
        let mut remove: Vec<(Pair, u64)> = Vec::new();
        let mut add: Vec<(Pair, u64)> = Vec::new();
        let (mut exact, mut symmetric) = (groups_are_exact(event), true);
        let mut neighbours = Neighbours::Any;
        walk::each_mechanism(event, |count, part, path| {
            let refuse = |reason| Unsupported::new(part, path, reason);
            let count = whole(count).ok_or_else(|| refuse(Reason::TooLarge))?;
            let mechanism = Mechanism::of(part).map_err(refuse)?;
            if count == 0 {
                return Ok(());
            }
            match (neighbours, mechanism.neighbours) {
                (_, Neighbours::Any) => {}
                (Neighbours::Any, other) => neighbours = other,
                (one, other) if one == other => {}
                _ => return Err(refuse(Reason::MixedNeighbours)),
            }
            exact &= mechanism.exact;
            symmetric &= mechanism.add.is_none();
            let other = mechanism.add.unwrap_or_else(|| mechanism.remove.clone());
            push(&mut remove, mechanism.remove, count);
            push(&mut add, other, count);
            Ok(())
        })?;
        let mut directions = vec![remove];
        if !symmetric {
            directions.push(add);
        }
        Ok(Self { directions, exact })
    }

    /// Whether the lower ends of brackets are bounds too: not where the event
    /// was replaced by one that dominates it.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The ε at a given δ. None if the loss is infinite more often than that,
    /// or no engine takes the event.
    pub fn epsilon(&self, delta: Delta) -> Option<Bracket<Epsilon>> {
        let target = Interval::from(delta.get());
        let found = self.worst(|pairs| epsilon(pairs, target))?;
        Some(Bracket {
            lower: Epsilon::saturating(if self.exact { found.lower } else { 0.0 }),
            upper: Epsilon::saturating(found.upper),
        })
    }

    /// The δ at a given ε. None if no engine takes the event.
    pub fn delta(&self, epsilon: Epsilon) -> Option<Bracket<Delta>> {
        let found = self.worst(|pairs| delta(pairs, epsilon.get()))?;
        Some(Bracket {
            lower: Delta::saturating(if self.exact { found.lower } else { 0.0 }),
            upper: Delta::saturating(found.upper),
        })
    }

    /// The larger of what the directions say.
    fn worst(&self, at: impl Fn(&[(Pair, u64)]) -> Option<Bracket<f64>>) -> Option<Bracket<f64>> {
        let mut worst: Bracket<f64> = Bracket {
            lower: 0.0,
            upper: 0.0,
        };
        for pairs in &self.directions {
            let Bracket { lower, upper } = at(pairs)?;
            worst = Bracket {
                lower: worst.lower.max(lower),
                upper: worst.upper.max(upper),
            };
        }
        Some(worst)
    }
}

/// A count as a whole number, if it is known exactly.
fn whole(count: Interval) -> Option<u64> {
    let value = count.upper();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be a whole number below 2^53"
    )]
    let whole = value as u64;
    (count.lower() == value && (0.0..9_007_199_254_740_992.0).contains(&value)).then_some(whole)
}

/// Adds to the last pair if it is the same.
fn push(pairs: &mut Vec<(Pair, u64)>, pair: Pair, count: u64) {
    match pairs.last_mut() {
        Some((last, total)) if *last == pair => *total = total.saturating_add(count),
        _ => pairs.push((pair, count)),
    }
}

/// m² if all of it is Gaussian noise without sampling.
fn gaussian(pairs: &[(Pair, u64)]) -> Option<Interval> {
    pairs.iter().try_fold(Interval::ZERO, |sum, (pair, count)| {
        match (&pair.base, pair.sampling) {
            (Base::Gaussian { m }, Sampling::Whole) => Some(sum + m.square() * *count as f64),
            _ => None,
        }
    })
}

/// 1 - Π (1 - b): the probability of an infinite loss.
fn infinite_mass(pairs: &[(Pair, u64)]) -> Interval {
    let ln = pairs.iter().fold(Interval::ZERO, |sum, (pair, count)| {
        sum + (-pair.infinite_mass()).ln_1p() * *count as f64
    });
    -ln.exp_m1()
}

fn is_finite(pairs: &[(Pair, u64)]) -> bool {
    let finite = |(pair, _): &(Pair, u64)| matches!(pair.base, Base::Finite(_));
    pairs.iter().all(finite)
}

fn epsilon(pairs: &[(Pair, u64)], target: Interval) -> Option<Bracket<f64>> {
    if let Some(square) = gaussian(pairs) {
        let at =
            |delta: f64| GaussianProfile::from_square(square).epsilon(Delta::saturating(delta));
        return Some(Bracket {
            lower: at(target.upper()).lower.get(),
            upper: at(target.lower()).upper.get(),
        });
    }
    if let [(pair, 1)] = pairs
        && let Some(found) = single::epsilon(pair, target)
    {
        return Some(found);
    }
    let beyond = infinite_mass(pairs);
    let left = target - beyond;
    if left.lower() < 0.0 {
        return None;
    }
    let aim = Aim::LnDelta(target.ln().middle());
    let lattice = || LatticeProfile::new(pairs, aim).and_then(|profile| profile.epsilon(target));
    let contour = || {
        (left.lower() > 0.0)
            .then(|| Contour::epsilon_of(pairs, left))
            .flatten()
    };
    let narrow = |bracket: &Bracket<f64>| bracket.upper - bracket.lower <= NARROW * bracket.lower;
    if is_finite(pairs) {
        first_of(lattice, contour, narrow)
    } else {
        first_of(contour, lattice, narrow)
    }
}

fn delta(pairs: &[(Pair, u64)], epsilon: f64) -> Option<Bracket<f64>> {
    let bracket = |interval: Interval| Bracket {
        lower: interval.lower().max(0.0),
        upper: interval.upper().min(1.0),
    };
    if let Some(square) = gaussian(pairs) {
        let found = GaussianProfile::from_square(square).delta(Epsilon::saturating(epsilon));
        return Some(Bracket {
            lower: found.lower.get(),
            upper: found.upper.get(),
        });
    }
    if let [(pair, 1)] = pairs
        && let Some(found) = single::delta(pair, epsilon)
    {
        return Some(bracket(found));
    }
    let lattice =
        || LatticeProfile::new(pairs, Aim::Epsilon(epsilon)).map(|profile| profile.delta(epsilon));
    let contour = || {
        let found = Contour::delta_of(pairs, epsilon)?;
        let whole = Interval::new(found.lower, found.upper) + infinite_mass(pairs);
        Some(bracket(whole))
    };
    let narrow = |bracket: &Bracket<f64>| bracket.upper - bracket.lower <= NARROW * bracket.lower;
    if is_finite(pairs) {
        first_of(lattice, contour, narrow)
    } else {
        first_of(contour, lattice, narrow)
    }
}

/// What one engine says, and the other too if that is not narrow enough.
fn first_of(
    one: impl Fn() -> Option<Bracket<f64>>,
    other: impl Fn() -> Option<Bracket<f64>>,
    enough: impl Fn(&Bracket<f64>) -> bool,
) -> Option<Bracket<f64>> {
    let first = one();
    if first.as_ref().is_some_and(&enough) {
        return first;
    }
    match (first, other()) {
        (Some(a), Some(b)) => Some(intersection(a, b)),
        (a, b) => a.or(b),
    }
}

/// Both are right, so both ends may be the tighter ones. If they exclude each
/// other there is a fault in one of the proofs: then nothing but the weaker
/// claims is made.
pub(super) fn intersection(a: Bracket<f64>, b: Bracket<f64>) -> Bracket<f64> {
    let (lower, upper) = (a.lower.max(b.lower), a.upper.min(b.upper));
    if lower <= upper {
        Bracket { lower, upper }
    } else {
        Bracket {
            lower: a.lower.min(b.lower),
            upper: a.upper.max(b.upper),
        }
    }
}
