//! The calendar: days and microseconds since 1970-01-01, in the years 1 to 9999.
//!
//! Results outside of these years are `None`. Weeks are those of ISO 8601 and begin on Monday.
//! 0001-01-01 is a Monday, so truncation never leaves the calendar.

use jiff::civil::Date;

use crate::expr::{TimePart, TimeUnit};

/// 0001-01-01.
pub const FIRST_DAY: i32 = -719_162;

/// 9999-12-31.
pub const LAST_DAY: i32 = 2_932_896;

/// Microseconds in a day.
pub const DAY: i64 = 86_400_000_000;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// The day of a timestamp, also before 1970. None outside of the calendar.
#[must_use]
pub fn day_of(microseconds: i64) -> Option<i32> {
    let day = i32::try_from(microseconds.div_euclid(DAY)).ok()?;
    (FIRST_DAY..=LAST_DAY).contains(&day).then_some(day)
}

/// The timestamp of midnight of a day.
#[must_use]
pub fn midnight(day: i32) -> Option<i64> {
    let known = (FIRST_DAY..=LAST_DAY).contains(&day);
    known.then(|| i64::from(day) * DAY)
}

/// The day number of a date; None if the date does not exist.
#[must_use]
pub fn day(year: i16, month: i8, day: i8) -> Option<i32> {
    if !(1..=9999).contains(&year) {
        return None;
    }
    days_of(Date::new(year, month, day).ok()?)
}

/// `YYYY-MM-DD`.
#[must_use]
pub fn day_text(day: i32) -> Option<String> {
    date(day).map(|date| date.to_string())
}

/// `YYYY-MM-DDThh:mm:ss.ffffffZ`; without the fraction if it is zero.
#[must_use]
pub fn time_text(microseconds: i64) -> Option<String> {
    let date = day_text(day_of(microseconds)?)?;
    let rest = microseconds.rem_euclid(DAY);
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(if fraction == 0 {
        format!("{date}T{hours:02}:{minutes:02}:{seconds:02}Z")
    } else {
        format!("{date}T{hours:02}:{minutes:02}:{seconds:02}.{fraction:06}Z")
    })
}

/// The first day of the unit of time that contains a day.
#[must_use]
pub fn truncate_day(day: i32, unit: TimeUnit) -> Option<i32> {
    let date = date(day)?;
    match unit {
        TimeUnit::Year => days_of(date.first_of_year()),
        TimeUnit::Quarter => {
            let month = (date.month() - 1) / 3 * 3 + 1;
            days_of(Date::new(date.year(), month, 1).ok()?)
        }
        TimeUnit::Month => days_of(date.first_of_month()),
        TimeUnit::Week => Some(day - i32::from(date.weekday().to_monday_zero_offset())),
        TimeUnit::Day | TimeUnit::Hour | TimeUnit::Minute | TimeUnit::Second => Some(day),
    }
}

/// The beginning of the unit of time that contains a timestamp.
#[must_use]
pub fn truncate(microseconds: i64, unit: TimeUnit) -> Option<i64> {
    let day = day_of(microseconds)?;
    match within_day(unit) {
        Some(length) => Some(microseconds - microseconds.rem_euclid(length)),
        None => midnight(truncate_day(day, unit)?),
    }
}

/// The first day of the next unit, from the first day of a unit. None after the last.
#[must_use]
pub fn next_day(first: i32, unit: TimeUnit) -> Option<i32> {
    // This many days after a beginning is always in the next unit, never in the one after it.
    let days = match unit {
        TimeUnit::Year => 366,
        TimeUnit::Quarter => 92,
        TimeUnit::Month => 31,
        TimeUnit::Week => 7,
        TimeUnit::Day | TimeUnit::Hour | TimeUnit::Minute | TimeUnit::Second => 1,
    };
    truncate_day(first.checked_add(days)?, unit)
}

/// The beginning of the next unit, from the beginning of a unit.
#[must_use]
pub fn next(first: i64, unit: TimeUnit) -> Option<i64> {
    match within_day(unit) {
        Some(length) => truncate(first.checked_add(length)?, unit),
        None => midnight(next_day(day_of(first)?, unit)?),
    }
}

/// A part of a day; None for hours, minutes and seconds.
#[must_use]
pub fn part_of_day(day: i32, part: TimePart) -> Option<i64> {
    let date = date(day)?;
    match part {
        TimePart::Year => Some(date.year().into()),
        TimePart::Quarter => Some(((date.month() - 1) / 3 + 1).into()),
        TimePart::Month => Some(date.month().into()),
        TimePart::Week => Some(date.iso_week_date().week().into()),
        TimePart::Day => Some(date.day().into()),
        TimePart::DayOfWeek => Some(date.weekday().to_sunday_zero_offset().into()),
        TimePart::DayOfYear => Some(date.day_of_year().into()),
        TimePart::Hour | TimePart::Minute | TimePart::Second => None,
    }
}

/// A part of a timestamp.
#[must_use]
pub fn part(microseconds: i64, part: TimePart) -> Option<i64> {
    let day = day_of(microseconds)?;
    let seconds = microseconds.rem_euclid(DAY) / 1_000_000;
    match part {
        TimePart::Hour => Some(seconds / 3600),
        TimePart::Minute => Some(seconds / 60 % 60),
        TimePart::Second => Some(seconds % 60),
        _ => part_of_day(day, part),
    }
}

const fn within_day(unit: TimeUnit) -> Option<i64> {
    match unit {
        TimeUnit::Hour => Some(3_600_000_000),
        TimeUnit::Minute => Some(60_000_000),
        TimeUnit::Second => Some(1_000_000),
        _ => None,
    }
}

fn date(day: i32) -> Option<Date> {
    if !(FIRST_DAY..=LAST_DAY).contains(&day) {
        return None;
    }
    EPOCH
        .checked_add(jiff::Span::new().try_days(day).ok()?)
        .ok()
}

fn days_of(date: Date) -> Option<i32> {
    i32::try_from(date.duration_since(EPOCH).as_hours() / 24).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_has_ends() {
        assert_eq!(day(1, 1, 1), Some(FIRST_DAY));
        assert_eq!(day(9999, 12, 31), Some(LAST_DAY));
        assert_eq!(day_text(FIRST_DAY).unwrap(), "0001-01-01");
        assert_eq!(day_text(LAST_DAY).unwrap(), "9999-12-31");
        assert_eq!(day_text(FIRST_DAY - 1), None);
        assert_eq!(day_text(LAST_DAY + 1), None);
        assert_eq!(day(0, 1, 1), None);
        for extreme in [i64::MIN, i64::MAX] {
            assert_eq!(day_of(extreme), None);
            assert_eq!(truncate(extreme, TimeUnit::Second), None);
            assert_eq!(part(extreme, TimePart::Hour), None);
        }
        for extreme in [i32::MIN, i32::MAX] {
            assert_eq!(truncate_day(extreme, TimeUnit::Week), None);
            assert_eq!(part_of_day(extreme, TimePart::Week), None);
            assert_eq!(midnight(extreme), None);
        }
    }

    #[test]
    fn every_day_begins_its_units_and_the_next_follow() {
        for unit in TimeUnit::ALL {
            let mut first = FIRST_DAY;
            assert_eq!(truncate_day(first, unit), Some(first), "{unit:?}");
            let mut next = next_day(first, unit);
            for today in FIRST_DAY..=LAST_DAY {
                if Some(today) == next {
                    first = today;
                    next = next_day(first, unit);
                }
                assert_eq!(truncate_day(today, unit), Some(first), "{unit:?} {today}");
            }
            assert_eq!(next, None, "{unit:?}");
        }
    }

    #[test]
    fn parts_and_texts_of_known_days() {
        let leap = day(2024, 12, 30).unwrap();
        assert_eq!(part_of_day(leap, TimePart::Week), Some(1));
        assert_eq!(part_of_day(leap, TimePart::DayOfYear), Some(365));
        assert_eq!(part_of_day(leap, TimePart::DayOfWeek), Some(1));
        assert_eq!(part_of_day(leap, TimePart::Quarter), Some(4));
        assert_eq!(part_of_day(leap, TimePart::Hour), None);
        assert_eq!(
            part_of_day(day(2021, 1, 3).unwrap(), TimePart::Week),
            Some(53)
        );
        assert_eq!(
            part_of_day(day(2021, 1, 3).unwrap(), TimePart::DayOfWeek),
            Some(0)
        );
        assert_eq!(part(-1, TimePart::Second), Some(59));
        assert_eq!(part(-1, TimePart::Hour), Some(23));
        assert_eq!(part(-1, TimePart::Year), Some(1969));
        assert_eq!(truncate(-1, TimeUnit::Hour), Some(-3_600_000_000));
        assert_eq!(truncate(-1, TimeUnit::Year), midnight(-365));
        assert_eq!(time_text(-1).unwrap(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(time_text(0).unwrap(), "1970-01-01T00:00:00Z");
    }
}
