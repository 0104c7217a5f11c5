//! Amounts as integers: Rényi divergence at one order in pico-nats (1e-12 nat), and reserved
//! deltas in units of 1e-18.
//!
//! Adding doubles fails open: when a total is large, every cost below half a unit in its last
//! place is free forever. Here costs round up, budgets round down, and sums are exact.

use std::fmt;

use mizan_core::Code;
use mizan_core::directed::mul_both;

/// Pico-nats in a nat.
const PICO: f64 = 1e12;
/// Units of 1e-18 in one.
const ATTO: f64 = 1e18;

/// An amount of Rényi divergence in pico-nats (1e-12).
///
/// The largest amount, [`Amount::EXHAUSTED`], means "no finite bound". A total that contains it
/// stays exhausted, and every limit is smaller.
///
/// ```
/// use mizan_ledger::money::Amount;
/// assert_eq!(Amount::cost(1e-13)?.pico(), 1);
/// assert_eq!(Amount::budget(1.9e-12)?.pico(), 1);
/// assert_eq!(Amount::cost(f64::INFINITY)?, Amount::EXHAUSTED);
/// assert!(Amount::cost(f64::NAN).is_err() && Amount::cost(-0.0).is_err());
/// # Ok::<(), mizan_ledger::money::AmountError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Amount(u64);

impl Amount {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// No finite bound: more than any limit.
    pub const EXHAUSTED: Self = Self(u64::MAX);
    /// The largest limit, about 18 million nats.
    pub const LARGEST_LIMIT: Self = Self(u64::MAX - 1);

    /// An amount of `pico` pico-nats.
    #[must_use]
    pub const fn from_pico(pico: u64) -> Self {
        Self(pico)
    }

    /// The number of pico-nats.
    #[must_use]
    pub const fn pico(self) -> u64 {
        self.0
    }

    /// A cost in nats, rounded up. Infinity and costs beyond 64 bits become
    /// [`EXHAUSTED`](Self::EXHAUSTED).
    ///
    /// # Errors
    ///
    /// NaN, a negative number or -0.0: each means that an earlier computation is wrong.
    pub fn cost(nats: f64) -> Result<Self, AmountError> {
        checked(nats).map(|nats| Self(units_up(nats, PICO)))
    }

    /// A budget in nats, rounded down.
    ///
    /// # Errors
    ///
    /// As for a cost; also infinity, because a budget must be finite.
    pub fn budget(nats: f64) -> Result<Self, AmountError> {
        let nats = checked(nats)?;
        if nats == f64::INFINITY {
            return Err(AmountError::NoBudget);
        }
        Ok(Self(units_down(nats, PICO)).min(Self::LARGEST_LIMIT))
    }

    /// The sum. Exhausted plus anything is exhausted.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Amount {
    /// The exact number of nats.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::EXHAUSTED {
            return f.write_str("inf");
        }
        let (nats, rest) = (self.0 / 1_000_000_000_000, self.0 % 1_000_000_000_000);
        let digits = format!("{nats}.{rest:012}");
        f.write_str(digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A probability that is reserved for mechanisms that may fail, such as the threshold of
/// partition selection, in units of 1e-18: the δ of a charge, or the limit of their sum.
///
/// ```
/// use mizan_ledger::DeltaAmount;
/// use mizan_core::Delta;
/// assert_eq!(DeltaAmount::cost(Delta::new(1e-9)?).atto(), 1_000_000_001);
/// assert_eq!(DeltaAmount::budget(Delta::new(1e-30)?), DeltaAmount::ZERO);
/// # Ok::<(), mizan_core::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeltaAmount(u64);

impl DeltaAmount {
    /// The mechanism never fails.
    pub const ZERO: Self = Self(0);
    /// More than any limit: what a sum beyond 64 bits becomes.
    pub const EXHAUSTED: Self = Self(u64::MAX);
    /// Probability one.
    pub const ONE: Self = Self(1_000_000_000_000_000_000);

    /// A probability of `atto` units of 1e-18.
    #[must_use]
    pub const fn from_atto(atto: u64) -> Self {
        Self(atto)
    }

    /// The number of units of 1e-18.
    #[must_use]
    pub const fn atto(self) -> u64 {
        self.0
    }

    /// The δ of a charge, rounded up. The double nearest to 1e-9 is slightly above 1e-9, so it
    /// becomes 1,000,000,001 units.
    #[must_use]
    pub fn cost(delta: mizan_core::Delta) -> Self {
        Self(units_up(delta.get(), ATTO))
    }

    /// A limit, rounded down.
    #[must_use]
    pub fn budget(delta: mizan_core::Delta) -> Self {
        Self(units_down(delta.get(), ATTO))
    }

    /// A δ that is at most this; None if there is none above zero.
    #[expect(clippy::cast_precision_loss, reason = "the steps inward cover it")]
    pub(crate) fn delta_down(self) -> Option<mizan_core::Delta> {
        let below = (self.0 as f64).next_down() / ATTO;
        let delta = mizan_core::Delta::new(below.next_down()).ok()?;
        (delta.get() > 0.0).then_some(delta)
    }

    /// The sum. Exhausted plus anything is exhausted.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The product with a count.
    #[must_use]
    pub const fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl fmt::Display for DeltaAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::EXHAUSTED {
            return f.write_str("inf");
        }
        let digits = self.0.to_string();
        let kept = digits.trim_end_matches('0');
        let Some((first, rest)) = kept.split_at_checked(1) else {
            return f.write_str("0");
        };
        let exponent = i64::try_from(digits.len()).unwrap_or(0) - 19;
        let point = if rest.is_empty() { "" } else { "." };
        write!(f, "{first}{point}{rest}e{exponent}")
    }
}

/// Why a number is not a valid amount.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// NaN.
    #[error("an amount of privacy loss is not a number")]
    NotANumber,
    /// Negative, or minus zero.
    #[error("an amount of privacy loss must be 0 or more, got {nats}")]
    Negative {
        /// The number.
        nats: f64,
    },
    /// An infinite budget.
    #[error("a budget must be finite")]
    NoBudget,
}

impl AmountError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NotANumber => Code::MZ1701,
            Self::Negative { .. } => Code::MZ1702,
            Self::NoBudget => Code::MZ1703,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotANumber | Self::Negative { .. } => {
                "give a number of nats such as 0.5, or inf for a cost without bound"
            }
            Self::NoBudget => "leave out the orders that are not limited",
        }
    }
}

fn checked(nats: f64) -> Result<f64, AmountError> {
    if nats.is_nan() {
        Err(AmountError::NotANumber)
    } else if nats.is_sign_negative() {
        Err(AmountError::Negative { nats })
    } else {
        Ok(nats)
    }
}

/// The smallest whole number of units that is at least `value`.
fn units_up(value: f64, unit: f64) -> u64 {
    saturate(mul_both(value, unit).1.ceil())
}

/// The largest whole number of units that is at most `value`.
fn units_down(value: f64, unit: f64) -> u64 {
    saturate(mul_both(value, unit).0.floor())
}

/// A whole double as an integer.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates: negative becomes 0, beyond 64 bits u64::MAX, and both are meant"
)]
fn saturate(whole: f64) -> u64 {
    whole as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use mizan_core::Delta;

    #[test]
    fn what_is_exact_stays_exact() {
        for nats in [0.0, 0.5, 1.0, 3.0, 9007.0, 1e6] {
            let pico = Amount::cost(nats).unwrap();
            assert_eq!(Amount::budget(nats).unwrap(), pico);
            assert_eq!(pico.to_string(), format!("{nats}"));
        }
        let next = 1.0_f64.next_up();
        assert_eq!(Amount::cost(next).unwrap().pico(), 1_000_000_000_001);
        assert_eq!(Amount::budget(next).unwrap().pico(), 1_000_000_000_000);
    }

    #[test]
    fn the_ends() {
        assert_eq!(Amount::cost(f64::from_bits(1)).unwrap().pico(), 1);
        assert_eq!(Amount::budget(f64::from_bits(1)).unwrap(), Amount::ZERO);
        assert_eq!(Amount::cost(1e30).unwrap(), Amount::EXHAUSTED);
        assert_eq!(Amount::budget(1e30).unwrap(), Amount::LARGEST_LIMIT);
        for bad in [f64::NAN, -f64::NAN, -0.0, -1.0, f64::NEG_INFINITY] {
            assert!(Amount::cost(bad).is_err() && Amount::budget(bad).is_err());
        }
        assert_eq!(Amount::budget(f64::INFINITY).unwrap_err().code(), "MZ1703");
        let almost = Amount::LARGEST_LIMIT;
        assert_eq!(almost.saturating_add(Amount(5)), Amount::EXHAUSTED);
    }

    #[test]
    fn deltas() {
        assert_eq!(DeltaAmount::cost(Delta::ONE), DeltaAmount::ONE);
        assert_eq!(DeltaAmount::cost(Delta::new(1e-300).unwrap()).atto(), 1);
        assert_eq!(DeltaAmount::from_atto(1_250_000_000).to_string(), "1.25e-9");
        assert_eq!(DeltaAmount::ZERO.to_string(), "0");
        assert_eq!(DeltaAmount::ONE.to_string(), "1e0");
    }
}
