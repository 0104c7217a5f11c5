//! Relations in which every row belongs to one unit, or to nobody.
//!
//! Every operator here is **unit-local**: the rows of a unit in its output depend
//! on nothing but the rows of that unit in its input (and on public tables). So
//! whoever is taken out of the data takes their own rows out of the result and
//! changes no others (condition C1). There is no operator that could break this;
//! the binder has nothing to build one with.

use serde::{Deserialize, Serialize};

use crate::expr::Expr;
use crate::value::Type;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// What people call it.
    pub name: String,
    /// What it holds.
    pub kind: Type,
    /// Values lie between these, for sure: declared bounds are enforced where
    /// they are used, and expressions have bounds that follow.
    pub bounds: Option<Bounds>,
}

/// A closed interval that is public. Dates and timestamps count in days and
/// microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The least; finite.
    pub low: f64,
    /// The greatest; finite and not less.
    pub high: f64,
}

impl Eq for Bounds {}

impl Bounds {
    /// Checks an interval; None if it is empty or not finite.
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
    /// How its rows come about.
    pub operator: Operator,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The places of the columns that tell whose a row is; empty for public
    /// relations. Rows in which one of them is `NULL` belong to nobody and are
    /// left out before anything is counted.
    pub unit: Vec<usize>,
    /// Whether a unit has at most one row, whatever the data.
    pub one_row_per_unit: bool,
}

/// What a relation that is a join is made of.
#[derive(Clone, Copy, Debug)]
pub struct Join<'a> {
    /// The left input. Expressions number its columns first.
    pub left: &'a Relation,
    /// The right input.
    pub right: &'a Relation,
    /// Whether rows of the left without a partner stay.
    pub keeps_left: bool,
    /// Pairs of equal expressions, of the left and of the right.
    pub on: &'a [(Expr, Expr)],
    /// A condition over both.
    pub condition: Option<&'a Expr>,
}

impl Relation {
    /// Its parts, if it is a join.
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

/// The operators. Expressions are over the columns of the input; for joins, over
/// those of the left followed by those of the right.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Operator {
    /// The rows of a dataset; columns are those of the catalogue, by name, read
    /// as their declared type (`NULL` where they are none) and clamped to their
    /// declared bounds.
    Scan {
        /// The name in the catalogue.
        dataset: String,
    },
    /// Rows for which the predicate is true.
    Filter {
        /// The rows.
        input: Box<Relation>,
        /// A boolean.
        predicate: Expr,
    },
    /// Other columns for each row.
    Project {
        /// The rows.
        input: Box<Relation>,
        /// One for each column.
        expressions: Vec<Expr>,
    },
    /// Pairs of rows. Two private sides are equal in their units (`on` says so);
    /// of a private and a public side the private one is kept, if any.
    Join {
        /// The left rows.
        left: Box<Relation>,
        /// The right rows.
        right: Box<Relation>,
        /// Left rows without a match are kept, with `NULL`s.
        keeps_left: bool,
        /// Equal pairs: an expression over the left, one over the right.
        on: Vec<(Expr, Expr)>,
        /// A further condition over both.
        condition: Option<Expr>,
    },
    /// The rows of all.
    Union {
        /// Relations of as many columns of the same types.
        inputs: Vec<Relation>,
    },
    /// Of each unit the first rows, at most so many, in the order of the salted
    /// hash of the unit and the other columns that are read. Other columns are `NULL`, so that rows
    /// which tie are the same row. Rows of nobody are left out.
    First {
        /// The rows, of units.
        input: Box<Relation>,
        /// The most of a unit.
        rows: u64,
        /// The places of the columns that are read, from the least, with the unit.
        read: Vec<usize>,
    },
    /// One row for each combination of keys, among them all unit columns.
    /// Columns are the keys, then the aggregates.
    Group {
        /// The rows.
        input: Box<Relation>,
        /// What is combined.
        keys: Vec<Expr>,
        /// What is computed within each.
        aggregates: Vec<Within>,
    },
}

/// An exact aggregate of the rows of one unit. All are integers or do not depend
/// on the order of rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Within {
    /// How many rows.
    Rows,
    /// How many rows where it is something.
    Count(Expr),
    /// How many different values.
    CountDistinct(Expr),
    /// The sum on a grid: bounded rows only. `NULL` without a value.
    Sum(Expr, Quantized),
    /// The least value; `NULL` without one.
    Min(Expr),
    /// The greatest value.
    Max(Expr),
}

impl Within {
    /// What it is computed from.
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

/// How a bounded number becomes an integer: clamped to bounds, less the centre,
/// in steps of a power of two, halves up.
///
/// `floor((clamp(x) - centre) / 2^exponent + 1/2)`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantized {
    /// Where it is clamped.
    pub bounds: Bounds,
    /// What is subtracted first.
    pub centre: f64,
    /// The step is 2 to this.
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

    /// The integer of a number that is not NaN, as every engine computes it.
    #[must_use]
    pub fn integer(&self, value: f64) -> i64 {
        self.to_integer()(value)
    }

    /// The function that [`Self::integer`] is, for many numbers.
    #[inline]
    pub fn to_integer(&self) -> impl Fn(f64) -> i64 + use<> {
        let Self {
            bounds,
            centre,
            squared,
            ..
        } = *self;
        // The same as dividing by a step that is a power of two, and quicker.
        let per_step = 2_f64.powi(-self.exponent);
        // Without branches, and without the check of `clamp` for each.
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

/// A number rounded down, between the ends of what is exact here, which is far beyond
/// what steps allow. What is no number is zero.
///
/// Added to 1.5 * 2^52 a number is rounded to a whole one, which its last bits are: no
/// branches, and several at a time on every processor.
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

/// The nearest number between these; what is no number stays none.
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
        // Beyond its ends it stays there.
        for far in [1e16, 1e300, f64::INFINITY] {
            assert_eq!(floor(far), 1 << 50);
            assert_eq!(floor(-far), -(1 << 50));
        }
    }
}
