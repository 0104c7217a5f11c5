//! Days and microseconds since 1970-01-01 as integers, and the calendar from year 1 to 9999:
//! `mizan_sql::time` in SQL.

use mizan_sql::time::{DAY, FIRST_DAY, LAST_DAY};
use mizan_sql::{TimePart, TimeUnit};

use super::shared_operands::with_operands;

/// The first and the last microsecond of the calendar.
fn microseconds() -> (i64, i64) {
    (
        i64::from(FIRST_DAY) * DAY,
        (i64::from(LAST_DAY) + 1) * DAY - 1,
    )
}

/// An expression of a day within the calendar; NULL for other days.
pub(super) fn of_day(day: &str, body: impl FnOnce(&str) -> String) -> String {
    with_operands([day], |[d]| {
        let body = body(d);
        format!("CASE WHEN {d} BETWEEN {FIRST_DAY} AND {LAST_DAY} THEN {body} END")
    })
}

/// An expression of a time within the calendar; NULL for other times.
pub(super) fn of_time(time: &str, body: impl FnOnce(&str) -> String) -> String {
    let (first, last) = microseconds();
    with_operands([time], |[t]| {
        let body = body(t);
        format!("CASE WHEN {t} BETWEEN {first} AND {last} THEN {body} END")
    })
}

/// A day as a date; only valid within the calendar.
pub(super) fn date(day: &str) -> String {
    format!("(DATE '1970-01-01' + {day})")
}

/// The day of a time, also before 1970.
pub(super) fn day_of(time: &str) -> String {
    format!("(({time} - {}) / {DAY})::int4", within(time, DAY))
}

/// The time since the start of a period.
fn within(time: &str, period: i64) -> String {
    format!("(({time} % {period}) + {period}) % {period}")
}

/// The first day of the unit that contains a day.
pub(super) fn truncate_day(day: &str, unit: TimeUnit) -> String {
    of_day(day, |d| first_day(d, unit))
}

fn first_day(day: &str, unit: TimeUnit) -> String {
    if unit == TimeUnit::Day || unit.is_within_day() {
        return day.to_owned();
    }
    format!(
        "(date_trunc('{}', {}::timestamp)::date - DATE '1970-01-01')",
        unit.name(),
        date(day)
    )
}

/// The start of the unit that contains a time.
pub(super) fn truncate(time: &str, unit: TimeUnit) -> String {
    let period = match unit {
        TimeUnit::Hour => 3_600_000_000,
        TimeUnit::Minute => 60_000_000,
        TimeUnit::Second => 1_000_000,
        _ => {
            return of_time(time, |t| {
                format!("{}::bigint * {DAY}", first_day(&day_of(t), unit))
            });
        }
    };
    of_time(time, |t| format!("{t} - {}", within(t, period)))
}

/// A part of a day.
pub(super) fn part_of_day(day: &str, part: TimePart) -> String {
    of_day(day, |d| day_part(d, part))
}

fn day_part(day: &str, part: TimePart) -> String {
    if part.is_within_day() {
        // A day has no hours.
        return "NULL::bigint".to_owned();
    }
    format!("extract({} FROM {})::bigint", part.name(), date(day))
}

/// A part of a time.
pub(super) fn part(time: &str, part: TimePart) -> String {
    let (period, length): (i64, i64) = match part {
        TimePart::Hour => (DAY, 3_600_000_000),
        TimePart::Minute => (3_600_000_000, 60_000_000),
        TimePart::Second => (60_000_000, 1_000_000),
        _ => return of_time(time, |t| day_part(&day_of(t), part)),
    };
    of_time(time, |t| format!("({}) / {length}", within(t, period)))
}

/// Midnight of a day.
pub(super) fn midnight(day: &str) -> String {
    of_day(day, |d| format!("{d}::bigint * {DAY}"))
}
