//! A histogram of samples, as bars.

use mizan_report::{Terminal, number};
use serde_json::{Value, json};

/// Rows on either side of zero.
const ROWS: i64 = 10;

/// The rows cover this many scales on either side.
const SCALES: f64 = 4.5;

/// Counts of cells of equal width; the outer cells also count what lies beyond.
pub(super) struct Histogram {
    first: i64,
    width: i64,
    counts: Vec<u64>,
    total: u64,
    sum: f64,
    squares: f64,
    /// Whether values lie beyond the cells.
    open: bool,
    /// The largest possible value.
    last: i64,
}

impl Histogram {
    /// Cells around zero for noise of this scale.
    pub(super) fn around_zero(scale: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is halved")]
        let half = ((scale * SCALES / 10.0 / 2.0).round() as i64).min(i64::MAX / 64);
        // Odd, so that one cell has zero in its middle.
        let width = (2 * half - 1).max(1);
        Self::of(-ROWS * width - width / 2, width, 2 * ROWS + 1, true)
    }

    /// One cell per category, or several categories per cell.
    pub(super) fn of_categories(categories: u64) -> Self {
        let categories = i64::try_from(categories).unwrap_or(i64::MAX);
        let width = (categories - 1) / (2 * ROWS + 1) + 1;
        let cells = (categories - 1) / width + 1;
        Self {
            last: categories - 1,
            ..Self::of(0, width, cells, false)
        }
    }

    fn of(first: i64, width: i64, cells: i64, open: bool) -> Self {
        Self {
            first,
            width,
            counts: vec![0; usize::try_from(cells).unwrap_or(1)],
            total: 0,
            sum: 0.0,
            squares: 0.0,
            open,
            last: i64::MAX,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub(super) fn add(&mut self, draws: &[i64]) {
        let last = i64::try_from(self.counts.len()).unwrap_or(1) - 1;
        for &draw in draws {
            let cell = draw.saturating_sub(self.first).div_euclid(self.width);
            let cell = usize::try_from(cell.clamp(0, last)).unwrap_or(0);
            if let Some(count) = self.counts.get_mut(cell) {
                *count += 1;
            }
            self.total += 1;
            self.sum += draw as f64;
            self.squares += (draw as f64).powi(2);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "for people")]
    fn mean_and_deviation(&self) -> (f64, f64) {
        let total = self.total as f64;
        let mean = self.sum / total;
        (mean, (self.squares / total - mean * mean).max(0.0).sqrt())
    }

    /// The range of each cell as text, with its count.
    fn cells(&self) -> Vec<(String, u64)> {
        let cells = i64::try_from(self.counts.len()).unwrap_or(1);
        let range = |at: i64| {
            let low = self.first + at * self.width;
            let high = (low + (self.width - 1)).min(self.last);
            let (from, to) = (edge(low), edge(high));
            if self.open && at == 0 {
                format!("to {to}")
            } else if self.open && at == cells - 1 {
                format!("from {from}")
            } else if self.width == 1 {
                from
            } else {
                format!("{from} to {to}")
            }
        };
        (0..).map(range).zip(self.counts.iter().copied()).collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "for people")]
    pub(super) fn text(&self, terminal: Terminal) -> String {
        let cells = self.cells();
        let widest = cells.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let largest = self.counts.iter().max().copied().unwrap_or(1).max(1) as f64;
        let room = terminal.width.saturating_sub(widest + 12).max(10);
        let mut text = String::new();
        for (name, count) in cells {
            let share = 100.0 * count as f64 / self.total.max(1) as f64;
            let bar = terminal.bar(count as f64 / largest, room);
            let bar = bar.trim_end_matches(['░', '.']);
            text.push_str(format!("{name:>widest$}  {share:6.2} %  {bar}").trim_end());
            text.push('\n');
        }
        let (mean, deviation) = self.mean_and_deviation();
        text.push_str(&format!(
            "\nmean {}, standard deviation {}\n",
            number::nearest(mean, 4),
            number::nearest(deviation, 6)
        ));
        text
    }

    pub(super) fn json(&self) -> Value {
        let (mean, deviation) = self.mean_and_deviation();
        json!({
            "first": self.first,
            "width": self.width,
            "counts": self.counts,
            "mean": mean,
            "standard_deviation": deviation,
        })
    }
}

/// The edge of a cell, rounded where it has many digits.
#[expect(clippy::cast_precision_loss, reason = "for people")]
fn edge(value: i64) -> String {
    if value.abs() < 1_000_000_000 {
        value.to_string()
    } else {
        number::nearest(value as f64, 4)
    }
}
