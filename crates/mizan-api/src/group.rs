//! Group privacy: the cost of an event for several people together.

use mizan_accounting::methods::{self, Comparison, MethodBound};
use mizan_accounting::{OrderGrid, RenyiCurve, group_privacy};
use mizan_core::{Count, Definitions, Delta, Epsilon, Order, PrivacyEvent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::account::Bound;
use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::names::Names;
use crate::number::{NumberInput, OrderJson, finite};

/// A request for the cost of an event for a group.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "gaussian(2)", "size": 4, "delta": 1e-6}))]
pub struct GroupRequest {
    /// The event, as text or as the text of its JSON form.
    pub expression: String,
    /// The number of people in the group.
    pub size: u64,
    /// If given, also compute the epsilon at this delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<NumberInput>,
}

/// The cost of an event for a group.
#[derive(Debug)]
pub struct Group {
    /// The event as it was given.
    pub expression: String,
    /// The number of people in the group.
    pub size: Count,
    /// The event for the group.
    pub event: PrivacyEvent,
    /// The delta that was given.
    pub delta: Option<Typed<Delta>>,
    /// The tightest epsilon at the delta.
    pub best: Option<MethodBound<Epsilon>>,
    /// The curves of the group and of one person at the paper's orders.
    pub points: Vec<(Order, Option<f64>, Option<f64>)>,
    /// Whether the group has a Rényi curve.
    pub has_curve: bool,
}

/// The cost of an event for a group.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GroupAnswer {
    /// The event as it was given.
    pub expression: String,
    /// The number of people in the group.
    pub size: u64,
    /// The event for the group.
    pub event: String,
    /// The delta that was given.
    pub delta: Option<f64>,
    /// The tightest epsilon at the delta.
    pub epsilon: Option<Bound>,
    /// Both curves at the paper's orders.
    pub curve: Vec<GroupPoint>,
}

/// The cost at an order; null is infinite or unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GroupPoint {
    /// The order.
    pub order: OrderJson,
    /// The cost for the group.
    pub epsilon: Option<f64>,
    /// The cost for one person.
    pub for_one: Option<f64>,
}

impl GroupRequest {
    /// Computes the cost for the group.
    ///
    /// # Errors
    ///
    /// The event is not valid, or its cost for a group is unknown.
    pub fn evaluate(&self, definitions: &Definitions, names: Names) -> Result<Group, Failure> {
        let size = input::count(&self.size.to_string(), &names.option("size"))?;
        let delta = self.delta.as_ref();
        let delta = delta
            .map(|given| input::delta(&given.text(), &names.option("delta")))
            .transpose()?;
        let Expression { text, event } = Expression::parse(&self.expression, definitions)?;
        let group = group_privacy(size, &event).map_err(|reason| {
            let whole = PrivacyEvent::Group {
                size,
                event: Box::new(event.clone()),
            };
            match RenyiCurve::of(&whole) {
                Err(error) => Failure::from(error),
                Ok(_) => Failure::new(reason.code(), reason, "ask for a smaller group"),
            }
        })?;
        let curve = RenyiCurve::of(&group).ok();
        let single = RenyiCurve::of(&event).ok();
        let account: Option<Comparison<Epsilon>> =
            delta.map(|delta| methods::epsilon(&group, delta.value));
        let best = account.as_ref().and_then(Comparison::best);
        if let (Some(account), None) = (&account, &best) {
            return Err(Failure::from(account.refusal()));
        }
        let at = |curve: &Option<RenyiCurve>, order| {
            curve.as_ref().map(|curve| curve.at(order).upper.get())
        };
        let orders = OrderGrid::paper();
        let point = |&order: &Order| (order, at(&curve, order), at(&single, order));
        Ok(Group {
            expression: text,
            size,
            delta,
            best,
            points: orders.orders().iter().map(point).collect(),
            has_curve: curve.is_some(),
            event: group,
        })
    }
}

impl Group {
    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> GroupAnswer {
        let point = |&(order, group, one): &(Order, Option<f64>, Option<f64>)| GroupPoint {
            order: OrderJson::of(order.get()),
            epsilon: group.and_then(finite),
            for_one: one.and_then(finite),
        };
        GroupAnswer {
            expression: self.expression.clone(),
            size: self.size.get(),
            event: self.event.to_string(),
            delta: self.delta.map(|delta| delta.shown),
            epsilon: self.best.as_ref().map(|best| Bound {
                upper: finite(best.upper.get()),
                lower: best.lower.and_then(|lower| finite(lower.get())),
                method: best.method.name().to_owned(),
            }),
            curve: self.points.iter().map(point).collect(),
        }
    }
}
