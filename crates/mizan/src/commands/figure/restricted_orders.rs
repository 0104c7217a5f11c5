//! Figure 3: rounds of three mechanisms together. All orders, the paper's 13,
//! and the truth; and which order is best.

use mizan_accounting::{ExactIncrease, Increase, RenyiCurve};
use mizan_core::{Count, PrivacyEvent, Probability};
use mizan_report::{Axis, Figure, Panel, Series};

use crate::failure::Failure;

const ROUNDS: u64 = 100;
const PARTS: [&str; 3] = ["rr(0.52)", "laplace(20)", "gaussian(10)"];
const BASELINES: [(f64, &str); 3] = [(0.1, "0.1"), (1e-3, "10⁻³"), (1e-6, "10⁻⁶")];

/// What is drawn for one baseline.
struct Curves {
    /// With all orders, with the paper's 13, and exactly.
    increase: [Series; 3],
    /// The best of all orders, and of the paper's 13.
    order: [Series; 2],
}

pub(super) fn draw() -> Result<Figure, Failure> {
    let curves = curves()?;
    let axis = || Axis::linear("n").range(1.0, ROUNDS as f64);
    let title = "n rounds of randomized response (0.52), Laplace (20) and Gaussian noise (10)";
    let mut figure = Figure::new(title);
    for (Curves { increase, .. }, (_, name)) in curves.iter().zip(BASELINES) {
        let panel = Panel::new(
            format!("Increase, Pr = {name}"),
            axis(),
            Axis::log10("bound on the increase"),
        );
        figure = figure.with(increase.iter().cloned().fold(panel, Panel::with));
    }
    for (Curves { order, .. }, (_, name)) in curves.iter().zip(BASELINES) {
        let panel = Panel::new(
            format!("Best order, Pr = {name}"),
            axis(),
            Axis::log10("order α"),
        );
        figure = figure.with(order.iter().cloned().fold(panel, Panel::with));
    }
    Ok(figure.columns(3))
}

fn curves() -> Result<Vec<Curves>, Failure> {
    let parts = PARTS
        .iter()
        .map(|part| part.parse())
        .collect::<Result<Vec<PrivacyEvent>, _>>()?;
    let mut exact = ExactIncrease::new(&parts, Count::new(ROUNDS)?)
        .map_err(|reason| Failure::new("MZ1203", reason, "this figure is for basic mechanisms"))?;
    let round = RenyiCurve::of(&PrivacyEvent::Compose(parts))?;
    let baselines = BASELINES
        .iter()
        .map(|(q, _)| Probability::new(*q))
        .collect::<Result<Vec<_>, _>>()?;
    let empty = |name: &str| Series::new(name, Vec::new());
    let mut curves: Vec<Curves> = baselines
        .iter()
        .map(|_| Curves {
            increase: ["all orders", "13 orders", "exact"].map(empty),
            order: ["all orders", "13 orders"].map(empty),
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
