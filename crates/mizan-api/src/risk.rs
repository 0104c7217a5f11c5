//! What an event means for a person: bad outcomes and beliefs.

use mizan_accounting::{BadOutcome, BayesFactor, RenyiCurve, posterior};
use mizan_core::{Definitions, Probability};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::input::{self, Chance, Expression, Typed};
use crate::names::Names;
use crate::number::{Given, OrderJson, finite};

/// Whose risk of what.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "100 * laplace(20)", "baseline": 0.001}))]
pub struct RiskRequest {
    /// The event, as text or as the text of its JSON form.
    pub expression: String,
    /// The probability of the bad outcome without the person's data.
    pub baseline: Given,
    /// The factor by which odds may move.
    #[serde(default = "ten")]
    pub beta: Given,
    /// Somebody's belief about the person before the release.
    #[serde(default = "half")]
    pub prior: Given,
}

fn ten() -> Given {
    Given::Number(10.0)
}

fn half() -> Given {
    Given::Number(0.5)
}

/// What can happen.
#[derive(Debug)]
pub struct Risk {
    /// The event, as it was given.
    pub expression: String,
    /// The probability without the person's data.
    pub baseline: Chance,
    /// The range that the whole curve allows.
    pub exact: BadOutcome,
    /// The paper's range.
    pub proposition_10: BadOutcome,
    /// The factor by which odds may move.
    pub beta: Typed<f64>,
    /// How likely they move more.
    pub bayes: BayesFactor,
    /// A belief before,
    pub prior: Chance,
    /// and after.
    pub posterior: Probability,
    /// How far log odds move on average.
    pub expected_log_odds: f64,
}

/// What can happen, for programs.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RiskAnswer {
    /// The event, as it was given.
    pub expression: String,
    /// The probability without the person's data.
    pub baseline: f64,
    /// It becomes not less than this
    pub low: Option<f64>,
    /// and not more than this.
    pub high: Option<f64>,
    /// The order that says so,
    pub low_order: OrderJson,
    /// and so.
    pub high_order: OrderJson,
    /// The paper's range.
    pub proposition_10: RangeJson,
    /// How likely an output moves odds by more than a factor.
    pub bayes: BayesJson,
    /// A belief before and after, unless that happens.
    pub posterior: PosteriorJson,
    /// How far log odds move on average.
    pub expected_log_odds: Option<f64>,
}

/// A range of a probability.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RangeJson {
    /// Not below.
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
    /// The order that says so,
    pub low_order: OrderJson,
    /// and so.
    pub high_order: OrderJson,
}

/// How likely odds move by more than a factor.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BayesJson {
    /// The factor.
    pub beta: f64,
    /// The probability is not above this.
    pub probability: Option<f64>,
    /// The order that says so.
    pub order: OrderJson,
}

/// A belief before and after.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PosteriorJson {
    /// Before.
    pub prior: f64,
    /// After: not above this,
    pub posterior: Option<f64>,
    /// but with this probability.
    pub probability: Option<f64>,
}

impl RiskRequest {
    /// Computes the risk.
    ///
    /// # Errors
    ///
    /// It is no event, or one without a curve; a number is none.
    pub fn ask(&self, definitions: &Definitions, names: Names) -> Result<Risk, Failure> {
        let baseline = input::chance(&self.baseline.text(), &names.option("baseline"))?;
        let beta = input::factor(&self.beta.text(), &names.option("beta"))?;
        let prior = input::chance(&self.prior.text(), &names.option("prior"))?;
        let Expression { text, event } = Expression::parse(&self.expression, definitions)?;
        let curve = RenyiCurve::of(&event)?;
        // Both ends grow with the baseline: each is taken at the safe side.
        let range = |at: &dyn Fn(Probability) -> BadOutcome| {
            let (low, high) = (at(baseline.below), at(baseline.above));
            BadOutcome {
                high: high.high,
                high_order: high.high_order,
                ..low
            }
        };
        Ok(Risk {
            expression: text,
            baseline,
            exact: range(&|baseline| curve.bad_outcome(baseline)),
            proposition_10: range(&|baseline| curve.bad_outcome_by_proposition_10(baseline)),
            beta,
            bayes: curve.bayes_factor(beta.value),
            prior,
            posterior: posterior(prior.above, beta.shown.max(beta.value.next_up())),
            expected_log_odds: curve.expected_log_odds().get(),
        })
    }
}

impl Risk {
    /// For programs.
    #[must_use]
    pub fn json(&self) -> RiskAnswer {
        let range = |range: &BadOutcome| RangeJson {
            low: finite(range.low.get()),
            high: finite(range.high.get()),
            low_order: OrderJson::of(range.low_order.get()),
            high_order: OrderJson::of(range.high_order.get()),
        };
        let exact = range(&self.exact);
        let probability = finite(self.bayes.probability.get());
        RiskAnswer {
            expression: self.expression.clone(),
            baseline: self.baseline.shown,
            low: exact.low,
            high: exact.high,
            low_order: exact.low_order,
            high_order: exact.high_order,
            proposition_10: range(&self.proposition_10),
            bayes: BayesJson {
                beta: self.beta.shown,
                probability,
                order: OrderJson::of(self.bayes.order.get()),
            },
            posterior: PosteriorJson {
                prior: self.prior.shown,
                posterior: finite(self.posterior.get()),
                probability,
            },
            expected_log_odds: finite(self.expected_log_odds),
        }
    }
}
