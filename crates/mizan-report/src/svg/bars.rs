//! Bars with error bars, as a picture of its own.

use super::text::{self, Anchor, Px, escape, width, wrap};
use super::{EDGE, FONTS, INK, TITLE_LINE, TITLE_SIZE};
use crate::{Bars, tick};
use std::fmt::Write as _;

const ROW: f64 = 22.0;
const THICK: f64 = 13.0;
const SIZE: f64 = 11.0;
const PLOT: f64 = 380.0;
const FILL: &str = "#9ecae1";
/// The widest a name may be, in characters.
const WIDEST_LABEL: usize = 40;

impl Bars {
    /// Draws the chart as a standalone SVG document. The same chart always gives
    /// the same text.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let labels: Vec<String> = self.bars.iter().map(|bar| shortened(&bar.label)).collect();
        let figures: Vec<String> = self.bars.iter().map(|bar| bar.figures()).collect();
        let widest = |texts: &[String]| {
            texts
                .iter()
                .map(|text| width(text, SIZE))
                .fold(0.0, f64::max)
        };
        let left = EDGE + widest(&labels) + 8.0;
        let across = left + PLOT + 10.0 + widest(&figures) + EDGE;
        let title = wrap(&self.title, TITLE_SIZE, across - 2.0 * EDGE);

        let mut body = String::new();
        let mut top = EDGE;
        for line in &title {
            top += TITLE_LINE;
            let place = (across / 2.0, top - 4.0);
            text::write(&mut body, place, Anchor::Middle, TITLE_SIZE, true, line);
        }
        top += 6.0;
        let bottom = top + ROW * self.bars.len() as f64;
        let (low, high) = self.ends();
        let x = |value: f64| left + PLOT * ((value - low) / (high - low)).clamp(0.0, 1.0);
        self.axis(&mut body, left, (top, bottom));
        for (place, bar) in self.bars.iter().enumerate() {
            let middle = top + ROW * (place as f64 + 0.5);
            let name = labels.get(place).map_or("", String::as_str);
            let at = (left - 8.0, middle + 4.0);
            text::write(&mut body, at, Anchor::End, SIZE, false, name);
            if bar.value.is_finite() {
                let (from, to) = (x(bar.value.min(0.0)), x(bar.value.max(0.0)));
                let _ = writeln!(
                    body,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{THICK}\" fill=\"{FILL}\"/>",
                    Px(from),
                    Px(middle - THICK / 2.0),
                    Px(to - from)
                );
            }
            if let Some((from, to)) = bar.between
                && from.is_finite()
                && to.is_finite()
            {
                whisker(&mut body, (x(from), x(to)), middle);
            }
            let figures = figures.get(place).map_or("", String::as_str);
            let at = (left + PLOT + 10.0, middle + 4.0);
            text::write(&mut body, at, Anchor::Start, SIZE, false, figures);
        }
        self.document(&body, across, bottom + 24.0 + EDGE)
    }

    fn axis(&self, body: &mut String, left: f64, (top, bottom): (f64, f64)) {
        let (low, high) = self.ends();
        for mark in tick::linear(low, high, 5) {
            let x = left + PLOT * mark.part;
            let _ = writeln!(
                body,
                "<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#ddd\"/>",
                Px(x),
                Px(top),
                Px(bottom)
            );
            if let Some(label) = &mark.label {
                let number = match label.exponent {
                    Some(exponent) => format!("{}e{exponent}", label.mantissa),
                    None => label.mantissa.clone(),
                };
                let at = (x, bottom + 14.0);
                text::write(body, at, Anchor::Middle, SIZE - 1.0, false, &number);
            }
        }
    }

    fn document(&self, body: &str, width: f64, height: f64) -> String {
        let (width, height) = (Px(width), Px(height));
        let described = self
            .bars
            .iter()
            .map(|bar| format!("{}: {}.", bar.label, bar.figures()));
        let described = described.collect::<Vec<_>>().join(" ");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" \
             fill=\"{INK}\">\n<title>{}</title>\n<desc>{}</desc>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{body}</svg>\n",
            escape(&self.title),
            escape(&described)
        )
    }
}

/// A line with stops at both ends.
fn whisker(body: &mut String, (from, to): (f64, f64), y: f64) {
    let (top, bottom) = (Px(y - 4.0), Px(y + 4.0));
    let (from, to, y) = (Px(from), Px(to), Px(y));
    let _ = writeln!(
        body,
        "<path d=\"M{from} {top}V{bottom}M{from} {y}H{to}M{to} {top}V{bottom}\" \
         stroke=\"{INK}\" stroke-width=\"1.2\" fill=\"none\"/>"
    );
}

fn shortened(label: &str) -> String {
    if label.chars().count() <= WIDEST_LABEL {
        return label.to_owned();
    }
    label.chars().take(WIDEST_LABEL - 1).chain(['…']).collect()
}
