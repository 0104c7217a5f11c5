//! The guarantee of an account, and the limit that it allows at one order. `budget.rs` has the
//! proof.

use mizan_accounting::clock::limit;
use mizan_core::{Delta, Epsilon, Interval, Order, Rho};

use crate::money::{BudgetError, Clock, DeltaAmount, Rule, Variance, Weight};

/// The guarantee that an account enforces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// (ε, δ)-differential privacy.
    Approximate {
        /// ε.
        epsilon: Epsilon,
        /// δ, including the reserved delta.
        delta: Delta,
    },
    /// Pure ε-differential privacy.
    Pure {
        /// ε.
        epsilon: Epsilon,
    },
    /// ρ-zero-concentrated differential privacy, at the orders of the account.
    ZeroConcentrated {
        /// The slope of the limits.
        rho: Rho,
    },
    /// A Rényi curve: the limits themselves.
    Curve,
}

impl Target {
    /// Which orders must be within their limits.
    #[must_use]
    pub const fn rule(self) -> Rule {
        match self {
            Self::Approximate { .. } | Self::Pure { .. } => Rule::Any,
            Self::ZeroConcentrated { .. } | Self::Curve => Rule::Every,
        }
    }

    /// An enclosure of the limit at one order; None if the order has no limit.
    pub(crate) fn limit(
        self,
        reserved_delta: DeltaAmount,
        order: Order,
        weight: Weight,
    ) -> Result<Option<Interval>, BudgetError> {
        match self {
            Self::Curve => Ok(None),
            Self::Pure { epsilon } => {
                if reserved_delta > DeltaAmount::ZERO {
                    return Err(BudgetError::ReservedDeltaTooLarge { reserved_delta });
                }
                Ok((!order.is_finite()).then(|| Interval::from(epsilon.get())))
            }
            Self::ZeroConcentrated { rho } => {
                if reserved_delta >= DeltaAmount::ONE {
                    return Err(BudgetError::ReservedDeltaTooLarge { reserved_delta });
                }
                let limit = || Interval::from(order.get()) * rho.get();
                Ok(order.is_finite().then(limit))
            }
            Self::Approximate { epsilon, delta } => {
                let rest = unreserved(delta, reserved_delta)?;
                if !order.is_finite() {
                    return Ok(Some(Interval::from(epsilon.get())));
                }
                if weight == Weight::ZERO {
                    return Ok(None);
                }
                let ln_delta = rest.ln() + atto(weight.atto()).ln();
                Ok(Some(threshold(epsilon, ln_delta, order)))
            }
        }
    }

    /// The clock of a new or raised budget; None without a weight, or if its limit is 0.
    pub(crate) fn clock(
        self,
        reserved_delta: DeltaAmount,
        weight: Weight,
    ) -> Result<Option<Clock>, BudgetError> {
        if weight == Weight::ZERO {
            return Ok(None);
        }
        let (epsilon, ln_delta) = self.part(reserved_delta, weight)?;
        let limit = Variance::from_femto(limit(epsilon, ln_delta).min(u64::MAX - 1));
        Ok((limit > Variance::ZERO).then_some(Clock { weight, limit }))
    }

    /// The largest limit of a stored clock that is sound: computed at the upper end of its δ,
    /// because a log may come from a version that enclosed the same δ in another interval.
    pub(crate) fn largest_clock(
        self,
        reserved_delta: DeltaAmount,
        weight: Weight,
    ) -> Result<Variance, BudgetError> {
        let (epsilon, ln_delta) = self.part(reserved_delta, weight)?;
        let upper = Interval::from(ln_delta.upper());
        Ok(Variance::from_femto(
            limit(epsilon, upper).min(u64::MAX - 1),
        ))
    }

    /// ε, and the logarithm of the part of δ that a weight is.
    pub(crate) fn part(
        self,
        reserved_delta: DeltaAmount,
        weight: Weight,
    ) -> Result<(Epsilon, Interval), BudgetError> {
        let Self::Approximate { epsilon, delta } = self else {
            return Err(BudgetError::Unsound);
        };
        if weight == Weight::ZERO || weight > Weight::ONE {
            return Err(BudgetError::Unsound);
        }
        let rest = unreserved(delta, reserved_delta)?;
        Ok((epsilon, rest.ln() + atto(weight.atto()).ln()))
    }
}

/// The part of δ that is not reserved, above zero.
fn unreserved(delta: Delta, reserved_delta: DeltaAmount) -> Result<Interval, BudgetError> {
    let rest = Interval::from(delta.get()) - atto(reserved_delta.atto());
    if rest.lower() <= 0.0 || delta >= Delta::ONE {
        return Err(BudgetError::ReservedDeltaTooLarge { reserved_delta });
    }
    Ok(rest)
}

/// ε + ln(δ/c(α))/(α-1), without cancellation: -ln c(α)/(α-1) is
/// ln(α)/(α-1) + ln(1 + 1/(α-1)).
fn threshold(epsilon: Epsilon, ln_delta: Interval, order: Order) -> Interval {
    let a = Interval::from(order.get());
    let b = a - 1.0;
    Interval::from(epsilon.get()) + (ln_delta + a.ln()) / b + (Interval::ONE / b).ln_1p()
}

/// An enclosure of `units` units of 1e-18.
#[allow(clippy::cast_precision_loss, reason = "the step outward covers it")]
fn atto(units: u64) -> Interval {
    let near = units as f64;
    let enclosed = if units <= 1 << 53 {
        Interval::from(near)
    } else {
        Interval::new(near.next_down(), near.next_up())
    };
    enclosed / 1e18
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_the_formula() {
        // 5 + ln(1e-6 4^4/3^3)/3, from a computation with twenty digits.
        let limit = threshold(
            Epsilon::new(5.0).unwrap(),
            Interval::from(1e-6).ln(),
            Order::new(4.0).unwrap(),
        );
        assert!(limit.lower() < 1.144_610_006_836_988 && limit.upper() > 1.144_610_006_836_985);
        assert!(limit.upper() - limit.lower() < 1e-14);
    }

    #[test]
    fn units_are_enclosed() {
        for units in [0, 1, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX] {
            let enclosed = atto(units) * 1e18;
            assert!(enclosed.lower() <= units as f64 && units as f64 <= enclosed.upper());
        }
    }
}
