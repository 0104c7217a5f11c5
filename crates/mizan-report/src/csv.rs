//! A figure as comma-separated values.

use crate::Figure;
use std::fmt::Write as _;

impl Figure {
    /// The points of every curve as CSV (RFC 4180, lines end in a newline):
    /// `panel,series,x,y`, a row a point.
    ///
    /// Numbers are the shortest that read back as the same double; infinity is
    /// `inf`, and what is not a number is an empty field.
    ///
    /// ```
    /// use mizan_report::{Axis, Figure, Panel, Series};
    ///
    /// let points = vec![(1.0, 0.125), (2.0, f64::INFINITY), (3.0, 1e-12)];
    /// let panel = Panel::new("Noise, exact", Axis::linear("α"), Axis::linear("ε"));
    /// let figure = Figure::new("").with(panel.with(Series::new("σ = 2", points)));
    /// assert_eq!(
    ///     figure.to_csv(),
    ///     "panel,series,x,y\n\
    ///      \"Noise, exact\",σ = 2,1,0.125\n\
    ///      \"Noise, exact\",σ = 2,2,inf\n\
    ///      \"Noise, exact\",σ = 2,3,1e-12\n",
    /// );
    /// ```
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut csv = String::from("panel,series,x,y\n");
        for panel in &self.panels {
            let title = field(&panel.title);
            for series in &panel.series {
                let name = field(&series.name);
                for &(x, y) in &series.points {
                    let _ = writeln!(csv, "{title},{name},{},{}", number(x), number(y));
                }
            }
        }
        csv
    }
}

/// Quotes a field where a comma, a quote or a line break would end it early.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Plain decimals where they are short, scientific where they would be a row of zeros.
fn number(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    let magnitude = value.abs();
    if magnitude == 0.0 || magnitude.is_infinite() || (1e-5..1e16).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::{field, number};

    #[test]
    fn fields_are_quoted_only_where_needed() {
        assert_eq!(field("Gaussian σ = 2"), "Gaussian σ = 2");
        assert_eq!(field("say \"hi\", twice"), "\"say \"\"hi\"\", twice\"");
        assert_eq!(field("two\nlines"), "\"two\nlines\"");
    }

    #[test]
    fn numbers_read_back_exactly() {
        for value in [
            0.1,
            1.0 / 3.0,
            5e-324,
            f64::MAX,
            -2.5e-7,
            0.0,
            1e15,
            123_456.789,
        ] {
            assert_eq!(number(value).parse::<f64>().unwrap(), value);
        }
        assert_eq!(number(f64::NEG_INFINITY), "-inf");
        assert_eq!(number(f64::NAN), "");
    }
}
