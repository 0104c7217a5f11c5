//! Figures, tables and rounded numbers for display.
//!
//! This crate takes plain numbers and depends on no other crate of the workspace, so the command
//! line, the server and the documentation draw the same figures from the same data.
//!
//! - [`Figure`]: panels of curves, drawn as [SVG](Figure::to_svg), written as
//!   [CSV](Figure::to_csv) or sketched in a [`Terminal`].
//! - [`Table`]: rows and columns that fit a terminal.
//! - [`number`]: decimal text, rounded to a stated side.
//!
//! ```
//! use mizan_report::{Axis, Figure, Panel, Series, Terminal, number};
//!
//! // The Rényi budget curve of Gaussian noise: ε(α) = α / 2σ².
//! let curve = |sigma: f64| Series::sampled(format!("σ = {sigma}"), 1.0, 10.0, 50, move |order| {
//!     order / (2.0 * sigma * sigma)
//! });
//! let panel = Panel::new("Gaussian noise", Axis::linear("order α"), Axis::linear("ε"))
//!     .with(curve(2.0))
//!     .with(curve(4.0));
//!
//! println!("{}", Terminal::default().chart(&panel));
//! let svg = Figure::new("Budget curves").with(panel).to_svg();
//! assert!(svg.starts_with("<svg"));
//!
//! // A printed epsilon is never below the epsilon that was computed.
//! assert_eq!(number::epsilon_up(1.23401, 4), "1.235");
//! ```

mod ascii;
mod bars;
mod clip;
mod csv;
mod figure;
pub mod number;
mod scale;
mod svg;
mod table;
mod terminal;
mod tick;

pub use ascii::ascii;
pub use bars::{Bar, Bars};
pub use figure::{Axis, Figure, Panel, Scale, Series, Stroke};
pub use table::{Column, Table};
pub use terminal::Terminal;
