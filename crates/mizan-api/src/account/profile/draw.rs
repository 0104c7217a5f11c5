//! The profile and the trade-off as pictures.

use mizan_report::{Axis, Figure, Panel, Series, Stroke};

use super::{Curve, Profile, STEPS, at};

/// Curves that differ less than this, relative in δ, are drawn as one.
const SAME: f64 = 0.02;

/// As many curves keep apart in a terminal without colour.
const IN_A_TERMINAL: usize = 4;

/// Rates that differ less than this are drawn as one.
const DISTINCT: f64 = 0.005;

const LOWER: &str = "exact at least";

/// Methods that say the same.
struct Line<'a> {
    names: Vec<&'a str>,
    points: &'a [(u32, f64)],
}

impl Profile {
    /// Both pictures.
    pub(super) fn figure(&self, event: &str) -> Figure {
        let lines = self.lines();
        Figure::new(format!("What {event} reveals"))
            .with(self.panel("Privacy profile", &lines))
            .with(self.trade_off_panel())
            .columns(2)
    }

    /// Every number, methods that agree apart.
    pub(super) fn data(&self, event: &str) -> Figure {
        let mut panel = self.empty_panel("Privacy profile");
        for curve in &self.curves {
            panel = panel.with(self.series(curve.method.name(), &curve.deltas));
        }
        if !self.lower.is_empty() {
            panel = panel.with(self.series(LOWER, &self.lower));
        }
        Figure::new(event).with(panel).with(self.trade_off_panel())
    }

    /// The profile for a terminal, and the names of methods that are left out.
    pub(super) fn chart(&self) -> (Panel, Vec<&str>) {
        let mut lines = self.lines();
        let rest = lines.split_off(lines.len().min(IN_A_TERMINAL));
        let names = rest.into_iter().flat_map(|line| line.names);
        (self.panel("", &lines), names.collect())
    }

    fn empty_panel(&self, title: &str) -> Panel {
        Panel::new(
            title,
            Axis::linear("ε").range(self.epsilons.0, self.epsilons.1),
            Axis::log10("δ").range(self.smallest_delta, 1.0),
        )
    }

    fn panel(&self, title: &str, lines: &[Line<'_>]) -> Panel {
        let named = |line: &Line<'_>| self.stairs(&line.names.join(", "), line.points);
        let series = lines.iter().map(named);
        series.fold(self.empty_panel(title), Panel::with)
    }

    fn series(&self, name: &str, points: &[(u32, f64)]) -> Series {
        let points: Vec<_> = points
            .iter()
            .map(|(step, delta)| (self.epsilon(*step), *delta))
            .collect();
        Series::new(name, points)
    }

    /// A curve with few points is drawn as stairs: δ falls with ε, so a bound
    /// holds to the right of an upper point and to the left of a lower one.
    fn stairs(&self, name: &str, points: &[(u32, f64)]) -> Series {
        let mut series = self.series(name, points);
        if points.len() > STEPS as usize {
            return series;
        }
        let corners = series.points.windows(2).filter_map(|pair| match pair {
            [(_, delta), (epsilon, _)] if name != LOWER => Some((*epsilon, *delta)),
            [(epsilon, _), (_, delta)] => Some((*epsilon, *delta)),
            _ => None,
        });
        let corners: Vec<_> = corners.collect();
        let first = series.points.first().copied();
        let rest = series.points.iter().skip(1).copied();
        let joined = corners.into_iter().zip(rest);
        series.points = first
            .into_iter()
            .chain(joined.flat_map(|(corner, point)| [corner, point]))
            .collect();
        series
    }

    /// The tightest first.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut curves: Vec<&Curve> = self.curves.iter().collect();
        curves.sort_by(|a, b| self.height(&a.deltas).total_cmp(&self.height(&b.deltas)));
        let named = curves
            .into_iter()
            .map(|curve| (curve.method.name(), &curve.deltas[..]));
        let lower = (!self.lower.is_empty()).then_some((LOWER, &self.lower[..]));
        let mut lines: Vec<Line<'_>> = Vec::new();
        for (name, points) in named.chain(lower) {
            match lines.iter_mut().find(|line| same(line.points, points)) {
                // An exact curve needs no second line below it.
                Some(_) if name == LOWER => {}
                Some(line) => {
                    line.names.push(name);
                    if points.len() > line.points.len() {
                        line.points = points;
                    }
                }
                None => lines.push(Line {
                    names: vec![name],
                    points,
                }),
            }
        }
        lines
    }

    /// The mean of ln δ, as far as it is shown.
    fn height(&self, points: &[(u32, f64)]) -> f64 {
        let shown = |(_, delta): &(u32, f64)| delta.max(self.smallest_delta).ln();
        points.iter().map(shown).sum::<f64>() / points.len() as f64
    }

    fn trade_off_panel(&self) -> Panel {
        let axis = |label: &str| Axis::linear(label).range(0.0, 1.0);
        let curve = |name: &str, end: fn(mizan_core::Bracket<f64>) -> f64| {
            Series::sampled(name, 0.0, 1.0, 200, |rate| end(self.false_negative(rate)))
        };
        let panel = Panel::new(
            "Trade-off of an attacker",
            axis("false positives"),
            axis("false negatives"),
        );
        let (lower, upper) = (
            curve("no attack is below", |rate| rate.lower).stroke(Stroke::Solid),
            curve("some attack is not above", |rate| rate.upper).stroke(Stroke::Dashed),
        );
        let gaps = lower.points.iter().zip(&upper.points);
        let gap = gaps.fold(0.0_f64, |most, (low, high)| most.max(high.1 - low.1));
        let panel = match self.exact {
            true if gap < DISTINCT => panel.with(Series {
                name: "the best attack".to_owned(),
                ..lower
            }),
            true => panel.with(lower).with(upper),
            false => panel.with(lower),
        };
        panel.with(Series::new("guessing", vec![(0.0, 1.0), (1.0, 0.0)]).stroke(Stroke::Dotted))
    }
}

/// Whether two curves agree where both are known.
fn same(one: &[(u32, f64)], other: &[(u32, f64)]) -> bool {
    other
        .iter()
        .all(|&(step, b)| at(one, step).is_none_or(|a| (a - b).abs() <= SAME * a.max(b)))
}
