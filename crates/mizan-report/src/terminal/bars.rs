//! Bars with error bars, in characters.

use crate::{Bars, Terminal};

/// The widest a label may be.
const WIDEST_LABEL: usize = 24;

impl Terminal {
    /// A chart of bars; every line ends in a newline. The error bar lies over
    /// the end of its bar.
    #[must_use]
    pub fn bars(&self, bars: &Bars) -> String {
        let shorten = |label: &str| -> String {
            let label = self.spell(label);
            if label.chars().count() <= WIDEST_LABEL {
                return label;
            }
            let cut = label.chars().take(WIDEST_LABEL - 1);
            cut.chain(['…']).collect()
        };
        let labels: Vec<String> = bars.bars.iter().map(|bar| shorten(&bar.label)).collect();
        let figures: Vec<String> = bars
            .bars
            .iter()
            .map(|bar| self.spell(&bar.figures()))
            .collect();
        let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
        let (left, right) = (widest(&labels).unwrap_or(0), widest(&figures).unwrap_or(0));
        let width = self.width.saturating_sub(left + right + 3).max(10);
        let mut text = String::new();
        if !bars.title.is_empty() {
            text.push_str(&format!("{}\n", self.spell(&bars.title)));
        }
        let ends = bars.ends();
        for ((bar, label), figures) in bars.bars.iter().zip(&labels).zip(&figures) {
            let line = self.line(bar.value, bar.between, ends, width);
            text.push_str(&format!("{label:<left$} {line} {figures:>right$}\n"));
        }
        text
    }

    fn line(
        &self,
        value: f64,
        between: Option<(f64, f64)>,
        (low, high): (f64, f64),
        width: usize,
    ) -> String {
        let (full, dash, stops) = if self.ascii {
            ('#', '-', ('[', ']'))
        } else {
            ('█', '─', ('├', '┤'))
        };
        let cell = |value: f64| {
            let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
            super::canvas::nearest(part * (width - 1) as f64).min(width - 1)
        };
        let mut cells = vec![' '; width];
        if value.is_finite() && value != 0.0 {
            let (from, to) = (cell(value.min(0.0)), cell(value.max(0.0)));
            fill(&mut cells, from, to, full);
        }
        if let Some((from, to)) = between
            && from.is_finite()
            && to.is_finite()
        {
            let (from, to) = (cell(from), cell(to));
            fill(&mut cells, from, to, dash);
            fill(&mut cells, from, from, stops.0);
            fill(&mut cells, to, to, stops.1);
        }
        cells.into_iter().collect()
    }
}

fn fill(cells: &mut [char], from: usize, to: usize, with: char) {
    let count = (to + 1).saturating_sub(from);
    for cell in cells.iter_mut().skip(from).take(count) {
        *cell = with;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bar;

    #[test]
    fn bars_end_where_their_values_are() {
        let bars = Bars::new("People")
            .with(Bar::new("one", 50.0).between(25.0, 75.0))
            .with(Bar::new("two", 100.0))
            .with(Bar::new("none", f64::NAN));
        let terminal = Terminal {
            width: 40,
            ..Terminal::default()
        };
        let text = terminal.bars(&bars);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "People");
        let count = |line: &str, of: char| line.chars().filter(|&c| c == of).count();
        assert!(count(lines[2], '█') > count(lines[1], '█'));
        assert_eq!((count(lines[1], '├'), count(lines[1], '┤')), (1, 1));
        assert_eq!(count(lines[3], '█'), 0);
        assert!(lines.iter().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn nothing_or_negative_values_are_drawn_too() {
        assert_eq!(Terminal::default().bars(&Bars::new("")), "");
        let bars = Bars::new("").with(Bar::new("x", -3.0).between(-5.0, f64::INFINITY));
        assert!(Terminal::default().bars(&bars).contains('█'));
    }
}
