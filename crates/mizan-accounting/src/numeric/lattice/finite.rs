//! Finitely many outcomes, seen through sampling: finitely many again.

use mizan_core::Interval;

use crate::numeric::pair::{Atom, FiniteLoss, Sampling};

/// The loss of a base with finitely many outcomes after sampling.
pub(super) fn sampled(base: &FiniteLoss, sampling: Sampling) -> FiniteLoss {
    match sampling {
        Sampling::Whole => base.clone(),
        Sampling::Remove { q } => removed(base, Interval::from(q)),
        Sampling::Add { q } => removed(base, Interval::from(q)).reversed(),
        Sampling::Replace { q } => replaced(base, q),
    }
}

/// ln(1 - q + q e^l).
pub(super) fn sampled_loss(q: Interval, loss: Interval) -> Interval {
    (q * loss.exp_m1()).ln_1p()
}

/// (1-q) Q + q P against Q.
fn removed(base: &FiniteLoss, q: Interval) -> FiniteLoss {
    let rest = (Interval::ONE - q).non_negative();
    let mut atoms = Vec::with_capacity(base.atoms.len() + 1);
    if base.below.upper() > 0.0 && rest.upper() > 0.0 {
        atoms.push(Atom {
            loss: (-q).ln_1p(),
            mass: rest * base.below,
        });
    }
    for atom in &base.atoms {
        atoms.push(Atom {
            loss: sampled_loss(q, atom.loss),
            mass: rest * atom.mass * (-atom.loss).exp() + q * atom.mass,
        });
    }
    // If the sample has all people, the mass that only Q has is unchanged.
    let below = if rest.upper() > 0.0 {
        Interval::ZERO
    } else {
        base.below
    };
    FiniteLoss {
        atoms,
        beyond: q * base.beyond,
        below,
    }
}

/// The losses above zero of `removed`, their mirror image, the rest at zero.
fn replaced(base: &FiniteLoss, q: Interval) -> FiniteLoss {
    let removed = removed(base, q);
    // A loss that may be above zero counts as one: if it is zero, so is its image.
    let high = removed.atoms.iter().filter(|atom| atom.loss.upper() > 0.0);
    let high: Vec<Atom> = high.copied().collect();
    let mirrored = high.iter().rev().map(|atom| Atom {
        loss: -atom.loss,
        mass: atom.mass * (-atom.loss).exp(),
    });
    let mut atoms: Vec<Atom> = mirrored.collect();
    let sum = |atoms: &[Atom]| crate::divergence::sum(atoms.iter().map(|atom| atom.mass));
    let rest = Interval::ONE - sum(&high) - sum(&atoms) - removed.beyond;
    atoms.push(Atom {
        loss: Interval::ZERO,
        mass: rest.non_negative(),
    });
    atoms.extend(high);
    FiniteLoss {
        atoms,
        beyond: removed.beyond,
        below: removed.beyond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_keeps_both_masses() {
        let base = FiniteLoss::two_point(Interval::from(1.5));
        let sampling = [
            Sampling::Whole,
            Sampling::Remove { q: 0.3 },
            Sampling::Add { q: 0.3 },
            Sampling::Replace {
                q: Interval::from(0.3),
            },
        ];
        for sampling in sampling {
            let loss = sampled(&base, sampling);
            let p = crate::divergence::sum(loss.atoms.iter().map(|atom| atom.mass));
            let q = loss.atoms.iter().map(|atom| atom.mass * (-atom.loss).exp());
            let q = crate::divergence::sum(q);
            assert!(p.contains(1.0) && q.contains(1.0), "{sampling:?}");
        }
    }
}
