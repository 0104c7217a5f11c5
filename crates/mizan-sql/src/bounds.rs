//! Bounds of an expression that hold for every row: interval arithmetic over the bounds of columns.
//!
//! # Guarantee
//!
//! If every value of a row that is not `NULL` lies within the bounds of its column, then
//! [`Expr::eval`] is `NULL` or lies within [`Expr::bounds`].
//!
//! Rounding to nearest is monotone. The sum, product, quotient or root of interval ends *as
//! doubles* is therefore an end of the interval of double results, and numbers need no slack.
//! Integers are exact where doubles are not: from 2^53 on, ends are rounded outward.

use crate::eval::towards_zero;
use crate::expr::{Expr, Function, TimePart, TimeUnit};
use crate::relation::{Bounds, Column};
use crate::time;
use crate::typing;
use crate::value::{Type, Value};

/// 2^53. Below this, doubles represent every integer exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Expr {
    /// The interval of all values that are not `NULL`; None if no finite one is known, or the type
    /// has none.
    #[must_use]
    pub fn bounds(&self, columns: &[Column]) -> Option<Bounds> {
        let known = ExprInfo::of(self, columns)?;
        match known.kind {
            Type::Boolean | Type::Text => None,
            _ => Bounds::new(known.range.low, known.range.high),
        }
    }
}

/// What is known of an expression for all rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExprInfo {
    /// Its type.
    pub(crate) kind: Type,
    /// The interval of its values; booleans are 0 and 1, text has no bounds.
    pub(crate) range: Range,
    /// Whether it is not `NULL` in any row.
    pub(crate) something: bool,
}

impl ExprInfo {
    /// None if the expression does not type-check.
    pub(crate) fn of(expr: &Expr, columns: &[Column]) -> Option<Self> {
        match expr {
            Expr::Column(place) => columns.get(*place).map(Self::of_column),
            Expr::Literal(value, kind) => Some(Self {
                kind: expr.type_of(columns).ok().filter(|found| found == kind)?,
                range: Range::of_value(value),
                something: !value.is_null(),
            }),
            Expr::Call(function, arguments) => {
                let known: Option<Vec<_>> = arguments
                    .iter()
                    .map(|part| Self::of(part, columns))
                    .collect();
                Self::of_call(*function, arguments, &known?)
            }
            Expr::Case {
                branches,
                otherwise,
            } => {
                let mut all = Self::of(otherwise, columns)?;
                for (when, then) in branches {
                    let (when, then) = (Self::of(when, columns)?, Self::of(then, columns)?);
                    if when.kind != Type::Boolean || then.kind != all.kind {
                        return None;
                    }
                    all.range = all.range.union(then.range);
                    all.something &= then.something;
                }
                Some(all)
            }
            Expr::Cast(inner, to) => Self::of(inner, columns)?.cast(*to),
        }
    }

    fn of_column(column: &Column) -> Self {
        let range = match (column.kind, column.bounds) {
            (Type::Boolean, _) => Range::new(0.0, 1.0),
            (Type::Text, _) | (_, None) => Range::ALL,
            (_, Some(bounds)) => Range::new(bounds.low, bounds.high),
        };
        Self {
            kind: column.kind,
            range,
            something: false,
        }
    }

    fn of_call(function: Function, arguments: &[Expr], known: &[Self]) -> Option<Self> {
        let kinds: Vec<_> = known.iter().map(|known| known.kind).collect();
        let kind = typing::call(function, arguments, &kinds).ok()?;
        let range = range_of_call(function, kind, known);
        let some = known.iter().any(|known| known.something);
        let all = known.iter().all(|known| known.something);
        let something = match function {
            Function::IsNull => true,
            Function::Coalesce | Function::Least | Function::Greatest => some,
            Function::Equal
            | Function::NotEqual
            | Function::Less
            | Function::LessOrEqual
            | Function::Greater
            | Function::GreaterOrEqual
            | Function::And
            | Function::Or
            | Function::Not
            | Function::In
            | Function::Like
            | Function::Floor
            | Function::Ceil
            | Function::Round
            | Function::Sign => all,
            _ => false,
        };
        Some(Self {
            kind,
            range,
            something,
        })
    }

    fn cast(self, to: Type) -> Option<Self> {
        let kind = typing::cast(self.kind, to).ok()?;
        if kind == self.kind {
            return Some(self);
        }
        let range = match (self.kind, kind) {
            (_, Type::Boolean) => Range::new(0.0, 1.0),
            (_, Type::Text) | (Type::Text, _) => Range::ALL,
            (Type::Number, Type::Integer) => self.range.map(f64::round_ties_even),
            (Type::Date, Type::Timestamp) => self.range.times(day_to_time),
            (Type::Timestamp, Type::Date) => {
                self.range.times(|time| Some(time.div_euclid(time::DAY)))
            }
            _ => self.range,
        };
        // Other casts can fail and give NULL.
        let kept = matches!(
            (self.kind, kind),
            (Type::Boolean, _) | (Type::Integer, Type::Number)
        );
        Some(Self {
            kind,
            range,
            something: self.something && kept,
        })
    }
}

fn range_of_call(function: Function, kind: Type, known: &[ExprInfo]) -> Range {
    if kind == Type::Boolean
        && !matches!(
            function,
            Function::Coalesce | Function::NullIf | Function::Least | Function::Greatest
        )
    {
        return Range::new(0.0, 1.0);
    }
    let whole = kind == Type::Integer;
    match (function, known) {
        (Function::Coalesce, known) => {
            // COALESCE does not reach the arguments after one that is never NULL.
            let last = known.iter().position(|known| known.something);
            let reached = known.iter().take(last.map_or(known.len(), |last| last + 1));
            reached.fold(Range::NONE, |all, known| all.union(known.range))
        }
        (Function::Least, known) => greatest(known, Range::negated).negated(),
        (Function::Greatest, known) => greatest(known, |range| range),
        (Function::NullIf, [a, _]) => a.range,
        (_, known) if known.iter().any(|known| known.range.is_empty()) => Range::NONE,
        (Function::Add, [a, b]) => a.range.add(b.range, whole),
        (Function::Subtract, [a, b]) => a.range.add(b.range.negated(), whole),
        (Function::Multiply, [a, b]) => a.range.multiply(b.range, whole),
        (Function::Divide, [a, b]) => a.range.divide(b.range, b.kind == Type::Integer),
        (Function::Remainder, [a, b]) => remainder(a.range, b.range),
        (Function::Bucket, [a, b]) => bucket(a.range, b.range, whole),
        (Function::Negate, [a]) => a.range.negated(),
        (Function::Floor, [a]) => a.range.map(f64::floor),
        (Function::Ceil, [a]) => a.range.map(f64::ceil),
        (Function::Round, [a]) => a.range.map(f64::round),
        (Function::Sign, [a]) => a
            .range
            .map(|value| if value == 0.0 { 0.0 } else { value.signum() }),
        (Function::Abs, [a]) => a.range.magnitude(),
        (Function::Sqrt, [a]) if a.range.high < 0.0 => Range::NONE,
        (Function::Sqrt, [a]) => a.range.map(|value| value.max(0.0).sqrt()),
        (Function::Length, _) => Range::new(0.0, f64::INFINITY),
        (Function::Extract(part), [a]) => extract(part, *a),
        (Function::Truncate(unit), [a]) => truncate(unit, *a),
        _ => Range::ALL,
    }
}

/// The interval of `GREATEST` over the arguments that are not `NULL`: at most the greatest upper
/// end, at least the least lower end, and at least the lower end of each argument that is never
/// `NULL`. `LEAST` is the same with all signs changed.
fn greatest(known: &[ExprInfo], seen: fn(Range) -> Range) -> Range {
    let ranges = known
        .iter()
        .map(|known| (seen(known.range), known.something));
    let all = ranges
        .clone()
        .fold(Range::NONE, |all, (range, _)| all.union(range));
    let low = ranges
        .filter(|(_, something)| *something)
        .fold(all.low, |low, (range, _)| low.max(range.low));
    Range::new(low, all.high)
}

/// The remainder has the sign of the first argument and is smaller than the second.
fn remainder(a: Range, b: Range) -> Range {
    let magnitude = b.magnitude().high;
    let most = if magnitude < EXACT {
        magnitude - 1.0
    } else {
        magnitude
    };
    if most < 0.0 {
        return Range::NONE;
    }
    let low = if a.low >= 0.0 { 0.0 } else { a.low.max(-most) };
    let high = if a.high <= 0.0 { 0.0 } else { a.high.min(most) };
    Range::new(low, high)
}

fn bucket(value: Range, width: Range, whole: bool) -> Range {
    let width = width.high;
    if whole {
        // Exact below 2^53, where the quotient is not rounded up to the next integer.
        let low = (value.low / width).floor() * width;
        let low = if value.low.abs() < EXACT && low.abs() < EXACT {
            low
        } else {
            value.low - width
        };
        return Range::new(low, value.high).outward(true);
    }
    value.map(|value| (value / width).floor() * width)
}

fn extract(part: TimePart, known: ExprInfo) -> Range {
    let (low, high) = match part {
        TimePart::Year => {
            let year = |value: i64| match known.kind {
                Type::Date => time::part_of_day(i32::try_from(value).ok()?, part),
                _ => time::part(value, part),
            };
            return calendar(known).times(year).within(1.0, 9999.0);
        }
        TimePart::Quarter => (1, 4),
        TimePart::Month => (1, 12),
        TimePart::Week => (1, 53),
        TimePart::Day => (1, 31),
        TimePart::DayOfWeek => (0, 6),
        TimePart::DayOfYear => (1, 366),
        TimePart::Hour => (0, 23),
        TimePart::Minute | TimePart::Second => (0, 59),
    };
    Range::new(f64::from(low), f64::from(high))
}

fn truncate(unit: TimeUnit, known: ExprInfo) -> Range {
    let begin = |value: i64| match known.kind {
        Type::Date => time::truncate_day(i32::try_from(value).ok()?, unit).map(i64::from),
        _ => time::truncate(value, unit),
    };
    let range = calendar(known).times(begin);
    // Without declared bounds there are none: the whole calendar is not useful.
    if known.range.is_finite() {
        range
    } else {
        Range::ALL
    }
}

/// The part of the interval within the calendar.
fn calendar(known: ExprInfo) -> Range {
    let (first, last) = match known.kind {
        Type::Date => (i64::from(time::FIRST_DAY), i64::from(time::LAST_DAY)),
        _ => (
            i64::from(time::FIRST_DAY) * time::DAY,
            (i64::from(time::LAST_DAY) + 1) * time::DAY - 1,
        ),
    };
    known.range.within(below(first), above(last))
}

fn day_to_time(day: i64) -> Option<i64> {
    time::midnight(i32::try_from(day).ok()?)
}

/// A double that is at most the integer.
fn below(value: i64) -> f64 {
    outside(value, f64::next_down)
}

/// A double that is at least the integer.
fn above(value: i64) -> f64 {
    outside(value, f64::next_up)
}

#[allow(clippy::cast_precision_loss, reason = "made up for")]
fn outside(value: i64, next: fn(f64) -> f64) -> f64 {
    let double = value as f64;
    if double.abs() < EXACT {
        double
    } else {
        next(double)
    }
}

/// An interval whose ends may be infinite; empty if the low end is above the high end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    /// The least.
    pub(crate) low: f64,
    /// The greatest.
    pub(crate) high: f64,
}

impl Range {
    pub(crate) const ALL: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// The interval of an expression that is always `NULL`.
    pub(crate) const NONE: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NONE,
            Value::Boolean(value) => Self::point(f64::from(u8::from(*value))),
            Value::Integer(value) | Value::Timestamp(value) => {
                Self::new(below(*value), above(*value))
            }
            Value::Number(value) => Self::point(*value),
            Value::Date(day) => Self::point(f64::from(*day)),
            Value::Text(_) => Self::ALL,
        }
    }

    const fn point(value: f64) -> Self {
        Self::new(value, value)
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Whether both ends are finite.
    pub(crate) fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    fn union(self, other: Self) -> Self {
        Self::new(self.low.min(other.low), self.high.max(other.high))
    }

    fn within(self, low: f64, high: f64) -> Self {
        Self::new(self.low.max(low), self.high.min(high))
    }

    /// The interval of the values with the opposite sign.
    fn negated(self) -> Self {
        Self::new(-self.high, -self.low)
    }

    /// The interval of the absolute values.
    fn magnitude(self) -> Self {
        let Self { low, high } = self;
        let least = if low > 0.0 {
            low
        } else if high < 0.0 {
            -high
        } else {
            0.0
        };
        Self::new(least, low.abs().max(high.abs()))
    }

    /// The image under a non-decreasing function.
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        if self.is_empty() {
            return Self::NONE;
        }
        Self::new(function(self.low), function(self.high)).checked()
    }

    /// The image under a non-decreasing function of integers. An end without a value becomes
    /// infinite.
    fn times(self, function: impl Fn(i64) -> Option<i64>) -> Self {
        if self.is_empty() {
            return Self::NONE;
        }
        let low = towards_zero(self.low.floor())
            .and_then(&function)
            .map(below);
        let high = towards_zero(self.high.ceil())
            .and_then(&function)
            .map(above);
        Self::new(
            low.unwrap_or(f64::NEG_INFINITY),
            high.unwrap_or(f64::INFINITY),
        )
    }

    /// All numbers, if infinities cancel to NaN.
    fn checked(self) -> Self {
        if self.low.is_nan() || self.high.is_nan() {
            Self::ALL
        } else {
            self
        }
    }

    /// Moves ends from 2^53 on outward by one double: they may be rounded, the integers between
    /// them are not.
    fn outward(self, whole: bool) -> Self {
        let Self { low, high } = self;
        Self::new(
            if whole && low.abs() >= EXACT {
                low.next_down()
            } else {
                low
            },
            if whole && high.abs() >= EXACT {
                high.next_up()
            } else {
                high
            },
        )
    }

    fn add(self, other: Self, whole: bool) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
            .checked()
            .outward(whole)
    }

    fn corners(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        let mut all = Self::NONE;
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                // Infinity times 0, or divided by infinity, is the limit of finite results, which
                // is 0; the operation itself gives NaN, which is NULL.
                let corner = of(a, b);
                all = all.union(Self::point(if corner.is_nan() { 0.0 } else { corner }));
            }
        }
        all
    }

    fn multiply(self, other: Self, whole: bool) -> Self {
        self.corners(other, |a, b| a * b).outward(whole)
    }

    fn divide(self, mut by: Self, whole: bool) -> Self {
        if whole && by.low >= 0.0 {
            by.low = by.low.max(1.0);
        } else if whole && by.high <= 0.0 {
            by.high = by.high.min(-1.0);
        } else if whole {
            // The divisor is an integer other than 0, so the magnitude cannot grow.
            return self.magnitude().union(self.magnitude().negated());
        }
        if by.is_empty() {
            return Self::NONE;
        }
        if by.low <= 0.0 && by.high >= 0.0 {
            return Self::ALL;
        }
        self.corners(by, |a, b| a / b)
    }
}
