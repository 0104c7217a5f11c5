//! The reserved delta of an account, and which share of it a query takes.
//!
//! The threshold that hides small groups may fail, with a probability of its own: the
//! delta of that comes out of a part of the account's delta that is reserved for such
//! mechanisms (`Budget::reserved_delta`). The ledger adds these deltas up in whole numbers,
//! apart from the Rényi curve.
//!
//! A query may say how much it takes. By default it takes a twentieth of what is
//! *left*, rounded down to a fixed list of shares: a twentieth of all that is reserved,
//! and then always 4 % less. So the reserved delta does not run out after twenty
//! queries: the hundredth still has about 1/150 of the first share, and the threshold
//! grows with the logarithm of that only. The list ends at a millionth of the first
//! share; when even this does not fit, the ledger refuses.
//!
//! # Why shares are on a list
//!
//! The same query must find its charge again, although another share would be chosen
//! now. Of an answer its noise is stored. Of a charge that was left behind only its
//! cost is known, and from a list its share can be told.

use std::iter::{once, successors};

use mizan_core::Delta;
use mizan_ledger::{Account, AccountView, Charge, DeltaAmount};

/// What part of what is left one query takes.
const SHARE: f64 = 20.0;

/// From one share of the list to the next.
const STEP: f64 = 0.96;

/// How many shares the list has: the last is about a millionth of the first.
const SHARES: usize = 340;

/// How many shares are tried for a charge whose share is not known.
const TRIED: usize = 6;

/// The reserved delta where a query would be charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedDelta {
    /// The account with the least left, of the one that is charged and those above.
    pub account: String,
    /// All that is reserved there.
    pub reserved: DeltaAmount,
    /// What is left of it.
    pub left: DeltaAmount,
    /// What the query asks for.
    pub asked: DeltaAmount,
}

impl ReservedDelta {
    /// What a charge asks for, and what there is; None if it asks for nothing.
    pub(super) fn of(view: &AccountView, charge: &Charge) -> Option<Self> {
        let asked = charge.cost.reserved_delta();
        if asked == DeltaAmount::ZERO {
            return None;
        }
        let account = once(&view.account)
            .chain(&view.above)
            .min_by_key(|account| left(account))?;
        Some(Self {
            account: account.name().as_str().to_owned(),
            reserved: account.budget().reserved_delta(),
            left: DeltaAmount::from_atto(left(account)),
            asked,
        })
    }

    /// Whether the query does not fit because of it.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.asked > self.left
    }
}

/// What is left of the reserved delta of an account, in units of 1e-18.
fn left(account: &Account) -> u64 {
    let reserved = account.budget().reserved_delta().atto();
    reserved.saturating_sub(account.taken().reserved_delta().atto())
}

/// What is left here and above.
fn left_of(view: &AccountView) -> u64 {
    let above = view.above.iter().map(left);
    above.fold(left(&view.account), u64::min)
}

/// The list of shares, from the largest.
fn shares(account: &Account) -> impl Iterator<Item = f64> {
    let first = first(account).get();
    successors(Some(first), |share| Some(share * STEP)).take(SHARES)
}

/// The first share of an account, whatever was spent: a twentieth of all.
pub(super) fn first(account: &Account) -> Delta {
    to_delta(in_delta(account.budget().reserved_delta().atto()) / SHARE)
}

/// The share of a query that does not say one.
pub(super) fn usual(view: &AccountView) -> Delta {
    to_delta(share(view, left_of(view)))
}

/// The largest share of the list that is at most a twentieth of what is left, or the
/// last.
fn share(view: &AccountView, left: u64) -> f64 {
    let most = in_delta(left) / SHARE;
    let last = shares(&view.account).last().unwrap_or(0.0);
    shares(&view.account)
        .find(|share| *share <= most)
        .unwrap_or(last)
}

/// The delta of a threshold for which no more than `delta` is charged, by a query of
/// at most so many groups of a unit: charges are whole units of 1e-18, rounded up in
/// each group.
pub(super) fn chosen(delta: Delta, groups: u64) -> Delta {
    let units = (delta.get() * ATTO).floor();
    let rounding = whole(groups).max(1.0) + 1.0;
    match units > 2.0 * rounding {
        true => to_delta((units - rounding) / ATTO),
        false => delta,
    }
}

/// The shares that a charge of this size may have been made with.
pub(super) fn candidates(account: &Account, charged: DeltaAmount, groups: u64) -> Vec<Delta> {
    let charged = in_delta(charged.atto());
    let slack = (1.0 - STEP) / 2.0 * charged + 2.0 * whole(groups) / ATTO;
    let near = shares(account).map(to_delta);
    near.filter(|share| (share.get() - charged).abs() <= slack)
        .take(TRIED)
        .collect()
}

/// How many queries that take the usual share fit, one after the other.
pub(super) fn how_many(view: &AccountView) -> u64 {
    let (mut left, mut count) = (left_of(view), 0);
    loop {
        let taken = DeltaAmount::cost(to_delta(share(view, left))).atto();
        match left.checked_sub(taken) {
            Some(rest) if taken > 0 => left = rest,
            _ => return count,
        }
        count += 1;
    }
}

/// Units in one.
const ATTO: f64 = 1e18;

fn in_delta(units: u64) -> f64 {
    whole(units) / ATTO
}

#[expect(clippy::cast_precision_loss, reason = "the ledger counts in integers")]
fn whole(units: u64) -> f64 {
    units as f64
}

fn to_delta(delta: f64) -> Delta {
    Delta::new(delta).unwrap_or(Delta::ZERO)
}
