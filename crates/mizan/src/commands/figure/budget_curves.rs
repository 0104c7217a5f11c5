//! Figure 1: three mechanisms at three strengths each, orders 1 to 10.

use mizan_accounting::RenyiCurve;
use mizan_core::{Order, PrivacyEvent};
use mizan_report::{Axis, Figure, Panel, Series};

use crate::failure::Failure;

pub(super) fn draw() -> Result<Figure, Failure> {
    let panels = [
        (
            "Randomized response",
            [
                ("p = 0.55", "rr(0.55)"),
                ("p = 0.6", "rr(0.6)"),
                ("p = 0.75", "rr(0.75)"),
            ],
        ),
        (
            "Laplace noise",
            [
                ("1/λ = 0.25", "laplace(4)"),
                ("1/λ = 0.5", "laplace(2)"),
                ("1/λ = 1", "laplace(1)"),
            ],
        ),
        (
            "Gaussian noise",
            [
                ("σ = 4", "gaussian(4)"),
                ("σ = 3", "gaussian(3)"),
                ("σ = 2", "gaussian(2)"),
            ],
        ),
    ];
    let mut figure = Figure::new("Rényi differential privacy of basic mechanisms");
    for (title, curves) in panels {
        let mut panel = Panel::new(
            title,
            Axis::linear("order α").range(1.0, 10.0),
            Axis::linear("ε(α)"),
        );
        for (name, expression) in curves {
            let event: PrivacyEvent = expression.parse()?;
            let curve = RenyiCurve::of(&event)?;
            let at = |order: f64| {
                Order::new(order).map_or(f64::NAN, |order| curve.at(order).upper.get())
            };
            panel = panel.with(Series::sampled(name, 1.0, 10.0, 180, at));
        }
        figure = figure.with(panel);
    }
    Ok(figure.columns(3))
}
