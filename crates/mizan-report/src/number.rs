//! Numbers as decimal text, rounded to a stated side.
//!
//! A privacy cost is rounded up, a remaining budget is rounded down. The arithmetic is on decimal
//! digits, so that there is no second floating-point error between the number and its text.
//!
//! # Guarantee
//! A double stands for its shortest decimal that reads back as the same double:
//! `0.1` is one tenth, not 0.1000000000000000055. Rounding that decimal outward
//! and reading the text back gives a double on the stated side, because
//! reading decimals is monotone: `epsilon_up(x, n)` reads back `>= x` and
//! `down(x, n)` reads back `<= x`, for every `x` and `n`.

use std::fmt::Write as _;

/// Significant digits of a printed delta.
const DELTA_DIGITS: usize = 3;

/// `x` to `digits` significant digits, rounded up: a cost is never understated.
///
/// Trailing zeros are dropped. Values from 0.0001 to below ten million are
/// plain decimals, others scientific; infinity is `∞` and what is not a number
/// is `?`.
///
/// ```
/// use mizan_report::number::epsilon_up;
///
/// assert_eq!(epsilon_up(0.1, 3), "0.1");
/// assert_eq!(epsilon_up(1.00000001, 3), "1.01");
/// assert_eq!(epsilon_up(99.96, 3), "100");
/// assert_eq!(epsilon_up(f64::INFINITY, 3), "∞");
/// ```
#[must_use]
pub fn epsilon_up(x: f64, digits: usize) -> String {
    text(x, digits, Toward::Up, Notation::Either)
}

/// `x` to `digits` significant digits, rounded down: what remains is never
/// overstated. Otherwise written as [`epsilon_up`] writes.
///
/// ```
/// use mizan_report::number::down;
///
/// assert_eq!(down(0.99999, 3), "0.999");
/// assert_eq!(down(3.0, 3), "3");
/// ```
#[must_use]
pub fn down(x: f64, digits: usize) -> String {
    text(x, digits, Toward::Down, Notation::Either)
}

/// `x` to `digits` significant digits, to the nearest (halves away from zero):
/// for numbers that are not guarantees, such as a noisy answer or a duration.
///
/// ```
/// use mizan_report::number::nearest;
///
/// assert_eq!(nearest(2.0 / 3.0, 3), "0.667");
/// assert_eq!(nearest(-12345.0, 2), "-12000");
/// ```
#[must_use]
pub fn nearest(x: f64, digits: usize) -> String {
    text(x, digits, Toward::Nearest, Notation::Either)
}

/// [`nearest`] with thousands set apart, for answers that people read.
///
/// ```
/// use mizan_report::number::grouped;
///
/// assert_eq!(grouped(1234567.4, 7), "1,234,567");
/// assert_eq!(grouped(-12345.0, 2), "-12,000");
/// assert_eq!(grouped(0.5, 3), "0.5");
/// assert_eq!(grouped(1e30, 3), "1e30");
/// ```
#[must_use]
pub fn grouped(x: f64, digits: usize) -> String {
    with_thousands(text(x, digits, Toward::Nearest, Notation::Either))
}

/// The same rounded up, for what may be off by so much.
///
/// ```
/// use mizan_report::number::grouped_up;
///
/// assert_eq!(grouped_up(13_012.0, 3), "13,100");
/// assert_eq!(grouped_up(22.0, 3), "22");
/// ```
#[must_use]
pub fn grouped_up(x: f64, digits: usize) -> String {
    with_thousands(text(x, digits, Toward::Up, Notation::Either))
}

fn with_thousands(plain: String) -> String {
    let (sign, unsigned) = match plain.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", plain.as_str()),
    };
    let (whole, fraction) = unsigned.split_at(unsigned.find('.').unwrap_or(unsigned.len()));
    if !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return plain;
    }
    let mut text = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// A value and where it may lie: `±` if it is in the middle, else both ends, rounded
/// outwards. An interval that was clamped, at zero or at bounds, has no half-width.
///
/// ```
/// use mizan_report::number::within;
///
/// assert_eq!(within(812.0, 790.0, 834.0, 5), "812 ± 22");
/// assert_eq!(within(5000.0, 3698.8, 6301.2, 5), "5,000 ± 1,310");
/// assert_eq!(within(0.0, 0.0, 14.0, 5), "0 (0 to 14)");
/// // What is not shown of a value is nothing beside its error.
/// assert_eq!(within(11_343_808.0, 11_343_805.0, 11_343_811.0, 5), "11,343,808 ± 3");
/// // And it is part of the error: 1,234.6 is not the value.
/// assert_eq!(within(1234.5678, 1134.5678, 1334.5678, 5), "1,234.6 ± 101");
/// ```
#[must_use]
pub fn within(value: f64, low: f64, high: f64, digits: usize) -> String {
    let (below, above) = (value - low, high - value);
    let half = above.max(below);
    let shown = |end: f64, digits: usize, toward| {
        let digits = digits.max(digits_beside(end, half));
        with_thousands(text(end, digits, toward, Notation::Plain))
    };
    let rounded = text(
        value,
        digits.max(digits_beside(value, half)),
        Toward::Nearest,
        Notation::Plain,
    );
    // Nearly in the middle: the longer side is shown for both.
    if below >= 0.0 && (above - below).abs() <= 0.1 * (above + below) {
        let off = rounded
            .parse()
            .map_or(0.0, |shown: f64| (shown - value).abs());
        let half = if off > 0.0 {
            (half + off).next_up()
        } else {
            half
        };
        let half = with_thousands(text(half, 3, Toward::Up, Notation::Plain));
        return format!("{} ± {half}", with_thousands(rounded));
    }
    let value = with_thousands(rounded);
    let (low, high) = (shown(low, 4, Toward::Down), shown(high, 4, Toward::Up));
    format!("{value} ({low} to {high})")
}

/// How many digits of a value leave out less than a hundredth of its error.
fn digits_beside(value: f64, error: f64) -> usize {
    let power = |x: f64| Decimal::shortest(x.abs()).map(|decimal| decimal.exponent);
    match (power(value), power(error)) {
        (Some(value), Some(error)) => usize::try_from(value - error + 3).unwrap_or(1).min(17),
        // Whatever it has.
        (Some(_), None) => 17,
        _ => 1,
    }
}

/// A failure probability: scientific, three significant digits, rounded up.
///
/// ```
/// use mizan_report::number::delta_up;
///
/// assert_eq!(delta_up(1e-6), "1e-6");
/// assert_eq!(delta_up(1.2341e-9), "1.24e-9");
/// assert_eq!(delta_up(0.0), "0");
/// ```
#[must_use]
pub fn delta_up(x: f64) -> String {
    text(x, DELTA_DIGITS, Toward::Up, Notation::Scientific)
}

/// The side to which digits are dropped, on the number line.
#[derive(Clone, Copy)]
enum Toward {
    Up,
    Down,
    Nearest,
}

#[derive(Clone, Copy)]
enum Notation {
    Scientific,
    /// Plain for everyday sizes, scientific beyond.
    Either,
    /// Plain as long as every digit before the point is known.
    Plain,
}

fn text(x: f64, digits: usize, toward: Toward, notation: Notation) -> String {
    if x.is_nan() {
        return "?".to_owned();
    }
    let negative = x < 0.0;
    let sign = if negative { "-" } else { "" };
    if x.is_infinite() {
        return format!("{sign}∞");
    }
    let Some(mut decimal) = Decimal::shortest(x.abs()) else {
        return "0".to_owned();
    };
    decimal.round(digits.max(1), toward, negative);
    let magnitude = match notation {
        Notation::Either if decimal.is_everyday() => decimal.plain(),
        Notation::Plain if (-4..16).contains(&decimal.exponent) => decimal.plain(),
        _ => decimal.scientific(),
    };
    format!("{sign}{magnitude}")
}

/// A positive decimal `d.ddd × 10^exponent`; first and last digit are not zero.
struct Decimal {
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// The shortest decimal that reads back as `magnitude`; `None` for zero.
    fn shortest(magnitude: f64) -> Option<Self> {
        let written = format!("{magnitude:e}");
        let (mantissa, exponent) = written.split_once('e')?;
        let digits = mantissa
            .bytes()
            .filter(u8::is_ascii_digit)
            .map(|digit| digit - b'0');
        let mut decimal = Self {
            digits: digits.collect(),
            exponent: exponent.parse().ok()?,
        };
        decimal.trim();
        (!decimal.digits.is_empty()).then_some(decimal)
    }

    /// Keeps at most `count` digits. `negative` is the sign that the caller
    /// holds: it decides which side of zero is up.
    fn round(&mut self, count: usize, toward: Toward, negative: bool) {
        let Some(&first_dropped) = self.digits.get(count) else {
            return;
        };
        // The last digit is not zero, so whatever is dropped is more than nothing.
        let away_from_zero = match toward {
            Toward::Up => !negative,
            Toward::Down => negative,
            Toward::Nearest => first_dropped >= 5,
        };
        self.digits.truncate(count);
        if away_from_zero {
            self.increment();
        }
        self.trim();
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
        self.exponent += 1;
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }

    /// From 0.0001 to below ten million.
    fn is_everyday(&self) -> bool {
        (-4..7).contains(&self.exponent)
    }

    fn digit(&self, place: usize) -> char {
        char::from(b'0' + self.digits.get(place).copied().unwrap_or(0))
    }

    fn scientific(&self) -> String {
        let mut text = String::from(self.digit(0));
        if self.digits.len() > 1 {
            text.push('.');
            text.extend((1..self.digits.len()).map(|place| self.digit(place)));
        }
        let _ = write!(text, "e{}", self.exponent);
        text
    }

    fn plain(&self) -> String {
        let mut text = String::new();
        let Ok(whole) = usize::try_from(self.exponent) else {
            text.push_str("0.");
            text.extend((self.exponent + 1..0).map(|_| '0'));
            text.extend((0..self.digits.len()).map(|place| self.digit(place)));
            return text;
        };
        text.extend((0..=whole).map(|place| self.digit(place)));
        if self.digits.len() > whole + 1 {
            text.push('.');
            text.extend((whole + 1..self.digits.len()).map(|place| self.digit(place)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use mizan_core::SplitMix64;

    use super::*;

    /// Doubles of every size: random bit patterns and awkward ones.
    fn doubles() -> impl Iterator<Item = f64> {
        let mut numbers = SplitMix64::new(0x6d69_7a61_6e00);
        let random = std::iter::repeat_with(move || f64::from_bits(numbers.word()));
        let steps = (-200..200).map(|step| f64::from(step) * 0.1);
        let powers = (-320..309).flat_map(|power| {
            let x: f64 = format!("1e{power}").parse().unwrap();
            [x, x.next_up(), x.next_down()]
        });
        let awkward = [
            f64::MIN_POSITIVE,
            f64::MAX,
            5e-324,
            0.999_999_9,
            9_999_999.5,
        ];
        let random = random.filter(|x| x.is_finite()).take(40_000);
        random.chain(steps).chain(powers).chain(awkward)
    }

    fn read(text: &str) -> f64 {
        text.parse().unwrap()
    }

    #[test]
    fn up_reads_back_above_and_down_below() {
        for x in doubles() {
            for digits in [1, 2, 3, 6, 17, 30] {
                let (up, low) = (read(&epsilon_up(x, digits)), read(&down(x, digits)));
                assert!(low <= x && x <= up, "{low} {x} {up} to {digits} digits");
            }
            assert!(read(&delta_up(x)) >= x);
        }
    }

    #[test]
    fn rounding_moves_by_less_than_one_unit_of_the_last_digit() {
        for x in doubles().filter(|x| x.is_normal()) {
            for (digits, relative) in [(1, 1.0), (2, 0.1), (3, 0.01), (6, 1e-5)] {
                // The slack is for the arithmetic of the test, not of the text.
                let unit = relative * x.abs() * (1.0 + 1e-12);
                for text in [epsilon_up(x, digits), down(x, digits)] {
                    let moved = (read(&text) - x).abs();
                    assert!(
                        moved <= unit || read(&text).is_infinite(),
                        "{x} became {text}"
                    );
                }
            }
        }
    }

    #[test]
    fn enough_digits_change_nothing() {
        for x in doubles() {
            assert_eq!(read(&epsilon_up(x, 17)), x);
            assert_eq!(read(&down(x, 17)), x);
            assert_eq!(read(&nearest(x, 17)), x);
        }
    }

    #[test]
    fn everyday_sizes_are_plain() {
        assert_eq!(epsilon_up(0.0001, 3), "0.0001");
        assert_eq!(epsilon_up(0.000_099_91, 3), "0.0001");
        assert_eq!(epsilon_up(0.000_099_9, 3), "9.99e-5");
        assert_eq!(epsilon_up(9_999_999.0, 7), "9999999");
        assert_eq!(epsilon_up(9_999_999.5, 7), "1e7");
        assert_eq!(epsilon_up(123_456.0, 3), "124000");
        assert_eq!(epsilon_up(10.05, 9), "10.05");
    }

    #[test]
    fn signs_and_edges() {
        assert_eq!(epsilon_up(-1.29, 2), "-1.2");
        assert_eq!(down(-1.21, 2), "-1.3");
        assert_eq!(down(-0.0, 2), "0");
        assert_eq!(epsilon_up(f64::NAN, 2), "?");
        assert_eq!(down(f64::NEG_INFINITY, 2), "-∞");
        assert_eq!(epsilon_up(1.2, 0), "2");
        assert_eq!(nearest(0.25, 1), "0.3");
    }

    #[test]
    fn a_delta_is_never_printed_as_zero() {
        assert_eq!(delta_up(5e-324), "5e-324");
        assert_eq!(delta_up(0.5), "5e-1");
        assert_eq!(delta_up(9.999e-7), "1e-6");
        assert_eq!(delta_up(1.0), "1e0");
    }
}
