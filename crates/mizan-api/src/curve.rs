//! The Rényi curve of an event: its cost at each order.

use mizan_accounting::RenyiCurve;
use mizan_core::{Bracket, Code, Definitions, Epsilon, Order};
use mizan_report::{Axis, Figure, Panel, Series};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::messages::{Label, LabelText};
use crate::names::Names;
use crate::number::{OrderJson, finite};
use crate::words::shortened;

/// The most orders in one request.
const MOST_ORDERS: usize = 1000;

/// A request for a Rényi curve.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "gaussian(2) + laplace(1)", "orders": "1,2,inf"}))]
pub struct CurveRequest {
    /// The event, as text or as the text of its JSON form.
    pub expression: String,
    /// Orders from 1 to inf with commas between, or a grid: `paper`, `default`.
    #[serde(default = "paper")]
    pub orders: String,
}

/// The grid of orders that is used by default.
pub(crate) fn paper() -> String {
    "paper".to_owned()
}

/// A Rényi curve at the requested orders.
#[derive(Debug)]
pub struct Curve {
    /// The event as it was given.
    pub expression: String,
    /// The points.
    pub points: Vec<Point>,
    curve: RenyiCurve,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The order as it was given.
    pub order: Typed<Order>,
    /// The cost at the order.
    pub epsilon: Bracket<Epsilon>,
}

/// A Rényi curve.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CurveAnswer {
    /// The event as it was given.
    pub expression: String,
    /// Its points.
    pub curve: Vec<CurvePoint>,
}

/// A point of a curve; null is infinite.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CurvePoint {
    /// The order.
    pub order: OrderJson,
    /// The cost is at most this.
    pub epsilon: Option<f64>,
    /// The cost is at least this.
    pub lower: Option<f64>,
}

/// A curve that grows by a larger factor is drawn on a logarithmic axis.
const STEEP: f64 = 1000.0;

/// The orders of a request, if they are not too many.
pub(crate) fn orders(text: &str, names: Names) -> Result<Vec<Typed<Order>>, Failure> {
    let option = names.option("orders");
    if names == Names::Program && text.split(',').count() > MOST_ORDERS {
        let message = format!("{option}: at most {MOST_ORDERS} orders are answered at once");
        return Err(Failure::new(Code::MZ1008, message, "ask several times"));
    }
    input::orders(text, &option)
}

impl CurveRequest {
    /// Computes the curve.
    ///
    /// # Errors
    ///
    /// The event is not valid or has no curve, or an order is not valid.
    pub fn evaluate(&self, definitions: &Definitions, names: Names) -> Result<Curve, Failure> {
        let Expression { text, event } = Expression::parse(&self.expression, definitions)?;
        let orders = orders(&self.orders, names)?;
        let curve = RenyiCurve::of(&event)?;
        let point = |order: Typed<Order>| Point {
            order,
            epsilon: curve.at(order.value),
        };
        Ok(Curve {
            expression: text,
            points: orders.into_iter().map(point).collect(),
            curve,
        })
    }
}

impl Curve {
    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> CurveAnswer {
        let point = |point: &Point| CurvePoint {
            order: OrderJson::of(point.order.shown),
            epsilon: finite(point.epsilon.upper.get()),
            lower: finite(point.epsilon.lower.get()),
        };
        CurveAnswer {
            expression: self.expression.clone(),
            curve: self.points.iter().map(point).collect(),
        }
    }

    /// The figure of the curve.
    #[must_use]
    pub fn figure(&self, words: LabelText) -> Figure {
        let event = shortened(&self.expression, 70);
        Figure::new(words(&Label::CurveOf { event })).with(self.panel(words))
    }

    /// The curve between its finite orders, with the requested orders marked.
    #[must_use]
    pub fn panel(&self, words: LabelText) -> Panel {
        let finite = || {
            let orders = self.points.iter().map(|point| point.order.value.get());
            orders.filter(|order| order.is_finite())
        };
        let low = finite().fold(f64::INFINITY, f64::min).min(2.0);
        let high = finite().fold(1.0, f64::max).max(low * 4.0);
        let at = |order: f64| {
            let order = Order::new(order);
            order.map_or(f64::INFINITY, |order| self.curve.at(order).upper.get())
        };
        // Evenly spaced on the logarithmic axis.
        let line = Series::sampled("", low.ln(), high.ln(), 200, |ln_order| {
            at(ln_order.exp().clamp(low, high))
        });
        let line: Vec<(f64, f64)> = line
            .points
            .into_iter()
            .map(|(ln_order, epsilon)| (ln_order.exp(), epsilon))
            .collect();
        // A gap after each mark, so that marks are not connected.
        let chosen = self
            .points
            .iter()
            .filter(|point| point.order.value.is_finite())
            .map(|point| (point.order.value.get(), point.epsilon.upper.get()))
            .flat_map(|(order, epsilon)| [(order, epsilon), (order, f64::NAN)])
            .collect();
        let seen = || {
            let epsilons = line.iter().map(|(_, epsilon)| *epsilon);
            epsilons.filter(|epsilon| epsilon.is_finite() && *epsilon > 0.0)
        };
        let (least, most) = (
            seen().fold(f64::INFINITY, f64::min),
            seen().fold(0.0, f64::max),
        );
        // Subsampled events cost little up to some order and very much above it.
        let y = match most > STEEP * least {
            true => Axis::log10("ε(α)"),
            false => Axis::linear("ε(α)"),
        };
        Panel::new("", Axis::log10(words(&Label::Order)), y)
            .with(Series::new("ε(α)", line))
            .with(Series::new(words(&Label::ListedOrders), chosen).markers())
    }
}
