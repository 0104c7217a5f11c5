//! Rényi curves, one mechanism per file.
//!
//! A [`RenyiCurve`] is a function of the order α in [1, ∞]: the certified
//! Rényi divergence between the outputs on neighbouring inputs, summed over
//! everything that was released (Mironov 2017, Proposition 1). Grids of orders
//! are views on it, see [`OrderGrid`](crate::OrderGrid).

mod amplified;
mod concentrated;
mod discrete_gaussian;
mod discrete_laplace;
mod exponential;
mod gaussian;
mod hyperbolic;
mod laplace;
mod mechanism;
mod position;
mod randomized_response;
mod reported;
mod sampled;
mod two_point;
mod two_sided;

use mizan_core::directed::DirectedSum;
use mizan_core::{Bracket, Epsilon, Interval, Order, PrivacyEvent};

use crate::Unsupported;
use crate::guarantees::groups_are_exact;
use crate::numeric::mechanism::one_kind_of_neighbours;
pub(crate) use hyperbolic::ln_sinhc_half;
use mechanism::Mechanism;
pub(crate) use position::{Between, Position};
pub(crate) use randomized_response::response_loss;

/// The Rényi budget curve of an event.
///
/// ```
/// use mizan_accounting::RenyiCurve;
/// use mizan_core::{Order, PrivacyEvent};
///
/// let event: PrivacyEvent = "100 * gaussian(10)".parse()?;
/// let curve = RenyiCurve::of(&event)?;
/// let at_two = curve.at(Order::new(2.0)?);
/// assert!(at_two.upper.get() >= 1.0 && at_two.upper.get() < 1.0 + 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RenyiCurve {
    terms: Vec<Term>,
    /// Whether the prices of groups in it are reached.
    exact: bool,
}

/// One mechanism and how many times it ran.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    count: Interval,
    mechanism: Mechanism,
}

impl RenyiCurve {
    /// Prepares the curve of an event.
    ///
    /// # Errors
    ///
    /// Some part of the event has no Rényi curve, or none that this version
    /// can compute; the error names the part.
    pub fn of(event: &PrivacyEvent) -> Result<Self, Unsupported> {
        one_kind_of_neighbours(event)?;
        let mut terms = Vec::new();
        crate::walk::each_mechanism(event, |count, event, path| {
            let mechanism =
                Mechanism::of(event).map_err(|reason| Unsupported::new(event, path, reason))?;
            terms.push(Term { count, mechanism });
            Ok(())
        })?;
        Ok(Self {
            terms,
            exact: groups_are_exact(event),
        })
    }

    /// The curve α ρ of zero-concentrated differential privacy.
    pub(crate) fn zero_concentrated(rho: Interval) -> Self {
        Self::single(Mechanism::Gaussian(gaussian::Curve::zero_concentrated(rho)))
    }

    /// The curve μ + (α-1) τ²/2 of concentrated differential privacy.
    pub(crate) fn concentrated(mean: Interval, variance: Interval) -> Self {
        Self::single(Mechanism::Concentrated(concentrated::Curve::enclosed(
            mean, variance,
        )))
    }

    fn single(mechanism: Mechanism) -> Self {
        Self {
            terms: vec![Term {
                count: Interval::ONE,
                mechanism,
            }],
            exact: true,
        }
    }

    /// The curve at one order.
    ///
    /// # Guarantee
    ///
    /// `lower <= exact value <= upper`, rounding included; the two agree to
    /// 1e-12 relative or 1e-300 absolute wherever a closed form exists.
    pub fn at(&self, order: Order) -> Bracket<Epsilon> {
        let mut bracket: Bracket<Epsilon> = self.enclosure(order).into();
        if !self.exact {
            bracket.lower = Epsilon::ZERO;
        }
        bracket
    }

    pub(crate) fn enclosure(&self, order: Order) -> Interval {
        let position = Position::of(order);
        if let [
            Term {
                count: Interval::ONE,
                mechanism,
            },
        ] = self.terms.as_slice()
        {
            return mechanism.at(position);
        }
        let mut sum = DirectedSum::default();
        for Term { count, mechanism } in &self.terms {
            let cost = *count * mechanism.at(position);
            sum.add(cost.lower(), cost.upper());
        }
        Interval::new(sum.lower(), sum.upper()).non_negative()
    }

    /// Orders at which the curve may have a corner: those that were reported.
    pub(crate) fn corners(&self) -> Vec<Order> {
        self.terms
            .iter()
            .flat_map(|term| term.mechanism.corners())
            .collect()
    }
}
