//! What an event means for one person: the probability of bad outcomes, and changes of beliefs.

use mizan_accounting::{BadOutcome, BayesFactor, RenyiCurve, posterior};
use mizan_core::{Definitions, Probability};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::input::{self, Chance, Expression, Typed};
use crate::names::Names;
use crate::number::{NumberInput, OrderJson, finite};

/// A request for the risk of an event.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expression": "100 * laplace(20)", "baseline": 0.001}))]
pub struct RiskRequest {
    /// The event, as text or as the text of its JSON form.
    pub expression: String,
    /// The probability of the bad outcome without the person's data.
    pub baseline: NumberInput,
    /// The factor of the change of odds.
    #[serde(default = "ten")]
    pub beta: NumberInput,
    /// An attacker's belief about the person before the release, as a probability.
    #[serde(default = "half")]
    pub prior: NumberInput,
}

fn ten() -> NumberInput {
    NumberInput::Number(10.0)
}

fn half() -> NumberInput {
    NumberInput::Number(0.5)
}

/// The risk of an event.
#[derive(Debug)]
pub struct Risk {
    /// The event as it was given.
    pub expression: String,
    /// The probability of the bad outcome without the person's data.
    pub baseline: Chance,
    /// The range of its probability by the whole curve.
    pub exact: BadOutcome,
    /// The range by Proposition 10 of the paper.
    pub proposition_10: BadOutcome,
    /// The factor of the change of odds.
    pub beta: Typed<f64>,
    /// The probability that the odds change by a larger factor.
    pub bayes: BayesFactor,
    /// The belief before the release.
    pub prior: Chance,
    /// The largest belief after the release.
    pub posterior: Probability,
    /// The expected change of the log odds.
    pub expected_log_odds: f64,
}

/// The risk of an event.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RiskAnswer {
    /// The event as it was given.
    pub expression: String,
    /// The probability of the bad outcome without the person's data.
    pub baseline: f64,
    /// Its probability with the data is at least this.
    pub low: Option<f64>,
    /// Its probability with the data is at most this.
    pub high: Option<f64>,
    /// The order of the lower bound.
    pub low_order: OrderJson,
    /// The order of the upper bound.
    pub high_order: OrderJson,
    /// The range by Proposition 10 of the paper.
    pub proposition_10: RangeJson,
    /// The probability that an output changes the odds by more than the factor.
    pub bayes: BayesJson,
    /// The belief before and after the release.
    pub posterior: PosteriorJson,
    /// The expected change of the log odds.
    pub expected_log_odds: Option<f64>,
}

/// A range of a probability.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RangeJson {
    /// The lower bound.
    pub low: Option<f64>,
    /// The upper bound.
    pub high: Option<f64>,
    /// The order of the lower bound.
    pub low_order: OrderJson,
    /// The order of the upper bound.
    pub high_order: OrderJson,
}

/// The probability that the odds change by more than a factor.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BayesJson {
    /// The factor.
    pub beta: f64,
    /// An upper bound of the probability.
    pub probability: Option<f64>,
    /// The order of the bound.
    pub order: OrderJson,
}

/// A belief before and after the release.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PosteriorJson {
    /// The belief before.
    pub prior: f64,
    /// The belief after is at most this,
    pub posterior: Option<f64>,
    /// except with this probability.
    pub probability: Option<f64>,
}

impl RiskRequest {
    /// Computes the risk.
    ///
    /// # Errors
    ///
    /// The event is not valid or has no curve, or a number is not valid.
    pub fn evaluate(&self, definitions: &Definitions, names: Names) -> Result<Risk, Failure> {
        let baseline = input::chance(&self.baseline.text(), &names.option("baseline"))?;
        let beta = input::factor(&self.beta.text(), &names.option("beta"))?;
        let prior = input::chance(&self.prior.text(), &names.option("prior"))?;
        let Expression { text, event } = Expression::parse(&self.expression, definitions)?;
        let curve = RenyiCurve::of(&event)?;
        // Both ends grow with the baseline, so each uses the double on its safe side.
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
    /// The JSON form.
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
