//! Bases with a density: what lies between two losses, under P and under Q.
//!
//! Every probability is a product or a difference of small numbers of the same
//! tail, so that none is lost in the complement of another.

use mizan_core::Interval;

use crate::numeric::pair::{Base, FiniteLoss};

/// A base with a density, perhaps with atoms at the ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Density {
    /// Losses are normal: mean m²/2 under P and -m²/2 under Q.
    Gaussian { m: Interval, mean: Interval },
    /// Density e^((l-t)/2)/4 between atoms at -t and t.
    Laplace { t: Interval },
}

/// What is known at a loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    loss: Interval,
    p: Tail,
    q: Tail,
}

/// The mass on one side of an edge.
#[derive(Clone, Copy, Debug)]
struct Tail {
    above: bool,
    mass: Interval,
}

/// Probabilities of the same outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Masses {
    pub(super) p: Interval,
    pub(super) q: Interval,
}

impl Density {
    /// Either a density or finitely many outcomes.
    pub(super) fn of(base: &Base) -> Result<Self, &FiniteLoss> {
        match base {
            Base::Gaussian { m } => Ok(Self::Gaussian {
                m: *m,
                mean: m.square() * 0.5,
            }),
            Base::Laplace { t } => Ok(Self::Laplace { t: *t }),
            Base::Finite(loss) => Err(loss),
        }
    }

    pub(super) fn edge(&self, loss: Interval) -> Edge {
        match *self {
            Self::Gaussian { m, mean } => {
                let scale = Interval::from(0.5).sqrt() / m;
                let tail = |mean: Interval| {
                    let z = (loss - mean) * scale;
                    let above = z.upper() > 0.0;
                    let mass = if above { z.erfc() } else { (-z).erfc() } * 0.5;
                    Tail { above, mass }
                };
                Edge {
                    loss,
                    p: tail(mean),
                    q: tail(-mean),
                }
            }
            Self::Laplace { t } => {
                let inside = loss.max(-t).min(t);
                Edge {
                    loss,
                    p: Tail {
                        above: false,
                        mass: ((inside - t) * 0.5).exp() * 0.5,
                    },
                    q: Tail {
                        above: true,
                        mass: (-(inside + t) * 0.5).exp() * 0.5,
                    },
                }
            }
        }
    }

    /// Between two edges that are `width` apart, without atoms.
    pub(super) fn between(&self, low: &Edge, high: &Edge, width: Interval) -> Masses {
        match *self {
            Self::Gaussian { .. } => Masses {
                p: difference(low.p, high.p),
                q: difference(low.q, high.q),
            },
            Self::Laplace { t } => {
                // What of the cell lies between the atoms.
                let width = width
                    .min(t - low.loss)
                    .min(high.loss + t)
                    .min(t * 2.0)
                    .non_negative();
                Masses {
                    p: low.p.mass * (width * 0.5).exp_m1(),
                    q: low.q.mass * -(width * -0.5).exp_m1(),
                }
            }
        }
    }

    /// Everything below an edge.
    pub(super) fn below(edge: &Edge) -> Masses {
        Masses {
            p: edge.p.below(),
            q: edge.q.below(),
        }
    }

    /// Everything above an edge.
    pub(super) fn above(edge: &Edge) -> Masses {
        Masses {
            p: edge.p.above(),
            q: edge.q.above(),
        }
    }

    /// The atoms: their losses and masses.
    pub(super) fn atoms(&self) -> Vec<(Interval, Masses)> {
        match *self {
            Self::Gaussian { .. } => Vec::new(),
            Self::Laplace { t } => {
                let (much, little) = (Interval::from(0.5), (-t).exp() * 0.5);
                vec![
                    (-t, Masses { p: little, q: much }),
                    (t, Masses { p: much, q: little }),
                ]
            }
        }
    }
}

impl Tail {
    fn below(self) -> Interval {
        if self.above {
            (Interval::ONE - self.mass).non_negative()
        } else {
            self.mass
        }
    }

    fn above(self) -> Interval {
        if self.above {
            self.mass
        } else {
            (Interval::ONE - self.mass).non_negative()
        }
    }
}

fn difference(low: Tail, high: Tail) -> Interval {
    let mass = match (low.above, high.above) {
        (true, true) => low.mass - high.mass,
        (false, false) => high.mass - low.mass,
        // The middle lies between them.
        _ => Interval::ONE - low.below() - high.above(),
    };
    mass.non_negative()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_tails_and_atoms_add_up() {
        for density in [
            Density::Gaussian {
                m: Interval::from(0.7),
                mean: Interval::from(0.7).square() * 0.5,
            },
            Density::Laplace {
                t: Interval::from(0.7),
            },
        ] {
            let edges: Vec<Edge> = (-9..=9)
                .map(|j| density.edge(Interval::from(0.1) * f64::from(j)))
                .collect();
            let mut sum = Masses {
                p: Interval::ZERO,
                q: Interval::ZERO,
            };
            let mut add = |masses: Masses| {
                sum = Masses {
                    p: sum.p + masses.p,
                    q: sum.q + masses.q,
                }
            };
            for pair in edges.windows(2) {
                add(density.between(&pair[0], &pair[1], Interval::from(0.1)));
            }
            if density.atoms().is_empty() {
                add(Density::below(&edges[0]));
                add(Density::above(&edges[18]));
            }
            for (_, masses) in density.atoms() {
                add(masses);
            }
            assert!(
                sum.p.contains(1.0) && sum.q.contains(1.0),
                "{density:?} {sum:?}"
            );
            assert!(sum.p.upper() - sum.p.lower() < 1e-13);
        }
    }
}
