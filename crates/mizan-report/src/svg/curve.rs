//! Draws curves: clipped to the plot, and thinned to the visible resolution.
//!
//! Coordinates are those of the plot: `(0, 0)` is its upper left corner.

use super::text::Px;
use crate::clip::{Point, Rect, distance};
use crate::scale::Span;
use crate::{Series, Stroke};
use std::fmt::Write as _;

/// Okabe and Ito's palette, safe for the colour-blind, darker colours first;
/// without its yellow, which is too light on white.
const PALETTE: [&str; 7] = [
    "#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9",
];
const STROKES: [Stroke; 6] = [
    Stroke::Solid,
    Stroke::Dashed,
    Stroke::DashDot,
    Stroke::Dotted,
    Stroke::LongDash,
    Stroke::DashDotDot,
];
/// Points nearer to the last one drawn than this are not drawn.
const RESOLUTION: f64 = 0.2;
/// Markers nearer to the last one than this are left out.
const MARKER_SPACING: f64 = 9.0;

/// How a series looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pen {
    color: &'static str,
    stroke: Stroke,
    marker: Option<usize>,
}

impl Pen {
    /// The look of the series at `place` in its panel.
    pub(super) fn new(place: usize, series: &Series) -> Self {
        let automatic = STROKES.iter().cycle().nth(place % STROKES.len());
        Self {
            color: PALETTE
                .iter()
                .cycle()
                .nth(place % PALETTE.len())
                .unwrap_or(&"#000"),
            stroke: match series.stroke {
                Stroke::Auto => automatic.copied().unwrap_or(Stroke::Solid),
                chosen => chosen,
            },
            marker: series.markers.then_some(place),
        }
    }

    /// The dash pattern and the weight that makes it as dark as the others.
    fn pattern(self) -> (&'static str, f64) {
        match self.stroke {
            Stroke::Auto | Stroke::Solid => ("", 1.6),
            Stroke::Dashed => ("5.5 2.5", 1.7),
            Stroke::Dotted => ("1.6 2.2", 2.1),
            Stroke::DashDot => ("7 2.2 1.6 2.2", 1.7),
            Stroke::LongDash => ("11 3", 1.5),
            Stroke::DashDotDot => ("8 2 1.6 2 1.6 2", 1.6),
        }
    }

    /// Writes a path with this pen; `data` is the path's `d`.
    pub(super) fn path(self, svg: &mut String, data: &str) {
        let (dashes, weight) = self.pattern();
        let _ = write!(
            svg,
            "<path fill=\"none\" stroke=\"{}\" stroke-width=\"{weight}\" stroke-linejoin=\"round\"",
            self.color
        );
        if !dashes.is_empty() {
            let _ = write!(svg, " stroke-dasharray=\"{dashes}\"");
        }
        let _ = writeln!(svg, " d=\"{data}\"/>");
    }

    /// Writes the marker of this pen, if it has one, at each of `places`.
    pub(super) fn markers(self, svg: &mut String, places: &[Point]) {
        let Some(shape) = self.marker else { return };
        // Circle, square, triangle, diamond: equal areas, near enough.
        let outline = match shape % 4 {
            0 => "m-2.6 0a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z",
            1 => "m-2.3 -2.3h4.6v4.6h-4.6z",
            2 => "m0 -3.3l3.1 5.4h-6.2z",
            _ => "m0 -3.4l3.2 3.4l-3.2 3.4l-3.2 -3.4z",
        };
        let mut data = String::new();
        for &(x, y) in places {
            let _ = write!(data, "M{} {}{outline}", Px(x), Px(y));
        }
        if !data.is_empty() {
            let _ = writeln!(svg, "<path fill=\"{}\" d=\"{data}\"/>", self.color);
        }
    }
}

/// A series in plot coordinates, cut to the plot.
pub(super) struct Curve {
    pen: Pen,
    /// Unbroken stretches; one of a single point is an isolated point.
    runs: Vec<Vec<Point>>,
    marks: Vec<Point>,
}

impl Curve {
    pub(super) fn new(place: usize, series: &Series, x: &Span, y: &Span, size: (f64, f64)) -> Self {
        let plot = Rect {
            left: 0.0,
            top: 0.0,
            right: size.0,
            bottom: size.1,
        };
        let project =
            |&(px, py): &Point| Some((x.part(px)? * size.0, (1.0 - y.part(py)?) * size.1));
        let mut curve = Self {
            pen: Pen::new(place, series),
            runs: Vec::new(),
            marks: Vec::new(),
        };
        let mut previous: Option<Point> = None;
        // Whether the next segment continues the last run.
        let mut joined = false;
        for point in series.points.iter().map(project) {
            let Some(to) = point else {
                previous = None;
                joined = false;
                continue;
            };
            joined = curve.extend(&plot, previous, to, joined);
            previous = Some(to);
        }
        curve.mark(&plot, series.points.iter().filter_map(project));
        curve
    }

    /// Draws on to `to`; returns whether the pen is still down there.
    fn extend(&mut self, plot: &Rect, from: Option<Point>, to: Point, joined: bool) -> bool {
        let inside = plot.contains(to);
        let Some(from) = from else {
            if inside {
                self.runs.push(vec![to]);
            }
            return inside;
        };
        let Some((start, end)) = plot.clip(from, to) else {
            return false;
        };
        match self.runs.last_mut() {
            Some(run) if joined => run.push(end),
            _ => self.runs.push(vec![start, end]),
        }
        inside
    }

    /// Chooses which points get a marker, so that markers do not run together.
    fn mark(&mut self, plot: &Rect, points: impl Iterator<Item = Point>) {
        if self.pen.marker.is_none() {
            return;
        }
        for point in points.filter(|&point| plot.contains(point)) {
            let apart = |&last: &Point| distance(last, point) >= MARKER_SPACING;
            if self.marks.last().is_none_or(apart) {
                self.marks.push(point);
            }
        }
    }

    /// The length of the curve inside `area`, isolated points as a little each.
    pub(super) fn length_within(&self, area: &Rect) -> f64 {
        let pieces = self
            .runs
            .iter()
            .flat_map(|run| run.iter().zip(run.iter().skip(1)));
        let inside = pieces.filter_map(|(&from, &to)| area.clip(from, to));
        let points = self
            .runs
            .iter()
            .filter(|run| run.len() == 1)
            .flatten()
            .chain(&self.marks);
        let marks = points.filter(|&&point| area.contains(point)).count();
        inside
            .map(|(from, to)| distance(from, to).max(0.1))
            .sum::<f64>()
            + marks as f64
    }

    pub(super) fn draw(&self, svg: &mut String) {
        let mut data = String::new();
        for run in self.runs.iter().filter(|run| run.len() > 1) {
            let mut command = 'M';
            for (x, y) in thinned(run) {
                let _ = write!(data, "{command}{} {}", Px(x), Px(y));
                command = 'L';
            }
        }
        if !data.is_empty() {
            self.pen.path(svg, &data);
        }
        for (x, y) in self.runs.iter().filter(|run| run.len() == 1).flatten() {
            let (x, y) = (Px(*x), Px(*y));
            let _ = writeln!(
                svg,
                "<circle cx=\"{x}\" cy=\"{y}\" r=\"2\" fill=\"{}\"/>",
                self.pen.color
            );
        }
        self.pen.markers(svg, &self.marks);
    }
}

/// Leaves out points too near the last one kept; the end always stays.
fn thinned(run: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    for (place, &point) in run.iter().enumerate() {
        let far = kept
            .last()
            .is_none_or(|&last| distance(last, point) >= RESOLUTION);
        if far || place + 1 == run.len() {
            kept.push(point);
        }
    }
    kept
}
