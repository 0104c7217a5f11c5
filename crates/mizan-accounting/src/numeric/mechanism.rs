//! Which event is dominated by which pair.

use mizan_core::{
    DiscreteGaussian, DiscreteLaplace, FiniteOutcomes, FinitePair, Interval, PrivacyEvent,
    RandomizedResponse,
};

use super::pair::{Atom, Base, FiniteLoss, Pair, Sampling};
use super::shuffle::shuffle;
use crate::composition::concentrated::gaussian_ratio;
use crate::curves::response_loss;
use crate::{Reason, Unsupported, walk};

/// An event as the pairs that dominate it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mechanism {
    /// With the person against without.
    pub(crate) remove: Pair,
    /// Without against with, where it is another pair.
    pub(crate) add: Option<Pair>,
    /// Whether some mechanism that the event describes reaches the pair, so
    /// that bounds from below hold too.
    pub(crate) exact: bool,
}

/// Which inputs a guarantee is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neighbours {
    /// Whatever the sensitivity was measured for.
    Any,
    /// One dataset lacks a unit.
    AddRemove,
    /// One unit has other rows.
    Replace,
}

impl Neighbours {
    /// The neighbouring relation of an event that is not a composition.
    fn of(event: &PrivacyEvent) -> Self {
        match event {
            PrivacyEvent::Poisson { .. } => Self::AddRemove,
            // The two distributions are with and without a unit.
            PrivacyEvent::Finite(pair) if !is_mirrored(pair) => Self::AddRemove,
            PrivacyEvent::WithoutReplacement(_) | PrivacyEvent::Shuffle { .. } => Self::Replace,
            _ => Self::Any,
        }
    }
}

/// Guarantees compose only for the same neighbouring relation.
pub(crate) fn one_kind_of_neighbours(event: &PrivacyEvent) -> Result<(), Unsupported> {
    let mut all = Neighbours::Any;
    walk::each_mechanism(event, |_, part, path| {
        let mut waiting = vec![part];
        while let Some(inner) = waiting.pop() {
            match (all, Neighbours::of(inner)) {
                (_, Neighbours::Any) => {}
                (Neighbours::Any, other) => all = other,
                (one, other) if one == other => {}
                _ => return Err(Unsupported::new(part, path, Reason::MixedNeighbours)),
            }
            waiting.extend(inner.children());
        }
        Ok(())
    })
}

/// Above this loss, sampled Laplace noise is bounded by its pure ε.
const STRONG: f64 = 40.0;

/// Above this loss the odds overflow doubles, and the event is refused.
const BEYOND_DOUBLES: f64 = 600.0;

/// The most atoms a discrete mechanism may have.
const MOST_ATOMS: f64 = 100_000.0;

impl Mechanism {
    /// The pairs of an event that is not a composition.
    pub(crate) fn of(event: &PrivacyEvent) -> Result<Self, Reason> {
        match event {
            PrivacyEvent::Poisson { q, event } => poisson(q.get(), event),
            PrivacyEvent::WithoutReplacement(sampling) => {
                let (base, exact) = base(sampling.event())?;
                if !is_symmetric(sampling.event()) {
                    return Err(Reason::NotSymmetric);
                }
                let whole = sampling.sample() == sampling.population();
                let q = Interval::from(sampling.sample().as_f64()) / sampling.population().as_f64();
                Ok(Self {
                    remove: Pair {
                        base,
                        sampling: if whole {
                            Sampling::Whole
                        } else {
                            Sampling::Replace { q }
                        },
                    },
                    add: None,
                    // The pair joins the worst of both directions, which no
                    // composition of one mechanism need reach.
                    exact: exact && whole,
                })
            }
            _ => {
                let (base, exact) = mechanism(event)?;
                let whole = |base| Pair {
                    base,
                    sampling: Sampling::Whole,
                };
                let add = match &base {
                    Base::Finite(loss) if !is_symmetric(event) => {
                        Some(whole(Base::Finite(loss.reversed())))
                    }
                    _ => None,
                };
                Ok(Self {
                    remove: whole(base),
                    add,
                    exact,
                })
            }
        }
    }
}

/// A Poisson sample; a sample of a sample is a sample.
fn poisson(q: f64, event: &PrivacyEvent) -> Result<Mechanism, Reason> {
    if let PrivacyEvent::Poisson {
        q: inner,
        event: deeper,
    } = event
    {
        let product = Interval::from(q) * inner.get();
        let mut mechanism = poisson(product.upper().min(1.0), deeper)?;
        mechanism.exact &= product.lower() == product.upper();
        return Ok(mechanism);
    }
    let (base, exact) = base(event)?;
    let sampled = |sampling| Pair {
        base: base.clone(),
        sampling,
    };
    Ok(if q >= 1.0 {
        let add = match &base {
            Base::Finite(loss) if !is_symmetric(event) => Some(Pair {
                base: Base::Finite(loss.reversed()),
                sampling: Sampling::Whole,
            }),
            _ => None,
        };
        Mechanism {
            remove: sampled(Sampling::Whole),
            add,
            exact,
        }
    } else {
        Mechanism {
            remove: sampled(Sampling::Remove { q }),
            add: Some(sampled(Sampling::Add { q })),
            exact,
        }
    })
}

/// What is done with a sample, as one pair: a single mechanism, Gaussian noise
/// any number of times, or whatever is bounded.
fn base(event: &PrivacyEvent) -> Result<(Base, bool), Reason> {
    let mut square = Interval::ZERO;
    let mut others = Vec::new();
    walk::each_mechanism(event, |count, part, _| {
        match gaussian_ratio(part) {
            Some(m) => square = square + m.square() * count,
            None => others.push((count, part.clone())),
        }
        Ok(())
    })
    .map_err(|error| error.reason())?;
    match others.as_slice() {
        [] => Ok((
            Base::Gaussian {
                m: gaussian_ratio(event).unwrap_or(square.sqrt()),
            },
            true,
        )),
        [(count, single)] if *count == Interval::ONE && square == Interval::ZERO => {
            match mechanism(single)? {
                // So little noise that nothing is lost by its largest loss.
                (Base::Laplace { t }, _) if t.upper() > BEYOND_DOUBLES => Err(Reason::NoPair),
                (Base::Laplace { t }, _) if t.upper() > STRONG => {
                    Ok((Base::Finite(FiniteLoss::two_point(t.upper().into())), false))
                }
                other => Ok(other),
            }
        }
        // All of it on one sample: bounded if every part is.
        several if square == Interval::ZERO => {
            let mut total = Interval::ZERO;
            for (count, part) in several {
                let pair = Pair {
                    base: mechanism(part)?.0,
                    sampling: Sampling::Whole,
                };
                let largest = pair.largest_loss().upper();
                let smallest = match &pair.base {
                    Base::Finite(loss) if loss.below.upper() > 0.0 => f64::INFINITY,
                    Base::Finite(loss) => loss.atoms.first().map_or(0.0, |atom| -atom.loss.lower()),
                    _ => largest,
                };
                let bound = largest.max(smallest);
                if pair.infinite_mass().upper() > 0.0 || bound == f64::INFINITY {
                    return Err(Reason::NoPair);
                }
                total = total + *count * bound;
            }
            Ok((
                Base::Finite(FiniteLoss::two_point(total.upper().into())),
                false,
            ))
        }
        _ => Err(Reason::NoPair),
    }
}

/// A mechanism without sampling, and whether it reaches the pair.
fn mechanism(event: &PrivacyEvent) -> Result<(Base, bool), Reason> {
    if let Some(m) = gaussian_ratio(event) {
        return Ok((Base::Gaussian { m }, true));
    }
    Ok(match event {
        PrivacyEvent::Laplace { scale, sensitivity } => (
            Base::Laplace {
                t: Interval::from(sensitivity.get()) / scale.get(),
            },
            true,
        ),
        PrivacyEvent::DiscreteLaplace(noise) => (Base::Finite(discrete_laplace(noise)?), true),
        PrivacyEvent::DiscreteGaussian(noise) => (Base::Finite(discrete_gaussian(noise)?), true),
        PrivacyEvent::RandomizedResponse(response) => {
            (Base::Finite(randomized_response(response)), true)
        }
        PrivacyEvent::Pure { epsilon } => (
            Base::Finite(FiniteLoss::two_point(epsilon.get().into())),
            true,
        ),
        PrivacyEvent::Approximate { epsilon, delta } => {
            let fails = Interval::from(delta.get());
            let mut loss = FiniteLoss::two_point(epsilon.get().into());
            for atom in &mut loss.atoms {
                atom.mass = atom.mass * (Interval::ONE - fails);
            }
            (loss.beyond, loss.below) = (fails, fails);
            (Base::Finite(loss), true)
        }
        PrivacyEvent::Exponential { epsilon } => (
            Base::Finite(FiniteLoss::two_point(epsilon.get().into())),
            false,
        ),
        PrivacyEvent::Finite(pair) => (Base::Finite(finite(pair)), true),
        PrivacyEvent::Shuffle { people, event } => (Base::Finite(shuffle(*people, event)?), false),
        _ => return Err(Reason::NoPair),
    })
}

/// Whether exchanging P and Q leaves the loss as it is: of the mechanisms that are
/// listed here, and of what is on a sample together, which is priced by its bound.
fn is_symmetric(event: &PrivacyEvent) -> bool {
    let mut parts = 0u32;
    let mut symmetric = true;
    let walked = walk::each_mechanism(event, |count, part, _| {
        parts = parts.saturating_add(if count == Interval::ONE { 1 } else { 2 });
        symmetric = match part {
            PrivacyEvent::Finite(pair) => is_mirrored(pair),
            PrivacyEvent::Gaussian { .. }
            | PrivacyEvent::Laplace { .. }
            | PrivacyEvent::DiscreteGaussian(_)
            | PrivacyEvent::DiscreteLaplace(_)
            | PrivacyEvent::RandomizedResponse(_)
            | PrivacyEvent::Exponential { .. }
            | PrivacyEvent::Pure { .. }
            | PrivacyEvent::Approximate { .. }
            | PrivacyEvent::GaussianDp { .. }
            | PrivacyEvent::Tree { .. }
            | PrivacyEvent::Matrix { .. }
            | PrivacyEvent::Shuffle { .. } => true,
            // Of another one, nothing is known.
            _ => false,
        };
        Ok(())
    });
    walked.is_ok() && (symmetric || parts > 1)
}

/// Whether the outcomes are their own mirror image, exactly.
fn is_mirrored(pair: &FinitePair) -> bool {
    let FiniteOutcomes::Probabilities(outcomes) = pair.outcomes() else {
        return false;
    };
    let sorted = |mut pairs: Vec<(f64, f64)>| {
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        pairs
    };
    let turned = outcomes.iter().map(|&(p, q)| (q, p)).collect();
    sorted(outcomes.to_vec()) == sorted(turned)
}

fn randomized_response(response: &RandomizedResponse) -> FiniteLoss {
    let (epsilon, rest) = response_loss(response);
    let mut loss = FiniteLoss::two_point(epsilon);
    if let Some((pair, others)) = rest
        && epsilon.upper() > 0.0
    {
        for atom in &mut loss.atoms {
            atom.mass = atom.mass * pair;
        }
        let zero = Atom {
            loss: Interval::ZERO,
            mass: others,
        };
        loss.atoms.insert(1, zero);
    }
    loss
}

/// Losses (n - 2x)/scale for x = 0, ..., n: the ends carry the tails.
fn discrete_laplace(noise: &DiscreteLaplace) -> Result<FiniteLoss, Reason> {
    let (scale, steps) = (noise.scale().get(), noise.sensitivity().get());
    if steps > MOST_ATOMS {
        return Err(Reason::TooLarge);
    }
    let tau = Interval::ONE / scale;
    let step = (-tau).exp();
    let side = Interval::ONE / (step + 1.0);
    let inner = -(-tau).exp_m1() / (step + 1.0);
    let mut atoms = Vec::new();
    let mut x = steps;
    while x >= 0.0 {
        let fall = (tau * -x).exp();
        let mass = if x == 0.0 {
            side
        } else if x == steps {
            side * fall
        } else {
            inner * fall
        };
        atoms.push(Atom {
            loss: Interval::from(steps - 2.0 * x) / scale,
            mass,
        });
        x -= 1.0;
    }
    Ok(FiniteLoss {
        atoms,
        beyond: Interval::ZERO,
        below: Interval::ZERO,
    })
}

/// Losses (1 - 2x)/2σ² for all whole x, where one person moves one coordinate
/// by one; further out than 38σ doubles have no probabilities.
fn discrete_gaussian(noise: &DiscreteGaussian) -> Result<FiniteLoss, Reason> {
    let (sigma, sensitivity) = (noise.sigma().get(), noise.sensitivity().get());
    if sensitivity * sensitivity >= 2.0 {
        return Err(Reason::ManyDirections);
    }
    let reach = (38.0 * sigma).ceil();
    if reach > MOST_ATOMS {
        return Err(Reason::TooLarge);
    }
    let square = Interval::from(sigma).square();
    let density = |x: f64| (-(Interval::from(x) * x) / (square * 2.0)).exp();
    let mut whole = Interval::ONE;
    let mut x = reach;
    while x >= 1.0 {
        whole = whole + density(x) * 2.0;
        x -= 1.0;
    }
    // Beyond the reach there is less than 1e-300 in all, on either side.
    let far = Interval::new(0.0, 1e-300);
    whole = whole + far;
    let mut atoms = Vec::new();
    let mut lost = far;
    let mut x = reach;
    while x >= -reach {
        let (mass, other) = (density(x) / whole, density(x - 1.0) / whole);
        if mass.lower() > 1e-300 && other.lower() > 1e-300 {
            atoms.push(Atom {
                loss: Interval::from(1.0 - 2.0 * x) / (square * 2.0),
                mass,
            });
        } else {
            lost = lost + mass;
        }
        x -= 1.0;
    }
    // Where doubles have no ratio: perhaps an infinite loss. The mirror image of
    // such a place is one too, so Q loses as much as P.
    let lost = Interval::new(0.0, lost.upper());
    Ok(FiniteLoss {
        atoms,
        beyond: lost,
        below: lost,
    })
}

/// The user's own pair, scaled to add up to one.
fn finite(pair: &FinitePair) -> FiniteLoss {
    let sum =
        |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(Interval::ZERO, |sum, p| sum + p);
    let (mut beyond, mut below) = (Interval::ZERO, Interval::ZERO);
    let mut atoms = Vec::new();
    match pair.outcomes() {
        FiniteOutcomes::Probabilities(outcomes) => {
            let with = sum(&mut outcomes.iter().map(|outcome| outcome.0));
            let without = sum(&mut outcomes.iter().map(|outcome| outcome.1));
            for &(p, q) in outcomes.iter() {
                let (mass, other) = (Interval::from(p) / with, Interval::from(q) / without);
                match (p > 0.0, q > 0.0) {
                    (true, true) => atoms.push(Atom {
                        loss: if p == q && with == without {
                            Interval::ZERO
                        } else {
                            (mass / other).ln()
                        },
                        mass,
                    }),
                    (true, false) => beyond = beyond + mass,
                    (false, true) => below = below + other,
                    (false, false) => {}
                }
            }
        }
        FiniteOutcomes::Losses {
            atoms: given,
            infinite,
        } => {
            let whole = sum(&mut given.iter().map(|atom| atom.1).chain([*infinite]));
            let mut other = Interval::ZERO;
            for &(loss, p) in given.iter().filter(|atom| atom.1 > 0.0) {
                let mass = Interval::from(p) / whole;
                other = other + mass * (-Interval::from(loss)).exp();
                let loss = Interval::from(loss);
                atoms.push(Atom { loss, mass });
            }
            beyond = Interval::from(*infinite) / whole;
            below = (Interval::ONE - other).non_negative();
        }
    }
    atoms.sort_by(|a, b| a.loss.middle().total_cmp(&b.loss.middle()));
    atoms.dedup_by(|next, kept| {
        let same = next.loss == kept.loss;
        if same {
            kept.mass = kept.mass + next.mass;
        }
        same
    });
    FiniteLoss {
        atoms,
        beyond,
        below,
    }
}
