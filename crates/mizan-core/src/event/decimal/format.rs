//! Doubles to the shortest decimals that round back to them.

use super::{Digits, Round, parse_decimal};

/// The shortest decimal that [`parse_decimal`] rounds to `value`; `inf` and `NaN` if it is not
/// finite.
///
/// With [`Round::Down`] it lies at `value` or just above, with [`Round::Up`]
/// at `value` or just below.
///
/// ```
/// use mizan_core::{Round, format_decimal, parse_decimal};
///
/// let sigma = parse_decimal("1.1", Round::Down)?;
/// assert_eq!(format_decimal(sigma, Round::Down), "1.1");
/// assert_eq!(format_decimal(1e-9, Round::Down), "1.0000000000000001e-9");
/// # Ok::<(), mizan_core::DecimalError>(())
/// ```
#[must_use]
pub fn format_decimal(value: f64, round: Round) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    // Rounding down undoes a decimal above the value.
    let away = (round == Round::Down) != value.is_sign_negative();
    // Twenty-six digits find the answer; for the odd double whose eighteenth
    // to twenty-sixth digits hide the rest, the exact expansion does.
    let shortest = [25, Digits::EXACT].into_iter().find_map(|precision| {
        let digits = Digits::of(value, precision);
        (1..=17)
            .map(|length| digits.cut(length, away).write())
            .find(|text| parse_decimal(text, round) == Ok(value))
    });
    shortest.unwrap_or_else(|| Digits::of(value, Digits::EXACT).write())
}
