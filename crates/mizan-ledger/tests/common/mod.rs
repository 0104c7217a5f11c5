//! What the tests share.
#![allow(dead_code, reason = "each test uses its own part")]

pub(crate) mod check;
pub(crate) mod child;
pub(crate) mod guarded;
pub(crate) mod lab;
pub(crate) mod linearize;
pub(crate) mod workload;

use mizan_core::{Delta, Epsilon, Order};
use mizan_ledger::log::LedgerId;
use mizan_ledger::money::{Amount, ClockPrice, Variance, Weight, admit};
use mizan_ledger::state::Request;
use mizan_ledger::store::{Store, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// `cases` random cases from a fixed seed; 20 times as many in a long run.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases: if long_run() { 20 * cases } else { cases },
        rng_seed: RngSeed::Fixed(20_170_224),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

pub(crate) fn orders(values: &[f64]) -> Orders {
    Orders::new(values.iter().map(|&value| Order::new(value).unwrap())).unwrap()
}

/// An id from a number.
pub(crate) fn id(number: u64) -> RequestId {
    RequestId::from_bytes(u128::from(number).to_be_bytes())
}

pub(crate) fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

pub(crate) fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

/// The weight of a budget that is enforced at its orders only.
pub(crate) const NO_CLOCK: Weight = Weight::ZERO;

/// The weight of the clock in a new budget.
pub(crate) const CLOCK: Weight = Budget::usual_clock();

/// The same price at every remainder.
pub(crate) fn constant(femto: u64) -> ClockPrice {
    ClockPrice::new([Some(femto); 24]).unwrap()
}

/// A price that grows from `femto` to twice as much as less and less is left.
pub(crate) fn growing(femto: u64) -> ClockPrice {
    ClockPrice::new((0..24).map(|place| Some(femto + femto * place / 23))).unwrap()
}

/// Prices of all kinds, mostly of a few times `unit`.
pub(crate) fn price(unit: u64) -> impl Strategy<Value = Option<ClockPrice>> + Clone {
    let some = move |units: u64| units * unit;
    prop_oneof![
        2 => Just(None),
        6 => (0_u64..12).prop_map(move |units| Some(constant(some(units)))),
        6 => (0_u64..12).prop_map(move |units| Some(growing(some(units)))),
        1 => (0_u64..12, 0_usize..24).prop_map(move |(units, places)| {
            ClockPrice::new([Some(some(units)); 24].into_iter().take(places))
        }),
        1 => proptest::collection::vec(proptest::option::of(any::<u64>()), 0..24)
            .prop_map(ClockPrice::new),
    ]
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
        conditional: Box::default(),
        query: None,
    }
}

/// Takes a cost without asking. What does not fit the clock exhausts it.
pub(crate) fn take(account: &mut Account, cost: &Cost) {
    let exhausted = || match account.budget().clock() {
        Some(_) => [Variance::EXHAUSTED].into(),
        None => Box::default(),
    };
    let body = Body::Reserved {
        clock: admit(std::iter::once(&*account), cost).unwrap_or_else(|_| exhausted()),
        charge: charge(0, cost.clone()),
    };
    account.take(&body, None, 0).unwrap();
}

pub(crate) fn admits(account: &Account, cost: &Cost) -> bool {
    admit(std::iter::once(account), cost).is_ok()
}

/// A cost in pico-nats without a delta of its own.
pub(crate) fn pico(amounts: &[u64]) -> Cost {
    let amounts = amounts.iter().map(|&amount| Amount::from_pico(amount));
    Cost::new(amounts, DeltaAmount::ZERO)
}

/// A reservation of so many thousandths of a nat at both orders of [`one_account`].
pub(crate) fn reserve(thousandths: u64) -> Request {
    let amount = thousandths * 1_000_000_000;
    Request::Reserve(charge(0, pico(&[amount, amount])))
}

/// Begins a ledger with one account of ε = 1 at two orders, under the ids 1000
/// and 1001.
pub(crate) fn one_account(store: &dyn Store) {
    account_with_orders(store, &[2.0, f64::INFINITY]);
}

/// The same at these orders.
pub(crate) fn account_with_orders(store: &dyn Store, values: &[f64]) {
    let ledger = LedgerId::from_bytes([1; 16]);
    let orders = orders(values);
    let create = Request::Create {
        name: AccountName::new("one").unwrap(),
        parent: None,
        budget: Budget::pure(epsilon(1.0), &orders).unwrap(),
        orders,
    };
    for (number, request) in [(1000, Request::Open { ledger }), (1001, create)] {
        store
            .execute(Submission::new(0, id(number), request))
            .unwrap();
    }
}

/// The account and its record are refused as damaged, and nothing is charged to the account.
pub(crate) fn is_damaged(store: &dyn Store, sql: &str) {
    let account = store.account(AccountNumber::new(0)).map(drop);
    let error = account.and(store.record(id(1001)).map(drop)).unwrap_err();
    assert_eq!(error.code(), "MZ1763", "{sql}");
    if sql.contains("accounts") {
        let error = store
            .execute(Submission::new(0, id(1), reserve(1)))
            .unwrap_err();
        assert_eq!(error.code(), "MZ1763", "{sql}");
        assert_eq!(store.head().unwrap().size, 2, "nothing is charged");
    }
}
