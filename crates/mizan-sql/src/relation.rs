//! Relations: each row belongs to one privacy unit, or the relation is public.
//!
//! Every operator is **unit-local**: the output rows of a unit depend only on the input rows of
//! that unit and on public tables. Removing a unit therefore removes its own rows from the result
//! and changes no others (condition C1). No operator can break this, so the binder cannot either.

use serde::{Deserialize, Serialize};

use crate::expr::Expr;
use crate::value::Type;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Its name for people.
    pub name: String,
    /// Its type.
    pub kind: Type,
    /// Bounds that hold for all values: declared bounds are enforced where a column is used, and
    /// bounds of expressions follow from them.
    pub bounds: Option<Bounds>,
}

/// A closed public interval. Dates and timestamps count in days and microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The lower end; finite.
    pub low: f64,
    /// The upper end; finite and not below the lower end.
    pub high: f64,
}

impl Eq for Bounds {}

impl Bounds {
    /// An interval; None if it is empty or not finite.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        let ordered = low.is_finite() && high.is_finite() && low <= high;
        ordered.then_some(Self {
            low: low + 0.0,
            high: high + 0.0,
        })
    }
}

/// A relation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// The operator that makes its rows.
    pub operator: Operator,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The places of the columns that identify the unit of a row; empty for public relations. Rows
    /// in which one of them is `NULL` have no unit and are dropped before anything is counted.
    pub unit: Vec<usize>,
    /// Whether a unit has at most one row, for any data.
    pub one_row_per_unit: bool,
}

/// The parts of a relation that is a join.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// The left input. Its columns come first in expressions.
    pub left: &'a Relation,
    /// The right input.
    pub right: &'a Relation,
    /// Whether left rows without a match are kept.
    pub keeps_left: bool,
    /// Equal pairs: an expression over the left input, and one over the right input.
    pub on: &'a [(Expr, Expr)],
    /// A further condition over both inputs.
    pub condition: Option<&'a Expr>,
}

impl Relation {
    /// The parts of the join, if it is one.
    #[must_use]
    pub fn as_join(&self) -> Option<Join<'_>> {
        match &self.operator {
            Operator::Join {
                left,
                right,
                keeps_left,
                on,
                condition,
            } => Some(Join {
                left,
                right,
                keeps_left: *keeps_left,
                on,
                condition: condition.as_ref(),
            }),
            _ => None,
        }
    }
}

/// The operators. Expressions are over the columns of the input; for joins, over those of the left
/// input followed by those of the right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operator {
    /// The rows of a dataset. Its columns are found in the catalogue by name, parsed as their
    /// declared type (`NULL` if that fails) and clamped to their declared bounds.
    Scan {
        /// The name in the catalogue.
        dataset: String,
    },
    /// Rows for which the predicate is true.
    Filter {
        /// The input.
        input: Box<Relation>,
        /// A boolean expression.
        predicate: Expr,
    },
    /// Computed columns for each row.
    Project {
        /// The input.
        input: Box<Relation>,
        /// The expression of each column.
        expressions: Vec<Expr>,
    },
    /// Pairs of rows. Two private inputs are equal in their units (`on` has these pairs). Of a
    /// private and a public input only the private one may be kept.
    Join {
        /// The left input.
        left: Box<Relation>,
        /// The right input.
        right: Box<Relation>,
        /// Whether left rows without a match are kept, with `NULL`s.
        keeps_left: bool,
        /// Equal pairs: an expression over the left input, and one over the right input.
        on: Vec<(Expr, Expr)>,
        /// A further condition over both inputs.
        condition: Option<Expr>,
    },
    /// The rows of all inputs.
    Union {
        /// Relations with the same number of columns of the same types.
        inputs: Vec<Relation>,
    },
    /// At most `rows` rows of each unit: the first ones in the order of the salted hash of the unit
    /// and the other columns that are read. Columns that are not read are `NULL`, so that tied rows
    /// are equal. Rows without a unit are dropped.
    LimitRowsPerUnit {
        /// The input, which is private.
        input: Box<Relation>,
        /// The most rows of a unit.
        rows: u64,
        /// The places of the columns that are read, in ascending order, with those of the unit.
        read: Vec<usize>,
    },
    /// One row for each combination of the keys, which contain all unit columns. The columns are
    /// the keys, followed by the aggregates.
    Group {
        /// The input.
        input: Box<Relation>,
        /// The grouping keys.
        keys: Vec<Expr>,
        /// The aggregates of each group.
        aggregates: Vec<UnitAggregate>,
    },
}

/// An exact aggregate over the rows of one unit. The result is an integer or does not depend on the
/// order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnitAggregate {
    /// The number of rows.
    Rows,
    /// The number of rows where the expression is not `NULL`.
    Count(Expr),
    /// The number of distinct values.
    CountDistinct(Expr),
    /// The sum on a grid, of bounded rows only. `NULL` if there are no values.
    Sum(Expr, Quantized),
    /// The least value; `NULL` if there are no values.
    Min(Expr),
    /// The greatest value; `NULL` if there are no values.
    Max(Expr),
}

impl UnitAggregate {
    /// The expression it is computed from.
    #[must_use]
    pub const fn argument(&self) -> Option<&Expr> {
        match self {
            Self::Rows => None,
            Self::Count(expr)
            | Self::CountDistinct(expr)
            | Self::Sum(expr, _)
            | Self::Min(expr)
            | Self::Max(expr) => Some(expr),
        }
    }
}

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
}
