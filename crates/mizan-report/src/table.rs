//! Tables that fit a terminal: headings, a light rule above and below the
//! rows, no vertical lines. Layout and wrapping are comfy-table's.

use crate::ascii;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle,
};
use std::fmt;

/// Columns of a terminal that every reader has.
const WIDTH: u16 = 80;
/// Spaces after a column; the layout adds one between columns by itself.
const GAP: u16 = 1;

/// A column of a [`Table`]: its heading and the side its cells stand on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    heading: String,
    number: bool,
}

impl Column {
    /// Words, aligned on the left; wrapped where space is short.
    #[must_use]
    pub fn text(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            number: false,
        }
    }

    /// Numbers, aligned on the right and never broken.
    #[must_use]
    pub fn number(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            number: true,
        }
    }

    fn alignment(&self) -> CellAlignment {
        match self.number {
            true => CellAlignment::Right,
            false => CellAlignment::Left,
        }
    }
}

/// Rows under headings, at most 80 columns wide. [`Display`](fmt::Display)
/// lays it out, without a newline after the last line.
///
/// ```
/// use mizan_report::{Column, Table};
///
/// let mut table = Table::new([Column::text("method"), Column::number("ε")]);
/// table.row(["renyi", "1.235"]).row(["basic", "10"]);
/// assert_eq!(
///     table.to_string(),
///     "method      ε\n\
///      ─────────────\n\
///      renyi   1.235\n\
///      basic      10\n\
///      ─────────────",
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    width: u16,
    ascii: bool,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self {
            columns: columns.into_iter().collect(),
            rows: Vec::new(),
            width: WIDTH,
            ascii: false,
        }
    }

    /// Adds a row. Missing cells stay empty, cells beyond the columns are dropped.
    pub fn row<Text: Into<String>>(&mut self, cells: impl IntoIterator<Item = Text>) -> &mut Self {
        let cells = cells.into_iter().map(Into::into);
        self.rows.push(cells.take(self.columns.len()).collect());
        self
    }

    /// Sets the number of terminal columns of the table (80 by default).
    #[must_use]
    pub fn width(mut self, width: u16) -> Self {
        self.width = width;
        self
    }

    /// Keeps rules and cells to ASCII.
    #[must_use]
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    fn spell(&self, text: &str) -> String {
        if self.ascii {
            ascii(text)
        } else {
            text.to_owned()
        }
    }

    /// The same table in the terms of the library that lays it out.
    fn layout(&self) -> comfy_table::Table {
        let fill = if self.ascii { '-' } else { '─' };
        let rule = LineStyle::none().fill(fill).junction(fill);
        let mut table = comfy_table::Table::new();
        table
            .load_style(TableStyle::new().header_separator(rule).bottom_border(rule))
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(self.width)
            .set_header(self.columns.iter().map(|column| {
                Cell::new(self.spell(&column.heading)).set_alignment(column.alignment())
            }));
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| self.spell(cell)));
        }
        let last = self.columns.len().saturating_sub(1);
        for (place, column) in self.columns.iter().enumerate() {
            if let Some(laid_out) = table.column_mut(place) {
                laid_out.set_padding((0, if place == last { 0 } else { GAP }));
                laid_out.set_cell_alignment(column.alignment());
                if column.number {
                    laid_out.set_constraint(ColumnConstraint::ContentWidth);
                }
            }
        }
        table
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.columns.is_empty() {
            return Ok(());
        }
        f.write_str(&self.layout().trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        let mut table = Table::new([
            Column::text("question"),
            Column::number("ε"),
            Column::number("δ"),
        ]);
        let question =
            "how many people in each department earn more than the median, by region and year";
        table.row([question, "0.125", "1e-6"]).row(["∞", "∞"]);
        table
    }

    #[test]
    fn long_text_wraps_and_numbers_stay_whole() {
        for width in [40, 60, 80] {
            let text = sample().width(width).to_string();
            assert!(
                text.lines()
                    .all(|line| line.chars().count() <= usize::from(width)),
                "{text}"
            );
            assert!(text.contains("0.125  1e-6"), "{text}");
        }
    }

    #[test]
    fn ascii_reaches_rules_headings_and_cells() {
        let text = sample().ascii(true).to_string();
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains("epsilon") && text.contains("inf") && text.contains("---"));
    }

    #[test]
    fn cells_beyond_the_columns_are_dropped() {
        let mut table = Table::new([Column::text("a")]);
        table.row(["1", "2"]);
        assert!(!table.to_string().contains('2'));
        assert_eq!(Table::new([]).to_string(), "");
    }
}
