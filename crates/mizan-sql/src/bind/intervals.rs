//! Date literals moved by interval literals: `DATE '1994-01-01' + INTERVAL '1' YEAR`.

use datafusion_common::ScalarValue;
use datafusion_expr::{Expr as Planned, Operator};

use super::scalar::Scope;
use super::typed::Typed;
use crate::refusal::{Reason, Refusal};
use crate::time;
use crate::value::{Type, Value};

/// Months, days and microseconds.
#[derive(Clone, Copy)]
struct Interval {
    months: i64,
    days: i64,
    microseconds: i64,
}

/// A date or timestamp plus or minus an interval; None if there is no interval.
pub(super) fn shifted(
    scope: &Scope<'_>,
    left: &Planned,
    operator: Operator,
    right: &Planned,
    depth: usize,
) -> Result<Option<Typed>, Refusal> {
    let (time, interval, sign) = match (interval(left), operator, interval(right)) {
        (None, Operator::Plus, Some(interval)) => (left, interval, 1),
        (None, Operator::Minus, Some(interval)) => (left, interval, -1),
        (Some(interval), Operator::Plus, None) => (right, interval, 1),
        (None, _, None) => return Ok(None),
        _ => return Err(unsupported()),
    };
    let time = scope.translate(time, depth + 1)?;
    let moved = match time.value() {
        Some(Value::Date(day)) => move_day(*day, interval, sign).map(|moved| match moved {
            (day, 0) => Typed::literal(Value::Date(day), Type::Date),
            (day, rest) => Typed::literal(
                Value::Timestamp(i64::from(day) * time::DAY + rest),
                Type::Timestamp,
            ),
        }),
        Some(Value::Timestamp(at)) => time::day_of(*at).and_then(|day| {
            let within = at.rem_euclid(time::DAY);
            let (day, rest) = move_day(day, interval, sign)?;
            let moved = time::midnight(day)?
                .checked_add(within)?
                .checked_add(rest)?;
            time::day_of(moved)?;
            Some(Typed::literal(Value::Timestamp(moved), Type::Timestamp))
        }),
        _ => return Err(unsupported()),
    };
    moved.map(Some).ok_or_else(|| {
        Refusal::new(
            Reason::Literal,
            "the date is moved out of the years 1 to 9999",
            "write a smaller interval",
        )
    })
}

fn unsupported() -> Refusal {
    Refusal::new(
        Reason::Types,
        "an INTERVAL is supported only when it is added to or taken from a date that is written out",
        "move the interval to the other side: d >= DATE '2026-01-31' - INTERVAL '1' MONTH",
    )
}

fn interval(planned: &Planned) -> Option<Interval> {
    match planned {
        Planned::Alias(alias) => interval(&alias.expr),
        Planned::Negative(inner) => interval(inner).map(|inner| Interval {
            months: -inner.months,
            days: -inner.days,
            microseconds: -inner.microseconds,
        }),
        Planned::Literal(ScalarValue::IntervalMonthDayNano(Some(value)), _) => Some(Interval {
            months: value.months.into(),
            days: value.days.into(),
            microseconds: value.nanoseconds / 1000,
        }),
        Planned::Literal(ScalarValue::IntervalDayTime(Some(value)), _) => Some(Interval {
            months: 0,
            days: value.days.into(),
            microseconds: i64::from(value.milliseconds) * 1000,
        }),
        Planned::Literal(ScalarValue::IntervalYearMonth(Some(months)), _) => Some(Interval {
            months: (*months).into(),
            days: 0,
            microseconds: 0,
        }),
        _ => None,
    }
}

/// Adds an interval to a day, months first, and returns the day and the microseconds that remain. A
/// day that the new month does not have becomes the last day of that month.
fn move_day(day: i32, interval: Interval, sign: i64) -> Option<(i32, i64)> {
    let part = |part| time::part_of_day(day, part);
    let months = part(crate::expr::TimePart::Year)?
        .checked_mul(12)?
        .checked_add(part(crate::expr::TimePart::Month)? - 1)?
        .checked_add(interval.months.checked_mul(sign)?)?;
    let year = i16::try_from(months.div_euclid(12)).ok()?;
    let month = i8::try_from(months.rem_euclid(12) + 1).ok()?;
    let of_month = i8::try_from(part(crate::expr::TimePart::Day)?).ok()?;
    let moved = (1..=of_month)
        .rev()
        .find_map(|of_month| time::day(year, month, of_month))?;
    let rest = interval.microseconds.checked_mul(sign)?;
    let days = interval.days.checked_mul(sign)?;
    // A remainder of whole days is added as days.
    let (days, rest) = if rest % time::DAY == 0 {
        (days.checked_add(rest / time::DAY)?, 0)
    } else {
        (days, rest)
    };
    let moved = i32::try_from(i64::from(moved).checked_add(days)?).ok()?;
    let at = time::midnight(moved)?.checked_add(rest)?;
    time::day_of(at)?;
    Some((moved, rest))
}
