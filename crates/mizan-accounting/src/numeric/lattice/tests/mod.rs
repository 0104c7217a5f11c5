//! The profile against brute force and against known values.

mod fuzz;
mod known;

use super::*;
use crate::numeric::pair::Atom;

/// A lattice as the profile would make it, also where sums could be enumerated.
fn lattice(
    parts: &[(Pair, u64)],
    aim: LatticeTarget,
    width: f64,
    way: Way,
) -> Option<LatticeProfile> {
    let effort = Effort {
        width,
        way,
        ..Effort::USUAL
    };
    LatticeProfile::on_lattice(&relevant(parts), aim, effort)
}

fn laplace(t: f64, sampling: Sampling) -> Pair {
    let t = Interval::from(t);
    Pair {
        base: Base::Laplace { t },
        sampling,
    }
}

fn gaussian(m: f64, sampling: Sampling) -> Pair {
    let m = Interval::from(m);
    Pair {
        base: Base::Gaussian { m },
        sampling,
    }
}

/// A pair of distributions, given exactly.
fn finite(p: &[f64], q: &[f64]) -> FiniteLoss {
    let mut outcomes: Vec<(f64, f64)> = Vec::new();
    let (mut beyond, mut below) = (0.0, 0.0);
    for (&p, &q) in p.iter().zip(q) {
        match (p > 0.0, q > 0.0) {
            (true, false) => beyond += p,
            (false, true) => below += q,
            (false, false) => {}
            (true, true) => match outcomes.iter_mut().find(|(a, b)| a * q == b * p) {
                Some((a, b)) => (*a, *b) = (*a + p, *b + q),
                None => outcomes.push((p, q)),
            },
        }
    }
    let atom = |&(p, q): &(f64, f64)| Atom {
        loss: (Interval::from(p) / q).ln(),
        mass: Interval::from(p),
    };
    let mut atoms: Vec<Atom> = outcomes.iter().map(atom).collect();
    atoms.sort_by(|a, b| a.loss.middle().total_cmp(&b.loss.middle()));
    FiniteLoss {
        atoms,
        beyond: Interval::from(beyond),
        below: Interval::from(below),
    }
}
