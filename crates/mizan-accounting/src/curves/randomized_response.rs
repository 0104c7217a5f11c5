//! Randomized response, binary and over k categories: the true answer with probability p, otherwise a
//! uniform one of the other categories.
//!
//! # Reference
//! Mironov 2017, Proposition 5, for two categories; for k the definition.

use mizan_core::{Interval, RandomizedResponse};

use super::position::Position;
use super::two_point::TwoPoint;

/// The curve of randomized response.
///
/// Between two neighbouring inputs only two of the k categories differ. They
/// carry the mass `pair` and form a [`TwoPoint`]; the others have loss zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Curve {
    two_point: TwoPoint,
    /// None when there are only two categories and the pair is everything.
    others: Option<Others>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Others {
    /// P + q, the mass of the two categories that differ.
    pair: Interval,
    /// (k - 2) q, the mass of the others.
    rest: Interval,
}

/// The size ε of the loss of the two categories that differ; with more than two
/// the mass of the pair and of the rest.
pub(crate) fn response_loss(
    mechanism: &RandomizedResponse,
) -> (Interval, Option<(Interval, Interval)>) {
    let p = mechanism.p().get();
    let k = mechanism.categories().as_f64();
    let lie = Interval::from(1.0) - p;
    // e^ε - 1 = (p k - 1)/(1 - p), with one rounding where p is near 1/k.
    // The double nearest to 1/k may lie below it: then the lie is the
    // likelier of the two, and ε changes its sign but not its size.
    let margin = p.mul_add(k, -1.0);
    let margin = if margin == 0.0 {
        Interval::ZERO
    } else {
        Interval::new(margin.next_down(), margin.next_up())
    };
    let epsilon = (margin / lie).ln_1p().abs();
    let rest = (k > 2.0).then(|| {
        let q = lie / (k - 1.0);
        (q + p, q * (k - 2.0))
    });
    (epsilon, rest)
}

impl Curve {
    pub(crate) fn new(mechanism: &RandomizedResponse) -> Self {
        let (epsilon, rest) = response_loss(mechanism);
        Self {
            two_point: TwoPoint::new(epsilon),
            others: rest.map(|(pair, rest)| Others { pair, rest }),
        }
    }

    #[inline]
    pub(crate) fn at(&self, position: Position) -> Interval {
        let pair_curve = self.two_point.at(position);
        match (self.others, position) {
            (None, _) | (_, Position::Infinite) => pair_curve,
            (Some(others), Position::One) => others.pair * pair_curve,
            (Some(Others { pair, rest }), Position::Between(order)) => {
                // ln(rest + pair e^x)/(α - 1), where the two masses add to one.
                let x = order.b * pair_curve;
                if x.upper() < 600.0 {
                    (pair * x.exp_m1()).ln_1p() / order.b
                } else {
                    pair_curve + (pair.ln() + (rest / pair * (-x).exp()).ln_1p()) / order.b
                }
            }
        }
    }
}
