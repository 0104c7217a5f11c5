//! Relations in which every row belongs to one unit, or to nobody.
//!
//! Every operator here is **unit-local**: the rows of a unit in its output depend
//! on nothing but the rows of that unit in its input (and on public tables). So
//! whoever is taken out of the data takes their own rows out of the result and
//! changes no others (condition C1). There is no operator that could break this;
//! the binder has nothing to build one with.

use crate::expr::Expr;
use crate::value::Type;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq)]
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

/// The operators. Expressions are over the columns of the input; for joins, over
/// those of the left followed by those of the right.
#[derive(Clone, Debug, PartialEq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
    #[allow(clippy::cast_possible_truncation, reason = "steps keep it below 2^31")]
    #[allow(clippy::cast_precision_loss, reason = "and so it is exact")]
    pub fn to_integer(&self) -> impl Fn(f64) -> i64 + use<> {
        let Self {
            bounds,
            centre,
            squared,
            ..
        } = *self;
        // The same as dividing by a step that is a power of two, and quicker.
        let per_step = 2_f64.powi(-self.exponent);
        move |value| {
            let difference = value.clamp(bounds.low, bounds.high) - centre;
            let power = if squared {
                difference * difference
            } else {
                difference
            };
            // Rounded down: processors have an instruction for whole numbers, and not
            // all have one for the floor.
            let halves_up = power * per_step + 0.5;
            let towards_zero = halves_up as i64;
            towards_zero.saturating_sub(i64::from(halves_up < towards_zero as f64))
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
