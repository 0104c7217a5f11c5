//! A grid of reals: the multiples of a power of two.
//!
//! Noise is exact on integers, so a real answer is first rounded to the grid. Rounding adds to the
//! sensitivity: half a step for each of two neighbouring answers, in every coordinate.

use mizan_core::{Interval, Sensitivity, directed};

use crate::NoiseError;
use crate::exact::scale::dyadic;

/// The multiples of `2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    exponent: i32,
}

/// The largest exponent, in absolute value; doubles have no room for more.
const LARGEST_EXPONENT: u32 = 1000;

impl Grid {
    /// The multiples of `2^exponent`.
    ///
    /// # Errors
    ///
    /// The exponent is not between -1000 and 1000.
    pub fn new(exponent: i32) -> Result<Self, NoiseError> {
        if exponent.unsigned_abs() > LARGEST_EXPONENT {
            return Err(NoiseError::Grid { exponent });
        }
        Ok(Self { exponent })
    }

    /// The exponent of the step.
    #[must_use]
    pub const fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The step.
    #[must_use]
    pub fn step(&self) -> f64 {
        2.0_f64.powi(self.exponent)
    }

    /// The nearest multiple, as a number of steps. Halves round to even, and results beyond 64 bits
    /// are clamped.
    ///
    /// Clamping does not increase the distance between two answers, and rounding increases it by at
    /// most a step.
    pub(crate) fn round(self, value: f64) -> i64 {
        assert!(value.is_finite());
        let magnitude = if value == 0.0 {
            0
        } else {
            let (mantissa, exponent) = dyadic(value.abs());
            rounded(mantissa, exponent - self.exponent)
        };
        let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
        if value < 0.0 { -magnitude } else { magnitude }
    }

    /// The nearest double of a number of steps.
    #[expect(clippy::cast_precision_loss, reason = "after the noise, no harm")]
    pub(crate) fn value(self, steps: i64) -> f64 {
        steps as f64 * self.step()
    }

    /// The L1 sensitivity of rounded answers of `dimension` numbers, in steps, if that of the
    /// answers is `l1`: an integer of at most `l1 / step + dimension`.
    ///
    /// # Errors
    ///
    /// The sensitivity in steps does not fit.
    pub fn l1_sensitivity(
        self,
        l1: Sensitivity,
        dimension: usize,
    ) -> Result<Sensitivity, NoiseError> {
        let moved = directed::add_up(self.steps_up(l1).floor(), as_double(dimension));
        fitting(moved.floor())
    }

    /// The L2 sensitivity of rounded answers: the root of an integer of at most
    /// `(l2 / step + √dimension)²`.
    ///
    /// # Errors
    ///
    /// The sensitivity in steps does not fit.
    pub fn l2_sensitivity(
        self,
        l2: Sensitivity,
        dimension: usize,
    ) -> Result<Sensitivity, NoiseError> {
        if dimension == 1 {
            // One coordinate moves by an integer.
            return self.l1_sensitivity(l2, dimension);
        }
        let rounding = sqrt_up(as_double(dimension));
        let moved = directed::add_up(self.steps_up(l2), rounding);
        let squared = directed::mul_up(moved, moved).floor();
        fitting(sqrt_up(squared))
    }

    /// `sensitivity / step`, at least.
    fn steps_up(self, sensitivity: Sensitivity) -> f64 {
        directed::mul_both(sensitivity.get(), 2.0_f64.powi(-self.exponent)).1
    }
}

#[expect(clippy::cast_precision_loss, reason = "rounded up if at all")]
fn as_double(dimension: usize) -> f64 {
    let double = dimension as f64;
    if dimension > 1 << 53 {
        double.next_up()
    } else {
        double
    }
}

fn sqrt_up(value: f64) -> f64 {
    Interval::from(value).sqrt().upper()
}

/// A sensitivity that integers can have.
fn fitting(sensitivity: f64) -> Result<Sensitivity, NoiseError> {
    if sensitivity >= 2.0_f64.powi(63) {
        return Err(NoiseError::Sensitivity { sensitivity });
    }
    Sensitivity::new(sensitivity).map_err(|_| NoiseError::Sensitivity { sensitivity })
}

/// `mantissa · 2^shift` to the nearest integer, halves to even.
fn rounded(mantissa: u64, shift: i32) -> u64 {
    if shift >= 0 {
        let shift = shift.unsigned_abs();
        return if shift <= mantissa.leading_zeros() {
            mantissa << shift
        } else {
            u64::MAX
        };
    }
    let down = shift.unsigned_abs();
    if down > 64 {
        return 0;
    }
    let doubled = u128::from(mantissa) << 1;
    let floor = doubled >> (down + 1);
    let rest = doubled - (floor << (down + 1));
    let half = 1u128 << down;
    let up = rest > half || (rest == half && floor % 2 == 1);
    u64::try_from(floor).unwrap_or(u64::MAX) + u64::from(up)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn rounding_is_to_the_nearest_and_even() {
        let grid = Grid::new(-2).unwrap();
        for (value, steps) in [
            (0.0, 0),
            (-0.0, 0),
            (0.25, 1),
            (0.125, 0),
            (0.375, 2),
            (0.376, 2),
            (0.374, 1),
            (-0.375, -2),
            (-0.374, -1),
            (1e300, i64::MAX),
            (-1e300, -i64::MAX),
            (5e-324, 0),
            (1e18, 4_000_000_000_000_000_000),
        ] {
            assert_eq!(grid.round(value), steps, "{value}");
        }
        assert_eq!(Grid::new(40).unwrap().round(2.0_f64.powi(39)), 0);
        assert_eq!(Grid::new(40).unwrap().round(2.0_f64.powi(39) + 1.0), 1);
    }

    #[test]
    fn sensitivities_count_the_rounding() {
        let grid = Grid::new(-3).unwrap();
        let of = |value| Sensitivity::new(value).unwrap();
        assert_eq!(grid.l1_sensitivity(of(1.0), 1).unwrap().get(), 9.0);
        assert_eq!(grid.l1_sensitivity(of(1.1), 5).unwrap().get(), 13.0);
        assert_eq!(grid.l2_sensitivity(of(1.0), 1).unwrap().get(), 9.0);
        // (8 + √2)² = 88.6.
        let l2 = grid.l2_sensitivity(of(1.0), 2).unwrap().get();
        assert!(l2 >= 88.0_f64.sqrt() && l2 <= 88.0_f64.sqrt().next_up());
        assert!(Grid::new(-100).unwrap().l1_sensitivity(of(1.0), 1).is_err());
        assert!(Grid::new(1001).is_err() && Grid::new(i32::MIN).is_err());
    }

    proptest::proptest! {
        /// The distance of rounded answers is at most the sensitivity that is charged.
        #[test]
        fn rounding_moves_no_further(
            a in proptest::collection::vec(-1e3_f64..1e3, 1..6),
            shift in proptest::collection::vec(-3.0_f64..3.0, 6),
            exponent in -6..6i32,
        ) {
            let grid = Grid::new(exponent).unwrap();
            let b: Vec<f64> = a.iter().zip(&shift).map(|(a, s)| a + s).collect();
            let apart = |power: i32| a.iter().zip(&b).map(|(a, b)| (a - b).abs().powi(power)).sum::<f64>();
            let steps = |power: i32| a.iter().zip(&b).map(|(&a, &b)| {
                ((grid.round(a) - grid.round(b)).abs() as f64).powi(power)
            }).sum::<f64>();
            let l1 = Sensitivity::new(apart(1).max(1e-9)).unwrap();
            let l2 = Sensitivity::new(apart(2).sqrt().max(1e-9)).unwrap();
            proptest::prop_assert!(steps(1) <= grid.l1_sensitivity(l1, a.len()).unwrap().get());
            proptest::prop_assert!(steps(2).sqrt() <= grid.l2_sensitivity(l2, a.len()).unwrap().get() * (1.0 + 1e-12));
        }
    }
}
