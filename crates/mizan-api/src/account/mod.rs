//! The cost of a privacy event: ε at a δ, or δ at an ε.
//!
//! This file has the request and the answer as data. `text.rs` and `json.rs` render it, `why.rs`
//! derives it, and `profile/` is about all δ at once.

mod json;
mod profile;
mod text;
mod why;

use mizan_accounting::methods::{self, Comparison, Method, MethodBound};
use mizan_accounting::{Accountant, AtOrder, OrderGrid, RenyiConversion, RenyiCurve};
use mizan_core::{Code, Definitions, Delta, Epsilon, PrivacyEvent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::input::{self, Expression, Typed};
use crate::messages::AccountWarning;
use crate::names::Names;
use crate::number::NumberInput;

pub use json::{
    AccountAnswer, AtOrderJson, Bound, ClosedFormJson, DerivationJson, Ends, MethodJson, PartJson,
    ProfilePoint, Rate, RefusedMethod, ReportPoint, RequestedOrBound,
};
pub use profile::Profile;

/// A request for the cost of an event: give `delta` or `epsilon`, or request the profile or the
/// report.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "100 * gaussian(10)", "delta": 1e-6}))]
pub struct AccountRequest {
    /// The event, as text or as the text of its JSON form.
    pub expression: String,
    /// The delta of the guarantee; the answer is an epsilon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<NumberInput>,
    /// The epsilon of the guarantee; the answer is a delta.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<NumberInput>,
    /// Only this method; otherwise all that apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Whether to derive the result.
    #[serde(default)]
    pub why: bool,
    /// Whether to report the Rényi curve at the paper's orders.
    #[serde(default)]
    pub report: bool,
    /// Whether to compute delta at every epsilon by every method, and the trade-off of an attacker.
    #[serde(default)]
    pub profile: bool,
    /// The number of people in the data; delta should be far below its inverse, otherwise the
    /// answer has a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<NumberInput>,
}

impl AccountRequest {
    /// Computes the answer.
    ///
    /// # Errors
    ///
    /// A number or the event is not valid, or no method applies.
    pub fn evaluate(
        &self,
        definitions: &Definitions,
        names: Names,
    ) -> Result<AccountResult, Failure> {
        let method = self.method.as_deref().map(method).transpose()?;
        let population = self.population.as_ref();
        let population = population
            .map(|given| input::population(&given.text(), &names.option("population")))
            .transpose()?;
        let delta = self.delta.as_ref();
        let delta = delta
            .map(|given| input::delta(&given.text(), &names.option("delta")))
            .transpose()?;
        let epsilon = self.epsilon.as_ref();
        let epsilon = epsilon
            .map(|given| input::epsilon(&given.text(), &names.option("epsilon")))
            .transpose()?;
        let asked = usize::from(delta.is_some()) + usize::from(epsilon.is_some());
        if asked > 1 || (asked == 0 && !self.report && !self.profile) {
            let (code, message) = match asked {
                0 => (Code::MZ0009, "neither delta nor epsilon is given"),
                _ => (
                    Code::MZ0008,
                    "delta and epsilon are given, so there is nothing to solve for",
                ),
            };
            let [delta, epsilon] = ["delta", "epsilon"].map(|name| names.option(name));
            let [profile, report] = ["profile", "report"].map(|name| names.option(name));
            return Err(Failure::new(
                code,
                message,
                format!(
                    "give {delta} to ask for epsilon, {epsilon} to ask for delta, {profile} for both, or {report}"
                ),
            ));
        }
        let expression = Expression::parse(&self.expression, definitions)?;
        let mut answer = AccountResult::new(expression);
        if self.report {
            answer.report = Some(vector(&answer.event)?);
        }
        if let Some(delta) = delta {
            answer.solve_for_epsilon(delta, method, self.why)?;
        } else if let Some(epsilon) = epsilon {
            answer.solve_for_delta(epsilon, method, self.why)?;
        }
        if self.profile {
            let solved_for = answer.solved.as_ref().map(|solved| solved.solved_for);
            answer.profile = Some(Profile::of(&answer.event, method, solved_for)?);
        }
        answer.warn(population);
        Ok(answer)
    }
}

fn method(name: &str) -> Result<Method, Failure> {
    Method::from_name(name).ok_or_else(|| {
        let known: Vec<_> = Method::ALL.into_iter().map(Method::name).collect();
        Failure::new(
            Code::MZ1206,
            format!("there is no method {name:?}"),
            format!("the methods are {}", known.join(", ")),
        )
    })
}

/// The Rényi curve at the paper's orders.
fn vector(event: &PrivacyEvent) -> Result<Vec<AtOrder<Epsilon>>, Failure> {
    let curve = RenyiCurve::of(event)?;
    let at = |&order| AtOrder {
        bound: curve.at(order).upper,
        order,
    };
    Ok(OrderGrid::paper().orders().iter().map(at).collect())
}

/// The complete answer.
#[derive(Debug)]
pub struct AccountResult {
    /// The event as it was given.
    pub expression: String,
    event: PrivacyEvent,
    solved: Option<Solved>,
    report: Option<Vec<AtOrder<Epsilon>>>,
    /// The profile, if it was requested.
    pub profile: Option<Profile>,
    warnings: Vec<AccountWarning>,
}

/// The result for a given δ or ε.
#[derive(Debug)]
struct Solved {
    solved_for: SolvedFor,
    best: MethodBound<f64>,
    account: Comparison<f64>,
    /// With `--explain`: each conversion at its own best order.
    conversions: Vec<(&'static str, AtOrder<f64>)>,
    /// The results if the orders are restricted to a grid.
    grids: Vec<(&'static str, AtOrder<f64>)>,
    /// With `--explain`: the derivation.
    why: Option<why::Derivation>,
}

/// Which of the two numbers is given.
#[derive(Clone, Copy, Debug)]
enum SolvedFor {
    EpsilonAt(Typed<Delta>),
    DeltaAt(Typed<Epsilon>),
}

impl AccountResult {
    fn new(expression: Expression) -> Self {
        let Expression { text, event } = expression;
        Self {
            expression: text,
            event,
            solved: None,
            report: None,
            profile: None,
            warnings: Vec::new(),
        }
    }

    fn solve_for_epsilon(
        &mut self,
        delta: Typed<Delta>,
        method: Option<Method>,
        why: bool,
    ) -> Result<(), Failure> {
        let event = &self.event;
        let accountant = Accountant::of(event);
        let by = |delta: Delta| match method {
            Some(method) => methods::single(method, accountant.epsilon_by(method, delta)),
            None => accountant.epsilon_by_all(delta),
        };
        let mut account = by(delta.value);
        let mut delta = delta;
        if let Some(total) = account.rounded_total() {
            account = by(total);
            delta = Typed {
                shown: total.get(),
                value: total,
            };
            self.warnings
                .push(AccountWarning::RoundedDelta { delta: total.get() });
        }
        let account = numbers(account, Epsilon::get);
        let curve = renyi_curve(event, &account);
        let at_order = |at: AtOrder<Epsilon>| AtOrder {
            bound: at.bound.get(),
            order: at.order,
        };
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| (way.name(), at_order(curve.epsilon(delta.value, way))))
        });
        let grids = curve.iter().flat_map(|curve| {
            [
                ("paper", OrderGrid::paper()),
                ("default", OrderGrid::standard()),
            ]
            .map(|(name, grid)| {
                (
                    name,
                    at_order(curve.epsilon_on(&grid, delta.value, RenyiConversion::Optimal)),
                )
            })
        });
        self.solved = Some(Solved {
            solved_for: SolvedFor::EpsilonAt(delta),
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: grids.collect(),
            why: why.then(|| why::Derivation::of(event, &account, Some(delta.value))),
            account,
        });
        Ok(())
    }

    fn solve_for_delta(
        &mut self,
        epsilon: Typed<Epsilon>,
        method: Option<Method>,
        why: bool,
    ) -> Result<(), Failure> {
        let event = &self.event;
        let accountant = Accountant::of(event);
        let account = match method {
            Some(method) => methods::single(method, accountant.delta_by(method, epsilon.value)),
            None => accountant.delta_by_all(epsilon.value),
        };
        let account = numbers(account, Delta::get);
        let curve = renyi_curve(event, &account);
        let conversions = curve.iter().filter(|_| why).flat_map(|curve| {
            RenyiConversion::ALL.map(|way| {
                let at = curve.delta(epsilon.value, way);
                (
                    way.name(),
                    AtOrder {
                        bound: at.bound.get(),
                        order: at.order,
                    },
                )
            })
        });
        self.solved = Some(Solved {
            solved_for: SolvedFor::DeltaAt(epsilon),
            best: best(&account)?,
            conversions: conversions.collect(),
            grids: Vec::new(),
            why: why.then(|| why::Derivation::of(event, &account, None)),
            account,
        });
        Ok(())
    }

    /// Warns of a δ near 1/N: a mechanism with it may publish the whole record of one person.
    fn warn(&mut self, population: Option<f64>) {
        let (Some(population), Some(solved)) = (population, &self.solved) else {
            return;
        };
        let delta = match solved.solved_for {
            SolvedFor::EpsilonAt(delta) => delta.shown,
            SolvedFor::DeltaAt(_) => solved.best.upper,
        };
        if delta * population > 0.01 {
            self.warnings
                .push(AccountWarning::LargeDelta { delta, population });
        }
    }
}

fn numbers<T: Copy>(account: Comparison<T>, get: impl Fn(T) -> f64) -> Comparison<f64> {
    let bounds = account.bounds.into_iter().map(|bound| MethodBound {
        method: bound.method,
        upper: get(bound.upper),
        lower: bound.lower.map(&get),
        order: bound.order,
        engine: bound.engine,
    });
    Comparison {
        bounds: bounds.collect(),
        refusals: account.refusals,
    }
}

/// The Rényi curve, if the Rényi method applies.
fn renyi_curve(event: &PrivacyEvent, account: &Comparison<f64>) -> Option<RenyiCurve> {
    account
        .bounds
        .iter()
        .find(|bound| bound.method == Method::Renyi)?;
    RenyiCurve::of(event).ok()
}

/// The tightest bound, or why no method applies.
fn best(account: &Comparison<f64>) -> Result<MethodBound<f64>, Failure> {
    account
        .best()
        .ok_or_else(|| Failure::from(account.refusal()))
}
