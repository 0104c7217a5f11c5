//! One panel: grid, frame, ticks, labels, curves and legend.

use super::curve::Curve;
use super::legend::{Entry, Flow, Inset};
use super::text::{self, Anchor, Px, escape, wrap};
use crate::Panel;
use crate::scale::{Fit, Span};
use crate::tick::{Label, Tick};
use std::fmt::Write as _;

const TITLE_SIZE: f64 = 12.0;
const LABEL_SIZE: f64 = 12.0;
const TICK_SIZE: f64 = 10.5;
const RAISED_SIZE: f64 = 8.0;
const LINE: f64 = 15.0;
/// Length of a labelled tick; others are half as long.
const TICK: f64 = 4.0;
/// Space between a tick and its label.
const GAP: f64 = 3.0;
const GRID: &str = "#e4e4e4";
const FRAME: &str = "#555";
/// Least space on the right, for half a label under the last tick.
const RIGHT: f64 = 10.0;

/// The space that titles and labels need around a plot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Margins {
    pub(super) top: f64,
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) right: f64,
}

impl Margins {
    /// Enough for both.
    pub(super) fn max(self, other: &Self) -> Self {
        Self {
            top: self.top.max(other.top),
            left: self.left.max(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.max(other.right),
        }
    }
}

/// Where the names of the curves stand.
enum Legend {
    /// Elsewhere, or there are none.
    Absent,
    Inside(Inset),
    Below(Flow),
}

/// A panel with everything decided but its place in the picture.
pub(super) struct PanelArt {
    title: Vec<String>,
    x_label: Vec<String>,
    y_label: Vec<String>,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    curves: Vec<Curve>,
    legend: Legend,
    pub(super) margins: Margins,
}

impl PanelArt {
    pub(super) fn new(panel: &Panel, plot: (f64, f64), with_legend: bool) -> Self {
        let (across, down) = intervals(plot);
        let points = || panel.series.iter().flat_map(|series| &series.points);
        let x = Span::new(&panel.x, Fit::Tight, across, points().map(|point| point.0));
        // Only what the horizontal range shows should stretch the vertical one.
        let seen = points().filter(|point| {
            x.part(point.0)
                .is_some_and(|part| (0.0..=1.0).contains(&part))
        });
        let y = Span::new(&panel.y, Fit::Round, down, seen.map(|point| point.1));
        let series = panel.series.iter().enumerate();
        let curves: Vec<Curve> = series
            .map(|(place, series)| Curve::new(place, series, &x, &y, plot))
            .collect();
        let entries = if with_legend {
            Entry::of(panel)
        } else {
            Vec::new()
        };
        let legend = match entries.is_empty() {
            true => Legend::Absent,
            false => match Inset::place(entries, &curves, plot) {
                Ok(inset) => Legend::Inside(inset),
                Err(entries) => Legend::Below(Flow::new(entries, plot.0)),
            },
        };
        let mut art = Self {
            title: wrap(&panel.title, TITLE_SIZE, plot.0),
            x_label: wrap(&panel.x.label, LABEL_SIZE, plot.0),
            y_label: wrap(&panel.y.label, LABEL_SIZE, plot.1),
            x_ticks: spaced_ticks(&x, across, plot.0),
            y_ticks: y.ticks(down),
            curves,
            legend,
            margins: Margins::default(),
        };
        art.margins = art.measure();
        art
    }

    fn measure(&self) -> Margins {
        let widest = self.y_ticks.iter().filter_map(|tick| tick.label.as_ref());
        let widest = widest.map(label_width).fold(0.0, f64::max);
        let last = self
            .x_ticks
            .iter()
            .rev()
            .find_map(|tick| tick.label.as_ref());
        Margins {
            top: self.title.len() as f64 * LINE + 6.0,
            left: TICK + GAP + widest + self.y_label.len() as f64 * LINE + 8.0,
            bottom: TICK + GAP + TICK_SIZE + 4.0 + self.x_label.len() as f64 * LINE,
            right: last
                .map_or(0.0, |label| label_width(label) / 2.0)
                .max(RIGHT),
        }
    }

    /// What a legend under the plot adds to its height.
    pub(super) fn legend_height(&self) -> f64 {
        match &self.legend {
            Legend::Below(flow) => flow.height + 4.0,
            _ => 0.0,
        }
    }

    /// Draws the panel with the upper left corner of its plot at `(left, top)`.
    pub(super) fn draw(
        &self,
        svg: &mut String,
        (left, top): (f64, f64),
        plot: (f64, f64),
        margins: &Margins,
    ) {
        let (width, height) = plot;
        let _ = writeln!(svg, "<g transform=\"translate({} {})\">", Px(left), Px(top));
        self.draw_grid(svg, plot);
        self.draw_ticks(svg, plot);
        for curve in &self.curves {
            curve.draw(svg);
        }
        for (line, text) in self.title.iter().rev().enumerate() {
            let baseline = (width / 2.0, -7.0 - line as f64 * LINE);
            text::write(svg, baseline, Anchor::Middle, TITLE_SIZE, true, text);
        }
        for (line, text) in self.x_label.iter().enumerate() {
            let below = TICK + GAP + TICK_SIZE + 4.0 + LABEL_SIZE;
            let baseline = (width / 2.0, height + below + line as f64 * LINE);
            text::write(svg, baseline, Anchor::Middle, LABEL_SIZE, false, text);
        }
        self.draw_y_label(svg, height);
        match &self.legend {
            Legend::Absent => {}
            Legend::Inside(inset) => inset.draw(svg),
            Legend::Below(flow) => flow.draw(
                svg,
                ((width - flow.width) / 2.0, height + margins.bottom + 4.0),
            ),
        }
        svg.push_str("</g>\n");
    }

    fn draw_grid(&self, svg: &mut String, (width, height): (f64, f64)) {
        let mut data = String::new();
        let inner = |tick: &&Tick| tick.label.is_some() && (0.001..0.999).contains(&tick.part);
        for tick in self.x_ticks.iter().filter(inner) {
            let _ = write!(data, "M{} 0V{}", Px(tick.part * width), Px(height));
        }
        for tick in self.y_ticks.iter().filter(inner) {
            let _ = write!(data, "M0 {}H{}", Px((1.0 - tick.part) * height), Px(width));
        }
        if !data.is_empty() {
            let _ = writeln!(
                svg,
                "<path stroke=\"{GRID}\" stroke-width=\"0.7\" d=\"{data}\"/>"
            );
        }
    }

    fn draw_ticks(&self, svg: &mut String, (width, height): (f64, f64)) {
        let length = |tick: &Tick| {
            Px(if tick.label.is_some() {
                TICK
            } else {
                TICK / 2.0
            })
        };
        let mut data = format!("M0 0H{}V{}H0Z", Px(width), Px(height));
        let mut labels = String::new();
        for tick in &self.x_ticks {
            let x = tick.part * width;
            let _ = write!(data, "M{} {}v{}", Px(x), Px(height), length(tick));
            if let Some(label) = &tick.label {
                write_label(
                    &mut labels,
                    (x, height + TICK + GAP + 0.8 * TICK_SIZE),
                    Anchor::Middle,
                    label,
                );
            }
        }
        for tick in &self.y_ticks {
            let y = (1.0 - tick.part) * height;
            let _ = write!(data, "M0 {}h-{}", Px(y), length(tick));
            if let Some(label) = &tick.label {
                write_label(
                    &mut labels,
                    (-TICK - GAP, y + 0.36 * TICK_SIZE),
                    Anchor::End,
                    label,
                );
            }
        }
        let _ = writeln!(
            svg,
            "<path fill=\"none\" stroke=\"{FRAME}\" stroke-width=\"0.8\" d=\"{data}\"/>"
        );
        let _ = write!(svg, "<g font-size=\"{TICK_SIZE}\">\n{labels}</g>\n");
    }

    fn draw_y_label(&self, svg: &mut String, height: f64) {
        let lines = self.y_label.len() as f64;
        // Beside this panel's own numbers, however wide its neighbours' are.
        let left = self.margins.left - lines * LINE;
        for (line, text) in self.y_label.iter().enumerate() {
            let x = -left - (lines - 1.0 - line as f64) * LINE;
            let _ = writeln!(
                svg,
                "<text transform=\"translate({} {}) rotate(-90)\" font-size=\"{LABEL_SIZE}\" \
                 text-anchor=\"middle\">{}</text>",
                Px(x),
                Px(height / 2.0),
                escape(text)
            );
        }
    }
}

/// About how many intervals between ticks a plot of this size has room for.
fn intervals((width, height): (f64, f64)) -> (u32, u32) {
    let across = if width > 400.0 {
        8
    } else if width > 250.0 {
        6
    } else {
        4
    };
    let down = if height > 250.0 {
        7
    } else if height > 200.0 {
        6
    } else {
        5
    };
    (across, down)
}

/// As many ticks as `intervals` asks for, or fewer where labels would touch.
fn spaced_ticks(span: &Span, intervals: u32, room: f64) -> Vec<Tick> {
    let touching = |ticks: &[Tick]| {
        let mut free = f64::NEG_INFINITY;
        let labels = ticks
            .iter()
            .filter_map(|tick| Some((tick.part, tick.label.as_ref()?)));
        labels.into_iter().any(|(part, label)| {
            let (middle, half) = (part * room, label_width(label) / 2.0);
            let touches = middle - half < free;
            free = middle + half + TICK_SIZE / 2.0;
            touches
        })
    };
    let mut fewer = (1..=intervals).rev().map(|intervals| span.ticks(intervals));
    fewer.find(|ticks| !touching(ticks)).unwrap_or_default()
}

fn label_width(label: &Label) -> f64 {
    text::width(&label.base(), TICK_SIZE) + text::width(&label.raised(), RAISED_SIZE)
}

/// Writes the label of a tick, its exponent raised.
fn write_label(svg: &mut String, (x, y): (f64, f64), anchor: Anchor, label: &Label) {
    let _ = write!(
        svg,
        "<text x=\"{}\" y=\"{}\"{}>{}",
        Px(x),
        Px(y),
        anchor.attribute(),
        label.base()
    );
    let raised = label.raised();
    if !raised.is_empty() {
        let _ = write!(
            svg,
            "<tspan dy=\"-4\" font-size=\"{RAISED_SIZE}\">{raised}</tspan>"
        );
    }
    svg.push_str("</text>\n");
}
