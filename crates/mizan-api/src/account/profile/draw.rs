//! Figures of the profile and the trade-off function.

use mizan_report::{Axis, Figure, Panel, Series, Stroke};

use super::{Curve, Profile, STEPS, at};
use crate::messages::{Label, LabelText};
use crate::words::shortened;

/// Curves whose δ differ by a smaller relative amount are drawn as one.
const SAME: f64 = 0.02;

/// The most curves that a terminal without colour can distinguish.
const IN_A_TERMINAL: usize = 4;

/// Rates that differ by less are drawn as one.
const DISTINCT: f64 = 0.005;

/// Methods with the same results, or the lower bounds of the exact δ.
struct Line<'a> {
    names: Vec<&'static str>,
    points: &'a [(u32, f64)],
    lower: bool,
}

impl Line<'_> {
    fn name(&self, words: LabelText) -> String {
        match self.lower {
            true => words(&Label::ExactAtLeast),
            false => self.names.join(", "),
        }
    }
}

impl Profile {
    /// Both figures, with labels in one language.
    #[must_use]
    pub fn figure(&self, event: &str, words: LabelText) -> Figure {
        let event = shortened(event, 60);
        let title = words(&Label::PrivacyProfile);
        Figure::new(words(&Label::Reveals { event }))
            .with(self.panel(title, &self.lines(), words))
            .with(self.trade_off_panel(words))
            .columns(2)
    }

    /// Every number; methods that agree have separate series.
    pub(super) fn data(&self, event: &str) -> Figure {
        let words = Label::english;
        let mut panel = self.empty_panel(words(&Label::PrivacyProfile));
        for curve in &self.curves {
            panel = panel.with(self.series(curve.method.name().to_owned(), &curve.deltas));
        }
        if !self.lower.is_empty() {
            panel = panel.with(self.series(words(&Label::ExactAtLeast), &self.lower));
        }
        Figure::new(event)
            .with(panel)
            .with(self.trade_off_panel(words))
    }

    /// The profile for a terminal, and the names of methods that are left out.
    pub(super) fn chart(&self) -> (Panel, Vec<String>) {
        let words = Label::english;
        let mut lines = self.lines();
        let rest = lines.split_off(lines.len().min(IN_A_TERMINAL));
        let names = rest.iter().map(|line| line.name(words));
        (self.panel(String::new(), &lines, words), names.collect())
    }

    fn empty_panel(&self, title: String) -> Panel {
        Panel::new(
            title,
            Axis::linear("ε").range(self.epsilons.0, self.epsilons.1),
            Axis::log10("δ").range(self.smallest_delta, 1.0),
        )
    }

    fn panel(&self, title: String, lines: &[Line<'_>], words: LabelText) -> Panel {
        let named = |line: &Line<'_>| self.stairs(line, words);
        let series = lines.iter().map(named);
        series.fold(self.empty_panel(title), Panel::with)
    }

    fn series(&self, name: String, points: &[(u32, f64)]) -> Series {
        let points: Vec<_> = points
            .iter()
            .map(|(step, delta)| (self.epsilon(*step), *delta))
            .collect();
        Series::new(name, points)
    }

    /// A curve with few points is drawn as a step function. δ falls with ε, so an upper bound holds
    /// to the right of its point and a lower bound to the left.
    fn stairs(&self, line: &Line<'_>, words: LabelText) -> Series {
        let mut series = self.series(line.name(words), line.points);
        if line.points.len() > STEPS as usize {
            return series;
        }
        let corners = series.points.windows(2).filter_map(|pair| match pair {
            [(_, delta), (epsilon, _)] if !line.lower => Some((*epsilon, *delta)),
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

    /// The lines, the tightest first.
    fn lines(&self) -> Vec<Line<'_>> {
        let mut curves: Vec<&Curve> = self.curves.iter().collect();
        curves.sort_by(|a, b| self.height(&a.deltas).total_cmp(&self.height(&b.deltas)));
        let mut lines: Vec<Line<'_>> = Vec::new();
        for curve in curves {
            let (name, points) = (curve.method.name(), curve.deltas.as_slice());
            match lines.iter_mut().find(|line| same(line.points, points)) {
                Some(line) => {
                    line.names.push(name);
                    if points.len() > line.points.len() {
                        line.points = points;
                    }
                }
                None => lines.push(Line {
                    names: vec![name],
                    points,
                    lower: false,
                }),
            }
        }
        let points = self.lower.as_slice();
        // The upper bounds already draw an exact curve.
        if !points.is_empty() && !lines.iter().any(|line| same(line.points, points)) {
            lines.push(Line {
                names: Vec::new(),
                points,
                lower: true,
            });
        }
        lines
    }

    /// The mean of ln δ over the visible range.
    fn height(&self, points: &[(u32, f64)]) -> f64 {
        let shown = |(_, delta): &(u32, f64)| delta.max(self.smallest_delta).ln();
        points.iter().map(shown).sum::<f64>() / points.len() as f64
    }

    fn trade_off_panel(&self, words: LabelText) -> Panel {
        let axis = |label: &Label| Axis::linear(words(label)).range(0.0, 1.0);
        let curve = |name: &Label, end: fn(mizan_core::Bracket<f64>) -> f64| {
            let at = |rate| end(self.false_negative(rate));
            Series::sampled(words(name), 0.0, 1.0, 200, at)
        };
        let panel = Panel::new(
            words(&Label::TradeOff),
            axis(&Label::FalsePositives),
            axis(&Label::FalseNegatives),
        );
        let (lower, upper) = (
            curve(&Label::NoAttackBelow, |rate| rate.lower).stroke(Stroke::Solid),
            curve(&Label::SomeAttackNotAbove, |rate| rate.upper).stroke(Stroke::Dashed),
        );
        let gaps = lower.points.iter().zip(&upper.points);
        let gap = gaps.fold(0.0_f64, |most, (low, high)| most.max(high.1 - low.1));
        let panel = match self.exact {
            true if gap < DISTINCT => panel.with(Series {
                name: words(&Label::BestAttack),
                ..lower
            }),
            true => panel.with(lower).with(upper),
            false => panel.with(lower),
        };
        let guessing = Series::new(words(&Label::Guessing), vec![(0.0, 1.0), (1.0, 0.0)]);
        panel.with(guessing.stroke(Stroke::Dotted))
    }
}

/// Whether two curves agree where both are known.
fn same(one: &[(u32, f64)], other: &[(u32, f64)]) -> bool {
    other
        .iter()
        .all(|&(step, b)| at(one, step).is_none_or(|a| (a - b).abs() <= SAME * a.max(b)))
}
