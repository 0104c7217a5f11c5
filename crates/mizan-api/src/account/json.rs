//! The JSON form of the accountant's answer.

use std::collections::BTreeMap;

use mizan_accounting::AtOrder;
use mizan_accounting::methods::MethodBound;
use mizan_core::Code;
use serde::Serialize;
use utoipa::ToSchema;

use super::{AccountResult, Solved, SolvedFor};
use crate::messages::{AccountWarning, AsJson, EventPart, MessageJson, data, english};
use crate::number::{OrderJson, finite};

/// The cost of a privacy event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AccountAnswer {
    /// The event as it was given.
    pub expression: String,
    /// The delta that was given, or its bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<RequestedOrBound>,
    /// The epsilon that was given, or its bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<RequestedOrBound>,
    /// The results of all methods that apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<MethodJson>>,
    /// The methods that do not apply, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Vec<RefusedMethod>>,
    /// With `why`: each conversion from the Rényi curve at its own best order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversions: Option<Vec<AtOrderJson>>,
    /// The results if the orders are restricted to a grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grids: Option<Vec<AtOrderJson>>,
    /// The derivation of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<DerivationJson>,
    /// The Rényi curve at the paper's orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Vec<ReportPoint>>,
    /// The same curve as an event that can be composed with others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_event: Option<String>,
    /// Delta at many epsilons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Vec<ProfilePoint>>,
    /// The false-negative rates of an attacker at false-positive rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trade_off: Option<Vec<Rate>>,
    /// The advantage of any attack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advantage: Option<Ends>,
    /// Warnings in English.
    pub warnings: Vec<String>,
    /// The warnings as data.
    #[schema(value_type = Vec<MessageJson>)]
    pub warnings_data: Vec<AsJson<AccountWarning>>,
}

/// A number that was given, or bounds of the number that was computed.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = GivenOrBound)]
pub enum RequestedOrBound {
    /// The number that was given.
    Given(f64),
    /// Bounds of the computed number.
    Bound(Bound),
}

/// Bounds of a number; null is infinite or unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Bound {
    /// The exact value is at most this.
    pub upper: Option<f64>,
    /// The exact value is at least this, if a lower bound is known.
    pub lower: Option<f64>,
    /// The method that gives the bounds.
    pub method: String,
}

/// The result of one method.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MethodJson {
    /// The method.
    pub name: String,
    /// Its upper bound.
    pub upper: Option<f64>,
    /// Its lower bound of the exact value, if it has one.
    pub lower: Option<f64>,
    /// Its best order, if it has one.
    pub order: Option<OrderJson>,
}

/// A method that does not apply.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusedMethod {
    /// The method.
    pub name: String,
    /// The stable code of the reason.
    pub code: String,
    /// The reason in English.
    pub reason: String,
    /// The part of the event that the method cannot account for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The path of that part in the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The least delta that the method can answer, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_delta: Option<f64>,
    /// The code as a value.
    #[serde(skip)]
    pub registered: Code,
}

/// A bound at an order.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AtOrderJson {
    /// The name of the conversion or grid.
    pub name: String,
    /// The bound.
    pub upper: Option<f64>,
    /// The order.
    pub order: OrderJson,
}

/// A point of a Rényi curve.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReportPoint {
    /// The order.
    pub order: OrderJson,
    /// The cost at the order; null is infinite.
    pub epsilon: Option<f64>,
}

/// The derivation of an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DerivationJson {
    /// The best order of the Rényi method.
    pub order: Option<OrderJson>,
    /// The event and its parts, depth first.
    pub parts: Vec<PartJson>,
    /// The number of further parts.
    pub parts_left_out: usize,
    /// Closed formulas of papers that apply.
    pub closed_forms: Vec<ClosedFormJson>,
}

/// A part of an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PartJson {
    /// Its depth in the event.
    pub depth: usize,
    /// Its description in English.
    pub event: String,
    /// The description as data.
    #[schema(value_type = MessageJson)]
    pub event_data: AsJson<EventPart>,
    /// Its cost at order 1, at the best order and at infinity.
    pub renyi: Option<Vec<Option<f64>>>,
}

/// A formula of a paper with its numbers.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ClosedFormJson {
    /// The formula.
    pub formula: String,
    /// The paper.
    pub reference: String,
    /// The inputs by name.
    pub inputs: BTreeMap<String, Option<f64>>,
    /// The result.
    pub epsilon: Option<f64>,
}

/// Delta at an epsilon.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProfilePoint {
    /// The epsilon.
    pub epsilon: f64,
    /// The tightest bounds.
    pub delta: Bound,
    /// The upper bound of each method.
    pub methods: BTreeMap<String, Option<f64>>,
}

/// The false-negative rate of an attacker at a false-positive rate.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Rate {
    /// The false-positive rate.
    pub false_positive: f64,
    /// The false-negative rate.
    pub false_negative: Ends,
}

/// Bounds of a number between 0 and 1; null is unknown.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Ends {
    /// The upper bound.
    pub upper: Option<f64>,
    /// The lower bound.
    pub lower: Option<f64>,
}

impl AccountResult {
    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> AccountAnswer {
        let solved = self.solved.as_ref();
        let bound = |solved: &Solved| {
            RequestedOrBound::Bound(Bound {
                upper: finite(solved.best.upper),
                lower: solved.account.lower().and_then(finite),
                method: solved.best.method.name().to_owned(),
            })
        };
        let (delta, epsilon) = match solved.map(|solved| (solved, solved.solved_for)) {
            None => (None, None),
            Some((solved, SolvedFor::EpsilonAt(delta))) => (
                Some(RequestedOrBound::Given(delta.shown)),
                Some(bound(solved)),
            ),
            Some((solved, SolvedFor::DeltaAt(epsilon))) => (
                Some(bound(solved)),
                Some(RequestedOrBound::Given(epsilon.shown)),
            ),
        };
        let listed = |list: &[(&str, AtOrder<f64>)]| list.iter().map(at_order).collect();
        let report = self.report.as_deref();
        let profile = self.profile.as_ref();
        AccountAnswer {
            expression: self.expression.clone(),
            delta,
            epsilon,
            methods: solved.map(methods),
            refused: solved.map(refused),
            conversions: solved.map(|solved| listed(&solved.conversions)),
            grids: solved.map(|solved| listed(&solved.grids)),
            why: solved.and_then(|solved| Some(solved.why.as_ref()?.json())),
            report: report.map(|report| {
                let point = |at: &AtOrder<mizan_core::Epsilon>| ReportPoint {
                    order: OrderJson::of(at.order.get()),
                    epsilon: finite(at.bound.get()),
                };
                report.iter().map(point).collect()
            }),
            report_event: report.map(super::text::report_event),
            profile: profile.map(super::Profile::points),
            trade_off: profile.map(super::Profile::rates),
            advantage: profile.map(super::Profile::advantage),
            warnings: english(&self.warnings),
            warnings_data: data(&self.warnings),
        }
    }
}

fn methods(solved: &Solved) -> Vec<MethodJson> {
    let method = |bound: &MethodBound<f64>| MethodJson {
        name: bound.method.name().to_owned(),
        upper: finite(bound.upper),
        lower: bound.lower.and_then(finite),
        order: bound.order.map(|order| OrderJson::of(order.get())),
    };
    solved.account.bounds.iter().map(method).collect()
}

fn refused(solved: &Solved) -> Vec<RefusedMethod> {
    let refusals = solved.account.refusals.iter();
    let refusal = |(method, why): &(_, mizan_accounting::methods::Refusal)| {
        let method: &mizan_accounting::methods::Method = method;
        let part = why.part();
        RefusedMethod {
            name: method.name().to_owned(),
            code: why.code().to_string(),
            reason: why.to_string(),
            event: part.map(|part| part.event().to_owned()),
            path: part.map(|part| part.path().to_owned()),
            least_delta: why.named_delta(),
            registered: why.code(),
        }
    };
    refusals.map(refusal).collect()
}

fn at_order((name, at): &(&str, AtOrder<f64>)) -> AtOrderJson {
    AtOrderJson {
        name: (*name).to_owned(),
        upper: finite(at.bound),
        order: OrderJson::of(at.order.get()),
    }
}
