//! A figure as a self-contained SVG picture.

use crate::Figure;

impl Figure {
    /// Draws the figure.
    #[must_use]
    pub fn to_svg(&self) -> String {
        format!("<svg><title>{}</title></svg>", self.title)
    }
}
