//! A grid of terminal cells to draw lines on.
//!
//! With Unicode a cell holds 2 × 4 braille dots; in ASCII, one character.

use crate::clip::{Point, Rect};

/// Dots drawn and left out in turn, so that curves differ without colour.
const PATTERNS: [&[usize]; 4] = [&[1, 0], &[4, 3], &[1, 2], &[6, 2, 1, 2]];
/// The characters that stand for curves in ASCII.
const SYMBOLS: [char; 6] = ['*', '+', 'o', 'x', '#', '@'];
/// ANSI colours: blue, yellow, green, magenta, cyan, red.
const COLORS: [u8; 6] = [34, 33, 32, 35, 36, 31];

#[derive(Clone, Copy, Default)]
struct Cell {
    /// The braille dots that are set, as in the Unicode block.
    dots: u8,
    /// The series that drew here last, counted from one; zero for none.
    series: usize,
}

/// The plotting area.
pub(super) struct Canvas {
    cells: Vec<Vec<Cell>>,
    columns: usize,
    ascii: bool,
    color: bool,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize, ascii: bool, color: bool) -> Self {
        Self {
            cells: vec![vec![Cell::default(); columns]; rows],
            columns,
            ascii,
            color,
        }
    }

    /// Dots across and down.
    fn dots(&self) -> (usize, usize) {
        let (across, down) = if self.ascii { (1, 1) } else { (2, 4) };
        (self.columns * across, self.cells.len() * down)
    }

    /// Draws the curve of the series at `place` through points given as parts
    /// of the canvas, to the right and down; `None` is a gap.
    pub(super) fn curve(&mut self, place: usize, points: impl Iterator<Item = Option<Point>>) {
        let (across, down) = self.dots();
        let (right, bottom) = (
            across.saturating_sub(1) as f64,
            down.saturating_sub(1) as f64,
        );
        let area = Rect {
            left: 0.0,
            top: 0.0,
            right,
            bottom,
        };
        let mut previous = None;
        let mut travelled = 0;
        for point in points {
            let to = point.map(|(x, y)| (x * right, y * bottom));
            let segment = to.and_then(|to| area.clip(previous.unwrap_or(to), to));
            if let Some((from, to)) = segment {
                self.line(place, from, to, &mut travelled);
            }
            previous = to;
        }
    }

    /// Sets the dots between two points, both inside the canvas.
    fn line(&mut self, place: usize, from: Point, to: Point, travelled: &mut usize) {
        let (mut column, mut row) = (nearest(from.0), nearest(from.1));
        let (last_column, last_row) = (nearest(to.0), nearest(to.1));
        let steps = column.abs_diff(last_column).max(row.abs_diff(last_row));
        for step in 1..=steps.max(1) {
            let part = step as f64 / steps.max(1) as f64;
            if self.is_on(place, *travelled) {
                self.dot(place, column, row);
            }
            *travelled += usize::from(steps > 0);
            column = nearest(from.0 + part * (to.0 - from.0));
            row = nearest(from.1 + part * (to.1 - from.1));
        }
        if self.is_on(place, *travelled) {
            self.dot(place, column, row);
        }
    }

    /// Whether the pen of a series is down after so many dots.
    fn is_on(&self, place: usize, travelled: usize) -> bool {
        if self.ascii || self.color {
            return true;
        }
        let pattern = PATTERNS
            .iter()
            .cycle()
            .nth(place % PATTERNS.len())
            .copied()
            .unwrap_or_default();
        let mut left = travelled % pattern.iter().sum::<usize>().max(1);
        for (turn, &length) in pattern.iter().enumerate() {
            if left < length {
                return turn % 2 == 0;
            }
            left -= length;
        }
        true
    }

    fn dot(&mut self, place: usize, column: usize, row: usize) {
        let (across, down) = if self.ascii { (1, 1) } else { (2, 4) };
        let cell = self
            .cells
            .get_mut(row / down)
            .and_then(|cells| cells.get_mut(column / across));
        if let Some(cell) = cell {
            cell.dots |= braille_bit(column % across, row % down);
            cell.series = place + 1;
        }
    }

    /// The rows from top to bottom, each as wide as the canvas.
    pub(super) fn rows(&self) -> impl Iterator<Item = String> + '_ {
        self.cells.iter().map(|cells| {
            let shown = cells.iter().map(|cell| match cell.series.checked_sub(1) {
                None => " ".to_owned(),
                Some(place) if self.ascii => self.paint(place, symbol(place)),
                Some(place) => {
                    let braille = char::from_u32(0x2800 + u32::from(cell.dots));
                    self.paint(place, braille.unwrap_or(' '))
                }
            });
            shown.collect()
        })
    }

    fn paint(&self, place: usize, symbol: char) -> String {
        let color = COLORS.iter().cycle().nth(place % COLORS.len());
        match color {
            Some(color) if self.color => format!("\u{1b}[{color}m{symbol}\u{1b}[0m"),
            _ => symbol.to_string(),
        }
    }

    /// A short sample of the line of a series, for the legend.
    pub(super) fn sample(place: usize, ascii: bool, color: bool) -> String {
        let mut canvas = Self::new(if ascii { 3 } else { 5 }, 1, ascii, color);
        canvas.curve(place, [Some((0.0, 0.5)), Some((1.0, 0.5))].into_iter());
        canvas.rows().collect()
    }
}

fn symbol(place: usize) -> char {
    SYMBOLS
        .iter()
        .cycle()
        .nth(place % SYMBOLS.len())
        .copied()
        .unwrap_or('*')
}

/// The bit of a dot in a braille cell two dots wide and four high.
fn braille_bit(column: usize, row: usize) -> u8 {
    match (column, row) {
        (0, 0) => 0x01,
        (0, 1) => 0x02,
        (0, 2) => 0x04,
        (0, _) => 0x40,
        (_, 0) => 0x08,
        (_, 1) => 0x10,
        (_, 2) => 0x20,
        _ => 0x80,
    }
}

/// The whole number nearest to a place on the canvas, which is never negative.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn nearest(place: f64) -> usize {
    // `as` saturates, and what is not a number becomes zero.
    place.round() as usize
}
