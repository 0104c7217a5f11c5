//! What the tests share.
#![allow(dead_code, reason = "each test uses its own part")]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test helper may panic"
)]

pub(crate) mod guarded;
pub(crate) mod lab;
pub(crate) mod server;

use mizan_core::{Delta, Epsilon, Order};
use mizan_ledger::store::{Ask, Store};
use mizan_ledger::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// `cases` random cases from a fixed seed; 20 times as many in a long run,
/// which `scripts/test --long` asks for through this variable.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let long = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if long { 20 * cases } else { cases },
        rng_seed: RngSeed::Fixed(20_170_224),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(crate) fn orders(values: &[f64]) -> Orders {
    Orders::new(values.iter().map(|&value| Order::new(value).unwrap())).unwrap()
}

pub(crate) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

pub(crate) fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

/// An account of its own, from which nothing was taken.
pub(crate) fn account(orders: &Orders, budget: Budget) -> Account {
    let name = AccountName::new("test").unwrap();
    Account::new(AccountNumber::new(0), name, None, orders.clone(), budget)
}

pub(crate) fn charge(account: u32, cost: Cost) -> Charge {
    Charge {
        account: AccountNumber::new(account),
        cost,
        neighbours: None,
        event: String::new(),
    }
}

/// Takes a cost without asking.
pub(crate) fn take(account: &mut Account, cost: &Cost) {
    account.take(&Body::Reserved(charge(0, cost.clone())), None);
}

pub(crate) fn admits(account: &Account, cost: &Cost) -> bool {
    admit(std::iter::once(account), cost).is_ok()
}

/// A cost in pico-nats without a delta of its own.
pub(crate) fn pico(amounts: &[u64]) -> Cost {
    let amounts = amounts.iter().map(|&amount| Amount::from_pico(amount));
    Cost::new(amounts, OwnDelta::ZERO)
}

/// Replays the log of a store, which must agree with everything else that the
/// store says, and have been inside the filter all along. An id that is there
/// twice is refused.
pub(crate) fn replay(store: &dyn Store) -> State {
    let (mut state, mut frontier) = (State::new(), Frontier::default());
    loop {
        let page = store.entries(state.size()).unwrap();
        if page.is_empty() {
            break;
        }
        for entry in page {
            state.apply(&entry).unwrap();
            frontier.push(leaf_hash(&entry.encode()));
        }
    }
    let head = store.head().unwrap();
    assert_eq!((head.size, head.root), (state.size(), frontier.root()));
    assert_eq!(head.accounts, state.accounts());
    for number in (0..head.accounts).map(AccountNumber::new) {
        let account = store.account(number).unwrap();
        assert_eq!(state.account(number), account.as_ref());
    }
    state
}

pub(crate) fn id(number: u64) -> RequestId {
    let mut bytes = [0; 16];
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    RequestId::from_bytes(bytes)
}

/// Begins a ledger with one account of ε = 1 at two orders, under the ids 1000
/// and 1001.
pub(crate) fn one_account(store: &dyn Store) {
    let ledger = LedgerId::from_bytes([1; 16]);
    let orders = orders(&[2.0, f64::INFINITY]);
    let create = Request::Create {
        name: AccountName::new("one").unwrap(),
        parent: None,
        budget: Budget::pure(epsilon(1.0), &orders).unwrap(),
        orders,
    };
    for (number, request) in [(1000, Request::Open { ledger }), (1001, create)] {
        store.execute(Ask::new(0, id(number), request)).unwrap();
    }
}
