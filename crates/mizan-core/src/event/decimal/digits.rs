//! Decimal numbers as strings of digits, compared exactly.

use super::{DecimalError, MAX_DIGITS};
use std::cmp::Ordering;

/// The number `0.d1 d2 d3 ... x 10^point`, with `d1` and the last digit not
/// zero. Zero has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digits {
    negative: bool,
    /// ASCII digits.
    digits: String,
    point: i64,
}

/// Exponents beyond this are all alike: with [`MAX_DIGITS`] digits the number
/// is above every double or below every positive one.
const EXPONENT_LIMIT: i64 = 1_000_000;

impl Digits {
    /// A precision at which every double is exact: none has more than 767
    /// significant digits.
    pub(super) const EXACT: usize = 770;

    /// Reads digits with an optional sign, point and exponent.
    pub(super) fn parse(text: &str) -> Result<Self, DecimalError> {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let count = whole.len() + fraction.len();
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if count == 0 || !all_digits(whole) || !all_digits(fraction) {
            return Err(DecimalError::NotADecimal);
        }
        if count > MAX_DIGITS {
            return Err(DecimalError::TooLong);
        }
        let point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
        Ok(Self::new(
            negative,
            &[whole, fraction].concat(),
            point + exponent,
        ))
    }

    /// The decimal expansion of a finite double, rounded to `precision + 1`
    /// digits; exact at [`Digits::EXACT`].
    pub(super) fn of(value: f64, precision: usize) -> Self {
        let text = format!("{:.precision$e}", value.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = exponent.parse::<i64>().unwrap_or(0) + 1;
        Self::new(value.is_sign_negative(), &mantissa.replace('.', ""), point)
    }

    /// Drops the zeros at both ends.
    fn new(negative: bool, digits: &str, point: i64) -> Self {
        let trimmed = digits.trim_start_matches('0');
        let leading = i64::try_from(digits.len() - trimmed.len()).unwrap_or(i64::MAX);
        let digits = trimmed.trim_end_matches('0');
        if digits.is_empty() {
            return Self {
                negative: false,
                digits: String::new(),
                point: 0,
            };
        }
        Self {
            negative,
            digits: digits.to_owned(),
            point: point - leading,
        }
    }

    /// The order of the two numbers.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => self.compare_magnitude(other),
            (true, true) => other.compare_magnitude(self),
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            // Without zeros at the ends, digits order as words do.
            (false, false) => self
                .point
                .cmp(&other.point)
                .then_with(|| self.digits.cmp(&other.digits)),
        }
    }

    /// The number as `mantissa x 10^power` when the mantissa has at most
    /// fifteen digits, and so is an exact double.
    pub(super) fn short(&self) -> Option<(f64, i64)> {
        if self.digits.len() > 15 {
            return None;
        }
        let magnitude: f64 = if self.digits.is_empty() {
            0.0
        } else {
            self.digits.parse().ok()?
        };
        let length = i64::try_from(self.digits.len()).ok()?;
        Some((
            if self.negative { -magnitude } else { magnitude },
            self.point - length,
        ))
    }

    /// The number when it is whole, not negative and fits.
    pub(super) fn whole(&self) -> Option<u64> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let zeros = self.point - i64::try_from(self.digits.len()).ok()?;
        if self.negative || self.point > 20 {
            return None;
        }
        let zeros = usize::try_from(zeros).ok()?;
        format!("{}{}", self.digits, "0".repeat(zeros)).parse().ok()
    }

    /// The number cut to `length` digits, towards zero or away from it.
    pub(super) fn cut(&self, length: usize, away: bool) -> Self {
        let Some((head, tail)) = self.digits.split_at_checked(length) else {
            return self.clone();
        };
        if !away || tail.is_empty() {
            return Self::new(self.negative, head, self.point);
        }
        // Nines carry; what is left of them is trailing zeros.
        let kept = head.trim_end_matches('9');
        let mut raised = kept.to_owned();
        match raised.pop() {
            Some(last) => {
                raised
                    .push(char::from_digit(last.to_digit(10).unwrap_or(0) + 1, 10).unwrap_or('9'));
                Self::new(self.negative, &raised, self.point)
            }
            None => Self::new(self.negative, "1", self.point + 1),
        }
    }

    /// The shortest common way to write the number: plain from 1e-4 up to
    /// 1e7, scientific beyond.
    pub(super) fn write(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        let Some((first, rest)) = self.digits.split_at_checked(1) else {
            return "0".into();
        };
        if !(-3..=7).contains(&self.point) {
            let dot = if rest.is_empty() { "" } else { "." };
            return format!("{sign}{first}{dot}{rest}e{}", self.point - 1);
        }
        match usize::try_from(self.point) {
            Ok(0) | Err(_) => {
                let zeros = usize::try_from(self.point.unsigned_abs()).unwrap_or(0);
                format!("{sign}0.{}{}", "0".repeat(zeros), self.digits)
            }
            Ok(point) => match self.digits.split_at_checked(point) {
                Some((whole, "")) => format!("{sign}{whole}"),
                Some((whole, fraction)) => format!("{sign}{whole}.{fraction}"),
                None => {
                    let zeros = point.saturating_sub(self.digits.len());
                    format!("{sign}{}{}", self.digits, "0".repeat(zeros))
                }
            },
        }
    }
}

/// An exponent, clamped to [`EXPONENT_LIMIT`].
fn parse_exponent(text: &str) -> Result<i64, DecimalError> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() {
        return Err(DecimalError::NotADecimal);
    }
    let mut exponent = 0_i64;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return Err(DecimalError::NotADecimal);
        }
        exponent = (exponent * 10 + i64::from(byte - b'0')).min(EXPONENT_LIMIT);
    }
    Ok(sign * exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Digits {
        Digits::parse(text).unwrap()
    }

    #[test]
    fn equal_numbers_have_equal_digits() {
        for same in ["120", "120.000", "0.12e3", "00120", "+1.2e+2", "12000e-2"] {
            assert_eq!(digits(same), digits("120"), "{same}");
        }
        assert_eq!(digits("-0.000e7"), digits("0"));
    }

    #[test]
    fn numbers_are_ordered() {
        let sorted = [
            "-2", "-1.5", "-1e-9", "0", "1e-9", "0.9", "0.95", "1", "9.99", "10", "1e400",
        ];
        for pair in sorted.windows(2) {
            assert_eq!(
                digits(pair[0]).compare(&digits(pair[1])),
                Ordering::Less,
                "{pair:?}"
            );
            assert_eq!(
                digits(pair[1]).compare(&digits(pair[0])),
                Ordering::Greater,
                "{pair:?}"
            );
        }
    }

    #[test]
    fn cutting_goes_both_ways_and_carries() {
        assert_eq!(digits("1.2999").cut(3, true), digits("1.3"));
        assert_eq!(digits("1.2999").cut(3, false), digits("1.29"));
        assert_eq!(digits("9.99").cut(2, true), digits("10"));
        assert_eq!(digits("9.9").cut(2, true), digits("9.9"));
        assert_eq!(digits("9.9").cut(5, true), digits("9.9"));
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for text in [
            "0",
            "7",
            "1.1",
            "120",
            "0.5",
            "0.01",
            "0.0001",
            "1234567",
            "1234567.5",
        ] {
            assert_eq!(digits(text).write(), text);
        }
        assert_eq!(digits("0.0000012").write(), "1.2e-6");
        assert_eq!(digits("10000000").write(), "1e7");
        assert_eq!(digits("-12345678").write(), "-1.2345678e7");
    }

    #[test]
    fn whole_numbers_are_found_in_any_spelling() {
        assert_eq!(digits("1e6").whole(), Some(1_000_000));
        assert_eq!(digits("1.50e1").whole(), Some(15));
        assert_eq!(digits("18446744073709551615").whole(), Some(u64::MAX));
        for not in [
            "1.5",
            "-1",
            "1e-1",
            "18446744073709551616",
            "1e300",
            "1e999999999",
        ] {
            assert_eq!(digits(not).whole(), None, "{not}");
        }
    }
}
