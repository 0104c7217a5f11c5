//! Charts and gauges for a terminal.
//!
//! The ticks are those of the picture (`tick.rs`); the dots are drawn by
//! `canvas.rs`.

mod bars;
mod canvas;

use crate::scale::{Fit, Span};
use crate::{Panel, ascii};
use canvas::{Canvas, nearest};

/// Least columns and rows of a plot, however small the terminal.
const SMALLEST: (usize, usize) = (10, 3);

/// What a terminal can show, and the size of the charts drawn on it.
///
/// ```
/// use mizan_report::{Axis, Panel, Series, Terminal};
///
/// let panel = Panel::new("Gaussian, σ = 2", Axis::linear("order α"), Axis::linear("ε"))
///     .with(Series::new("", vec![(1.0, 0.125), (10.0, 1.25)]));
/// let chart = Terminal { width: 40, height: 5, ascii: true, ..Terminal::default() }.chart(&panel);
/// assert!(chart.lines().all(|line| line.len() <= 40));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns a chart may use, labels included.
    pub width: usize,
    /// Rows of the plotting area.
    pub height: usize,
    /// Whether series have colours (ANSI escapes).
    pub color: bool,
    /// Whether to keep to ASCII.
    pub ascii: bool,
}

impl Default for Terminal {
    /// 78 columns by 14 rows, Unicode, no colour: it fits 80 × 24.
    fn default() -> Self {
        Self {
            width: 78,
            height: 14,
            color: false,
            ascii: false,
        }
    }
}

impl Terminal {
    /// Sketches a panel; every line ends in a newline.
    ///
    /// Up to four curves keep apart by their dash patterns (in ASCII, by the
    /// characters they are made of); more need colour.
    #[must_use]
    pub fn chart(&self, panel: &Panel) -> String {
        let rows = self.height.max(SMALLEST.1);
        let (x, y) = spans(panel, rows);
        let y_labels = labels(&y, (rows / 3).max(2), rows, self.ascii, true);
        let gutter = y_labels
            .iter()
            .map(|(_, label)| length(label))
            .max()
            .unwrap_or(0);
        let columns = self.width.saturating_sub(gutter + 2).max(SMALLEST.0);

        let mut canvas = Canvas::new(columns, rows, self.ascii, self.color);
        for (place, series) in panel.series.iter().enumerate() {
            let parts = |&(px, py): &(f64, f64)| Some((x.part(px)?, 1.0 - y.part(py)?));
            canvas.curve(place, series.points.iter().map(parts));
        }

        let mut lines = Vec::new();
        lines.extend(self.heading(panel));
        let (tick, rule) = if self.ascii {
            ('+', '|')
        } else {
            ('┤', '│')
        };
        for (row, dots) in canvas.rows().enumerate() {
            let label = y_labels.iter().find(|(place, _)| *place == row);
            let (label, mark) = label.map_or(("", rule), |(_, label)| (label.as_str(), tick));
            lines.push(format!("{label:>gutter$} {mark}{dots}"));
        }
        lines.extend(self.x_axis(&x, &panel.x.label, gutter, columns));
        lines.extend(self.legend(panel));
        lines
            .iter()
            .map(|line| format!("{}\n", line.trim_end()))
            .collect()
    }

    /// A gauge `width` columns wide, filled to `fraction` of its length.
    ///
    /// It looks empty only for nothing and full only for everything.
    ///
    /// ```
    /// let terminal = mizan_report::Terminal::default();
    /// assert_eq!(terminal.bar(0.5, 8), "████░░░░");
    /// assert_eq!(terminal.bar(0.999, 8), "███████░");
    /// ```
    #[must_use]
    pub fn bar(&self, fraction: f64, width: usize) -> String {
        let (full, empty) = if self.ascii {
            ("#", ".")
        } else {
            ("█", "░")
        };
        let fraction = fraction.clamp(0.0, 1.0);
        let mut filled = nearest(fraction * width as f64).min(width);
        if fraction > 0.0 {
            filled = filled.max(1).min(width);
        }
        if fraction < 1.0 {
            filled = filled.min(width.saturating_sub(1));
        }
        full.repeat(filled) + &empty.repeat(width - filled)
    }

    fn spell(&self, text: &str) -> String {
        if self.ascii {
            ascii(text)
        } else {
            text.to_owned()
        }
    }

    /// Title and name of the vertical axis.
    fn heading(&self, panel: &Panel) -> Vec<String> {
        let lines = [&panel.title, &panel.y.label].into_iter();
        lines
            .filter(|line| !line.is_empty())
            .map(|line| self.spell(line))
            .collect()
    }

    /// The horizontal axis: its line, its numbers and its name.
    fn x_axis(&self, x: &Span, name: &str, gutter: usize, columns: usize) -> Vec<String> {
        let (corner, rule, tick) = if self.ascii {
            ('+', '-', '+')
        } else {
            ('└', '─', '┬')
        };
        let ticks = labels(x, columns / 12, columns, self.ascii, false);
        let line = (0..columns).map(|column| {
            let marked = ticks.iter().any(|(place, _)| *place == column);
            if marked { tick } else { rule }
        });
        let axis = format!("{:gutter$} {corner}{}", "", line.collect::<String>());
        let mut numbers = String::new();
        for (place, label) in &ticks {
            let middle = (gutter + 2 + place).saturating_sub(length(label) / 2);
            let start = middle.min(self.width.saturating_sub(length(label)));
            let free = length(&numbers) + usize::from(!numbers.is_empty());
            if start >= free {
                let pad = start - length(&numbers);
                numbers.extend(std::iter::repeat_n(' ', pad));
                numbers.push_str(label);
            }
        }
        let name = self.spell(name);
        let pad = gutter + 2 + columns.saturating_sub(length(&name)) / 2;
        vec![axis, numbers, format!("{:pad$}{name}", "")]
    }

    /// Samples and names of the curves, as many a line as fit.
    fn legend(&self, panel: &Panel) -> Vec<String> {
        let mut lines: Vec<(usize, String)> = Vec::new();
        let series = panel.series.iter().enumerate();
        for (place, series) in series.filter(|(_, series)| !series.name.is_empty()) {
            let sample = Canvas::sample(place, self.ascii, self.color);
            let name = self.spell(&series.name);
            // Escapes for colour take no room, so the width is counted apart.
            let room = length(&name) + if self.ascii { 7 } else { 9 };
            let entry = format!("   {sample} {name}");
            match lines.last_mut() {
                Some((used, line)) if *used + room <= self.width => {
                    *used += room;
                    line.push_str(&entry);
                }
                _ => lines.push((room, entry)),
            }
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

/// The ranges of both axes, as in the picture.
fn spans(panel: &Panel, rows: usize) -> (Span, Span) {
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let x = Span::new(&panel.x, Fit::Tight, 6, points().map(|point| point.0));
    let shown = |point: &&(f64, f64)| {
        x.part(point.0)
            .is_some_and(|part| (0.0..=1.0).contains(&part))
    };
    let seen = points().filter(shown).map(|point| point.1);
    let intervals = u32::try_from(rows / 3).unwrap_or(6).max(2);
    (x, Span::new(&panel.y, Fit::Round, intervals, seen))
}

/// Tick labels with the row or column, of `cells`, that each belongs to.
fn labels(
    span: &Span,
    intervals: usize,
    cells: usize,
    plain: bool,
    upward: bool,
) -> Vec<(usize, String)> {
    let ticks = span.ticks(u32::try_from(intervals).unwrap_or(6).max(1));
    let last = cells.saturating_sub(1) as f64;
    let place = |part: f64| nearest(if upward { 1.0 - part } else { part } * last);
    let labelled = ticks.into_iter().filter_map(|tick| {
        let text = tick.label?.text();
        Some((place(tick.part), if plain { ascii(&text) } else { text }))
    });
    labelled.collect()
}

/// Columns that text takes: one a character, which holds for what Mizan prints.
fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Series};

    fn panel() -> Panel {
        let gap = vec![
            (1.0, 0.2),
            (4.0, 0.8),
            (5.0, f64::INFINITY),
            (6.0, 0.4),
            (10.0, 1.0),
        ];
        Panel::new("Two curves", Axis::linear("order α"), Axis::linear("ε"))
            .with(Series::new("one", gap))
            .with(Series::sampled("two", 1.0, 10.0, 50, |order| order / 10.0))
    }

    #[test]
    fn charts_fit_the_room_given() {
        for width in [24, 40, 78, 200] {
            for ascii in [false, true] {
                let terminal = Terminal {
                    width,
                    ascii,
                    ..Terminal::default()
                };
                let chart = terminal.chart(&panel());
                assert!(chart.lines().all(|line| length(line) <= width), "{chart}");
                assert!(chart.lines().count() <= 24);
                assert_eq!(chart.is_ascii(), ascii);
            }
        }
    }

    #[test]
    fn color_appears_only_when_asked_for() {
        let plain = Terminal::default();
        assert!(!plain.chart(&panel()).contains('\u{1b}'));
        let colored = Terminal {
            color: true,
            ..plain
        };
        assert!(colored.chart(&panel()).contains("\u{1b}[34m"));
    }

    #[test]
    fn empty_panels_and_tiny_terminals_draw_axes() {
        let empty = Panel::new("", Axis::linear(""), Axis::log10(""));
        let tiny = Terminal {
            width: 0,
            height: 0,
            ..Terminal::default()
        };
        assert!(tiny.chart(&empty).contains('└'));
    }

    #[test]
    fn a_bar_is_full_only_at_one() {
        let terminal = Terminal {
            ascii: true,
            ..Terminal::default()
        };
        assert_eq!(terminal.bar(0.0, 4), "....");
        assert_eq!(terminal.bar(1e-9, 4), "#...");
        assert_eq!(terminal.bar(1.0 - 1e-9, 4), "###.");
        assert_eq!(terminal.bar(7.0, 4), "####");
        assert_eq!(terminal.bar(f64::NAN, 2), "..");
        assert_eq!(terminal.bar(0.5, 0), "");
    }
}
