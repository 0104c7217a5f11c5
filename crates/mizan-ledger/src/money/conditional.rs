//! A price on the clock that holds in one state of one account only.
//!
//! While all charges of an account were pure, with losses that add up to T < ε, the likelihood ratio
//! is within e^±T. Then a pure charge, and any first charge, needs less of the clock than its
//! [`ClockPrice`](crate::money::ClockPrice). Such a price is computed for a state of the account
//! before the charge, and used only if the account is still in that state. `verify` checks it again.
//!
//! It does not hold at a larger remainder. So from then on, and until a raise pays for what it saved
//! ([`Taken::surplus`]), a voided charge gives nothing back to the clock. An account that was raised
//! admits no such price. T counts every charge that was ever reserved, in full: one that was voided,
//! or committed below its reservation, is treated as if its answer had been held back.

use mizan_accounting::clock::{conditional_price, conditional_price_holds, may_open};
use mizan_core::{Epsilon, PrivacyEvent};

use crate::money::{Account, Amount, Cost, DeltaAmount, Target, Variance, without_failures};

/// A part of ε below which a pure charge is not worth the computation.
const LEAST_PART: f64 = 1e-3;

/// Pico-nats in a nat.
const PICO: f64 = 1e12;

/// A price, and the state of the account that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionalPrice {
    /// What is left of the clock before the charge.
    pub left: Variance,
    /// The sum of the largest losses of all charges before it.
    pub losses: Amount,
    /// What the charge takes.
    pub price: Variance,
}

impl ConditionalPrice {
    /// Whether an event of this cost has such a price in some state of an account.
    pub(crate) fn may_exist(event: &PrivacyEvent, cost: &Cost) -> bool {
        let pure = || cost.amounts().last() != Some(&Amount::EXHAUSTED);
        cost.price().is_some() && (pure() || may_open(event))
    }

    /// The price of an event in the present state of an account. None if it has none, or if it is
    /// not worth the computation.
    ///
    /// `loss` is the largest loss of the event, its cost at order ∞. The event must not contain
    /// mechanisms that may fail.
    pub(crate) fn of(event: &PrivacyEvent, loss: Amount, account: &Account) -> Option<Self> {
        let (left, losses, epsilon) = state(account)?;
        let worth = match loss {
            Amount::EXHAUSTED => losses == Amount::ZERO,
            loss => nats(loss)?.get() >= LEAST_PART * epsilon.get(),
        };
        let price = worth.then(|| price(event, epsilon, losses, left)).flatten();
        let price = Variance::from_femto(price?);
        Some(Self {
            left,
            losses,
            price,
        })
    }

    /// Whether the account is in the state that the price is for.
    pub(crate) fn applies_to(&self, account: &Account) -> bool {
        state(account).is_some_and(|(left, losses, _)| (left, losses) == (self.left, self.losses))
            && self.price <= self.left
    }

    /// Whether the account admits such prices, but is in another state than the one of this price.
    pub(crate) fn is_outdated(&self, account: &Account) -> bool {
        state(account).is_some_and(|(left, losses, _)| (left, losses) != (self.left, self.losses))
    }

    /// Whether the event certainly costs at most this in an account in this state.
    pub(crate) fn covers(&self, event: &PrivacyEvent, account: &Account) -> bool {
        let (left, price) = (self.left.femto(), self.price.femto());
        let known = state(account).zip(nats(self.losses));
        known.is_some_and(|((_, _, epsilon), losses)| {
            conditional_price_holds(event, epsilon, losses, left, price)
        })
    }
}

/// The price of an event of this cost in the present state of each account of a chain; empty if it
/// has none anywhere. None if the event cannot be charged.
pub(crate) fn conditional_prices<'a>(
    cost: &Cost,
    event: &PrivacyEvent,
    chain: impl Iterator<Item = &'a Account>,
) -> Option<Box<[Option<ConditionalPrice>]>> {
    if !ConditionalPrice::may_exist(event, cost) {
        return Some(Box::default());
    }
    let (event, _) = without_failures(event).ok()?;
    let price = |account: &Account| {
        let loss = cost.largest_loss(account.orders());
        ConditionalPrice::of(&event, loss, account)
    };
    Some(chain.map(price).collect())
}

/// What is left of the clock, the losses so far, and ε. None if the account admits no conditional
/// price.
fn state(account: &Account) -> Option<(Variance, Amount, Epsilon)> {
    let Target::Approximate { epsilon, .. } = account.budget().target() else {
        return None;
    };
    let infinite = account.orders().iter().last()?;
    let losses = account.taken().losses();
    let known = !infinite.is_finite() && losses != Amount::EXHAUSTED && !account.is_raised();
    known.then_some((account.clock_left()?, losses, epsilon))
}

fn price(event: &PrivacyEvent, epsilon: Epsilon, losses: Amount, left: Variance) -> Option<u64> {
    conditional_price(event, epsilon, nats(losses)?, left.femto())
}

/// At least this many nats.
#[expect(clippy::cast_precision_loss, reason = "the step outward covers it")]
fn nats(amount: Amount) -> Option<Epsilon> {
    if amount == Amount::ZERO {
        return Some(Epsilon::ZERO);
    }
    // The conversion and the division round to nearest.
    Epsilon::new((amount.pico() as f64).next_up() / PICO)
        .and_then(|near| Epsilon::new(near.get().next_up()))
        .ok()
}

/// What a charge takes from the clock of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// The variance.
    pub variance: Variance,
    /// The remainder down to which the price holds.
    pub remainder: Variance,
    /// What a conditional price saved: how much more the charge would take with a price that holds
    /// at every remainder.
    pub surplus: Variance,
    /// The part of δ that pays for the tail of a plan.
    pub tail: DeltaAmount,
}
