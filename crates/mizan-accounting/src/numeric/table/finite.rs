//! Tables of finite losses: the atoms themselves.
//!
//! What Q gives and P never does is, on a sample, an atom of P too, and its mass
//! β may be known by a bound alone (the far tail of discrete Gaussian noise). Of
//! a mass that is off by w the sum is off by at most w |g(zl) + z g(-l)|:
//!
//! - one person removed: l = ln(1-q) and the mass is (1-q) β, so that is at most
//!   (1-q) w (2 + |z| |l| + |z| g(-l)) = w (2 (1-q) + |z| q) <= w (2 + |z|);
//! - one person added: l = -ln(1-q) and the mass is β. With g(-l) <= l it is at
//!   most w (e^(cl) + 1 + 2 |z| l) <= w (e^(cl) + 2 l) (2 + |z|).

use mizan_core::Interval;

use super::{Direction, Mixed, Node, Table, UNIT};
use crate::numeric::pair::{Atom, FiniteLoss, Sampling};

/// The most atoms of a table.
const MOST_ATOMS: usize = 1 << 21;

/// The table of a finite loss, for z up to c.
pub(super) fn table(loss: &FiniteLoss, sampling: Sampling, c: f64) -> Option<Table> {
    if loss.atoms.len() > MOST_ATOMS {
        return None;
    }
    let mut nodes = Vec::with_capacity(loss.atoms.len() + 1);
    let widths = loss
        .atoms
        .iter()
        .map(|atom| width(atom.mass) / atom.mass.middle());
    // Ratios of masses are known to as many units as they have logarithms.
    let blur = 64.0 + widths.fold(0.0, f64::max) / UNIT;
    let (direction, q) = match sampling {
        Sampling::Whole => {
            for atom in &loss.atoms {
                nodes.push(node(atom));
            }
            return Some(Table {
                nodes,
                blur,
                beyond: loss.beyond,
                below: loss.below,
                cut: 0.0,
                missing: (0.0, 0.0),
            });
        }
        Sampling::Remove { q } => (Direction::Remove, q.into()),
        Sampling::Add { q } => (Direction::Add, q.into()),
        Sampling::Replace { q } => (Direction::Replace, q),
    };
    for atom in &loss.atoms {
        let Node {
            loss: u,
            slack,
            mass,
            ln_mass,
        } = node(atom);
        let weight = mass * core_math::exp(-u);
        Mixed::new(q, u, slack, weight, ln_mass - u).push_to(&mut nodes, direction);
    }
    // Outcomes that P never gives are left to Q with the ratio 1 - q.
    let mut unsure = 0.0;
    if loss.below.upper() > 0.0 {
        let weight = loss.below.middle();
        let l = core_math::log1p(-q.middle());
        // At least half the width of the mass, and what its last bits are.
        let off = width(loss.below) + 4.0 * UNIT * weight;
        unsure = match direction {
            Direction::Remove => off,
            Direction::Add => 1.01 * off * (core_math::exp(-c * l) - 2.0 * l),
            // Losses below zero are mirror images here.
            Direction::Replace => 0.0,
        };
        Mixed {
            l,
            slack: 8.0 / (1.0 - q.upper()),
            ratio: None,
            weight,
            ln_weight: core_math::log(weight),
        }
        .push_to(&mut nodes, direction);
    }
    let rare = q * loss.beyond;
    let (beyond, below) = match direction {
        Direction::Remove => (rare, Interval::ZERO),
        Direction::Add => (Interval::ZERO, rare),
        Direction::Replace => (rare, rare),
    };
    Some(Table {
        nodes,
        blur,
        beyond,
        below,
        cut: 0.0,
        missing: (0.0, unsure),
    })
}

/// An atom as a place.
fn node(atom: &Atom) -> Node {
    let (loss, mass) = (atom.loss.middle(), atom.mass.middle());
    Node {
        loss,
        slack: width(atom.loss) / UNIT + loss.abs(),
        mass,
        ln_mass: core_math::log(mass),
    }
}

fn width(interval: Interval) -> f64 {
    interval.upper() - interval.lower()
}
