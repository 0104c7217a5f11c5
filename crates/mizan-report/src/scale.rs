//! Maps values to positions along an axis, for SVG and terminals alike. Positions run from 0 at the
//! start of the axis to 1 at its end.

use crate::tick::{self, Step, Tick};
use crate::{Axis, Scale};

/// Beyond this differences of doubles overflow, and below its inverse they
/// vanish; no axis needs more.
const LARGEST: f64 = 1e300;

/// How the ends of an axis without a given range are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// At the first and the last value, as suits a horizontal axis.
    Tight,
    /// At round values around the data, as suits a vertical axis.
    Round,
}

/// An axis whose range has been decided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Span {
    scale: Scale,
    /// The ends; on a logarithmic axis, their logarithms.
    low: f64,
    high: f64,
}

impl Span {
    /// Decides the range of `axis` for `values`; `ticks` is about how many
    /// intervals the reader will see.
    pub(crate) fn new(
        axis: &Axis,
        fit: Fit,
        ticks: u32,
        values: impl Iterator<Item = f64>,
    ) -> Self {
        let scale = axis.scale;
        let given = axis.range.and_then(|(low, high)| {
            let (low, high) = (scaled(scale, low)?, scaled(scale, high)?);
            (low < high).then_some(Self { scale, low, high })
        });
        given.unwrap_or_else(|| {
            let data = values.filter_map(|value| scaled(scale, value));
            let (low, high) = data
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            let (low, high) = widen(scale, low, high);
            let (low, high) = match (fit, scale) {
                (Fit::Tight, _) => (low, high),
                (Fit::Round, Scale::Linear) => round_linear(low, high, ticks),
                (Fit::Round, Scale::Log10) => round_log(low, high),
            };
            Self { scale, low, high }
        })
    }

    /// How far along the axis `value` lies; outside 0..=1 beyond the ends,
    /// `None` where it has no place at all.
    pub(crate) fn part(&self, value: f64) -> Option<f64> {
        let part = (scaled(self.scale, value)? - self.low) / (self.high - self.low);
        part.is_finite().then_some(part)
    }

    /// Ticks in order, about `intervals` of them labelled.
    pub(crate) fn ticks(&self, intervals: u32) -> Vec<Tick> {
        match self.scale {
            Scale::Linear => tick::linear(self.low, self.high, intervals),
            Scale::Log10 => tick::log10(self.low, self.high, intervals),
        }
    }
}

/// The coordinate of `value` on its scale, where it has one.
fn scaled(scale: Scale, value: f64) -> Option<f64> {
    match scale {
        Scale::Linear if value.abs() < 1.0 / LARGEST => Some(0.0),
        Scale::Linear => value.is_finite().then(|| value.clamp(-LARGEST, LARGEST)),
        Scale::Log10 => (value > 0.0 && value.is_finite()).then(|| value.log10()),
    }
}

/// Gives a range to data that have none: no points, or all at one value.
fn widen(scale: Scale, low: f64, high: f64) -> (f64, f64) {
    if low > high {
        return (0.0, 1.0);
    }
    let around = match scale {
        Scale::Linear if low == 0.0 => 0.5,
        Scale::Linear => 0.25 * low.abs(),
        Scale::Log10 => 0.5,
    };
    let size = match scale {
        Scale::Linear => low.abs().max(high.abs()),
        Scale::Log10 => 1.0_f64.max(low.abs()).max(high.abs()),
    };
    // Also when so close that the difference is rounding noise.
    if high - low <= 1e-12 * size {
        (low - around, high + around)
    } else {
        (low, high)
    }
}

/// Out to multiples of the step, and to zero when the data come near it.
fn round_linear(low: f64, high: f64, ticks: u32) -> (f64, f64) {
    let low = if low > 0.0 && low < 0.4 * high {
        0.0
    } else {
        low
    };
    let high = if high < 0.0 && high > 0.4 * low {
        0.0
    } else {
        high
    };
    let (mut bottom, mut top) = (low, high);
    // A wider range can call for a wider step; two rounds settle it.
    for _ in 0..3 {
        let step = Step::new((top - bottom) / f64::from(ticks.max(1))).size;
        bottom = (low / step + 1e-9).floor() * step;
        top = (high / step - 1e-9).ceil() * step;
    }
    (bottom, top)
}

/// Out to powers of ten where that costs little space, else by a margin.
fn round_log(low: f64, high: f64) -> (f64, f64) {
    let (floor, ceiling) = ((low + 1e-9).floor(), (high - 1e-9).ceil());
    if ceiling - floor <= 1.3 * (high - low) {
        return (floor, ceiling);
    }
    let margin = 0.04 * (high - low);
    (low - margin, high + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, values: &[f64], intervals: u32) -> Vec<String> {
        let span = Span::new(axis, Fit::Round, intervals, values.iter().copied());
        let ticks = span.ticks(intervals).into_iter();
        ticks
            .filter_map(|tick| tick.label.map(|label| label.text()))
            .collect()
    }

    #[test]
    fn linear_ticks_are_round_and_share_their_decimals() {
        let axis = Axis::linear("");
        assert_eq!(
            labels(&axis, &[0.03, 1.02], 5),
            ["0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2"]
        );
        assert_eq!(labels(&axis, &[0.1, 0.3], 4), ["0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(&axis, &[-3.0, 9.0], 4), ["−5", "0", "5", "10"]);
        assert_eq!(
            labels(&axis, &[1e-8, 4e-8], 4),
            ["0", "1×10⁻⁸", "2×10⁻⁸", "3×10⁻⁸", "4×10⁻⁸"]
        );
        assert_eq!(
            labels(&axis, &[0.0, 2.5e7], 3),
            ["0", "1×10⁷", "2×10⁷", "3×10⁷"]
        );
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let axis = Axis::log10("");
        assert_eq!(
            labels(&axis, &[2e-3, 90.0], 6),
            ["10⁻³", "10⁻²", "10⁻¹", "10⁰", "10¹", "10²"]
        );
        assert_eq!(
            labels(&axis, &[1e-12, 1.0], 4),
            ["10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³", "10⁰"]
        );
        assert_eq!(labels(&axis, &[1.5, 8.0], 4), ["2", "5"]);
        assert_eq!(
            labels(&axis, &[1.21, 1.78], 4),
            ["1.2", "1.4", "1.6", "1.8"]
        );
    }

    #[test]
    fn awkward_data_still_have_an_axis() {
        for axis in [
            Axis::linear(""),
            Axis::log10(""),
            Axis::linear("").range(3.0, 3.0),
            Axis::log10("").range(-1.0, 2.0),
        ] {
            let data: [&[f64]; 7] = [
                &[],
                &[0.0],
                &[7.0],
                &[f64::NAN, f64::INFINITY],
                &[-1e308, 1e308],
                &[5e-324],
                &[1.0, 1.0 + 1e-15],
            ];
            for values in data {
                for fit in [Fit::Tight, Fit::Round] {
                    let span = Span::new(&axis, fit, 5, values.iter().copied());
                    let ticks = span.ticks(5);
                    assert!(span.low < span.high, "{axis:?} {values:?} {span:?}");
                    assert!(ticks.len() < 80, "{axis:?} {values:?} {span:?}");
                    assert!(ticks.iter().all(|tick| (-0.01..=1.01).contains(&tick.part)));
                }
            }
        }
    }

    #[test]
    fn a_given_range_is_kept_exactly() {
        let span = Span::new(
            &Axis::linear("").range(1.0, 10.0),
            Fit::Round,
            5,
            [0.0, 50.0].into_iter(),
        );
        assert_eq!(span.part(1.0), Some(0.0));
        assert_eq!(span.part(10.0), Some(1.0));
        assert_eq!(span.part(19.0), Some(2.0));
        assert_eq!(span.part(f64::NAN), None);
    }
}
