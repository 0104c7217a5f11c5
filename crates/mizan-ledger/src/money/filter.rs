//! The privacy filter: whether a charge fits the budgets of an account and of all its ancestors.
//!
//! Only integers are compared. A pending charge counts as spent, because its answer may already
//! have been released.

use mizan_core::Order;

use crate::money::{
    Account, AccountNumber, Amount, ClockPrice, ConditionalPrice, Cost, DeltaAmount, Rule, Scale,
    Taken, Variance,
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
    surplus: u128,
    losses: u128,
    tails: u128,
}

impl Totals {
    /// Zero at each of `orders` orders.
    #[must_use]
    pub fn zero(orders: usize) -> Self {
        Self {
            amounts: vec![0; orders].into(),
            reserved_delta: 0,
            clock: 0,
            surplus: 0,
            losses: 0,
            tails: 0,
        }
    }

    /// The stored form: a sum for each order, the sum of reserved deltas, and those of the clock:
    /// variance, surplus, losses and tails.
    #[must_use]
    pub fn raw(&self) -> (&[u128], u128, [u128; 4]) {
        let clock = [self.clock, self.surplus, self.losses, self.tails];
        (&self.amounts, self.reserved_delta, clock)
    }

    /// Totals from their stored form.
    pub fn from_raw(
        amounts: impl IntoIterator<Item = u128>,
        reserved_delta: u128,
        [clock, surplus, losses, tails]: [u128; 4],
    ) -> Self {
        Self {
            amounts: amounts.into_iter().collect(),
            reserved_delta,
            clock,
            surplus,
            losses,
            tails,
        }
    }

    /// Whether nothing was added, or all of it was taken back.
    pub(crate) fn is_zero(&self) -> bool {
        let deltas = self.reserved_delta == 0;
        let clock = [self.clock, self.surplus, self.losses, self.tails] == [0; 4];
        deltas && clock && self.amounts.iter().all(|sum| *sum == 0)
    }

    /// The sum at each order.
    pub fn amounts(&self) -> impl Iterator<Item = Amount> + '_ {
        self.amounts
            .iter()
            .map(|&sum| Amount::from_pico(clamp(sum)))
    }

    /// The sum of reserved deltas, with those that pay for the tails of plans.
    #[must_use]
    pub fn reserved_delta(&self) -> DeltaAmount {
        DeltaAmount::from_atto(clamp(self.reserved_delta.saturating_add(self.tails)))
    }

    /// The part of the reserved deltas that pays for the tails of plans.
    #[must_use]
    pub fn tails(&self) -> DeltaAmount {
        DeltaAmount::from_atto(clamp(self.tails))
    }

    /// The sum of what was taken from the clock.
    #[must_use]
    pub fn clock(&self) -> Variance {
        Variance::from_femto(clamp(self.clock))
    }

    /// The sum of what conditional prices saved.
    #[must_use]
    pub fn surplus(&self) -> Variance {
        Variance::from_femto(clamp(self.surplus))
    }

    /// The sum of the largest losses of all charges. Nothing is ever taken back from it: a charge
    /// that was voided may have been chosen in view of answers.
    #[must_use]
    pub fn losses(&self) -> Amount {
        Amount::from_pico(clamp(self.losses))
    }

    /// Adds the largest loss of a charge.
    pub(crate) fn add_loss(&mut self, loss: Amount) {
        self.losses = self.losses.saturating_add(u128::from(loss.pico()));
    }

    /// Adds a cost, and what it took from the clock.
    pub fn add(&mut self, cost: &Cost, taken: Taken) {
        // Only 2^64 charges of 2^64 overflow; the sum stays full then.
        for (sum, amount) in self.amounts.iter_mut().zip(cost.amounts()) {
            *sum = sum.saturating_add(u128::from(amount.pico()));
        }
        let reserved_delta = u128::from(cost.reserved_delta().atto());
        self.reserved_delta = self.reserved_delta.saturating_add(reserved_delta);
        self.add_clock(taken);
    }

    /// Adds what was taken from the clock.
    pub(crate) fn add_clock(&mut self, taken: Taken) {
        let sum = |sum: u128, more: u64| sum.saturating_add(u128::from(more));
        self.tails = sum(self.tails, taken.tail.atto());
        self.clock = sum(self.clock, taken.variance.femto());
        self.surplus = sum(self.surplus, taken.surplus.femto());
    }

    /// The clock pays for what conditional prices saved.
    pub(crate) fn pay_surplus(&mut self) {
        self.clock = self.clock.saturating_add(self.surplus);
        self.surplus = 0;
    }

    /// The sum of two sums.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let pairs = self.amounts.iter().zip(&other.amounts);
        Self {
            amounts: pairs.map(|(a, b)| a.saturating_add(*b)).collect(),
            reserved_delta: self.reserved_delta.saturating_add(other.reserved_delta),
            clock: self.clock.saturating_add(other.clock),
            surplus: self.surplus.saturating_add(other.surplus),
            losses: self.losses.saturating_add(other.losses),
            tails: self.tails.saturating_add(other.tails),
        }
    }

    /// Subtracts a cost that was added. None, without a change, if a sum is smaller than the
    /// cost: a sum below zero would enlarge the budget.
    #[must_use]
    pub fn subtract(&mut self, cost: &Cost, taken: Taken) -> Option<()> {
        let clock = self.clock.checked_sub(u128::from(taken.variance.femto()))?;
        let surplus = self
            .surplus
            .checked_sub(u128::from(taken.surplus.femto()))?;
        let tails = self.tails.checked_sub(u128::from(taken.tail.atto()))?;
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
        self.surplus = surplus;
        self.tails = tails;
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
    /// What the charge takes of what is left; if it does not fit, the least that would have to be
    /// left. None if it has no price.
    pub needed: Option<Variance>,
    /// Whether what is left pays for it. Then the charge was refused because of a reserved delta.
    pub fits: bool,
    /// The part of δ that this price needs besides, for the tail of a plan. It counts as reserved
    /// delta.
    pub tail: DeltaAmount,
    /// What committed charges took.
    pub spent: Variance,
    /// What reservations without a commit took.
    pub pending: Variance,
    /// The limit.
    pub limit: Variance,
}

/// What an admitted charge takes from the clocks of a chain, from the charged account up to the
/// root; empty if none has a clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Admitted {
    /// The variance that it takes from each.
    pub(crate) clock: Box<[Variance]>,
    /// The conditional prices that were used; empty if none was.
    pub(crate) conditional: Box<[Option<ConditionalPrice>]>,
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
    admit_in_state(chain, cost, &[]).map(|admitted| admitted.clock)
}

/// The same with a conditional price for each account, or none at all. A refusal names the first
/// account that refuses without them.
///
/// # Errors
///
/// One of them refuses.
pub(crate) fn admit_in_state<'a>(
    chain: impl Iterator<Item = &'a Account> + Clone,
    cost: &Cost,
    conditional: &[Option<ConditionalPrice>],
) -> Result<Admitted, Box<Refusal>> {
    let prices = || conditional.iter().copied().chain(std::iter::repeat(None));
    let fits_in_state = || {
        let mut pairs = chain.clone().zip(prices());
        pairs.all(|(account, price)| fits(account, cost, price))
    };
    // A denial is stored without conditional prices, so it names an account that a replay finds
    // without them.
    let mut refused = chain.clone().zip(prices());
    let refused = refused.find(|(account, _)| !fits(account, cost, None));
    if let Some((account, price)) = refused
        && !fits_in_state()
    {
        let price = price.filter(|_| !fits(account, cost, price));
        let scales = chain.map(|account| largest(account, cost));
        let scale = scales.min().unwrap_or(Scale::ZERO);
        return Err(Box::new(refusal(account, cost, price, scale)));
    }
    if !has_clock(chain.clone()) {
        return Ok(Admitted::default());
    }
    let taken = chain
        .zip(prices())
        .map(|(account, price)| clock_taken(account, cost, price));
    let (clock, conditional): (Vec<_>, Vec<_>) = taken.unzip();
    let used = conditional.iter().any(Option::is_some);
    Ok(Admitted {
        clock: clock.into(),
        conditional: if used {
            conditional.into()
        } else {
            Box::default()
        },
    })
}

/// The first account of a chain whose clock admits a cost only at a price of its state, if the given
/// one is for another state: with the price of the present state the decision may be another.
pub(crate) fn outdated<'a>(
    chain: impl Iterator<Item = &'a Account>,
    cost: &Cost,
    conditional: &[Option<ConditionalPrice>],
) -> Option<AccountNumber> {
    let mut pairs = chain.zip(conditional);
    let found = pairs.find(|(account, price)| {
        price.is_some_and(|price| price.is_outdated(account))
            && fits_clock(account, cost, None).is_none()
    });
    found.map(|(account, _)| account.number())
}

/// Whether some account of a chain has a clock.
pub(crate) fn has_clock<'a>(mut chain: impl Iterator<Item = &'a Account>) -> bool {
    chain.any(|account| account.budget().clock().is_some())
}

/// What an admitted charge takes from the clock of an account. A charge that does not fit was
/// admitted by an order, and exhausts the clock forever.
fn clock_taken(
    account: &Account,
    cost: &Cost,
    conditional: Option<ConditionalPrice>,
) -> (Variance, Option<ConditionalPrice>) {
    match account.budget().clock() {
        None => (Variance::ZERO, None),
        Some(_) => fits_clock(account, cost, conditional).unwrap_or((Variance::EXHAUSTED, None)),
    }
}

/// What a charge takes from the clock of an account, if it fits, and the conditional price if it is
/// the smaller one.
fn fits_clock(
    account: &Account,
    cost: &Cost,
    conditional: Option<ConditionalPrice>,
) -> Option<(Variance, Option<ConditionalPrice>)> {
    let left = account.clock_left()?;
    let here = conditional.filter(|price| price.applies_to(account));
    let has_tail =
        |tail| within_reserved_delta(account, cost.reserved_delta().saturating_add(tail));
    let anywhere = cost.price().filter(|price| has_tail(price.tail()));
    let anywhere = anywhere.and_then(|price| price.taken(left));
    match (here, anywhere) {
        (Some(here), anywhere) if anywhere.is_none_or(|taken| here.price < taken) => {
            Some((here.price, Some(here)))
        }
        (_, anywhere) => Some((anywhere?, None)),
    }
}

/// Whether a charge with so much reserved delta keeps the sum within its limit.
fn within_reserved_delta(account: &Account, asked: DeltaAmount) -> bool {
    let taken = account.taken().reserved_delta();
    taken.saturating_add(asked) <= account.budget().reserved_delta()
}

/// How many more charges of this cost fit, at prices that hold in every state of an account. Each is
/// committed before the next.
pub fn how_many<'a>(chain: impl Iterator<Item = &'a Account>, cost: &Cost) -> u64 {
    let counts = chain.map(|account| how_many_here(account, cost));
    counts.min().unwrap_or(0)
}

/// How many more charges of this cost fit one account.
fn how_many_here(account: &Account, cost: &Cost) -> u64 {
    let times = |room: u64, each: u64| room.checked_div(each).unwrap_or(u64::MAX);
    let counts = limited(account, cost).map(|(asked, taken, limit)| {
        let room = limit.pico().checked_sub(taken.pico());
        room.map_or(0, |room| times(room, asked.pico()))
    });
    let own = cost.reserved_delta();
    let cap = account.budget().reserved_delta().atto();
    let room = cap.saturating_sub(account.taken().reserved_delta().atto());
    let by_clock = || {
        let price = cost.price()?;
        let each = own.saturating_add(price.tail()).atto();
        let count = price.how_many(account.clock_left()?);
        let count = count.min(times(room, each));
        Some((count, room.saturating_sub(count.saturating_mul(each))))
    };
    match account.budget().rule() {
        // All are the same, so what admits the last of them admits those before it. As long as
        // they fit the clock they pay for their tails, also if an order would admit them.
        Rule::Any => {
            let (on_clock, room) = by_clock().unwrap_or((0, room));
            let after = times(room, own.atto());
            let by_orders = counts.max().unwrap_or(0);
            on_clock.max(by_orders.min(on_clock.saturating_add(after)))
        }
        Rule::Every => counts.min().unwrap_or(0).min(times(room, own.atto())),
    }
}

/// The filter: whether at least one order (or every order) stays within its limit or the charge
/// fits the clock, and the reserved deltas stay within their limit.
fn fits(account: &Account, cost: &Cost, conditional: Option<ConditionalPrice>) -> bool {
    let within = |(asked, taken, limit): (Amount, Amount, Amount)| {
        // An exhausted sum is above every limit.
        taken.saturating_add(asked) <= limit.min(Amount::LARGEST_LIMIT)
    };
    let mut orders = limited(account, cost).map(within);
    let by_orders = match account.budget().rule() {
        Rule::Any => {
            orders.any(|within| within) || fits_clock(account, cost, conditional).is_some()
        }
        // A budget without any limit admits nothing.
        Rule::Every => limited(account, cost).next().is_some() && orders.all(|within| within),
    };
    by_orders
        && within_reserved_delta(account, cost.reserved_delta())
        && cost.amounts().len() == account.budget().limits().len()
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
    let cap = account.budget().reserved_delta().atto();
    let room = cap.checked_sub(account.taken().reserved_delta().atto());
    let by_reserved_delta =
        |asked: DeltaAmount| room.map_or(Scale::ZERO, |room| Scale::fitting(asked.atto(), room));
    let by_clock = || {
        let price = cost.price()?;
        let deltas = cost.reserved_delta().saturating_add(price.tail());
        let by_price = price.largest(account.clock_left()?);
        Some(by_price.min(by_reserved_delta(deltas)))
    };
    let by_orders = match account.budget().rule() {
        Rule::Any => scales.max().max(by_clock()),
        Rule::Every => scales.min(),
    };
    let most = by_reserved_delta(cost.reserved_delta());
    by_orders.unwrap_or(Scale::ZERO).min(most)
}

/// The cost, the total and the limit at each order that has a limit.
fn limited(account: &Account, cost: &Cost) -> impl Iterator<Item = (Amount, Amount, Amount)> {
    let orders = cost.amounts().iter().zip(account.taken().amounts());
    let limits = account.budget().limits();
    orders
        .zip(limits)
        .filter_map(|((&asked, taken), &limit)| limit.map(|limit| (asked, taken, limit)))
}

/// The clock of an account that refuses a charge; None if it has none.
fn refusal_clock(
    account: &Account,
    cost: &Cost,
    conditional: Option<ConditionalPrice>,
) -> Option<RefusalClock> {
    let clock = account.budget().clock()?;
    let price = cost.price();
    let with_tail = fits_clock(account, cost, conditional);
    let without_tail = || price?.taken(account.clock_left()?);
    let taken = with_tail.map(|(taken, _)| taken).or_else(without_tail);
    let has_no_tail = with_tail.is_some_and(|(_, conditional)| conditional.is_some());
    Some(RefusalClock {
        asked: price.map(ClockPrice::least),
        needed: taken.or_else(|| price.map(ClockPrice::least_left)),
        fits: taken.is_some(),
        tail: price
            .filter(|_| !has_no_tail)
            .map_or(DeltaAmount::ZERO, ClockPrice::tail),
        spent: account.spent().clock(),
        pending: account.pending().clock(),
        limit: clock.limit,
    })
}

fn refusal(
    account: &Account,
    cost: &Cost,
    conditional: Option<ConditionalPrice>,
    largest: Scale,
) -> Refusal {
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
        clock: refusal_clock(account, cost, conditional),
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
        let clock = |femto| Taken {
            variance: Variance::from_femto(femto),
            ..Taken::default()
        };
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
