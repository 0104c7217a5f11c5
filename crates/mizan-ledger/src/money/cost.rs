//! The cost of an event: an amount at every Rényi order, a reserved delta, and a price on the
//! clock.
//!
//! An (ε, δ)-DP mechanism has no Rényi curve. It behaves like a pure ε-DP mechanism that is
//! replaced, with probability δ, by one that may reveal everything (Kairouz, Oh and
//! Viswanath 2015). So it is charged as `pure(ε)` at every order, and its δ is added up
//! separately: the probability that any mechanism of an account is ever replaced is at most the
//! sum, also under adaptively chosen queries.

use std::borrow::Cow;

use mizan_accounting::{Reason, RenyiCurve, Unsupported, group_privacy};
use mizan_core::{Code, Count, PrivacyEvent};

use crate::money::{Account, Amount, ClockPrice, DeltaAmount, Orders, Scale, has_clock};

/// The cost of an event at every order of an account.
///
/// ```
/// use mizan_core::PrivacyEvent;
/// use mizan_ledger::{Cost, Orders};
///
/// let event: PrivacyEvent = "100 * gaussian(10) + approximate(0.1, 1e-9)".parse()?;
/// let orders = Orders::standard();
/// let cost = Cost::of(&event, &orders)?;
/// let at_two = orders.iter().position(|order| order.get() == 2.0);
/// // 100 * 2 / (2 * 10²) = 1 for the noise, at most 0.1 for the rest.
/// assert!((1_000_000_000_000..1_100_000_000_000)
///     .contains(&cost.amounts()[at_two.unwrap()].pico()));
/// assert!((1_000_000_000..1_000_000_003).contains(&cost.reserved_delta().atto()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    amounts: Box<[Amount]>,
    reserved_delta: DeltaAmount,
    price: Option<ClockPrice>,
}

impl Cost {
    /// An amount for each order of the account it is meant for, without a price on the clock.
    pub fn new(amounts: impl IntoIterator<Item = Amount>, reserved_delta: DeltaAmount) -> Self {
        Self {
            amounts: amounts.into_iter().collect(),
            reserved_delta,
            price: None,
        }
    }

    /// The same cost with another price on the clock, or none.
    #[must_use]
    pub fn with_price(self, price: Option<ClockPrice>) -> Self {
        Self { price, ..self }
    }

    /// The cost of an event, rounded up at every order. It has no price if a part of the event
    /// has none.
    ///
    /// # Errors
    ///
    /// Some part of the event has no Rényi curve. No part is left out of a cost.
    pub fn of(event: &PrivacyEvent, orders: &Orders) -> Result<Self, CostError> {
        Self::priced(event, orders, Some(DeltaAmount::ZERO))
    }

    /// The cost of an event to an account and its ancestors, as far as they are given. The tail of a
    /// plan may use a fiftieth of the account's reserved delta.
    ///
    /// # Errors
    ///
    /// As for [`Cost::of`].
    pub(crate) fn to<'a>(
        event: &PrivacyEvent,
        account: &'a Account,
        above: impl Iterator<Item = &'a Account> + Clone,
    ) -> Result<Self, CostError> {
        const TAIL_PART: u64 = 50;
        let chain = std::iter::once(account).chain(above);
        // An ancestor that is not given may have a clock.
        let has_more = |last: &Account| last.parent().is_some();
        let may_pay = has_clock(chain.clone()) || chain.last().is_some_and(has_more);
        let tail = DeltaAmount::from_atto(account.budget().reserved_delta().atto() / TAIL_PART);
        Self::priced(event, account.orders(), may_pay.then_some(tail))
    }

    /// The same for an account whose clock may pay with a part of δ for the tail of a plan. None:
    /// no clock is there, and no price is needed.
    pub(crate) fn priced(
        event: &PrivacyEvent,
        orders: &Orders,
        tail: Option<DeltaAmount>,
    ) -> Result<Self, CostError> {
        let (event, reserved_delta) = without_failures(event)?;
        let event = event.as_ref();
        let curve = RenyiCurve::of(event)?;
        let amount = |order| {
            // An upper bound is never negative or NaN. If one were, it would not be a bound.
            Amount::cost(curve.at(order).upper.get()).unwrap_or(Amount::EXHAUSTED)
        };
        let cost = Self::new(orders.iter().map(amount), reserved_delta);
        let price = tail.and_then(|tail| ClockPrice::of(event, tail));
        Ok(cost.with_price(price))
    }

    /// The amounts, in the order of the account's orders.
    #[must_use]
    pub fn amounts(&self) -> &[Amount] {
        &self.amounts
    }

    /// The probability that a mechanism of the event fails.
    #[must_use]
    pub const fn reserved_delta(&self) -> DeltaAmount {
        self.reserved_delta
    }

    /// The price on the clock; None if a charge exhausts it.
    #[must_use]
    pub const fn price(&self) -> Option<&ClockPrice> {
        self.price.as_ref()
    }

    /// The largest loss, at order ∞; exhausted if the last order is finite or the loss unbounded.
    pub(crate) fn largest_loss(&self, orders: &Orders) -> Amount {
        let infinite = orders.iter().last().is_some_and(|order| !order.is_finite());
        let last = self.amounts.last().filter(|_| infinite);
        last.copied().unwrap_or(Amount::EXHAUSTED)
    }

    /// Whether this cost is at most `other` at every order. Prices are not compared.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.amounts.len() == other.amounts.len()
            && self.reserved_delta <= other.reserved_delta
            && self.amounts.iter().zip(&other.amounts).all(|(a, b)| a <= b)
    }

    /// This fraction of the cost, rounded up. An exhausted amount stays exhausted.
    #[must_use]
    pub fn scaled(&self, scale: Scale) -> Self {
        let amount = |&amount: &Amount| match amount {
            Amount::EXHAUSTED if scale != Scale::ZERO => Amount::EXHAUSTED,
            amount => Amount::from_pico(scale.of(amount.pico())),
        };
        Self {
            amounts: self.amounts.iter().map(amount).collect(),
            reserved_delta: DeltaAmount::from_atto(scale.of(self.reserved_delta.atto())),
            price: self.price.as_ref().and_then(|price| price.scaled(scale)),
        }
    }
}

/// The event with every (ε, δ)-DP mechanism of its composition replaced by a pure one, and the
/// sum of the δs. Mechanisms on a sample are not replaced: the effect of amplification on a
/// failure is not known here.
pub(crate) fn without_failures(
    event: &PrivacyEvent,
) -> Result<(Cow<'_, PrivacyEvent>, DeltaAmount), CostError> {
    let unchanged = (Cow::Borrowed(event), DeltaAmount::ZERO);
    let Some(event) = without_groups(event) else {
        return Ok(unchanged);
    };
    let mut reserved_delta = DeltaAmount::ZERO;
    let mut fails = false;
    let mut parts = Vec::new();
    // Not recursive: events built by code may nest deeper than the stack.
    let mut waiting = vec![(1_u64, event.as_ref())];
    while let Some((times, event)) = waiting.pop() {
        let part = match event {
            PrivacyEvent::Compose(events) => {
                waiting.extend(events.iter().rev().map(|event| (times, event)));
                continue;
            }
            PrivacyEvent::Repeat { count, event } => {
                let times = times.checked_mul(count.get());
                waiting.push((times.ok_or(CostError::TooOften)?, event));
                continue;
            }
            PrivacyEvent::Approximate { epsilon, delta } if delta.get() > 0.0 => {
                fails = true;
                let all = DeltaAmount::cost(*delta).saturating_mul(times);
                reserved_delta = reserved_delta.saturating_add(all);
                PrivacyEvent::Pure { epsilon: *epsilon }
            }
            other => other.clone(),
        };
        parts.push(PrivacyEvent::Repeat {
            count: Count::new(times).map_err(|_| CostError::TooOften)?,
            event: Box::new(part),
        });
    }
    Ok(match fails {
        true => (Cow::Owned(PrivacyEvent::Compose(parts)), reserved_delta),
        false => unchanged,
    })
}

/// The event with group privacy resolved to a composition; None if it has no (ε, δ)-DP part, or
/// no guarantee for a group, which the curve then refuses by name.
fn without_groups(event: &PrivacyEvent) -> Option<Cow<'_, PrivacyEvent>> {
    let (mut fails, mut groups) = (false, false);
    let mut waiting = vec![event];
    while let Some(event) = waiting.pop() {
        fails |= matches!(event, PrivacyEvent::Approximate { .. });
        groups |= matches!(event, PrivacyEvent::Group { .. });
        waiting.extend(event.children());
    }
    match (fails, groups) {
        (false, _) => None,
        (true, false) => Some(Cow::Borrowed(event)),
        (true, true) => group_privacy(Count::ONE, event).ok().map(Cow::Owned),
    }
}

/// Why an event has no cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// A part of it has no Rényi curve.
    #[error("this cannot be charged: {0}")]
    NoCurve(#[from] Unsupported),
    /// Counts inside counts beyond what a double holds.
    #[error("this cannot be charged: a part of it is repeated more than 2^53 times")]
    TooOften,
}

impl CostError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::NoCurve(_) => Code::MZ1707,
            Self::TooOften => Code::MZ1708,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoCurve(part) => match part.reason() {
                Reason::MayFail => {
                    "write approximate(EPSILON, DELTA) for the whole sample, amplified by hand, \
                     or leave it outside of the sample"
                }
                _ => {
                    "replace that part by a guarantee you know, such as pure(EPSILON) or zcdp(RHO)"
                }
            },
            Self::TooOften => "charge it in several parts",
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(text: &str) -> Result<Cost, CostError> {
        Cost::of(&text.parse().unwrap(), &Orders::standard())
    }

    #[test]
    fn an_approximate_event_is_a_pure_one_and_its_delta() {
        let pure = cost("gaussian(3) + 6 * pure(0.5)").unwrap();
        let text = "gaussian(3) + 2 * (3 * approximate(0.5, 1e-9))";
        let approximate = cost(text).unwrap();
        assert_eq!(approximate.amounts(), pure.amounts());
        assert_eq!(pure.reserved_delta(), DeltaAmount::ZERO);
        assert_eq!(approximate.reserved_delta().atto(), 6_000_000_006);
    }

    #[test]
    fn groups_are_priced_before_failures_are_taken_out() {
        let group = cost("group(2, approximate(0.5, 1e-9))").unwrap();
        // (ε, δ) for two people is (2ε, δ (1 + e^ε)).
        assert!(group.is_within(&cost("approximate(1, 2.7e-9)").unwrap()));
        assert!(!group.is_within(&cost("approximate(1, 2.6e-9)").unwrap()));
    }

    #[test]
    fn what_has_no_curve_is_refused_by_name() {
        let error = cost("gaussian(1) + poisson(0.1, approximate(1, 1e-9))").unwrap_err();
        assert_eq!(error.code(), "MZ1707");
        assert!(
            error.to_string().contains("approximate(1, 1e-9)"),
            "{error}"
        );
        let often = "9e15 * (9e15 * approximate(1, 1e-9))";
        assert_eq!(cost(often).unwrap_err().code(), "MZ1708");
    }

    #[test]
    fn noise_without_a_pure_epsilon_exhausts_the_infinite_order() {
        let cost = cost("gaussian(1)").unwrap();
        assert_eq!(cost.amounts().last(), Some(&Amount::EXHAUSTED));
        assert_eq!(cost.amounts()[2].pico(), 1_000_000_000_000);
    }

    #[test]
    fn scaling_rounds_up_and_keeps_what_has_no_bound() {
        let amounts = [Amount::from_pico(3), Amount::EXHAUSTED];
        let half = Scale::from_nano(500_000_000);
        let scaled = Cost::new(amounts, DeltaAmount::from_atto(5)).scaled(half);
        let expected = [Amount::from_pico(2), Amount::EXHAUSTED];
        assert_eq!(scaled, Cost::new(expected, DeltaAmount::from_atto(3)));
    }
}
