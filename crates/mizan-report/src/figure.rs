//! What a figure is: panels, axes and series, as plain data.
//!
//! Nothing here draws. `svg.rs`, `csv.rs` and `terminal.rs` each read this one
//! description, so the three can never show different curves.

/// A titled grid of panels.
///
/// ```
/// use mizan_report::{Axis, Figure, Panel, Series};
///
/// let delta = Series::sampled("exact", 0.0, 5.0, 100, |epsilon: f64| (-epsilon).exp());
/// let figure = Figure::new("What ε buys")
///     .with(Panel::new("One release", Axis::linear("ε"), Axis::log10("δ")).with(delta))
///     .columns(1);
///
/// assert!(figure.to_svg().contains("What ε buys"));
/// assert!(figure.to_csv().starts_with("panel,series,x,y\n"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// Printed above the panels; also the accessible name of the picture.
    pub title: String,
    /// In reading order: left to right, then top to bottom.
    pub panels: Vec<Panel>,
    /// Panels a row; zero means as many as read well (at most three).
    pub columns: usize,
    /// What the picture shows, for those who do not see it; empty for an English
    /// description of its panels.
    pub description: String,
}

impl Figure {
    /// An empty figure.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// Adds a panel.
    #[must_use]
    pub fn with(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Sets what the picture shows, for those who do not see it.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets how many panels stand side by side.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }
}

/// One pair of axes and the curves drawn on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Printed above the panel.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The curves, in legend order.
    pub series: Vec<Series>,
}

impl Panel {
    /// A panel without curves.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series: Vec::new(),
        }
    }

    /// Adds a curve.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

/// A labelled axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// Name and unit, such as `order α`.
    pub label: String,
    /// How values become distances.
    pub scale: Scale,
    /// Smallest and largest value shown; `None` fits the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// An axis on which equal distances are equal differences.
    #[must_use]
    pub fn linear(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Linear,
            range: None,
        }
    }

    /// An axis on which equal distances are equal ratios. Values that are not
    /// positive have no place on it and are left out.
    #[must_use]
    pub fn log10(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            scale: Scale::Log10,
            range: None,
        }
    }

    /// Shows exactly the values from `low` to `high`; curves are cut there.
    ///
    /// A range that the scale cannot show (empty, not finite, or not positive
    /// on a logarithmic axis) is ignored and the data decide.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// How values become distances along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal distances are equal differences.
    #[default]
    Linear,
    /// Equal distances are equal ratios; ticks are powers of ten.
    Log10,
}

/// A named curve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Shown in the legend; a series without a name is left out of it.
    pub name: String,
    /// Joined in order. A value that is not finite is a gap.
    pub points: Vec<(f64, f64)>,
    /// The pattern of the line.
    pub stroke: Stroke,
    /// Whether each point is marked as well as joined.
    pub markers: bool,
}

impl Series {
    /// A solid or dashed curve, as its place in the panel decides.
    #[must_use]
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            points,
            ..Self::default()
        }
    }

    /// The graph of `function` at `steps + 1` evenly spaced values from `low`
    /// to `high`, both included.
    #[must_use]
    pub fn sampled(
        name: impl Into<String>,
        low: f64,
        high: f64,
        steps: u32,
        function: impl Fn(f64) -> f64,
    ) -> Self {
        let steps = steps.max(1);
        let points = (0..=steps)
            .map(|step| {
                let part = f64::from(step) / f64::from(steps);
                // Weighted rather than `low + part * width`, which can miss `high`.
                let x = low * (1.0 - part) + high * part;
                (x, function(x))
            })
            .collect();
        Self::new(name, points)
    }

    /// Fixes the pattern of the line.
    #[must_use]
    pub fn stroke(mut self, stroke: Stroke) -> Self {
        self.stroke = stroke;
        self
    }

    /// Marks each point.
    #[must_use]
    pub fn markers(mut self) -> Self {
        self.markers = true;
        self
    }
}

/// The pattern of a line: what tells curves apart when colour cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stroke {
    /// Chosen by the place of the series in its panel, so that neighbours differ.
    #[default]
    Auto,
    /// Unbroken.
    Solid,
    /// Short dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dash and dot in turn.
    DashDot,
    /// Long dashes.
    LongDash,
    /// Dash and two dots in turn.
    DashDotDot,
}

#[cfg(test)]
mod tests {
    use super::Series;

    #[test]
    fn sampling_includes_both_ends() {
        let series = Series::sampled("", 0.1, 0.7, 3, |x| 2.0 * x);
        assert_eq!(series.points.len(), 4);
        assert_eq!(series.points.first(), Some(&(0.1, 0.2)));
        assert_eq!(series.points.last(), Some(&(0.7, 1.4)));
    }
}
