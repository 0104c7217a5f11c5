//! Figure 3: rounds of three mechanisms together, with all orders, with the paper's 13 and exactly;
//! and the best order.

use mizan_accounting::{ExactIncrease, Increase, RenyiCurve};
use mizan_core::{Count, PrivacyEvent, Probability};
use mizan_report::{Axis, Figure, Panel, Series};

use super::{Strengths, gaussian, laplace, randomized_response};
use crate::failure::Failure;
use crate::messages::{Label, LabelText};

const ROUNDS: u64 = 100;
const BASELINES: [(f64, &str); 3] = [(0.1, "0.1"), (1e-3, "10⁻³"), (1e-6, "10⁻⁶")];

/// The curves for one baseline.
struct Curves {
    /// The increase with all orders, with the paper's 13, and exactly.
    increase: [Series; 3],
    /// The best of all orders, and of the paper's 13.
    order: [Series; 2],
}

pub(super) fn draw(strengths: Strengths, words: LabelText) -> Result<Figure, Failure> {
    let truthful = strengths.truthful.unwrap_or(0.52);
    let scale = strengths.scale.unwrap_or(20.0);
    let sigma = strengths.sigma.unwrap_or(10.0);
    let parts = vec![
        randomized_response(truthful)?.1,
        laplace(scale)?.1,
        gaussian(sigma)?.1,
    ];
    let curves = curves(parts, words)?;
    let axis = || Axis::linear("n").range(1.0, ROUNDS as f64);
    let mut figure = Figure::new(words(&Label::Rounds {
        truthful,
        scale,
        sigma,
    }));
    for (Curves { increase, .. }, (_, baseline)) in curves.iter().zip(BASELINES) {
        let panel = Panel::new(
            words(&Label::IncreaseAt { baseline }),
            axis(),
            Axis::log10(words(&Label::IncreaseBound)),
        );
        figure = figure.with(increase.iter().cloned().fold(panel, Panel::with));
    }
    for (Curves { order, .. }, (_, baseline)) in curves.iter().zip(BASELINES) {
        let panel = Panel::new(
            words(&Label::BestOrderAt { baseline }),
            axis(),
            Axis::log10(words(&Label::Order)),
        );
        figure = figure.with(order.iter().cloned().fold(panel, Panel::with));
    }
    Ok(figure.columns(3))
}

fn curves(parts: Vec<PrivacyEvent>, words: LabelText) -> Result<Vec<Curves>, Failure> {
    let mut exact = ExactIncrease::new(&parts, Count::new(ROUNDS)?).map_err(|reason| {
        Failure::new(reason.code(), reason, "this figure is for basic mechanisms")
    })?;
    let round = RenyiCurve::of(&PrivacyEvent::Compose(parts))?;
    let baselines = BASELINES
        .iter()
        .map(|(q, _)| Probability::new(*q))
        .collect::<Result<Vec<_>, _>>()?;
    let empty = |name: Label| Series::new(words(&name), Vec::new());
    let mut curves: Vec<Curves> = baselines
        .iter()
        .map(|_| Curves {
            increase: [Label::AllOrders, Label::ThirteenOrders, Label::Exact].map(empty),
            order: [Label::AllOrders, Label::ThirteenOrders].map(empty),
        })
        .collect();
    for n in 1..=ROUNDS {
        exact.next_round();
        let tight = exact.increase(&baselines);
        for ((curves, &baseline), tight) in curves.iter_mut().zip(&baselines).zip(tight) {
            let Increase {
                renyi,
                renyi_restricted,
                ..
            } = Increase::after(&round, Count::new(n)?, baseline);
            for (series, y) in curves
                .increase
                .iter_mut()
                .zip([renyi.0, renyi_restricted.0, tight])
            {
                series.points.push((n as f64, y));
            }
            for (series, order) in curves.order.iter_mut().zip([renyi.1, renyi_restricted.1]) {
                series.points.push((n as f64, order.get()));
            }
        }
    }
    Ok(curves)
}
