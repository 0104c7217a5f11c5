//! A Rényi guarantee that is reported at a few orders only.
//!
//! Between reported orders the curve is bounded by two facts that hold for any
//! pair of distributions: K(α) = (α-1) D_α is convex with K(1) = 0, and its
//! slope never exceeds D_∞. So chords between reported points of K (the origin
//! among them) are sound, and the lower hull of them is the best of these.
//! Above the largest finite order nothing is known unless ∞ was reported.
//!
//! # Reference
//! van Erven and Harremoës 2014, Theorem 11 and Corollary 2, for convexity.

use mizan_core::{Interval, Order, RenyiPoints};

use super::position::Position;
use super::two_point::TwoPoint;

/// The curve implied by reported points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    /// The smallest reported ε, which bounds the divergence at order 1.
    at_one: f64,
    /// Corners of the lower hull of K, by growing α; the origin is left out.
    corners: Vec<Corner>,
    /// What was reported at ∞.
    pure: Option<TwoPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner {
    order: f64,
    epsilon: f64,
}

impl Corner {
    const ORIGIN: Self = Self {
        order: 1.0,
        epsilon: 0.0,
    };

    fn moment(&self) -> Interval {
        (Interval::from(self.order) - 1.0) * self.epsilon
    }
}

impl Curve {
    pub(crate) fn new(points: &RenyiPoints) -> Self {
        let finite = points
            .as_slice()
            .iter()
            .filter(|(order, _)| order.get().is_finite() && order.get() > 1.0);
        let pure = points
            .as_slice()
            .iter()
            .find(|(order, _)| order.get() == f64::INFINITY);
        let mut corners: Vec<Corner> = Vec::new();
        for (order, epsilon) in finite {
            let corner = Corner {
                order: order.get(),
                epsilon: epsilon.get(),
            };
            // Any choice of corners is sound; this one is the lower hull.
            drop_last_while(&mut corners, |steepness, last| {
                steepness >= slope(last, corner)
            });
            corners.push(corner);
        }
        // No slope exceeds D_∞: corners above the ray from the one before go.
        if let Some((_, most)) = pure {
            drop_last_while(&mut corners, |steepness, _| steepness > most.get());
        }
        Self {
            at_one: points
                .as_slice()
                .iter()
                .map(|(_, epsilon)| epsilon.get())
                .fold(f64::INFINITY, f64::min),
            corners,
            pure: pure.map(|(_, epsilon)| TwoPoint::new(Interval::from(epsilon.get()))),
        }
    }

    pub(crate) fn at(&self, position: Position) -> Interval {
        let from_pure = self
            .pure
            .map_or(Interval::INFINITE, |pure| pure.at(position));
        let from_points = match position {
            Position::One => Interval::from(self.at_one),
            Position::Between(order) => self.on_hull(order.a, order.b),
            Position::Infinite => Interval::INFINITE,
        };
        from_pure.min(from_points)
    }

    /// The orders at which the hull has a corner.
    pub(crate) fn corners(&self) -> Vec<Order> {
        self.corners
            .iter()
            .filter_map(|corner| Order::new(corner.order).ok())
            .collect()
    }

    fn on_hull(&self, a: f64, b: Interval) -> Interval {
        let next = self.corners.partition_point(|corner| corner.order < a);
        let before = next.checked_sub(1).and_then(|i| self.corners.get(i));
        match (before, self.corners.get(next)) {
            (_, Some(corner)) if corner.order == a => Interval::from(corner.epsilon),
            // Below the first corner the chord from the origin has its ε.
            (None, Some(corner)) => Interval::from(corner.epsilon),
            (Some(left), Some(right)) => {
                let share =
                    (Interval::from(a) - left.order) / (Interval::from(right.order) - left.order);
                let moment = left.moment() * (Interval::ONE - share) + right.moment() * share;
                moment / b
            }
            (last, None) => {
                let Some(pure) = self.pure else {
                    return Interval::INFINITE;
                };
                let last = last.copied().unwrap_or(Corner::ORIGIN);
                let beyond = (Interval::from(a) - last.order) * pure.at(Position::Infinite);
                (last.moment() + beyond) / b
            }
        }
    }
}

/// Takes corners off the end as long as `is_idle` says so of the slope that
/// leads to the last one, and of that corner.
fn drop_last_while(corners: &mut Vec<Corner>, is_idle: impl Fn(f64, Corner) -> bool) {
    while let Some(last) = corners.pop() {
        let before = corners.last().copied().unwrap_or(Corner::ORIGIN);
        if !is_idle(slope(before, last), last) {
            corners.push(last);
            break;
        }
    }
}

fn slope(left: Corner, right: Corner) -> f64 {
    (right.moment().middle() - left.moment().middle()) / (right.order - left.order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::PrivacyEvent;

    fn curve(text: &str) -> Curve {
        match text.parse() {
            Ok(PrivacyEvent::Renyi(points)) => Curve::new(&points),
            other => panic!("{other:?}"),
        }
    }

    fn at(curve: &Curve, a: f64) -> f64 {
        curve.at(Position::of(Order::new(a).unwrap())).upper()
    }

    #[test]
    fn reported_orders_are_returned_exactly() {
        let curve = curve("rdp(2:0.125, 4:0.25, inf:4)");
        assert_eq!(at(&curve, 2.0), 0.125);
        assert_eq!(at(&curve, 4.0), 0.25);
        assert_eq!(at(&curve, f64::INFINITY), 4.0);
        assert_eq!(at(&curve, 1.5), 0.125);
    }

    #[test]
    fn a_straight_line_is_recovered_within_the_chord() {
        // zCDP with rho 1/16 reported at 2 and 4: K(3) = 6/16, the chord says
        // (2/16 + 12/16)/2 = 7/16.
        let curve = curve("rdp(2:0.125, 4:0.25)");
        assert!((at(&curve, 3.0) - 7.0 / 32.0).abs() < 1e-15);
        assert_eq!(at(&curve, 4.5), f64::INFINITY);
    }

    #[test]
    fn a_careless_report_is_tightened() {
        // The value at 3 is above the chord from 2 to 4 and drops out.
        let curve = curve("rdp(2:0.125, 3:0.9, 4:0.25)");
        assert!((at(&curve, 3.0) - 7.0 / 32.0).abs() < 1e-15);
        // With D_∞ = 3 the value at 4 is above the ray from 2.
        let curve = self::curve("rdp(2:0.001, 4:2.9, inf:3)");
        assert!(at(&curve, 3.0) <= 1.5005 * (1.0 + 1e-15));
        // A larger order with a smaller ε bounds all smaller orders.
        let curve = self::curve("rdp(2:0.5, 8:0.25)");
        assert_eq!(at(&curve, 2.0), 0.25);
        assert_eq!(at(&curve, 1.0), 0.25);
    }
}
