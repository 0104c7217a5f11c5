//! The privacy filter: whether a charge fits the budgets of an account and of all its ancestors.
//!
//! Only integers are compared. A pending charge counts as spent, because its answer may already
//! have been released.

use mizan_core::Order;

use crate::money::{Account, AccountNumber, Amount, Cost, DeltaAmount, Rule, Scale};

/// Exact sums of amounts, one for each order, and of reserved deltas.
///
/// Sums have 128 bits, so that subtracting what was added is exact. They are read as 64 bits,
/// where larger sums are exhausted. The result equals saturating addition, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    amounts: Box<[u128]>,
    reserved_delta: u128,
}

impl Totals {
    /// Zero at each of `orders` orders.
    #[must_use]
    pub fn zero(orders: usize) -> Self {
        Self {
            amounts: vec![0; orders].into(),
            reserved_delta: 0,
        }
    }

    /// The stored form: a sum for each order, and the sum of reserved deltas.
    #[must_use]
    pub fn raw(&self) -> (&[u128], u128) {
        (&self.amounts, self.reserved_delta)
    }

    /// Totals from their stored form.
    pub fn from_raw(amounts: impl IntoIterator<Item = u128>, reserved_delta: u128) -> Self {
        Self {
            amounts: amounts.into_iter().collect(),
            reserved_delta,
        }
    }

    /// Whether nothing was added, or all of it was taken back.
    pub(crate) fn is_zero(&self) -> bool {
        self.reserved_delta == 0 && self.amounts.iter().all(|sum| *sum == 0)
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

    /// Adds a cost.
    pub fn add(&mut self, cost: &Cost) {
        // Only 2^64 charges of 2^64 overflow; the sum stays full then.
        for (sum, amount) in self.amounts.iter_mut().zip(cost.amounts()) {
            *sum = sum.saturating_add(u128::from(amount.pico()));
        }
        let reserved_delta = u128::from(cost.reserved_delta().atto());
        self.reserved_delta = self.reserved_delta.saturating_add(reserved_delta);
    }

    /// The sum of two sums.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let pairs = self.amounts.iter().zip(&other.amounts);
        Self {
            amounts: pairs.map(|(a, b)| a.saturating_add(*b)).collect(),
            reserved_delta: self.reserved_delta.saturating_add(other.reserved_delta),
        }
    }

    /// Subtracts a cost that was added. None, without a change, if a sum is smaller than the
    /// cost: a sum below zero would enlarge the budget.
    #[must_use]
    pub fn subtract(&mut self, cost: &Cost) -> Option<()> {
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

/// Whether a cost fits every account of a chain, from the charged account up to the root.
///
/// # Errors
///
/// One of them refuses.
pub fn admit<'a>(
    chain: impl Iterator<Item = &'a Account> + Clone,
    cost: &Cost,
) -> Result<(), Box<Refusal>> {
    let Some(account) = chain.clone().find(|account| !fits(account, cost)) else {
        return Ok(());
    };
    let scales = chain.map(|account| largest(account, cost));
    let scale = scales.min().unwrap_or(Scale::ZERO);
    Err(Box::new(refusal(account, cost, scale)))
}

/// How many more charges of this cost fit.
pub fn how_many<'a>(chain: impl Iterator<Item = &'a Account>, cost: &Cost) -> u64 {
    let counts = chain.map(|account| {
        let counts = limited(account, cost).map(|(asked, taken, limit)| {
            match limit.pico().checked_sub(taken.pico()) {
                Some(room) => room.checked_div(asked.pico()).unwrap_or(u64::MAX),
                None => 0,
            }
        });
        let by_orders = match account.budget().rule() {
            Rule::Any => counts.max(),
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

/// The filter: whether at least one order (or every order) stays within its limit, and the
/// reserved deltas stay within theirs.
fn fits(account: &Account, cost: &Cost) -> bool {
    let within = |(asked, taken, limit): (Amount, Amount, Amount)| {
        // An exhausted sum is above every limit.
        taken.saturating_add(asked) <= limit.min(Amount::LARGEST_LIMIT)
    };
    let mut orders = limited(account, cost).map(within);
    let by_orders = match account.budget().rule() {
        Rule::Any => orders.any(|within| within),
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
    let by_orders = match account.budget().rule() {
        Rule::Any => scales.max(),
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
        totals.add(&cost(5, u64::MAX, 3));
        let before = totals.clone();
        for more in [cost(6, 0, 0), cost(0, 0, 4)] {
            assert_eq!(totals.subtract(&more), None);
            assert_eq!(totals, before);
        }
        assert_eq!(totals.subtract(&cost(5, u64::MAX, 3)), Some(()));
        assert_eq!(totals, Totals::zero(2));
    }
}
