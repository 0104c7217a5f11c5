//! The privacy filter: whether a charge fits the budgets of an account and of all its ancestors.
//!
//! Only integers are compared. A pending charge counts as spent, because its answer may already
//! have been released.

use mizan_core::Order;

use crate::money::{
    Account, AccountNumber, Amount, ClockPrice, Cost, DeltaAmount, Rule, Scale, Variance,
};

/// Exact sums of amounts, one for each order, of reserved deltas, and of what was taken from the
/// clock.
///
/// Sums have 128 bits, so that subtracting what was added is exact. They are read as 64 bits,
/// where larger sums are exhausted. The result equals saturating addition, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    amounts: Box<[u128]>,
    reserved_delta: u128,
    clock: u128,
}

impl Totals {
    /// Zero at each of `orders` orders.
    #[must_use]
    pub fn zero(orders: usize) -> Self {
        Self {
            amounts: vec![0; orders].into(),
            reserved_delta: 0,
            clock: 0,
        }
    }

    /// The stored form: a sum for each order, the sum of reserved deltas, and that of the clock.
    #[must_use]
    pub fn raw(&self) -> (&[u128], u128, u128) {
        (&self.amounts, self.reserved_delta, self.clock)
    }

    /// Totals from their stored form.
    pub fn from_raw(
        amounts: impl IntoIterator<Item = u128>,
        reserved_delta: u128,
        clock: u128,
    ) -> Self {
        Self {
            amounts: amounts.into_iter().collect(),
            reserved_delta,
            clock,
        }
    }

    /// Whether nothing was added, or all of it was taken back.
    pub(crate) fn is_zero(&self) -> bool {
        self.reserved_delta == 0 && self.clock == 0 && self.amounts.iter().all(|sum| *sum == 0)
    }

    /// The sum at each order.
    pub fn amounts(&self) -> impl Iterator<Item = Amount> + '_ {
        self.amounts
            .iter()
            .map(|&sum| Amount::from_pico(clamp(sum)))
    }

    /// The sum of reserved deltas.
    #[must_use]
    pub fn reserved_delta(&self) -> DeltaAmount {
        DeltaAmount::from_atto(clamp(self.reserved_delta))
    }

    /// The sum of what was taken from the clock.
    #[must_use]
    pub fn clock(&self) -> Variance {
        Variance::from_femto(clamp(self.clock))
    }

    /// Adds a cost, and what it took from the clock.
    pub fn add(&mut self, cost: &Cost, clock: Variance) {
        // Only 2^64 charges of 2^64 overflow; the sum stays full then.
        for (sum, amount) in self.amounts.iter_mut().zip(cost.amounts()) {
            *sum = sum.saturating_add(u128::from(amount.pico()));
        }
        let reserved_delta = u128::from(cost.reserved_delta().atto());
        self.reserved_delta = self.reserved_delta.saturating_add(reserved_delta);
        self.clock = self.clock.saturating_add(u128::from(clock.femto()));
    }

    /// The sum of two sums.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let pairs = self.amounts.iter().zip(&other.amounts);
        Self {
            amounts: pairs.map(|(a, b)| a.saturating_add(*b)).collect(),
            reserved_delta: self.reserved_delta.saturating_add(other.reserved_delta),
            clock: self.clock.saturating_add(other.clock),
        }
    }

    /// Subtracts a cost that was added. None, without a change, if a sum is smaller than the
    /// cost: a sum below zero would enlarge the budget.
    #[must_use]
    pub fn subtract(&mut self, cost: &Cost, clock: Variance) -> Option<()> {
        let clock = self.clock.checked_sub(u128::from(clock.femto()))?;
        let reserved_delta = u128::from(cost.reserved_delta().atto());
        let reserved_delta = self.reserved_delta.checked_sub(reserved_delta)?;
        let less = |sum: u128, amount: Amount| sum.checked_sub(u128::from(amount.pico()));
        // Check all orders before changing one.
        let mut pairs = self.amounts.iter().zip(cost.amounts());
        if pairs.any(|(&sum, &amount)| less(sum, amount).is_none()) {
            return None;
        }
        for (sum, &amount) in self.amounts.iter_mut().zip(cost.amounts()) {
            *sum = less(*sum, amount)?;
        }
        self.reserved_delta = reserved_delta;
        self.clock = clock;
        Some(())
    }
}

fn clamp(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}

/// Why a charge was refused, and how much of it would fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The account that refused: the charged one, or its nearest ancestor that refuses.
    pub account: AccountNumber,
    /// Which of its orders must fit.
    pub rule: Rule,
    /// The numbers of each order.
    pub lines: Vec<RefusalLine>,
    /// The numbers of the clock, if the account has one.
    pub clock: Option<RefusalClock>,
    /// The reserved delta of the charge.
    pub asked_reserved_delta: DeltaAmount,
    /// The reserved deltas of earlier charges, committed and pending.
    pub taken_reserved_delta: DeltaAmount,
    /// The limit on the sum of reserved deltas.
    pub reserved_delta_limit: DeltaAmount,
    /// The largest fraction of the cost that fits the whole chain.
    pub largest: Scale,
}

/// One order of a refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefusalLine {
    /// The order.
    pub order: Order,
    /// The amount of the charge.
    pub asked: Amount,
    /// The amount of committed charges.
    pub spent: Amount,
    /// The amount of reservations without a commit.
    pub pending: Amount,
    /// The limit, if the order has one.
    pub limit: Option<Amount>,
}

/// The clock in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusalClock {
    /// The least that the charge takes at any remainder; None if it has no price.
    pub asked: Option<Variance>,
    /// What committed charges took.
    pub spent: Variance,
    /// What reservations without a commit took.
    pub pending: Variance,
    /// The limit.
    pub limit: Variance,
}

/// Whether a cost fits every account of a chain, from the charged account up to the root, and
/// what it takes from the clock of each; empty if none has a clock.
///
/// # Errors
///
/// One of them refuses.
pub fn admit<'a>(
    chain: impl Iterator<Item = &'a Account> + Clone,
    cost: &Cost,
) -> Result<Box<[Variance]>, Box<Refusal>> {
    let Some(account) = chain.clone().find(|account| !fits(account, cost)) else {
        return Ok(match has_clock(chain.clone()) {
            true => chain.map(|account| clock_taken(account, cost)).collect(),
            false => Box::default(),
        });
    };
    let scales = chain.map(|account| largest(account, cost));
    let scale = scales.min().unwrap_or(Scale::ZERO);
    Err(Box::new(refusal(account, cost, scale)))
}

/// Whether some account of a chain has a clock.
pub(crate) fn has_clock<'a>(mut chain: impl Iterator<Item = &'a Account>) -> bool {
    chain.any(|account| account.budget().clock().is_some())
}

/// What an admitted charge takes from the clock of an account. A charge that does not fit was
/// admitted by an order, and exhausts the clock forever.
fn clock_taken(account: &Account, cost: &Cost) -> Variance {
    match account.budget().clock() {
        None => Variance::ZERO,
        Some(_) => fits_clock(account, cost).unwrap_or(Variance::EXHAUSTED),
    }
}

/// What a charge takes from the clock of an account, if it fits.
fn fits_clock(account: &Account, cost: &Cost) -> Option<Variance> {
    cost.price()?.taken(account.clock_left()?)
}

/// How many more charges of this cost fit. Each is committed before the next.
pub fn how_many<'a>(chain: impl Iterator<Item = &'a Account>, cost: &Cost) -> u64 {
    let counts = chain.map(|account| {
        let by_clock = || Some(cost.price()?.how_many(account.clock_left()?));
        let counts = limited(account, cost).map(|(asked, taken, limit)| {
            match limit.pico().checked_sub(taken.pico()) {
                Some(room) => room.checked_div(asked.pico()).unwrap_or(u64::MAX),
                None => 0,
            }
        });
        let by_orders = match account.budget().rule() {
            // All are the same, so what admits the last of them admits those before it.
            Rule::Any => counts.max().max(by_clock()),
            Rule::Every => counts.min(),
        };
        let cap = account.budget().reserved_delta().atto();
        let room = cap.saturating_sub(account.taken().reserved_delta().atto());
        let by_reserved_delta = room.checked_div(cost.reserved_delta().atto());
        by_orders
            .unwrap_or(0)
            .min(by_reserved_delta.unwrap_or(u64::MAX))
    });
    counts.min().unwrap_or(0)
}

/// The filter: whether at least one order (or every order) stays within its limit or the charge
/// fits the clock, and the reserved deltas stay within their limit.
fn fits(account: &Account, cost: &Cost) -> bool {
    let within = |(asked, taken, limit): (Amount, Amount, Amount)| {
        // An exhausted sum is above every limit.
        taken.saturating_add(asked) <= limit.min(Amount::LARGEST_LIMIT)
    };
    let mut orders = limited(account, cost).map(within);
    let by_orders = match account.budget().rule() {
        Rule::Any => orders.any(|within| within) || fits_clock(account, cost).is_some(),
        // A budget without any limit admits nothing.
        Rule::Every => limited(account, cost).next().is_some() && orders.all(|within| within),
    };
    let reserved_deltas = account
        .taken()
        .reserved_delta()
        .saturating_add(cost.reserved_delta());
    let cap = account.budget().reserved_delta();
    by_orders && reserved_deltas <= cap && cost.amounts().len() == account.budget().limits().len()
}

/// The largest fraction of a cost that fits an account.
fn largest(account: &Account, cost: &Cost) -> Scale {
    let scales = limited(account, cost).map(|(asked, taken, limit)| {
        let room = limit.pico().checked_sub(taken.pico());
        match room {
            // The total is above the limit already, so not even a zero cost fits.
            None => Scale::ZERO,
            // Every fraction of an unbounded cost is unbounded.
            Some(_) if asked == Amount::EXHAUSTED => Scale::ZERO,
            Some(room) => Scale::fitting(asked.pico(), room),
        }
    });
    let by_clock = || Some(cost.price()?.largest(account.clock_left()?));
    let by_orders = match account.budget().rule() {
        Rule::Any => scales.max().max(by_clock()),
        Rule::Every => scales.min(),
    };
    let cap = account.budget().reserved_delta().atto();
    let room = cap.checked_sub(account.taken().reserved_delta().atto());
    let by_reserved_delta = room.map_or(Scale::ZERO, |room| {
        Scale::fitting(cost.reserved_delta().atto(), room)
    });
    by_orders.unwrap_or(Scale::ZERO).min(by_reserved_delta)
}

/// The cost, the total and the limit at each order that has a limit.
fn limited(account: &Account, cost: &Cost) -> impl Iterator<Item = (Amount, Amount, Amount)> {
    let orders = cost.amounts().iter().zip(account.taken().amounts());
    let limits = account.budget().limits();
    orders
        .zip(limits)
        .filter_map(|((&asked, taken), &limit)| limit.map(|limit| (asked, taken, limit)))
}

fn refusal(account: &Account, cost: &Cost, largest: Scale) -> Refusal {
    let spent = account.spent().amounts().zip(account.pending().amounts());
    let asked = account.orders().iter().zip(cost.amounts());
    let lines = asked.zip(spent).zip(account.budget().limits());
    Refusal {
        account: account.number(),
        rule: account.budget().rule(),
        lines: lines
            .map(
                |(((order, &asked), (spent, pending)), &limit)| RefusalLine {
                    order,
                    asked,
                    spent,
                    pending,
                    limit,
                },
            )
            .collect(),
        clock: account.budget().clock().map(|clock| RefusalClock {
            asked: cost.price().map(ClockPrice::least),
            spent: account.spent().clock(),
            pending: account.pending().clock(),
            limit: clock.limit,
        }),
        asked_reserved_delta: cost.reserved_delta(),
        taken_reserved_delta: account.taken().reserved_delta(),
        reserved_delta_limit: account.budget().reserved_delta(),
        largest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_added_cannot_be_taken_back() {
        let cost =
            |a, b, own| Cost::new([a, b].map(Amount::from_pico), DeltaAmount::from_atto(own));
        let mut totals = Totals::zero(2);
        let clock = Variance::from_femto;
        totals.add(&cost(5, u64::MAX, 3), clock(7));
        let before = totals.clone();
        for (more, clock) in [
            (cost(6, 0, 0), clock(0)),
            (cost(0, 0, 4), clock(0)),
            (cost(0, 0, 0), clock(8)),
        ] {
            assert_eq!(totals.subtract(&more, clock), None);
            assert_eq!(totals, before);
        }
        assert_eq!(totals.subtract(&cost(5, u64::MAX, 3), clock(7)), Some(()));
        assert_eq!(totals, Totals::zero(2));
    }
}
