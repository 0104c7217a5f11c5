//! The quantities of differential privacy, each its own type.
//!
//! A value is checked once, when it is constructed; all other code relies on the ranges in the table
//! below. No quantity is ever NaN or negative zero, so `==` and `<` are total.
//!
//! ```
//! use mizan_core::{Delta, Epsilon, Order};
//!
//! let epsilon = Epsilon::new(0.5)?;
//! assert_eq!(epsilon.get(), 0.5);
//! assert!(Delta::new(1.5).is_err());
//! // A target is rounded to the stronger guarantee: 1.1 is not a double.
//! assert!(Epsilon::at_most("1.1")? < Epsilon::at_least("1.1")?);
//! assert_eq!(Order::INFINITE.to_string(), "inf");
//! # Ok::<(), mizan_core::UnitError>(())
//! ```

mod count;
mod error;
mod range;

pub use count::Count;
pub use error::UnitError;

pub(crate) use range::Range;
use std::fmt;

use crate::{Round, parse_decimal};

/// Defines one newtype per row: its documentation, its name, its name in messages, and its range.
macro_rules! quantities {
    ($($(#[$doc:meta])* $Type:ident, $name:literal, $range:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
        pub struct $Type(f64);

        impl $Type {
            #[doc = concat!("Checks that `value` is a valid ", $name, ".")]
            ///
            /// # Errors
            ///
            /// The value is NaN or outside the range of the type.
            pub fn new(value: f64) -> Result<Self, UnitError> {
                $range.check($name, value).map(Self)
            }

            #[doc = concat!("The largest ", $name, " that is not above a decimal: most decimals are not")]
            /// doubles.
            ///
            /// # Errors
            ///
            /// The text is not a decimal, or is outside the range of the type.
            pub fn at_most(decimal: &str) -> Result<Self, UnitError> {
                parse($name, decimal, Round::Down).and_then(Self::new)
            }

            #[doc = concat!("The smallest ", $name, " that is not below a decimal.")]
            ///
            /// # Errors
            ///
            /// The text is not a decimal, or is outside the range of the type.
            pub fn at_least(decimal: &str) -> Result<Self, UnitError> {
                parse($name, decimal, Round::Up).and_then(Self::new)
            }

            /// The value as a plain number.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl fmt::Display for $Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&plain(self.0))
            }
        }
    )*};
}

quantities! {
    /// A bound ε on the privacy loss, in nats. A computed ε may be [`Epsilon::INFINITE`]; an input
    /// is finite.
    Epsilon, "epsilon", Range::NonNegative;

    /// The probability δ with which the bound on the loss may fail.
    Delta, "delta", Range::UnitInterval;

    /// The order α of a Rényi divergence, from 1 (Kullback-Leibler) to
    /// infinity (the maximum loss).
    Order, "order", Range::FromOne;

    /// The parameter ρ of zero-concentrated differential privacy.
    Rho, "rho", Range::NonNegative;

    /// The mean μ of concentrated, or the parameter μ of Gaussian,
    /// differential privacy.
    Mu, "mu", Range::NonNegative;

    /// The subgaussian standard τ of concentrated differential privacy.
    Tau, "tau", Range::NonNegative;

    /// The standard deviation σ of Gaussian noise.
    Sigma, "sigma", Range::Positive;

    /// The scale of Laplace noise: its mean absolute value.
    Scale, "scale", Range::Positive;

    /// The sensitivity of a function: the largest distance of its values on neighbouring datasets, in
    /// the norm of the mechanism.
    Sensitivity, "sensitivity", Range::Positive;

    /// The probability of an event.
    Probability, "probability", Range::UnitInterval;
}

fn parse(quantity: &'static str, decimal: &str, round: Round) -> Result<f64, UnitError> {
    parse_decimal(decimal.trim(), round).map_err(|error| UnitError::Decimal { quantity, error })
}

impl Epsilon {
    /// Zero privacy loss.
    pub const ZERO: Self = Self(0.0);

    /// No finite bound.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// The result of a certified computation: negative numbers become zero, and NaN becomes
    /// [`INFINITE`](Self::INFINITE).
    #[must_use]
    pub fn saturating(value: f64) -> Self {
        if value.is_nan() {
            Self::INFINITE
        } else {
            Self(value.max(0.0) + 0.0)
        }
    }

    /// Whether the bound is finite.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

impl Delta {
    /// The bound never fails.
    pub const ZERO: Self = Self(0.0);

    /// No guarantee.
    pub const ONE: Self = Self(1.0);

    /// The result of a certified computation, clamped to [0, 1]; NaN becomes 1.
    #[must_use]
    pub fn saturating(value: f64) -> Self {
        if value.is_nan() {
            Self(1.0)
        } else {
            Self(value.clamp(0.0, 1.0) + 0.0)
        }
    }
}

impl Order {
    /// The Kullback-Leibler divergence: the mean of the loss.
    pub const ONE: Self = Self(1.0);

    /// The max divergence: the largest loss, pure differential privacy.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// Whether the order is finite.
    #[must_use]
    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

impl Probability {
    /// Impossible.
    pub const ZERO: Self = Self(0.0);

    /// Certain.
    pub const ONE: Self = Self(1.0);
}

impl Sensitivity {
    /// Sensitivity 1, that of a count.
    pub const ONE: Self = Self(1.0);
}

/// The shortest text of this double, scientific if it is far from 1.
pub(crate) fn plain(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 || (1e-4..1e7).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_closed_where_they_say_so() {
        for zero in [0.0, -0.0] {
            assert_eq!(Epsilon::new(zero).unwrap().get().to_bits(), 0);
            assert_eq!(Delta::new(zero).unwrap().get().to_bits(), 0);
            assert!(Sigma::new(zero).is_err());
            assert!(Scale::new(zero).is_err());
            assert!(Sensitivity::new(zero).is_err());
        }
        assert!(Delta::new(1.0).is_ok() && Probability::new(1.0).is_ok());
        assert!(Delta::new(1.0_f64.next_up()).is_err());
        assert!(Order::new(1.0).is_ok() && Order::new(1.0_f64.next_down()).is_err());
        assert!(Sigma::new(f64::from_bits(1)).is_ok());
        assert!(Rho::new(-f64::from_bits(1)).is_err());
    }

    #[test]
    fn only_an_order_may_be_infinite() {
        assert_eq!(Order::new(f64::INFINITY), Ok(Order::INFINITE));
        let refused = [
            Epsilon::new(f64::INFINITY).err(),
            Rho::new(f64::INFINITY).err(),
            Mu::new(f64::INFINITY).err(),
            Tau::new(f64::INFINITY).err(),
            Sigma::new(f64::INFINITY).err(),
            Scale::new(f64::INFINITY).err(),
            Sensitivity::new(f64::INFINITY).err(),
        ];
        assert!(refused.iter().flatten().all(|e| e.code() == "MZ1003"));
        assert_eq!(refused.iter().flatten().count(), refused.len());
        assert!(!Epsilon::INFINITE.is_finite());
    }

    #[test]
    fn nan_is_refused_everywhere() {
        assert_eq!(Order::new(f64::NAN).unwrap_err().code(), "MZ1001");
        assert_eq!(Delta::new(f64::NAN).unwrap_err().code(), "MZ1001");
        assert_eq!(Sigma::new(f64::NAN).unwrap_err().code(), "MZ1001");
    }

    #[test]
    fn values_print_short() {
        assert_eq!(Delta::new(1e-9).unwrap().to_string(), "1e-9");
        assert_eq!(Sigma::new(1.1).unwrap().to_string(), "1.1");
        assert_eq!(Scale::new(20.0).unwrap().to_string(), "20");
        assert_eq!(Epsilon::INFINITE.to_string(), "inf");
        assert_eq!(Rho::new(0.0).unwrap().to_string(), "0");
    }
}
