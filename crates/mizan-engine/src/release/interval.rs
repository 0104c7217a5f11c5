//! Intervals of expressions over aggregates, by interval arithmetic.
//!
//! # Guarantee
//!
//! If every aggregate lies in its band, the expression lies in the returned band. If each of k
//! bands misses with probability β/k, all hold together with probability 1 - β, so that is the
//! confidence of the result. An expression that cannot be bounded in this way has no band.

use mizan_sql::{Expr, Function, Type, Value};

/// A closed interval of finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Interval {
    /// The interval; None if an end is not finite or the ends are in the wrong order.
    pub(super) fn new(low: f64, high: f64) -> Option<Self> {
        let finite = low.is_finite() && high.is_finite() && low <= high;
        finite.then_some(Self {
            low: low + 0.0,
            high: high + 0.0,
        })
    }

    /// The interval, extended to contain a rounded value.
    pub(super) fn with(low: f64, high: f64, rounded: f64) -> Option<Self> {
        Self::new(low.min(rounded), high.max(rounded))
    }

    /// The interval of a statistic that lies in `[least, most]` for every dataset, from the
    /// noisy estimate and its interval, which may both be outside.
    ///
    /// # Guarantee
    ///
    /// The true value lies in `[least, most]`, and the result contains the intersection of that
    /// with `[low, high]`: it covers the true value whenever `[low, high]` does. It also
    /// contains the interval shifted to the clamped estimate, so it keeps its width when the
    /// noise puts both ends beyond a bound: the interval of a count `v - h..v + h` is
    /// `max(0, v - h)..max(v + h, h)`.
    pub(super) fn clamped(
        (low, high): (f64, f64),
        estimate: f64,
        (least, most): (f64, f64),
    ) -> Option<Self> {
        let moved = estimate.clamp(least, most) - estimate;
        Self::new(
            low.min(low + moved).clamp(least, most),
            high.max(high + moved).clamp(least, most),
        )
    }

    fn point(value: &Value) -> Option<Self> {
        let value = value.as_f64()?;
        Self::new(value, value)
    }

    /// The hull of a function's values at the corners, one step outward for rounding.
    fn corners(values: [f64; 4]) -> Option<Self> {
        let low = values.into_iter().fold(f64::INFINITY, f64::min);
        let high = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self::new(low, high)?.outward()
    }

    fn outward(self) -> Option<Self> {
        Self::new(self.low.next_down(), self.high.next_up())
    }

    fn map(self, rising: impl Fn(f64) -> f64) -> Option<Self> {
        Self::new(rising(self.low), rising(self.high))
    }
}

/// The band of an expression, for a row of values and the bands of the noisy ones. A value
/// without a band entry is exact.
pub(super) fn of(
    expr: &Expr,
    row: &[Value],
    intervals: &[Option<Option<Interval>>],
) -> Option<Interval> {
    let inner = |part: &Expr| of(part, row, intervals);
    match expr {
        Expr::Column(place) => match intervals.get(*place)? {
            Some(noisy) => *noisy,
            None => Interval::point(row.get(*place)?),
        },
        Expr::Literal(value, _) => Interval::point(value),
        Expr::Cast(part, Type::Number) => inner(part),
        Expr::Cast(part, Type::Integer) => {
            let interval = inner(part)?;
            Interval::new(interval.low.floor(), interval.high.ceil())
        }
        Expr::Cast(..) | Expr::Case { .. } => None,
        Expr::Call(function, parts) => match (function, parts.as_slice()) {
            (Function::Negate, [part]) => {
                let interval = inner(part)?;
                Interval::new(-interval.high, -interval.low)
            }
            (Function::Floor, [part]) => inner(part)?.map(f64::floor),
            (Function::Ceil, [part]) => inner(part)?.map(f64::ceil),
            (Function::Round, [part]) => inner(part)?.map(f64::round),
            (Function::Sign, [part]) => {
                inner(part)?.map(|x| if x == 0.0 { 0.0 } else { x.signum() })
            }
            (Function::Sqrt, [part]) => inner(part)?.map(f64::sqrt)?.outward(),
            (Function::Abs, [part]) => {
                let interval = inner(part)?;
                let high = interval.low.abs().max(interval.high.abs());
                let low = interval.low.max(-interval.high).max(0.0);
                Interval::new(low, high)
            }
            // Which argument is the result depends on the noise.
            (Function::Coalesce | Function::NullIf, _) => None,
            (Function::Least, _) => folded(parts, inner, f64::min),
            (Function::Greatest, _) => folded(parts, inner, f64::max),
            (function, [left, right]) => binary(*function, inner(left)?, inner(right)?),
            _ => None,
        },
    }
}

fn folded(
    parts: &[Expr],
    inner: impl Fn(&Expr) -> Option<Interval>,
    pick: impl Fn(f64, f64) -> f64,
) -> Option<Interval> {
    let mut intervals = parts.iter().map(inner);
    let mut result = intervals.next()??;
    for interval in intervals {
        let interval = interval?;
        result = Interval::new(
            pick(result.low, interval.low),
            pick(result.high, interval.high),
        )?;
    }
    Some(result)
}

fn binary(function: Function, a: Interval, b: Interval) -> Option<Interval> {
    match function {
        Function::Add => Interval::new(a.low + b.low, a.high + b.high)?.outward(),
        Function::Subtract => Interval::new(a.low - b.high, a.high - b.low)?.outward(),
        Function::Multiply => Interval::corners([
            a.low * b.low,
            a.low * b.high,
            a.high * b.low,
            a.high * b.high,
        ]),
        Function::Divide if b.low > 0.0 || b.high < 0.0 => Interval::corners([
            a.low / b.low,
            a.low / b.high,
            a.high / b.low,
            a.high / b.high,
        ]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Option<Option<Interval>> {
        Some(Interval::new(low, high))
    }

    #[test]
    fn shares_and_differences() {
        let row = [
            Value::Text("k".into()),
            Value::Integer(50),
            Value::Integer(10),
        ];
        let intervals = [None, interval(45.0, 55.0), interval(8.0, 12.0)];
        let (a, b) = (Expr::column(1), Expr::column(2));
        let share = Expr::call(
            Function::Divide,
            [
                Expr::call(Function::Multiply, [Expr::integer(100), b.clone()]),
                a.clone(),
            ],
        );
        let found = of(&share, &row, &intervals).unwrap();
        assert!(found.low <= 800.0 / 55.0 && found.low > 800.0 / 55.0 - 1e-9);
        assert!(found.high >= 1200.0 / 45.0 && found.high < 1200.0 / 45.0 + 1e-9);
        let less = Expr::call(Function::Subtract, [a.clone(), b.clone()]);
        let found = of(&less, &row, &intervals).unwrap();
        assert!(found.low <= 33.0 && found.high >= 47.0 && found.high < 47.1);
        let far = Expr::call(Function::Abs, [Expr::call(Function::Negate, [b])]);
        assert_eq!(of(&far, &row, &intervals), Interval::new(8.0, 12.0));
        // No interval if the divisor may be zero, or if the value is not a number.
        let zero = [None, interval(45.0, 55.0), interval(-1.0, 12.0)];
        let ratio = Expr::call(Function::Divide, [a, Expr::column(2)]);
        assert_eq!(of(&ratio, &row, &zero), None);
        assert_eq!(of(&Expr::column(0), &row, &intervals), None);
        assert_eq!(of(&Expr::column(9), &row, &intervals), None);
    }
}
