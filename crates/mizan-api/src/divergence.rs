//! The Rényi divergence of two finite distributions, in both directions.

use mizan_accounting::FiniteDistribution;
use mizan_core::{Bracket, Epsilon, Interval, Order, Round, parse_decimal};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::curve::{orders, paper};
use crate::failure::Failure;
use crate::input::Typed;
use crate::names::Names;
use crate::number::{OrderJson, finite};

/// A request for the divergence of two distributions.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"p": "1/3,2/3", "q": "2/3,1/3", "orders": "1,2,inf"}))]
pub struct DivergenceRequest {
    /// The probabilities or fractions of the first distribution, separated by commas; they add up
    /// to 1.
    pub p: String,
    /// The same of the second distribution, over the same outcomes.
    pub q: String,
    /// Orders from 1 to inf, separated by commas, or a grid: `paper`, `default`.
    #[serde(default = "paper")]
    pub orders: String,
}

/// The divergence in both directions at each order.
#[derive(Debug)]
pub struct Divergence {
    p: String,
    q: String,
    /// An order, the divergence from p to q, and from q to p.
    pub rows: Vec<(Typed<Order>, Bracket<Epsilon>, Bracket<Epsilon>)>,
}

/// The divergence in both directions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DivergenceAnswer {
    /// The first distribution as it was given.
    pub p: String,
    /// The second distribution as it was given.
    pub q: String,
    /// The divergence at each order.
    pub divergence: Vec<DivergencePoint>,
}

/// The divergence at an order; null is infinite.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DivergencePoint {
    /// The order.
    pub order: OrderJson,
    /// From p to q.
    pub forward: Option<f64>,
    /// From q to p.
    pub backward: Option<f64>,
}

impl DivergenceRequest {
    /// Computes the divergence.
    ///
    /// # Errors
    ///
    /// The texts are not distributions over the same outcomes.
    pub fn evaluate(&self, names: Names) -> Result<Divergence, Failure> {
        let p = distribution(&names.option("p"), &self.p)?;
        let q = distribution(&names.option("q"), &self.q)?;
        let row = |order: Typed<Order>| {
            let forward = p.divergence(&q, order.value)?;
            Ok((order, forward, q.divergence(&p, order.value)?))
        };
        let rows = orders(&self.orders, names)?.into_iter().map(row);
        Ok(Divergence {
            p: self.p.clone(),
            q: self.q.clone(),
            rows: rows.collect::<Result<_, Failure>>()?,
        })
    }
}

impl Divergence {
    /// The JSON form.
    #[must_use]
    pub fn json(&self) -> DivergenceAnswer {
        let point =
            |(order, forward, backward): &(Typed<Order>, Bracket<Epsilon>, Bracket<Epsilon>)| {
                DivergencePoint {
                    order: OrderJson::of(order.shown),
                    forward: finite(forward.upper.get()),
                    backward: finite(backward.upper.get()),
                }
            };
        DivergenceAnswer {
            p: self.p.clone(),
            q: self.q.clone(),
            divergence: self.rows.iter().map(point).collect(),
        }
    }
}

fn distribution(option: &str, list: &str) -> Result<FiniteDistribution, Failure> {
    let probabilities = list
        .split(',')
        .map(|text| probability(option, text.trim()))
        .collect::<Result<Vec<_>, Failure>>()?;
    FiniteDistribution::enclosed(probabilities)
        .map_err(|error| Failure::from(error).of_option(option))
}

/// A decimal or a fraction of two decimals, enclosed between doubles.
fn probability(option: &str, text: &str) -> Result<Interval, Failure> {
    match text.split_once('/') {
        Some((over, under)) => Ok(decimal(option, over.trim())? / decimal(option, under.trim())?),
        None => decimal(option, text),
    }
}

fn decimal(option: &str, text: &str) -> Result<Interval, Failure> {
    let side = |round| {
        parse_decimal(text, round).map_err(|error| {
            Failure::new(
                error.code(),
                format!("{option} {text:?}: {error}"),
                error.help(),
            )
        })
    };
    Ok(Interval::new(side(Round::Down)?, side(Round::Up)?))
}
