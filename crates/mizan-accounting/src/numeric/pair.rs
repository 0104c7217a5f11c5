//! Dominating pairs, which the numerical engines compose: one mechanism in one direction, as the pair
//! of output distributions (P, Q) of two neighbouring inputs.
//!
//! A pair *dominates* a mechanism if no test distinguishes the outputs of the mechanism better than P
//! from Q; a composition of dominating pairs dominates the composition (Zhu, Dong and Wang 2022,
//! Theorem 10), adaptive or not. So δ(ε) of the pairs is a bound, and exact if the mechanism attains
//! them.
//!
//! δ(ε) depends only on the distribution of the privacy loss L = ln P/Q under P.

use mizan_core::Interval;

/// One mechanism in one direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pair {
    /// What is done with the sample.
    pub(crate) base: Base,
    /// How the sample came about.
    pub(crate) sampling: Sampling,
}

/// A pair without sampling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base {
    /// N(m, 1) against N(0, 1): the loss is normal with mean m²/2 and standard
    /// deviation m. Symmetric: the reversed pair has the same loss.
    Gaussian {
        /// Sensitivity over standard deviation.
        m: Interval,
    },
    /// Laplace noise of scale 1, moved by t: losses from -t to t, with atoms
    /// 1/2 at t and e^-t/2 at -t and the density e^((l-t)/2)/4 between.
    /// Symmetric.
    Laplace {
        /// Sensitivity over scale.
        t: Interval,
    },
    /// Finitely many outcomes.
    Finite(FiniteLoss),
}

/// How the sample came about on which the base ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sampling {
    /// Without sampling.
    Whole,
    /// Poisson sampling at a rate q, one person removed:
    /// (1-q) Q + q P against Q.
    Remove {
        /// The probability to be in the sample.
        q: f64,
    },
    /// Poisson sampling at a rate q, one person added:
    /// Q against (1-q) Q + q P.
    Add {
        /// The probability to be in the sample.
        q: f64,
    },
    /// A sample of fixed size, one person replaced; for symmetric bases. The
    /// losses above zero are those of (1-q) Q + q P against Q, the losses below
    /// are their mirror image, the rest of the mass is at zero (Zhu, Dong and
    /// Wang 2022, Theorem 11).
    Replace {
        /// The share of people in the sample, m/n.
        q: Interval,
    },
}

/// A loss with finitely many values: P on one side, Q = P e^-L on the other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FiniteLoss {
    /// By rising loss, no loss twice.
    pub(crate) atoms: Vec<Atom>,
    /// The probability under P of outcomes that Q never gives.
    pub(crate) beyond: Interval,
    /// The probability under Q of outcomes that P never gives.
    pub(crate) below: Interval,
}

/// A finite loss and its probability under P, enclosed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) loss: Interval,
    pub(crate) mass: Interval,
}

impl FiniteLoss {
    /// Losses ±ε with the odds e^ε: what every ε-DP mechanism is a
    /// post-processing of. Symmetric.
    pub(crate) fn two_point(epsilon: Interval) -> Self {
        if epsilon.upper() == 0.0 {
            return Self {
                atoms: vec![Atom {
                    loss: Interval::ZERO,
                    mass: Interval::ONE,
                }],
                beyond: Interval::ZERO,
                below: Interval::ZERO,
            };
        }
        let mass = |loss: Interval| Interval::ONE / ((-loss).exp() + 1.0);
        let atom = |loss: Interval| Atom {
            loss,
            mass: mass(loss),
        };
        Self {
            atoms: vec![atom(-epsilon), atom(epsilon)],
            beyond: Interval::ZERO,
            below: Interval::ZERO,
        }
    }

    /// The same outcomes with the roles of P and Q exchanged.
    pub(crate) fn reversed(&self) -> Self {
        let atoms = self.atoms.iter().rev().map(|atom| Atom {
            loss: -atom.loss,
            mass: atom.mass * (-atom.loss).exp(),
        });
        Self {
            atoms: atoms.collect(),
            beyond: self.below,
            below: self.beyond,
        }
    }
}

impl Pair {
    /// The probability under P of an infinite loss.
    pub(crate) fn infinite_mass(&self) -> Interval {
        let Base::Finite(loss) = &self.base else {
            return Interval::ZERO;
        };
        match self.sampling {
            Sampling::Whole => loss.beyond,
            Sampling::Remove { q } => loss.beyond * q,
            Sampling::Add { .. } => Interval::ZERO,
            Sampling::Replace { q } => loss.beyond * q,
        }
    }

    /// The largest finite loss, or infinity where there is none.
    pub(crate) fn largest_loss(&self) -> Interval {
        let (smallest, largest) = match &self.base {
            Base::Gaussian { m } if *m == Interval::ZERO => (Interval::ZERO, Interval::ZERO),
            Base::Gaussian { .. } => (-Interval::INFINITE, Interval::INFINITE),
            Base::Laplace { t } => (-*t, *t),
            Base::Finite(loss) => {
                let ends = (loss.atoms.first(), loss.atoms.last());
                let (Some(first), Some(last)) = ends else {
                    return Interval::ZERO;
                };
                if loss.below.upper() > 0.0 {
                    (-Interval::INFINITE, last.loss)
                } else {
                    (first.loss, last.loss)
                }
            }
        };
        let mixed = |q: Interval, loss: Interval| {
            if loss.upper() == f64::NEG_INFINITY {
                (-q).ln_1p()
            } else if loss.lower() > 30.0 {
                loss + (q + (Interval::ONE - q) * (-loss).exp()).ln()
            } else {
                (q * loss.exp_m1()).ln_1p()
            }
        };
        match self.sampling {
            Sampling::Whole => largest,
            Sampling::Remove { q } => mixed(q.into(), largest),
            Sampling::Replace { q } => mixed(q, largest),
            Sampling::Add { q } => -mixed(q.into(), smallest),
        }
    }
}
