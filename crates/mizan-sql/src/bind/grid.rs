//! The grids that turn bounded numbers into integers whose sums cannot overflow (C4).

use crate::plan::MAX_CONTRIBUTION;
use crate::relation::{Bounds, Quantized};
use crate::value::Type;

/// The greatest integer of one row: the sum over [`crate::plan::MAX_ROWS`] rows fits 64 bits.
const MAX_OF_ROW: i64 = 1 << 22;

/// The most steps of a histogram.
const MAX_STEPS: i64 = 1 << 16;

/// The finest step of numbers, as a power of two.
const FINEST: i32 = -60;

/// The coarsest step, as a power of two.
const COARSEST: i32 = 1_000;

/// The finest grid on which one row, and all counted rows of a unit together, are within the
/// limits. None if no grid fits.
pub(super) fn for_sum(
    bounds: Bounds,
    centre: f64,
    kind: Type,
    squared: bool,
    rows_per_unit: u64,
) -> Option<Quantized> {
    let rows = i64::try_from(rows_per_unit).ok()?;
    // With fewer steps than that a value would be rounded too coarsely to be of use.
    let most = MAX_OF_ROW.min(MAX_CONTRIBUTION.checked_div(rows)?);
    if most < 64 {
        return None;
    }
    finest(bounds, centre, kind, squared, |least, greatest| {
        least >= -most && greatest <= most
    })
}

/// The finest grid of a histogram that begins at the lower bound.
pub(super) fn for_histogram(bounds: Bounds, kind: Type) -> Option<Quantized> {
    finest(bounds, bounds.low, kind, false, |least, greatest| {
        least >= 0 && greatest <= MAX_STEPS
    })
}

fn finest(
    bounds: Bounds,
    centre: f64,
    kind: Type,
    squared: bool,
    fits: impl Fn(i64, i64) -> bool,
) -> Option<Quantized> {
    // Steps of integers are integers, so their sums are exact unless the range needs coarser steps.
    let first = if kind == Type::Number { FINEST } else { 0 };
    (first..=COARSEST)
        .map(|exponent| Quantized {
            bounds,
            centre,
            exponent,
            squared,
        })
        .find(|grid| {
            let (least, greatest) = grid.range();
            fits(least, greatest)
        })
}

/// The middle of the bounds, an integer for integer types: sums around it are smallest.
pub(super) fn centre(bounds: Bounds, kind: Type) -> f64 {
    let middle = bounds.low / 2.0 + bounds.high / 2.0;
    if kind == Type::Number {
        middle + 0.0
    } else {
        middle.floor() + 0.0
    }
}

/// Bounds in steps, rounded outwards.
#[allow(
    clippy::cast_possible_truncation,
    reason = "saturates, and is compared with what is smaller"
)]
pub(super) fn outward(bounds: Bounds, grid: &Quantized) -> (i64, i64) {
    let low = (bounds.low / grid.step()).floor() as i64;
    let high = (bounds.high / grid.step()).ceil() as i64;
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(low: f64, high: f64) -> Bounds {
        Bounds::new(low, high).unwrap()
    }

    #[test]
    fn small_integers_are_exact() {
        let grid = for_sum(bounds(0.0, 100.0), 0.0, Type::Integer, false, 10).unwrap();
        assert_eq!((grid.exponent, grid.range()), (0, (0, 100)));
        let squares = for_sum(bounds(0.0, 100.0), 50.0, Type::Integer, true, 10).unwrap();
        assert_eq!((squares.exponent, squares.range()), (0, (0, 2500)));
    }

    #[test]
    fn numbers_use_the_whole_range() {
        let grid = for_sum(bounds(0.0, 1.0), 0.0, Type::Number, false, 1).unwrap();
        assert_eq!((grid.exponent, grid.range()), (-22, (0, 1 << 22)));
        // More rows per unit leave fewer steps for each row.
        let grid = for_sum(bounds(-1.0, 1.0), 0.0, Type::Number, false, 1 << 12).unwrap();
        assert_eq!(grid.range(), (-(1 << 17), 1 << 17));
    }

    #[test]
    fn bounds_that_are_too_wide_have_no_grid() {
        assert!(for_sum(bounds(0.0, 1.0), 0.0, Type::Number, false, 0).is_none());
        assert!(for_sum(bounds(0.0, 1.0), 0.0, Type::Number, false, 1 << 40).is_none());
        assert!(for_sum(bounds(-1e300, 1e300), 0.0, Type::Number, true, 1).is_none());
        assert!(for_sum(bounds(-1e290, 1e290), 0.0, Type::Number, false, 1).is_some());
    }

    #[test]
    fn histograms_have_a_step_for_each_integer_if_possible() {
        let ages = for_histogram(bounds(0.0, 120.0), Type::Integer).unwrap();
        assert_eq!((ages.exponent, ages.range()), (0, (0, 120)));
        let wide = for_histogram(bounds(0.0, 1e6), Type::Integer).unwrap();
        assert_eq!(wide.exponent, 4);
        let number = for_histogram(bounds(-1.0, 1.0), Type::Number).unwrap();
        assert_eq!(number.range(), (0, 1 << 16));
    }
}
