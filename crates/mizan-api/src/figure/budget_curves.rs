//! Figure 1: three mechanisms at three strengths each, orders 1 to 10. A given strength adds a
//! curve.

use mizan_accounting::RenyiCurve;
use mizan_core::Order;
use mizan_report::{Axis, Figure, Panel, Series};

use super::{Named, Strengths, gaussian, laplace, randomized_response};
use crate::failure::Failure;
use crate::messages::{Label, LabelText};

pub(super) fn draw(strengths: Strengths, words: LabelText) -> Result<Figure, Failure> {
    let inverse = |scale: f64| {
        let (_, event) = laplace(scale)?;
        Ok::<Named, Failure>((format!("1/λ = {}", 1.0 / scale), event))
    };
    let mut panels: [(Label, Vec<Named>, Option<Named>); 3] = [
        (
            Label::RandomizedResponse,
            [0.55, 0.6, 0.75]
                .map(randomized_response)
                .into_iter()
                .collect::<Result<_, _>>()?,
            strengths.truthful.map(randomized_response).transpose()?,
        ),
        (
            Label::LaplaceNoise,
            [4.0, 2.0, 1.0]
                .map(inverse)
                .into_iter()
                .collect::<Result<_, _>>()?,
            strengths.scale.map(laplace).transpose()?,
        ),
        (
            Label::GaussianNoise,
            [4.0, 3.0, 2.0]
                .map(gaussian)
                .into_iter()
                .collect::<Result<_, _>>()?,
            strengths.sigma.map(gaussian).transpose()?,
        ),
    ];
    let mut figure = Figure::new(words(&Label::BasicMechanisms));
    for (title, curves, own) in &mut panels {
        let mut panel = Panel::new(
            words(title),
            Axis::linear(words(&Label::Order)).range(1.0, 10.0),
            Axis::linear("ε(α)"),
        );
        curves.extend(own.take());
        for (name, event) in curves {
            let curve = RenyiCurve::of(event)?;
            let at = |order: f64| {
                Order::new(order).map_or(f64::NAN, |order| curve.at(order).upper.get())
            };
            panel = panel.with(Series::sampled(name.clone(), 1.0, 10.0, 180, at));
        }
        figure = figure.with(panel);
    }
    Ok(figure.columns(3))
}
