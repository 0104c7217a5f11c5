//! The privacy profile of an event, from the tightest of the engines.

use mizan_core::{Bracket, Delta, Epsilon, Interval, PrivacyEvent};

use super::contour::Contour;
use super::lattice::{LatticeProfile, LatticeTarget};
use super::mechanism::{Mechanism, one_kind_of_neighbours};
use super::pair::{Base, Pair, Sampling};
use super::single;
use super::sweep::Sweep;
use crate::convert::Effort;
use crate::guarantees::groups_are_exact;
use crate::{GaussianProfile, Reason, Unsupported, walk};

/// The exact δ(ε) of an event, bracketed.
///
/// Every bracket is certified: the upper end is a guarantee, and if
/// [`is_exact`](Self::is_exact), no guarantee below the lower end is true.
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

/// The engine that computed a result of the numerical accountant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A formula for one mechanism.
    ClosedForm,
    /// An integral along a line.
    Contour,
    /// Losses on a lattice.
    Lattice,
}

impl Engine {
    /// The name, for display.
    pub fn name(self) -> &'static str {
        match self {
            Self::ClosedForm => "a closed form",
            Self::Contour => "the contour",
            Self::Lattice => "the lattice",
        }
    }

    fn says(self, bracket: Option<Bracket<f64>>) -> Option<EngineBracket> {
        Some(EngineBracket {
            bracket: bracket?,
            by: self,
            drafted: false,
        })
    }
}

/// A bracket, and the engine of its upper end.
#[derive(Clone, Copy, Debug)]
pub(super) struct EngineBracket {
    pub(super) bracket: Bracket<f64>,
    by: Engine,
    /// Whether a lattice with more effort could be tighter.
    drafted: bool,
}

/// A bracket narrower than this, relative, is not improved upon by a slower
/// engine.
const NARROW: f64 = 1e-6;

/// The same for a draft, which decides between directions.
const NARROW_DRAFT: f64 = 1e-2;

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
        one_kind_of_neighbours(event)?;
        walk::each_mechanism(event, |count, part, path| {
            let refuse = |reason| Unsupported::new(part, path, reason);
            let count = whole(count).ok_or_else(|| refuse(Reason::TooLarge))?;
            let mechanism = Mechanism::of(part).map_err(refuse)?;
            if count == 0 {
                return Ok(());
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

    /// Whether the lower ends of brackets are bounds too: they are not if a mechanism was replaced by a
    /// dominating pair that it does not attain.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The ε at a given δ. None if the loss is infinite more often than that,
    /// or no engine takes the event.
    pub fn epsilon(&self, delta: Delta) -> Option<Bracket<Epsilon>> {
        Some(self.epsilon_with(delta, Effort::Full)?.0)
    }

    /// The same with less effort: a bracket that may be wider, in less time.
    pub(crate) fn epsilon_with(
        &self,
        delta: Delta,
        effort: Effort,
    ) -> Option<(Bracket<Epsilon>, Engine)> {
        let target = Interval::from(delta.get());
        let at = |pairs: &_, reached, effort| epsilon(pairs, target, reached, effort);
        let EngineBracket { bracket, by, .. } = self.worst(at, effort)?;
        let bracket = Bracket {
            lower: Epsilon::saturating(if self.exact { bracket.lower } else { 0.0 }),
            upper: Epsilon::saturating(bracket.upper),
        };
        Some((bracket, by))
    }

    /// The δ at a given ε. None if no engine takes the event.
    pub fn delta(&self, epsilon: Epsilon) -> Option<Bracket<Delta>> {
        Some(self.delta_with(epsilon, Effort::Full)?.0)
    }

    /// The same with less effort: a bracket that may be wider, in less time.
    pub(crate) fn delta_with(
        &self,
        epsilon: Epsilon,
        effort: Effort,
    ) -> Option<(Bracket<Delta>, Engine)> {
        let at = |pairs: &_, reached, effort| delta(pairs, epsilon.get(), reached, effort);
        let EngineBracket { bracket, by, .. } = self.worst(at, effort)?;
        let bracket = Bracket {
            lower: Delta::saturating(if self.exact { bracket.lower } else { 0.0 }),
            upper: Delta::saturating(bracket.upper),
        };
        Some((bracket, by))
    }

    /// No ε is enough for a smaller δ: the probability of an infinite loss, from
    /// above.
    pub(crate) fn least_delta(&self) -> Delta {
        let of = |pairs: &Vec<(Pair, u64)>| infinite_mass(pairs).upper();
        Delta::saturating(self.directions.iter().map(of).fold(0.0, f64::max))
    }

    /// The δ at many ε, much faster than one by one. The brackets are slightly wider, and certified.
    /// None if no engine takes the event.
    pub fn deltas(&self, epsilons: &[Epsilon]) -> Option<Vec<Bracket<Delta>>> {
        let mut worst = vec![
            Bracket {
                lower: Delta::ZERO,
                upper: Delta::ZERO,
            };
            epsilons.len()
        ];
        for pairs in &self.directions {
            let mut sweep = Sweep::new(pairs);
            for (worst, epsilon) in worst.iter_mut().zip(epsilons) {
                let reached = worst.lower.get();
                let Bracket { lower, upper } = sweep.delta(epsilon.get(), reached)?;
                let lower = Delta::saturating(if self.exact { lower } else { 0.0 });
                let upper = Delta::saturating(upper);
                if lower > worst.lower {
                    worst.lower = lower;
                }
                if upper > worst.upper {
                    worst.upper = upper;
                }
            }
        }
        Some(worst)
    }

    /// The profile of this event and Gaussian noise of this m².
    pub(crate) fn with_gaussian(&self, square: Interval) -> Self {
        let mut whole = self.clone();
        if square.upper() > 0.0 {
            let noise = Pair {
                base: Base::Gaussian { m: square.sqrt() },
                sampling: Sampling::Whole,
            };
            for pairs in &mut whole.directions {
                push(pairs, noise.clone(), 1);
            }
        }
        whole
    }

    /// A walk along the profile of each direction.
    pub(crate) fn sweeps(&self) -> Vec<Sweep<'_>> {
        self.directions
            .iter()
            .map(|pairs| Sweep::new(pairs))
            .collect()
    }

    /// The larger bracket of the directions.
    ///
    /// Each direction receives the bracket of the others so far: values that are not above it need no
    /// precision. If all directions need full effort, drafts decide which of them matter.
    fn worst(
        &self,
        at: impl Fn(&[(Pair, u64)], Bracket<f64>, Effort) -> Option<EngineBracket>,
        effort: Effort,
    ) -> Option<EngineBracket> {
        const NOTHING: Bracket<f64> = Bracket {
            lower: 0.0,
            upper: 0.0,
        };
        if let [pairs] = self.directions.as_slice() {
            return at(pairs, NOTHING, effort);
        }
        let mut directions = Vec::with_capacity(self.directions.len());
        let mut reached = NOTHING;
        for pairs in &self.directions {
            let found = at(pairs, reached, Effort::Quick)?;
            reached.lower = reached.lower.max(found.bracket.lower);
            reached.upper = reached.upper.max(found.bracket.upper);
            directions.push((pairs, found));
        }
        if effort == Effort::Full {
            // First the one that is most likely the worst.
            directions.sort_by(|(_, a), (_, b)| b.bracket.upper.total_cmp(&a.bracket.upper));
        }
        let mut worst: Option<EngineBracket> = None;
        for (pairs, mut found) in directions {
            let reached = worst.map_or(NOTHING, |worst| worst.bracket);
            let more = found.drafted || !is_enough(&found.bracket, reached.lower, effort);
            if effort == Effort::Full && more && found.bracket.upper > reached.upper {
                found = at(pairs, reached, Effort::Full)?;
            }
            let Bracket { lower, upper } = found.bracket;
            worst = Some(EngineBracket {
                bracket: Bracket {
                    lower: reached.lower.max(lower),
                    upper: reached.upper.max(upper),
                },
                by: match worst {
                    Some(worst) if upper <= reached.upper => worst.by,
                    _ => found.by,
                },
                drafted: found.drafted,
            });
        }
        worst
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
pub(super) fn gaussian(pairs: &[(Pair, u64)]) -> Option<Interval> {
    pairs.iter().try_fold(Interval::ZERO, |sum, (pair, count)| {
        match (&pair.base, pair.sampling) {
            (Base::Gaussian { m }, Sampling::Whole) => Some(sum + m.square() * *count as f64),
            _ => None,
        }
    })
}

/// 1 - Π (1 - b): the probability of an infinite loss.
pub(super) fn infinite_mass(pairs: &[(Pair, u64)]) -> Interval {
    let ln = pairs.iter().fold(Interval::ZERO, |sum, (pair, count)| {
        sum + (-pair.infinite_mass()).ln_1p() * *count as f64
    });
    -ln.exp_m1()
}

pub(super) fn is_finite(pairs: &[(Pair, u64)]) -> bool {
    let finite = |(pair, _): &(Pair, u64)| matches!(pair.base, Base::Finite(_));
    pairs.iter().all(finite)
}

/// The total variation of a composition is at most the sum of that of its parts.
fn total_variation_bound(pairs: &[(Pair, u64)]) -> f64 {
    let parts = pairs.iter().map(|(pair, count)| {
        single::delta(pair, 0.0).map_or(1.0, |delta| delta.upper()) * *count as f64
    });
    let roundings = (pairs.len() as f64 + 2.0) * f64::EPSILON;
    parts.sum::<f64>() * (1.0 + roundings)
}

fn epsilon(
    pairs: &[(Pair, u64)],
    target: Interval,
    reached: Bracket<f64>,
    effort: Effort,
) -> Option<EngineBracket> {
    if let Some(square) = gaussian(pairs) {
        // The contour is as good to a dozen digits, and quicker.
        let profile = GaussianProfile::from_square(square);
        let at = |delta: f64| profile.epsilon(Delta::saturating(delta));
        let exact = || {
            Some(Bracket {
                lower: at(target.upper()).lower.get(),
                upper: at(target.lower()).upper.get(),
            })
        };
        let exact = || Engine::ClosedForm.says(exact());
        let narrow = |found: &Bracket<f64>| found.upper - found.lower <= 1e-11 * found.lower;
        let contour = || Engine::Contour.says(Contour::epsilon_of(pairs, target));
        return first_of(contour, exact, narrow);
    }
    if let [(pair, 1)] = pairs
        && let Some(found) = single::epsilon(pair, target)
    {
        return Engine::ClosedForm.says(Some(found));
    }
    let beyond = infinite_mass(pairs);
    let left = target - beyond;
    if left.lower() < 0.0 {
        return None;
    }
    const NONE: Bracket<f64> = Bracket {
        lower: 0.0,
        upper: 0.0,
    };
    if total_variation_bound(pairs) <= target.lower() {
        return Engine::ClosedForm.says(Some(NONE));
    }
    let aim = LatticeTarget::LnDelta(target.ln().middle());
    let enough = |found: &Bracket<f64>| is_enough(found, reached.lower, effort);
    let lattice = || lattice(pairs, aim, effort, |lattice| lattice.epsilon(target));
    let contour = || {
        if left.lower() <= 0.0 {
            return None;
        }
        let found = Contour::epsilon_of(pairs, left);
        if found.as_ref().is_some_and(enough) {
            return found;
        }
        let at_most = Contour::ln_delta_at_most(pairs, reached.lower);
        if at_most.is_some_and(|bound| bound <= left.ln().lower()) {
            return Some(Bracket {
                lower: 0.0,
                upper: reached.lower,
            });
        }
        found
    };
    let contour = || Engine::Contour.says(contour());
    let found = if is_finite(pairs) {
        first_of(lattice, contour, enough)
    } else {
        first_of(contour, lattice, enough)
    }?;
    // Engines come close to an ε of zero; the δ there says whether it is one.
    let Bracket { lower, upper } = found.bracket;
    if lower <= 0.0
        && upper > reached.lower
        && let Some(at_zero) = delta(pairs, 0.0, NONE, Effort::Quick)
        && at_zero.bracket.upper <= target.lower()
    {
        return at_zero.by.says(Some(NONE));
    }
    Some(found)
}

pub(super) fn delta(
    pairs: &[(Pair, u64)],
    epsilon: f64,
    reached: Bracket<f64>,
    effort: Effort,
) -> Option<EngineBracket> {
    let bracket = |interval: Interval| Bracket {
        lower: interval.lower().max(0.0),
        upper: interval.upper().min(1.0),
    };
    if let Some(square) = gaussian(pairs) {
        let found = GaussianProfile::from_square(square).delta(Epsilon::saturating(epsilon));
        return Engine::ClosedForm.says(Some(Bracket {
            lower: found.lower.get(),
            upper: found.upper.get(),
        }));
    }
    if let [(pair, 1)] = pairs
        && let Some(found) = single::delta(pair, epsilon)
    {
        return Engine::ClosedForm.says(Some(bracket(found)));
    }
    let enough = |found: &Bracket<f64>| is_enough(found, reached.lower, effort);
    let aim = LatticeTarget::Epsilon(epsilon);
    let lattice = || lattice(pairs, aim, effort, |lattice| Some(lattice.delta(epsilon)));
    let contour = || {
        let beyond = infinite_mass(pairs);
        let found = Contour::around(pairs, epsilon).map(|contour| {
            let found = contour.delta(epsilon);
            bracket(Interval::new(found.lower, found.upper) + beyond)
        });
        if found.as_ref().is_some_and(enough) {
            return found;
        }
        let at_most = Contour::ln_delta_at_most(pairs, epsilon).map(|ln_bound| {
            let bound = Interval::new(0.0, Interval::from(ln_bound).exp().upper());
            bracket(bound + beyond)
        });
        let all = Bracket {
            lower: 0.0,
            upper: total_variation_bound(pairs).min(1.0),
        };
        both(both(found, at_most), Some(all))
    };
    let contour = || Engine::Contour.says(contour());
    if is_finite(pairs) {
        first_of(lattice, contour, enough)
    } else {
        first_of(contour, lattice, enough)
    }
}

/// What a lattice says, or a draft of one.
fn lattice(
    pairs: &[(Pair, u64)],
    aim: LatticeTarget,
    effort: Effort,
    asked: impl Fn(&LatticeProfile) -> Option<Bracket<f64>>,
) -> Option<EngineBracket> {
    let drafted = effort == Effort::Quick;
    let profile = if drafted {
        LatticeProfile::draft(pairs, aim)
    } else {
        LatticeProfile::bounded(pairs, aim)
    };
    let mut found = profile.as_ref().and_then(&asked);
    if !found
        .as_ref()
        .is_some_and(|found| is_enough(found, 0.0, effort))
    {
        let other = LatticeProfile::without_rare(pairs, aim, drafted);
        found = both(found, other.as_ref().and_then(asked));
    }
    let found = Engine::Lattice.says(found)?;
    Some(EngineBracket { drafted, ..found })
}

/// What one engine says, and the other too if that is not narrow enough.
fn first_of(
    one: impl Fn() -> Option<EngineBracket>,
    other: impl Fn() -> Option<EngineBracket>,
    enough: impl Fn(&Bracket<f64>) -> bool,
) -> Option<EngineBracket> {
    let first = one();
    if first.is_some_and(|found| enough(&found.bracket)) {
        return first;
    }
    match (first, other()) {
        (Some(a), Some(b)) => Some(EngineBracket {
            bracket: intersection(a.bracket, b.bracket),
            by: if b.bracket.upper < a.bracket.upper {
                b.by
            } else {
                a.by
            },
            drafted: a.drafted || b.drafted,
        }),
        (a, b) => a.or(b),
    }
}

/// Whether a bracket is narrow, or not above what is reached anyway.
fn is_enough(found: &Bracket<f64>, reached: f64, effort: Effort) -> bool {
    let narrow = match effort {
        Effort::Full => NARROW,
        Effort::Quick => NARROW_DRAFT,
    };
    found.upper <= reached || found.upper - found.lower <= narrow * found.lower
}

/// What follows from both.
pub(super) fn both(a: Option<Bracket<f64>>, b: Option<Bracket<f64>>) -> Option<Bracket<f64>> {
    match (a, b) {
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
