//! Answers with error bars, one bar per group, as plain data. `svg/bars.rs` and `terminal/bars.rs`
//! draw it with the same scale.

/// A titled chart of bars.
///
/// ```
/// use mizan_report::{Bar, Bars, Terminal};
///
/// let bars = Bars::new("Visits by city")
///     .with(Bar::new("Cairo", 812.0).between(790.0, 834.0))
///     .with(Bar::new("Aswan", 97.0).between(75.0, 119.0));
/// assert!(Terminal::default().bars(&bars).lines().all(|line| line.chars().count() <= 78));
/// assert!(bars.to_svg().starts_with("<svg"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// Printed above; also the accessible name of the picture.
    pub title: String,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// A value and where it may really lie.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// Its name.
    pub label: String,
    /// Its value; one that is not finite has no bar.
    pub value: f64,
    /// The ends of its error bar, if they are known.
    pub between: Option<(f64, f64)>,
}

impl Bars {
    /// A chart without bars.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            bars: Vec::new(),
        }
    }

    /// Adds a bar.
    #[must_use]
    pub fn with(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    /// The ends of the axis: zero is always on it.
    pub(crate) fn ends(&self) -> (f64, f64) {
        let values = self.bars.iter().flat_map(|bar| {
            let (low, high) = bar.between.unwrap_or((bar.value, bar.value));
            [bar.value, low, high]
        });
        let values = values.filter(|value| value.is_finite());
        let (low, high) = values.fold((0.0_f64, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        if low < high { (low, high) } else { (0.0, 1.0) }
    }
}

impl Bar {
    /// A bar without an error bar.
    #[must_use]
    pub fn new(label: impl Into<String>, value: f64) -> Self {
        Self {
            label: label.into(),
            value,
            between: None,
        }
    }

    /// With the ends of its error bar.
    #[must_use]
    pub fn between(mut self, low: f64, high: f64) -> Self {
        self.between = Some((low, high));
        self
    }

    /// The value and half of the error bar, in figures.
    pub(crate) fn figures(&self) -> String {
        match self.between {
            Some((low, high)) if (high - low).is_finite() => {
                crate::number::within(self.value, low, high, 5)
            }
            _ => crate::number::grouped(self.value, 5),
        }
    }
}
