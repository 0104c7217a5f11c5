//! What an event means for a person: probabilities of bad outcomes, and beliefs of others.

use mizan_api::number::NumberInput;
use mizan_api::risk::{RiskAnswer, RiskRequest};
use mizan_report::{Axis, Figure, Panel, Series, number};

use super::super::numbers;
use super::LaboratoryInput;
use crate::identity::Caller;
use crate::locale::{Markup, Strings, fill};
use crate::problem::Problem;
use crate::service::Service;

/// The baselines of the chart; those of the paper are in the table.
const BASELINES: [&str; 7] = ["1e-6", "1e-5", "1e-4", "1e-3", "0.01", "0.1", "0.5"];

/// The baselines of the table.
const IN_TABLE: [&str; 3] = ["1e-6", "1e-3", "0.1"];

/// A row of the table.
pub(super) struct Risk {
    pub(super) baseline: String,
    pub(super) low: String,
    pub(super) high: String,
    pub(super) proposition: String,
    pub(super) chosen: bool,
}

/// The table, the chart and the sentence about beliefs.
#[derive(Default)]
pub(super) struct Risks {
    pub(super) table: Vec<Risk>,
    pub(super) chart: Option<String>,
    pub(super) posterior: Option<Markup>,
}

impl Risks {
    /// The risks of an event; empty if it has no Rényi curve.
    pub(super) async fn of(
        t: &Strings,
        service: &Service,
        caller: &Caller,
        input: &LaboratoryInput,
    ) -> Result<Self, Problem> {
        let risk = async |baseline: &str| {
            let request = RiskRequest {
                expression: input.expression.clone(),
                baseline: NumberInput::from(baseline),
                beta: NumberInput::from("10"),
                prior: NumberInput::from("0.5"),
            };
            service.risk(caller, request).await.map(|risk| risk.json())
        };
        let mut risks = Self::default();
        let mut ends = [Vec::new(), Vec::new()];
        for baseline in BASELINES {
            let Ok(answer) = risk(baseline).await else {
                return Ok(Self::default());
            };
            if let (Some(low), Some(high)) = (answer.low, answer.high) {
                let [lows, highs] = &mut ends;
                lows.push((answer.baseline, low));
                highs.push((answer.baseline, high));
            }
            if IN_TABLE.contains(&baseline) {
                risks.table.push(line(&answer, false));
            }
        }
        // The chosen baseline last: if it is not a probability, the problem says so.
        let chosen = risk(input.baseline.trim()).await?;
        let at = risks
            .table
            .iter()
            .position(|line| line.baseline == number::nearest(chosen.baseline, 3));
        match at.and_then(|at| risks.table.get_mut(at)) {
            Some(line) => line.chosen = true,
            None => risks.table.push(line(&chosen, true)),
        }
        risks.posterior = posterior(t, &chosen);
        let [lows, highs] = ends;
        let panel = Panel::new(
            "",
            Axis::log10(t.lab_without),
            Axis::log10(t.lab_with).range(1e-7, 1.0),
        );
        let panel = panel
            .with(Series::new(t.lab_at_most, highs))
            .with(Series::new(t.lab_at_least, lows));
        risks.chart = Some(t.language.svg(Figure::new("").with(panel)));
        Ok(risks)
    }
}

fn line(answer: &RiskAnswer, chosen: bool) -> Risk {
    let up = |x: Option<f64>| number::epsilon_up(x.unwrap_or(1.0).min(1.0), 3);
    let down = |x: Option<f64>| number::down(x.unwrap_or(0.0), 3);
    let paper = &answer.proposition_10;
    Risk {
        baseline: number::nearest(answer.baseline, 3),
        low: down(answer.low),
        high: up(answer.high),
        proposition: format!("{} – {}", down(paper.low), up(paper.high)),
        chosen,
    }
}

fn posterior(t: &Strings, answer: &RiskAnswer) -> Option<Markup> {
    let after = answer.posterior.posterior?;
    let prior = number::nearest(100.0 * answer.posterior.prior, 3);
    let after = number::epsilon_up(100.0 * after.min(1.0), 3);
    let probability = numbers::up(answer.posterior.probability);
    let values = [
        ("prior", prior.as_str()),
        ("posterior", &after),
        ("probability", &probability),
    ];
    Some(fill(t.lab_posterior, &values))
}
