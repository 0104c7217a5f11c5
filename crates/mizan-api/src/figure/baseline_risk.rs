//! Figure 2: the probability of a bad outcome after n rounds, by four analyses and exactly.

use mizan_accounting::{ExactIncrease, Increase, RenyiCurve};
use mizan_core::{Count, PrivacyEvent, Probability};
use mizan_report::{Axis, Figure, Panel, Series};

use super::{Strengths, laplace, randomized_response};
use crate::failure::Failure;
use crate::messages::{Label, LabelText};

const ROUNDS: u64 = 250;
const BASELINES: [(f64, &str); 3] = [(1e-6, "10⁻⁶"), (1e-3, "10⁻³"), (0.1, "0.1")];

/// The range of the vertical axis in the paper.
const SHOWN: (f64, f64) = (1.0, 20.0);

pub(super) fn draw(strengths: Strengths, words: LabelText) -> Result<Figure, Failure> {
    type Title = fn(String, &'static str) -> Label;
    let response: Title = |strength, baseline| Label::RandomizedResponseRisk { strength, baseline };
    let noise: Title = |strength, baseline| Label::LaplaceRisk { strength, baseline };
    let mechanisms = [
        (
            response,
            randomized_response(strengths.truthful.unwrap_or(0.51))?,
        ),
        (noise, laplace(strengths.scale.unwrap_or(20.0))?),
    ];
    let mut figure = Figure::new(words(&Label::BadOutcome));
    for (title, (name, event)) in mechanisms {
        for (series, (_, baseline)) in increases(&event, words)?.into_iter().zip(BASELINES) {
            let title = words(&title(name.clone(), baseline));
            let x = Axis::linear("n").range(1.0, ROUNDS as f64);
            let y = Axis::log10(words(&Label::IncreaseBound)).range(SHOWN.0, SHOWN.1);
            figure = figure.with(
                series
                    .into_iter()
                    .fold(Panel::new(title, x, y), Panel::with),
            );
        }
    }
    Ok(figure.columns(3))
}

/// The five curves over n for each baseline.
fn increases(event: &PrivacyEvent, words: LabelText) -> Result<Vec<Vec<Series>>, Failure> {
    let curve = RenyiCurve::of(event)?;
    let mut exact =
        ExactIncrease::new(std::slice::from_ref(event), Count::new(ROUNDS)?).map_err(|reason| {
            Failure::new(reason.code(), reason, "this figure is for basic mechanisms")
        })?;
    let baselines = BASELINES.map(|(q, _)| Probability::new(q));
    let baselines = baselines.into_iter().collect::<Result<Vec<_>, _>>()?;
    let names = [
        Label::Naive,
        Label::AdvancedBestDelta,
        Label::Proposition4,
        Label::RenyiProposition10,
        Label::Exact,
    ];
    let mut curves: Vec<Vec<Series>> = baselines
        .iter()
        .map(|_| {
            let empty = names
                .iter()
                .map(|name| Series::new(words(name), Vec::new()));
            empty.collect()
        })
        .collect();
    for n in 1..=ROUNDS {
        exact.next_round();
        let tight = exact.increase(&baselines);
        for ((series, &baseline), tight) in curves.iter_mut().zip(&baselines).zip(tight) {
            let bounds = Increase::after(&curve, Count::new(n)?, baseline);
            let values = [
                bounds.naive,
                bounds.advanced,
                bounds.generic,
                bounds.renyi.0,
                tight,
            ];
            for (series, value) in series.iter_mut().zip(values) {
                series.points.push((n as f64, value));
            }
        }
    }
    Ok(curves)
}
