//! Texts of times, in UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use mizan_core::Code;

use crate::failure::Failure;

/// A time of the log as text.
#[must_use]
pub fn text(unix_ms: u64) -> String {
    timestamp(unix_ms).map_or_else(
        || format!("{unix_ms} ms"),
        |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// A time of the log as text with milliseconds, for programs.
#[must_use]
pub fn exact(unix_ms: u64) -> String {
    timestamp(unix_ms).map_or_else(
        || format!("{unix_ms} ms"),
        |time| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    )
}

fn timestamp(unix_ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(unix_ms).ok()?).ok()
}

/// The last millisecond that a date or time includes.
///
/// # Errors
///
/// The text is not a date.
pub fn end_of(typed: &str) -> Result<u64, Failure> {
    let bad = || {
        Failure::new(
            Code::MZ1790,
            format!("{typed:?} is not a date"),
            "write 2026-11-16, 2026-11-16T12:30:00Z or 2026-11-16T12:30:00+03:00; without an offset it is UTC",
        )
    };
    let typed = typed.trim();
    let utc = |time: DateTime| time.to_zoned(TimeZone::UTC).map(|time| time.timestamp());
    let time = if let Ok(time) = typed.parse::<Timestamp>() {
        Ok(time)
    } else if typed.len() <= 10 {
        let date: Date = typed.parse().map_err(|_| bad())?;
        utc(date.at(23, 59, 59, 999_999_999))
    } else {
        utc(typed.parse::<DateTime>().map_err(|_| bad())?)
    };
    let time = time.map_err(|_| bad())?;
    u64::try_from(time.as_millisecond()).map_err(|_| bad())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn dates_include_their_whole_day() {
        let midnight = end_of("2026-11-16T00:00:00Z").unwrap();
        assert_eq!(end_of("2026-11-16").unwrap(), midnight + 86_400_000 - 1);
        assert_eq!(end_of("2026-11-16T03:00:00+03:00").unwrap(), midnight);
        assert_eq!(end_of("2026-11-16 00:00").unwrap(), midnight);
        assert_eq!(text(midnight), "2026-11-16 00:00:00");
        assert_eq!(exact(midnight + 7), "2026-11-16T00:00:00.007Z");
        for bad in [
            "",
            "yesterday",
            "2026-02-30",
            "1960-01-01",
            "2026-11-16T25:00",
        ] {
            assert!(end_of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_beyond_all_dates_are_rendered() {
        assert_eq!(text(u64::MAX), "18446744073709551615 ms");
    }
}
