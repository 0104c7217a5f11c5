//! A figure as a self-contained SVG picture, fit for a paper and for a page.
//!
//! Curves differ in dash pattern and weight as well as colour, so a black and
//! white print loses nothing. The picture holds no scripts, no external fonts
//! and no identifiers: several can stand in one HTML page without clashing.
//!
//! This file lays panels out; `panel.rs` draws one, `curve.rs` its lines,
//! `legend.rs` finds a free place for their names, `text.rs` measures words.

mod bars;
mod curve;
mod legend;
mod panel;
mod text;

use crate::{Figure, Panel};
use legend::{Entry, Flow};
use panel::{Margins, PanelArt};
use std::fmt::Write as _;
use text::{Anchor, Px, escape, wrap};

const FONTS: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";
/// The colour of text and frames.
const INK: &str = "#222";
/// Space around the whole picture.
const EDGE: f64 = 10.0;
/// Space between neighbouring panels.
const GUTTER: f64 = 16.0;
const TITLE_SIZE: f64 = 14.0;
const TITLE_LINE: f64 = 18.0;
/// Most panels a row unless the figure asks for more.
const MOST_COLUMNS: usize = 3;

impl Figure {
    /// Draws the figure as a standalone SVG document. The same figure always
    /// gives the same text.
    #[must_use]
    pub fn to_svg(&self) -> String {
        Layout::new(self).draw(self)
    }

    /// The legend all panels have in common, when there are several and they do.
    fn shared_legend(&self) -> Option<Vec<Entry>> {
        let (first, rest) = self.panels.split_first()?;
        let legend = Entry::of(first);
        let same = |panel: &Panel| Entry::of(panel) == legend;
        (!rest.is_empty() && !legend.is_empty() && rest.iter().all(same)).then_some(legend)
    }

    /// What the picture shows, for those who do not see it.
    fn description(&self) -> String {
        if !self.description.is_empty() {
            return self.description.clone();
        }
        let panels = self.panels.iter().map(|panel| {
            let names: Vec<&str> = panel
                .series
                .iter()
                .map(|series| series.name.as_str())
                .collect();
            let colon = if panel.title.is_empty() { "" } else { ": " };
            format!(
                "{}{colon}{} against {}; curves: {}.",
                panel.title,
                panel.y.label,
                panel.x.label,
                names.join(", ")
            )
        });
        panels.collect::<Vec<_>>().join(" ")
    }
}

/// Where everything goes. Plots are equally large; margins are as wide as the
/// labels need, and equal too, so that axes line up across the grid.
struct Layout {
    art: Vec<PanelArt>,
    margins: Margins,
    columns: usize,
    plot: (f64, f64),
    title: Vec<String>,
    legend: Option<Flow>,
    width: f64,
}

impl Layout {
    fn new(figure: &Figure) -> Self {
        let count = figure.panels.len().max(1);
        let columns = match figure.columns {
            0 => count.min(MOST_COLUMNS),
            asked => asked.min(count),
        };
        // Fewer panels a row are larger, and the text stays the same size.
        let plot = match columns {
            1 => (440.0, 280.0),
            2 => (280.0, 210.0),
            _ => (200.0, 170.0),
        };
        let shared = figure.shared_legend();
        let prepare = |panel| PanelArt::new(panel, plot, shared.is_none());
        let art: Vec<PanelArt> = figure.panels.iter().map(prepare).collect();
        let margins = art
            .iter()
            .fold(Margins::default(), |most, art| most.max(&art.margins));
        let across = columns as f64;
        let width =
            across * (margins.left + plot.0 + margins.right) + (across - 1.0) * GUTTER + 2.0 * EDGE;
        Self {
            title: wrap(&figure.title, TITLE_SIZE, width - 2.0 * EDGE),
            legend: shared.map(|entries| Flow::new(entries, width - 2.0 * EDGE)),
            art,
            margins,
            columns,
            plot,
            width,
        }
    }

    fn draw(&self, figure: &Figure) -> String {
        let mut body = String::new();
        let mut top = EDGE;
        for line in &self.title {
            top += TITLE_LINE;
            let baseline = (self.width / 2.0, top - 4.0);
            text::write(&mut body, baseline, Anchor::Middle, TITLE_SIZE, true, line);
        }
        if !self.title.is_empty() {
            top += 6.0;
        }
        for row in self.art.chunks(self.columns.max(1)) {
            top += self.draw_row(&mut body, row, top) + GUTTER;
        }
        let mut height = (top - GUTTER).max(EDGE) + EDGE;
        if let Some(legend) = &self.legend {
            let left = (self.width - legend.width) / 2.0;
            legend.draw(&mut body, (left, height - EDGE + 8.0));
            height += legend.height + 8.0;
        }
        self.document(figure, &body, height)
    }

    /// Draws panels side by side and returns the height they took.
    fn draw_row(&self, body: &mut String, row: &[PanelArt], top: f64) -> f64 {
        let (width, height) = self.plot;
        let margins = &self.margins;
        let mut left = EDGE + margins.left;
        for art in row {
            art.draw(body, (left, top + margins.top), self.plot, margins);
            left += width + margins.right + GUTTER + margins.left;
        }
        let below = row.iter().map(PanelArt::legend_height).fold(0.0, f64::max);
        margins.top + height + margins.bottom + below
    }

    fn document(&self, figure: &Figure, body: &str, height: f64) -> String {
        let (width, height) = (Px(self.width), Px(height));
        let mut svg = String::with_capacity(body.len() + 1024);
        let _ = writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FONTS}\" fill=\"{INK}\">"
        );
        let _ = writeln!(svg, "<title>{}</title>", escape(&figure.title));
        let _ = writeln!(svg, "<desc>{}</desc>", escape(&figure.description()));
        let _ = writeln!(
            svg,
            "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>"
        );
        svg.push_str(body);
        svg.push_str("</svg>\n");
        svg
    }
}
