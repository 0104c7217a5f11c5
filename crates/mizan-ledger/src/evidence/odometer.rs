//! How much of an account was spent so far, in people's terms: an estimate, and
//! a bound that holds whenever one looks.
//!
//! The **estimate** is the Rényi conversion of the totals at one δ. It is what
//! the charges would cost had they been fixed in advance. They were not: when one
//! looks, and what was asked, depends on answers. So it is no promise.
//!
//! The **guarantee** is an odometer of nested filters. Let the account promise
//! (ε, δ), of which δ' is not set aside for the releases' own. Beside the filter
//! of the account there are K = 13 levels ε_k = ε 2^(-k/2), each with the limits
//! of a budget (ε_k, δ'/K) with the weights w(α) of the account:
//!
//! > B_k(α) = ε_k + ln(w(α) δ'/(K c(α))) / (α-1),   B_k(∞) = ε_k.
//!
//! The reading E is the smallest ε_k with total(α) <= B_k(α) at some α, what was
//! spent at α = ∞ if that is less, and ε if no level fits.
//!
//! # Guarantee
//!
//! Let r be the likelihood ratio of the transcript up to a moment that is chosen
//! in any way from the transcript so far, and E the reading then. Then the mean
//! of max(0, r - e^E) is at most 2 δ: no one can be more than e^E times, but for
//! 2 δ, as sure of anything, although E is itself random. Proof: M(α) = r^α
//! e^(-(α-1) total(α)) is a supermartingale that starts at 1, so its mean at any
//! such moment is at most 1. Split the transcripts by the level that is read and
//! the first order that fits it, as in `budget.rs`: each pair adds at most
//! c(α) e^((α-1)(B_k(α)-ε_k)) = w(α) δ'/K, all levels together δ'. Those where no
//! level fits are inside the filter of the account, and add at most δ' once more.
//! Those read at ∞ add nothing, for r <= e^total(∞) there. Releases fail with
//! probability at most δ - δ' in all. The sum is 2 δ' + (δ - δ') <= 2 δ.
//!
//! Where no level below ε fits, what the account promises is told instead: (ε, δ)
//! holds for every transcript that its filter admits, whatever is read.
//!
//! Only the totals at that moment count, not those before. Voids may lower them:
//! what was voided touched no data and is no part of r. What is pending counts in
//! full. The levels belong to the budget: a raise that is decided upon answers
//! begins new ones, and the promises of all budgets the account had add up. So an
//! account that was raised has no such reading unless ∞ gives one. An account
//! with ρ or a curve promises no δ, and has no such reading unless ∞ gives one.

use mizan_accounting::RenyiConversion;
use mizan_core::directed::{add_down, div_up};
use mizan_core::{Delta, Epsilon, Order};

use crate::money::{
    Account, Amount, Budget, Cost, DeltaAmount, Orders, Rule, Target, Weight, admit,
};

/// How many levels there are below the target, half an octave apart.
const LEVELS: u64 = 13;

/// How much was spent and is left.
#[derive(Clone, Debug, PartialEq)]
pub struct Odometer {
    /// **An estimate**: the (ε, δ) that the totals would be, rounded up, had all
    /// charges been fixed in advance. None if there is no δ to convert at, or
    /// nothing is bounded.
    pub estimate: Option<(Epsilon, Delta)>,
    /// **A guarantee**: the reading and its δ (see the module). None for ρ and
    /// curves, unless all charges are pure.
    pub guarantee: Option<(Epsilon, Delta)>,
    /// **An estimate** of the ε that is left at the same δ, rounded down. None if
    /// the target has no ε.
    pub remaining: Option<Epsilon>,
    /// What is left, order by order.
    pub left: Vec<Remaining>,
    /// The order that decides, and the share of its limit that is left: the one
    /// with most room where any order will do, with least where every must fit.
    pub room: Option<(Order, f64)>,
}

/// What is left at one order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remaining {
    /// The order.
    pub order: Order,
    /// What was taken: committed and pending.
    pub taken: Amount,
    /// The limit, if the order has one.
    pub limit: Option<Amount>,
    /// What is left of the limit.
    pub left: Option<Amount>,
}

impl Odometer {
    /// Reads an account. `delta` is for accounts that promise none.
    ///
    /// ```
    /// use mizan_core::{Delta, Epsilon};
    /// use mizan_ledger::evidence::Odometer;
    /// use mizan_ledger::*;
    /// let (orders, delta) = (Orders::standard(), Delta::new(1e-6)?);
    /// let reserved_delta = Budget::usual_reserved_delta(delta);
    /// let budget = Budget::approximate(Epsilon::new(2.0)?, delta, reserved_delta, &orders)?;
    /// let name = AccountName::new("census")?;
    /// let mut account = Account::new(AccountNumber::new(0), name, None, orders, budget);
    /// let charge = Charge::of(&"gaussian(20)".parse()?, &account)?;
    /// account.take(&Body::Reserved(charge), None).unwrap();
    ///
    /// let odometer = Odometer::of(&account, None);
    /// let (estimate, _) = odometer.estimate.unwrap();
    /// let (guarantee, delta) = odometer.guarantee.unwrap();
    /// assert!(estimate < guarantee && guarantee < Epsilon::new(0.5)?);
    /// assert_eq!(delta.get(), 2e-6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(account: &Account, delta: Option<Delta>) -> Self {
        let (estimate, remaining) = spent(account, delta);
        Self {
            estimate,
            guarantee: guarantee(account),
            remaining,
            room: room(account),
            left: left(account),
        }
    }

    /// Only what is left, as an estimate and as a share of the limit of the order
    /// that decides: the guarantee takes most of the time, and is not always wanted.
    #[must_use]
    pub fn remaining(
        account: &Account,
        delta: Option<Delta>,
    ) -> (Option<Epsilon>, Option<(Order, f64)>) {
        (spent(account, delta).1, room(account))
    }
}

/// What was spent and what is left, as estimates.
fn spent(account: &Account, delta: Option<Delta>) -> (Option<(Epsilon, Delta)>, Option<Epsilon>) {
    let (target, delta) = match account.budget().target() {
        Target::Approximate { epsilon, delta } => (Some(epsilon), Some(delta)),
        Target::Pure { epsilon } => (Some(epsilon), Some(Delta::ZERO)),
        Target::ZeroConcentrated { .. } | Target::Curve => (None, delta),
    };
    let estimate = delta.and_then(|delta| Some((estimate(account, delta)?, delta)));
    let remaining = target.map(|target| {
        let spent = estimate.map_or(f64::INFINITY, |(epsilon, _)| epsilon.get());
        Epsilon::new(add_down(target.get(), -spent).max(0.0)).unwrap_or(Epsilon::ZERO)
    });
    (estimate, remaining)
}

#[allow(clippy::cast_precision_loss, reason = "a share, for people")]
fn room(account: &Account) -> Option<(Order, f64)> {
    let share = |line: Remaining| {
        let (limit, left) = (line.limit?, line.left?);
        let share = left.pico() as f64 / limit.pico().max(1) as f64;
        Some((line.order, share.min(1.0)))
    };
    let shares = left(account).into_iter().filter_map(share);
    match account.budget().rule() {
        Rule::Any => shares.max_by(|(_, a), (_, b)| a.total_cmp(b)),
        Rule::Every => shares.min_by(|(_, a), (_, b)| a.total_cmp(b)),
    }
}

impl Cost {
    /// The ε of this cost alone at a δ, rounded up; None if nothing is bounded,
    /// or its reserved delta is more.
    #[must_use]
    pub fn epsilon(&self, orders: &Orders, delta: Delta) -> Option<Epsilon> {
        let amounts = orders.iter().zip(self.amounts().iter().copied());
        converted(amounts, self.reserved_delta(), delta)
    }
}

fn left(account: &Account) -> Vec<Remaining> {
    let limits = account.budget().limits().iter();
    let orders = account.orders().iter().zip(account.taken().amounts());
    let line = |((order, taken), &limit): ((Order, Amount), &Option<Amount>)| Remaining {
        order,
        taken,
        limit,
        left: limit.map(|limit| Amount::from_pico(limit.pico().saturating_sub(taken.pico()))),
    };
    orders.zip(limits).map(line).collect()
}

/// The smallest ε that the totals convert to.
fn estimate(account: &Account, delta: Delta) -> Option<Epsilon> {
    let taken = account.taken();
    let totals = account.orders().iter().zip(taken.amounts());
    converted(totals, taken.reserved_delta(), delta)
}

/// The smallest ε that amounts at some orders convert to.
fn converted(
    totals: impl Iterator<Item = (Order, Amount)>,
    reserved_delta: DeltaAmount,
    delta: Delta,
) -> Option<Epsilon> {
    let rest = add_down(delta.get(), -units_up(reserved_delta.atto(), 1e18));
    if rest < 0.0 {
        return None;
    }
    let rest = Delta::new(rest).ok()?;
    let converted = totals.filter_map(|(order, total)| {
        let total = nats_up(total)?;
        if !order.is_finite() {
            return Some(total);
        }
        (rest > Delta::ZERO).then(|| RenyiConversion::Optimal.epsilon(order, total, rest))
    });
    converted
        .filter(|epsilon| epsilon.get().is_finite())
        .min_by(|a, b| a.get().total_cmp(&b.get()))
}

fn guarantee(account: &Account) -> Option<(Epsilon, Delta)> {
    let totals = account.orders().iter().zip(account.taken().amounts());
    let pure = totals
        .filter(|(order, _)| !order.is_finite())
        .find_map(|(_, total)| nats_up(total));
    match account.budget().target() {
        Target::Approximate { epsilon, delta } if !account.is_raised() => {
            let level = level(account, epsilon, delta).unwrap_or(epsilon);
            let reading = match pure {
                Some(pure) if pure < level => pure,
                _ => level,
            };
            if reading >= epsilon {
                // No more than the account promises in any case.
                return Some((epsilon, delta));
            }
            Some((reading, Delta::new(2.0 * delta.get()).unwrap_or(Delta::ONE)))
        }
        _ if account.taken().reserved_delta() == DeltaAmount::ZERO => {
            pure.map(|pure| (pure, Delta::ZERO))
        }
        _ => None,
    }
}

/// The lowest level into which the totals fit.
fn level(account: &Account, epsilon: Epsilon, delta: Delta) -> Option<Epsilon> {
    let budget = account.budget();
    let weights: Vec<Weight> = (budget.weights().iter())
        .map(|weight| Weight::from_atto(weight.atto() / LEVELS))
        .collect();
    let nothing = account.orders().iter().map(|_| Amount::ZERO);
    let nothing = Cost::new(nothing, DeltaAmount::ZERO);
    let fits = |&level: &Epsilon| {
        let target = Target::Approximate {
            epsilon: level,
            delta,
        };
        let reserved_delta = budget.reserved_delta();
        let limits = Budget::with_weights(target, reserved_delta, &weights, account.orders());
        limits.is_ok_and(|limits| {
            let mut below = account.clone();
            below.raise(limits);
            admit(std::iter::once(&below), &nothing).is_ok()
        })
    };
    let mut levels: Vec<Epsilon> = Vec::new();
    let mut factor = 1.0;
    for _ in 0..LEVELS {
        // Which numbers exactly does not matter; that the budget fixes them does.
        levels.extend(Epsilon::new(epsilon.get() * factor));
        factor *= std::f64::consts::FRAC_1_SQRT_2;
    }
    levels.into_iter().rev().find(fits)
}

/// An amount in nats, rounded up; None if it has no bound.
fn nats_up(amount: Amount) -> Option<Epsilon> {
    if amount == Amount::EXHAUSTED {
        return None;
    }
    Epsilon::new(units_up(amount.pico(), 1e12)).ok()
}

/// So many units of which `per` make one, rounded up.
#[allow(clippy::cast_precision_loss, reason = "the step up covers it")]
fn units_up(units: u64, per: f64) -> f64 {
    let near = units as f64;
    let above = if units <= 1 << 53 {
        near
    } else {
        near.next_up()
    };
    div_up(above, per)
}
