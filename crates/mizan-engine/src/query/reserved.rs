//! The reserved delta of an account, and the share of it that a query takes.
//!
//! The threshold that hides small groups may fail with a small probability. The delta for that
//! comes out of a part of the account's delta that is reserved for such mechanisms
//! (`Budget::reserved_delta`). The ledger adds these deltas up as integers, apart from the
//! Rényi curve.
//!
//! The analyst can choose the share of a query. The default is a twentieth of what is *left*,
//! rounded down to a fixed list of shares: it starts at a twentieth of the whole reserved delta
//! and each share is 4 % smaller than the one before. So the reserved delta does not run out
//! after twenty queries: the hundredth still gets about 1/150 of the first share, and the
//! threshold grows only with the logarithm of that. The list ends at about a millionth of the
//! first share. A query for which even that does not fit is denied.
//!
//! # Why shares are on a list
//!
//! A repeated query must find its charge again, although it would take another share now. A
//! stored answer contains its noise plan, and so its share. Of a charge without an answer only
//! the cost is known; with a list, its share can be recovered from that.

use std::iter::{once, successors};

use mizan_core::Delta;
use mizan_ledger::{Account, AccountView, Charge, DeltaAmount};

/// A query takes what is left divided by this.
const SHARE: f64 = 20.0;

/// The ratio of a share on the list to the one before.
const STEP: f64 = 0.96;

/// The length of the list: the last share is about a millionth of the first.
const SHARES: usize = 340;

/// How many shares are tried for a charge whose share is not stored.
const TRIED: usize = 6;

/// The reserved delta where the query would be charged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedDelta {
    /// The account with the least left, among the charged account and its parents.
    pub account: String,
    /// The whole reserved delta of that account.
    pub reserved: DeltaAmount,
    /// What is left of it.
    pub left: DeltaAmount,
    /// The share that the query takes.
    pub asked: DeltaAmount,
}

impl ReservedDelta {
    /// The share of a charge and what is left; None if the charge takes none.
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

    /// Whether the query is denied because of the reserved delta.
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

/// What is left in the account and its parents.
fn left_of(view: &AccountView) -> u64 {
    let above = view.above.iter().map(left);
    above.fold(left(&view.account), u64::min)
}

/// The list of shares, descending.
fn shares(account: &Account) -> impl Iterator<Item = f64> {
    let first = first(account).get();
    successors(Some(first), |share| Some(share * STEP)).take(SHARES)
}

/// The first share of an account: a twentieth of the whole, whatever was spent.
pub(super) fn first(account: &Account) -> Delta {
    to_delta(in_delta(account.budget().reserved_delta().atto()) / SHARE)
}

/// The default share.
pub(super) fn usual(view: &AccountView) -> Delta {
    to_delta(share(view, left_of(view)))
}

/// The largest share on the list that is at most a twentieth of what is left, or the last
/// share.
fn share(view: &AccountView, left: u64) -> f64 {
    let most = in_delta(left) / SHARE;
    let last = shares(&view.account).last().unwrap_or(0.0);
    shares(&view.account)
        .find(|share| *share <= most)
        .unwrap_or(last)
}

/// The delta of a threshold for which at most `delta` is charged, given the number of groups of
/// a unit. A charge is a whole number of units of 1e-18, rounded up in each group.
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

/// How many queries with the default share fit in sequence.
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

/// Units of the ledger in a delta of one.
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
