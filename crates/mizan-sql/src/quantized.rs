//! Quantized values: bounded numbers as integers, so that sums are exact and do not depend on
//! the order of rows.

use serde::{Deserialize, Serialize};

use crate::expr::{Expr, Function};
use crate::relation::Bounds;
use crate::value::{Type, Value};

/// How a bounded number becomes an integer: it is clamped to the bounds, the centre is subtracted,
/// and the result is rounded to steps of a power of two, halves up.
///
/// `floor((clamp(x) - centre) / 2^exponent + 1/2)`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantized {
    /// The bounds for clamping.
    pub bounds: Bounds,
    /// The number that is subtracted after clamping.
    pub centre: f64,
    /// The step, as a power of two.
    pub exponent: i32,
    /// Whether the difference is squared before it is divided by the step.
    pub squared: bool,
}

impl Eq for Quantized {}

impl Quantized {
    /// The step.
    #[must_use]
    pub fn step(&self) -> f64 {
        2_f64.powi(self.exponent)
    }

    /// The integer of a number other than NaN, as every engine computes it.
    #[must_use]
    pub fn integer(&self, value: f64) -> i64 {
        self.to_integer()(value)
    }

    /// [`Self::integer`] as a function, for many numbers.
    #[inline]
    pub fn to_integer(&self) -> impl Fn(f64) -> i64 + use<> {
        let Self {
            bounds,
            centre,
            squared,
            ..
        } = *self;
        // Division by a power of two is exact, and multiplication by its inverse is faster.
        let per_step = 2_f64.powi(-self.exponent);
        // No branches, and no assertion as in `clamp` for each number.
        move |value| {
            let difference = between(value, bounds.low, bounds.high) - centre;
            let power = if squared {
                difference * difference
            } else {
                difference
            };
            floor(power * per_step + 0.5)
        }
    }

    /// The least and the greatest integer.
    #[must_use]
    pub fn range(&self) -> (i64, i64) {
        let (low, high) = (
            self.integer(self.bounds.low),
            self.integer(self.bounds.high),
        );
        let nearest = self.integer(self.centre);
        let (least, most) = (low.min(high), low.max(high));
        if self.squared && self.centre > self.bounds.low && self.centre < self.bounds.high {
            (nearest.min(least), most)
        } else {
            (least, most)
        }
    }

    /// The value of a sum over rows, from the sum on the grid (column 0) and the number of values
    /// (column 1): `step * s + centre * n`. None if a sum of this type does not have one.
    #[must_use]
    pub fn value_of_sum(&self, kind: Type) -> Option<Expr> {
        if self.squared {
            return None;
        }
        let part = |column: usize, factor: f64| {
            let column = Expr::Column(column);
            match kind {
                Type::Integer => times_whole(column, factor),
                Type::Number => {
                    let column = Expr::Cast(Box::new(column), Type::Number);
                    let factor = Expr::Literal(Value::number(factor), Type::Number);
                    Some(Expr::call(Function::Multiply, [column, factor]))
                }
                _ => None,
            }
        };
        let sum = if self.exponent == 0 && kind == Type::Integer {
            Expr::Column(0)
        } else {
            part(0, self.step())?
        };
        if self.centre == 0.0 {
            return Some(sum);
        }
        Some(Expr::call(Function::Add, [sum, part(1, self.centre)?]))
    }
}

/// An integer times a whole number, which may be beyond 64 bits. In that case only products
/// with 0, and the least 64-bit integer, are integers; all others are NULL.
#[allow(clippy::cast_possible_truncation, reason = "checked before")]
fn times_whole(column: Expr, factor: f64) -> Option<Expr> {
    if factor.fract() != 0.0 || !factor.is_finite() {
        return None;
    }
    let times = |of: Expr, factor: i64| Expr::call(Function::Multiply, [of, Expr::integer(factor)]);
    // A double above 2^53 is whole, and below 2^63 it is a 64-bit integer.
    let beyond = 2_f64.powi(63);
    if factor.abs() < beyond {
        return Some(times(column, factor as i64));
    }
    // 2^62 times 2 is 2^63, and 2^62 times 4 is out of range for every integer but 0.
    let rest = if factor.abs() > beyond { 4 } else { 2 };
    let rest = if factor < 0.0 { -rest } else { rest };
    Some(times(times(column, 1 << 62), rest))
}

/// Rounds a number down. It saturates at the ends of the range in which this is exact, far beyond
/// any number of steps. NaN becomes zero.
///
/// The sum of 1.5 * 2^52 and a number is rounded to an integer, which the last bits of the sum
/// hold. This needs no branches and vectorizes on every processor.
#[inline]
fn floor(number: f64) -> i64 {
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    const END: f64 = 1_125_899_906_842_624.0;
    let number = between(number, -END, END);
    let nearest = (number + WHOLE) - WHOLE;
    let floor = nearest - if nearest > number { 1.0 } else { 0.0 };
    let integer = (floor + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits());
    let there = u64::from(!number.is_nan()).wrapping_neg();
    (integer & there).cast_signed()
}

/// The nearest number in an interval; NaN stays NaN.
#[inline]
fn between(number: f64, low: f64, high: f64) -> f64 {
    let number = if number < low { low } else { number };
    if number > high { high } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "whole and small")]
    fn numbers_are_rounded_down() {
        let mut state = 1_u64;
        let mut numbers = vec![0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, f64::MIN_POSITIVE];
        for _ in 0..200_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let number = f64::from_bits(state);
            numbers.extend([number, number % 3.0, number % 1e9]);
        }
        for whole in [
            1.0_f64,
            3.0,
            8_388_607.0,
            8_388_608.0,
            2_147_483_648.0,
            1e12,
        ] {
            for near in [whole, whole.next_up(), whole.next_down(), whole + 0.5] {
                numbers.extend([near, -near]);
            }
        }
        for number in numbers.into_iter().filter(|number| number.abs() < 1e15) {
            assert_eq!(floor(number), number.floor() as i64, "{number:e}");
        }
        assert_eq!(floor(f64::NAN), 0);
        // Numbers outside of the range saturate.
        for far in [1e16, 1e300, f64::INFINITY] {
            assert_eq!(floor(far), 1 << 50);
            assert_eq!(floor(-far), -(1 << 50));
        }
    }

    /// Sums of large integers have coarse grids: their steps are whole numbers too.
    #[test]
    fn integer_sums_may_have_any_step_of_64_bits() {
        let sum = |exponent: i32, centre: f64| Quantized {
            bounds: Bounds {
                low: -1e18,
                high: 1e18,
            },
            centre,
            exponent,
            squared: false,
        };
        let row = [Value::Integer(3), Value::Integer(2)];
        for exponent in [0, 1, 52, 53, 54, 60] {
            let value = sum(exponent, 0.0).value_of_sum(Type::Integer).unwrap();
            assert_eq!(value.eval(&row), Value::Integer(3 << exponent));
        }
        let value = sum(54, 2_f64.powi(60)).value_of_sum(Type::Integer).unwrap();
        assert_eq!(value.eval(&row), Value::Integer((3 << 54) + (2 << 60)));
        // Beyond 64 bits the sum is NULL, like every integer.
        let value = sum(62, 0.0).value_of_sum(Type::Integer).unwrap();
        assert_eq!(value.eval(&row), Value::Null);
        assert_eq!(sum(-1, 0.0).value_of_sum(Type::Integer), None);
        assert_eq!(sum(1, 0.5).value_of_sum(Type::Integer), None);
    }

    /// For steps and centres beyond 64 bits, products within 64 bits are still exact.
    #[test]
    fn integer_sums_may_have_steps_beyond_64_bits() {
        let of = |steps: i64, values: i64, exponent: i32, centre: f64| {
            let how = Quantized {
                bounds: Bounds {
                    low: -1e300,
                    high: 1e300,
                },
                centre,
                exponent,
                squared: false,
            };
            let row = [Value::Integer(steps), Value::Integer(values)];
            how.value_of_sum(Type::Integer).unwrap().eval(&row)
        };
        for exponent in [63, 64, 65, 124, 125, 126, 200, 900] {
            assert_eq!(of(0, 5, exponent, 0.0), Value::Integer(0), "{exponent}");
            for steps in [1, 2, 3, -2, -3, i64::MAX, i64::MIN] {
                assert_eq!(of(steps, 5, exponent, 0.0), Value::Null, "{exponent}");
            }
            let least = match exponent {
                63 => Value::Integer(i64::MIN),
                _ => Value::Null,
            };
            assert_eq!(of(-1, 5, exponent, 0.0), least, "{exponent}");
        }
        let least = Value::Integer(i64::MIN);
        assert_eq!(of(0, 1, 1, -2_f64.powi(63)), least);
        assert_eq!(of(0, 1, 1, 2_f64.powi(63)), Value::Null);
        assert_eq!(of(0, 1, 1, -2_f64.powi(64)), Value::Null);
        assert_eq!(of(7, 0, 1, 1e300), Value::Integer(14));
    }
}
