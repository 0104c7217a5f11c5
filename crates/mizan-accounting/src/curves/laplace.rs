//! Laplace noise of a given scale on a function of bounded L1 sensitivity.
//!
//! # Reference
//! Mironov 2017, Proposition 6. The logarithm of the moment is convex in the
//! shift and zero at no shift, so for vectors of bounded L1 sensitivity the
//! worst case is the whole shift in one coordinate.

use mizan_core::{Interval, Scale, Sensitivity};

use super::position::Position;
use super::two_sided::{self, Weights};

/// The curve of the Laplace mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    /// Sensitivity over scale: the pure ε.
    t: Interval,
}

impl Curve {
    pub(crate) fn new(scale: Scale, sensitivity: Sensitivity) -> Self {
        Self {
            t: Interval::from(sensitivity.get()) / scale.get(),
        }
    }

    #[inline]
    pub(crate) fn at(&self, position: Position) -> Interval {
        match position {
            Position::One => (-self.t).exp_beyond_tangent(),
            Position::Between(order) => {
                let share = Interval::ONE / order.twice_minus_one();
                two_sided::between(
                    order,
                    self.t,
                    &Weights {
                        share,
                        drift: Interval::ZERO,
                    },
                )
            }
            Position::Infinite => self.t,
        }
    }
}
