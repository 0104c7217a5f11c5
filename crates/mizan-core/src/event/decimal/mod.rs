//! Decimals to doubles, rounded to a chosen side.
//!
//! Users type decimals, and most decimals are not doubles. Noise of 1.1 that is stored as the double
//! just above 1.1 would cost less than the typed one. So each parameter is rounded to the side that
//! costs more, and printed as a decimal that rounds back to the same double.

mod digits;
mod format;

pub use format::format_decimal;

use digits::Digits;
use std::cmp::Ordering;
use thiserror::Error;

use crate::Code;

/// The largest number of digits of a decimal.
pub const MAX_DIGITS: usize = 10_000;

/// The side to which a decimal between two doubles goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To the largest double that is not above the decimal.
    Down,
    /// To the smallest double that is not below the decimal.
    Up,
}

/// Text that is not a decimal, or not one that a double can bound.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecimalError {
    /// Not digits with an optional sign, point and exponent.
    #[error("not a decimal number")]
    NotADecimal,
    /// Beyond the largest double.
    #[error("the number is too large")]
    TooLarge,
    /// More than [`MAX_DIGITS`] digits.
    #[error("the number has more than {MAX_DIGITS} digits")]
    TooLong,
}

impl DecimalError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotADecimal => Code::MZ1011,
            Self::TooLarge => Code::MZ1012,
            Self::TooLong => Code::MZ1013,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotADecimal => "write a decimal such as 12, 0.5 or 1e-6".into(),
            Self::TooLarge => format!("the largest number is {:e}", f64::MAX),
            Self::TooLong => "17 digits tell any two doubles apart; leave out the rest".into(),
        }
    }
}

/// The double next to a decimal, on the side of `round`; the double itself
/// when the decimal is one.
///
/// # Guarantee
///
/// With `d` the decimal, `parse_decimal(d, Down) <= d <= parse_decimal(d, Up)`
/// and no double lies strictly between the two.
///
/// # Errors
///
/// The text is not a decimal (`nan` and `inf` are not), has more than
/// [`MAX_DIGITS`] digits, or is beyond the largest double.
///
/// ```
/// use mizan_core::{Round, parse_decimal};
///
/// // The double nearest to 1.1 is above it.
/// assert_eq!(parse_decimal("1.1", Round::Up), Ok(1.1));
/// assert_eq!(parse_decimal("1.1", Round::Down), Ok(1.1_f64.next_down()));
/// assert_eq!(parse_decimal("0.5", Round::Down), Ok(0.5));
/// assert_eq!(parse_decimal("1e-400", Round::Up), Ok(5e-324));
/// ```
pub fn parse_decimal(text: &str, round: Round) -> Result<f64, DecimalError> {
    let decimal = Digits::parse(text)?;
    let nearest: f64 = text.parse().map_err(|_| DecimalError::NotADecimal)?;
    if nearest.is_infinite() {
        return Err(DecimalError::TooLarge);
    }
    let side = match fast_side(&decimal, nearest) {
        Some(side) => side,
        None => Digits::of(nearest, Digits::EXACT).compare(&decimal),
    };
    let rounded = match (side, round) {
        (Ordering::Greater, Round::Down) => nearest.next_down(),
        (Ordering::Less, Round::Up) => nearest.next_up(),
        _ => nearest,
    };
    if rounded.is_infinite() {
        return Err(DecimalError::TooLarge);
    }
    // A negative decimal may round up to negative zero.
    Ok(rounded + 0.0)
}

/// A decimal that is a whole number, exactly; `None` when it has a fraction,
/// a minus sign or more than sixty-four bits.
///
/// # Errors
///
/// The text is not a decimal or has more than [`MAX_DIGITS`] digits.
pub(crate) fn parse_whole(text: &str) -> Result<Option<u64>, DecimalError> {
    Digits::parse(text).map(|decimal| decimal.whole())
}

/// Where `nearest` lies relative to a short decimal: the sign of one fused
/// multiply-add, in which the only rounding keeps the sign.
///
/// With at most fifteen digits and a power of ten up to 22, both factors are
/// exact doubles, and a residual that is not zero is far above the underflow
/// threshold.
fn fast_side(decimal: &Digits, nearest: f64) -> Option<Ordering> {
    let (mantissa, power) = decimal.short()?;
    let ten = *POWERS_OF_TEN.get(usize::try_from(power.unsigned_abs()).ok()?)?;
    let residual = if power < 0 {
        nearest.mul_add(ten, -mantissa)
    } else {
        -mantissa.mul_add(ten, -nearest)
    };
    residual.partial_cmp(&0.0)
}

/// The powers of ten that are doubles.
const POWERS_OF_TEN: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

#[cfg(test)]
mod tests;
