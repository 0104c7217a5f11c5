//! The conformance suite of stores, run on each of them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::common::check::verify;
use crate::common::lab::{Kind, Lab};
use crate::common::{
    CLOCK, charge, conditional, config, constant, delta, epsilon, growing, id, in_state_of, orders,
    pico,
};
use mizan_ledger::log::LedgerId;
use mizan_ledger::money::{Amount, Variance};
use mizan_ledger::state::{Request, State};
use mizan_ledger::store::{Fault, Receipt, Store, StoreError, Submission};
use mizan_ledger::*;
use proptest::prelude::*;

/// A tenth of a nat: 10 fit into `small`, 15 into `dataset`.
const UNIT: u64 = 100_000_000_000;

fn grid() -> Orders {
    orders(&[2.0, f64::INFINITY])
}

fn reserve(account: u32, units: u64) -> Request {
    Request::Reserve(charge(account, pico(&[units * UNIT, units * UNIT])))
}

fn ask(store: &dyn Store, number: u64, request: Request) -> Result<Receipt, StoreError> {
    store.execute(Submission::new(7, id(number), request))
}

fn outcome(store: &dyn Store, number: u64, request: Request) -> Outcome {
    ask(store, number, request).unwrap().outcome
}

fn code(store: &dyn Store, number: u64, request: Request) -> &'static str {
    ask(store, number, request).unwrap_err().code().as_str()
}

/// Account 0 `dataset` with ε = 1.5; 1 `small` (ε = 1) and 2 `large` (ε = 9)
/// below it; 3 `alone` (ε = 1).
fn setup() -> Vec<(u64, Request)> {
    let ledger = LedgerId::from_bytes([1; 16]);
    let mut requests = vec![(1000, Request::Open { ledger })];
    let accounts = [
        ("dataset", None, 1.5),
        ("صغير 'small'", Some(0), 1.0),
        ("large", Some(0), 9.0),
        ("alone", None, 1.0),
    ];
    for (number, (name, parent, e)) in (1001..).zip(accounts) {
        let create = Request::Create {
            name: AccountName::new(name).unwrap(),
            parent: parent.map(AccountNumber::new),
            orders: grid(),
            budget: Budget::pure(epsilon(e), &grid()).unwrap(),
        };
        requests.push((number, create));
    }
    requests
}

fn begun(kind: Kind) -> Lab {
    let lab = Lab::new(kind);
    for (number, request) in setup() {
        ask(lab.store(), number, request).unwrap();
    }
    lab
}

fn empty(kind: Kind) {
    let lab = Lab::new(kind);
    assert_eq!(code(lab.store(), 1, reserve(0, 1)), "MZ1730");
    let head = lab.store().head().unwrap();
    assert_eq!((head.ledger, head.accounts, head.size), (None, 0, 0));
    assert_eq!(lab.store().record(id(1)).unwrap(), None);
    assert_eq!(lab.store().account(AccountNumber::new(0)).unwrap(), None);
    verify(lab.reopen().store());
}

fn same_id_same_outcome(kind: Kind) {
    let lab = begun(kind);
    let first = ask(lab.store(), 1, reserve(3, 4)).unwrap();
    assert_eq!(
        (first.outcome, first.position),
        (Outcome::Reserved, Some(5))
    );
    let again = ask(lab.store(), 1, reserve(3, 4)).unwrap();
    assert_eq!((again.outcome, again.position), (Outcome::Reserved, None));
    assert_eq!(again.head, first.head);
    assert_eq!(code(lab.store(), 1, reserve(3, 5)), "MZ1732");
    // Known before it is looked at: of a new id this account would be unknown.
    assert_eq!(code(lab.store(), 1, reserve(9, 5)), "MZ1732");
    // Known ids among new ones, of which nothing is written twice.
    let submissions =
        [2, 1, 3].map(|number| Submission::new(7, id(number), reserve(3, 4 - number % 2)));
    let told = lab.store().execute_all(submissions.to_vec());
    assert_eq!(told[0].as_ref().unwrap().position, Some(6));
    assert_eq!(
        (told.len(), told[1].as_ref().unwrap_err().code().as_str()),
        (2, "MZ1732")
    );
    assert_eq!(outcome(lab.store(), 2, Request::Void), Outcome::Voided);
    for (number, request) in setup() {
        assert_eq!(ask(lab.store(), number, request).unwrap().position, None);
    }
    let again = ask(lab.store(), 1, reserve(3, 4)).unwrap();
    let lab = lab.reopen();
    assert_eq!(ask(lab.store(), 1, reserve(3, 4)).unwrap(), again);
    assert_eq!(code(lab.store(), 1, reserve(3, 5)), "MZ1732");
    assert_eq!(verify(lab.store()).log.len(), 8);
}

fn what_does_not_fit_is_denied_for_ever(kind: Kind) {
    let lab = begun(kind);
    assert_eq!(outcome(lab.store(), 1, reserve(3, 8)), Outcome::Reserved);
    let denied = ask(lab.store(), 2, reserve(3, 4)).unwrap();
    let Outcome::Denied(denial) = denied.outcome else {
        panic!("{denied:?}");
    };
    assert_eq!(denial.largest.nano(), 500_000_000);
    assert_eq!(denied.refusal.unwrap().lines.len(), 2);
    assert_eq!(outcome(lab.store(), 1, Request::Void), Outcome::Voided);
    // Now there is room, but not under this id.
    let lab = lab.reopen();
    assert_eq!(outcome(lab.store(), 2, reserve(3, 4)), denied.outcome);
    assert_eq!(outcome(lab.store(), 2, Request::Start), denied.outcome);
    assert_eq!(outcome(lab.store(), 3, reserve(3, 10)), Outcome::Reserved);
    verify(lab.store());
}

fn a_charge_from_reservation_to_answer(kind: Kind) {
    let lab = begun(kind);
    let commit = |units: u64, answer: &[u8]| {
        let cost = pico(&[units * UNIT, units * UNIT]);
        Submission::commit(8, id(1), cost, answer.to_vec()).unwrap()
    };
    assert_eq!(code(lab.store(), 1, Request::Start), "MZ1733");
    assert_eq!(outcome(lab.store(), 1, reserve(3, 5)), Outcome::Reserved);
    let early = lab.store().execute(commit(5, b"42")).unwrap_err();
    assert_eq!(early.code(), "MZ1742");
    assert_eq!(outcome(lab.store(), 1, Request::Start), Outcome::Started);
    assert_eq!(code(lab.store(), 1, Request::Start), "MZ1743");
    assert_eq!(code(lab.store(), 1, Request::Void), "MZ1745");
    assert_eq!(lab.store().answer(id(1)).unwrap(), None);

    let lab = lab.reopen();
    let more = lab.store().execute(commit(6, b"42")).unwrap_err();
    assert_eq!(more.code(), "MZ1744");
    let released = lab.store().execute(commit(2, b"42")).unwrap().outcome;
    let answer = Digest::of(&[b"42"]);
    assert_eq!(released, Outcome::Released { answer });
    // What was not spent is there again.
    assert_eq!(outcome(lab.store(), 2, reserve(3, 8)), Outcome::Reserved);

    let lab = lab.reopen();
    assert_eq!(
        lab.store().execute(commit(2, b"42")).unwrap().outcome,
        released
    );
    let other = lab.store().execute(commit(2, b"43")).unwrap_err();
    assert_eq!(other.code(), "MZ1732");
    assert_eq!(outcome(lab.store(), 1, reserve(3, 5)), released);
    assert_eq!(lab.store().answer(id(1)).unwrap().unwrap(), b"42");
    assert_eq!(lab.store().answer(id(2)).unwrap(), None);
    verify(lab.store());
}

fn ancestors_are_charged_and_asked(kind: Kind) {
    let lab = begun(kind);
    assert_eq!(outcome(lab.store(), 1, reserve(1, 9)), Outcome::Reserved);
    let denied =
        |number, account, units| match outcome(lab.store(), number, reserve(account, units)) {
            Outcome::Denied(denial) => denial.account.get(),
            other => panic!("{other:?}"),
        };
    assert_eq!(denied(2, 1, 2), 1, "the quota");
    assert_eq!(denied(3, 2, 7), 0, "the dataset");
    assert_eq!(outcome(lab.store(), 4, reserve(2, 6)), Outcome::Reserved);
    assert_eq!(denied(5, 0, 1), 0);
    assert_eq!(code(lab.store(), 6, reserve(9, 1)), "MZ1735");
    let account = AccountNumber::new(0);
    let budget = lab
        .store()
        .account(account)
        .unwrap()
        .unwrap()
        .budget()
        .clone();
    let budget = budget.raised(
        Target::Pure {
            epsilon: epsilon(2.0),
        },
        DeltaAmount::ZERO,
        &grid(),
    );
    let raise = Request::Raise {
        account,
        budget: budget.unwrap(),
    };
    assert_eq!(outcome(lab.store(), 7, raise), Outcome::Raised(account));
    let lab = lab.reopen();
    assert_eq!(outcome(lab.store(), 8, reserve(0, 5)), Outcome::Reserved);
    verify(lab.store());
}

fn threads_never_overspend(kind: Kind) {
    let lab = begun(kind);
    let reserved = AtomicU64::new(0);
    thread::scope(|scope| {
        for thread in 0..8 {
            let (lab, reserved) = (&lab, &reserved);
            scope.spawn(move || {
                for round in 0..25 {
                    // Every second request is asked by another thread too.
                    let number = if round % 2 == 0 {
                        100 * (thread / 2)
                    } else {
                        100 * (thread + 20)
                    } + round;
                    let account = if number % 3 == 0 { 1 } else { 2 };
                    let request = Request::Reserve(charge(account, pico(&[UNIT / 4, UNIT / 4])));
                    let receipt = ask(lab.store(), number, request).unwrap();
                    if receipt.outcome == Outcome::Reserved && receipt.position.is_some() {
                        reserved.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    // 15 units of four quarters.
    assert_eq!(reserved.into_inner(), 60);
    let lab = lab.reopen();
    verify(lab.store());
    let dataset = lab.store().account(AccountNumber::new(0)).unwrap().unwrap();
    assert_eq!(
        dataset.pending().amounts().next().unwrap().pico(),
        15 * UNIT
    );
}

/// A ledger with an account that has a clock, and another one above it.
fn with_clocks(kind: Kind) -> Lab {
    let lab = Lab::new(kind);
    let ledger = LedgerId::from_bytes([1; 16]);
    outcome(lab.store(), 1000, Request::Open { ledger });
    for (number, (name, e)) in (1001..).zip([("dataset", 1.0), ("quota", 0.8)]) {
        let own = DeltaAmount::ZERO;
        let budget = Budget::approximate(epsilon(e), delta(1e-6), own, CLOCK, &grid());
        let create = Request::Create {
            name: AccountName::new(name).unwrap(),
            parent: (name != "dataset").then_some(AccountNumber::new(0)),
            orders: grid(),
            budget: budget.unwrap(),
        };
        outcome(lab.store(), number, create);
    }
    lab
}

fn account(lab: &Lab, number: u32) -> Account {
    let account = lab.store().account(AccountNumber::new(number));
    account.unwrap().unwrap()
}

/// A charge at prices that hold in the present state of the quota and of the account above it, or only
/// in that of the quota.
fn in_state(lab: &Lab, prices: [Option<u64>; 2], cost: &Cost) -> Request {
    let mut charge = charge(1, cost.clone());
    charge.conditional = prices.map(|price| price.map(conditional)).into();
    in_state_of(&mut charge, &[account(lab, 1), account(lab, 0)]);
    Request::Reserve(charge)
}

/// A conditional price is used in its state only. A denial is the same in a replay, which has none.
fn conditional_prices_are_decided_again(kind: Kind) {
    let lab = with_clocks(kind);
    let limit = |number| {
        account(&lab, number)
            .budget()
            .clock()
            .unwrap()
            .limit
            .femto()
    };
    // Too large a loss for the epsilon, and a price that is all that the account above has.
    let price = constant(limit(0));
    let cost = pico(&[u64::MAX, 1_200_000_000_000]).with_price(Some(price));
    let limit = limit(1);
    let quarter = [Some(limit / 4); 2];
    let outdated = in_state(&lab, quarter, &cost);
    assert_eq!(outcome(lab.store(), 1, outdated.clone()), Outcome::Reserved);
    let taken = |lab: &Lab| [0, 1].map(|number| account(lab, number).taken().clock().femto());
    assert_eq!(taken(&lab), [limit / 4; 2]);
    // The state has changed: nothing is decided, and the client can retry with the same id.
    let size = lab.store().head().unwrap().size;
    assert_eq!(code(lab.store(), 2, outdated), "MZ1753");
    assert_eq!(lab.store().record(id(2)).unwrap(), None);
    assert_eq!(lab.store().head().unwrap().size, size);
    let lab = lab.reopen();
    let now = in_state(&lab, quarter, &cost);
    assert_eq!(outcome(lab.store(), 2, now), Outcome::Reserved);
    assert_eq!(taken(&lab), [limit / 4 * 2; 2]);
    // The quota would admit it in its state, and the account above refuses.
    let denied = in_state(&lab, [Some(limit / 4), None], &cost);
    let Outcome::Denied(denial) = outcome(lab.store(), 3, denied) else {
        panic!("the account above has no room");
    };
    assert_eq!(denial.account, AccountNumber::new(1));
    verify(lab.reopen().store());
}

/// Charges that only a clock admits, to an account and one above it, through a void, a smaller
/// commit and a crash.
fn clocks_are_kept(kind: Kind) {
    let mut lab = with_clocks(kind);
    let limit = account(&lab, 1).budget().clock().unwrap().limit.femto();
    let cost = pico(&[u64::MAX; 2]).with_price(Some(growing(limit / 12)));
    let reserve = || Request::Reserve(charge(1, cost.clone()));
    let mut reserved = 0;
    while outcome(lab.store(), reserved, reserve()) == Outcome::Reserved {
        reserved += 1;
        if reserved == 4 {
            lab = lab.reopen();
        }
    }
    assert!(
        (6..12).contains(&reserved),
        "{reserved} of 12 at the least price"
    );
    let taken = |lab: &Lab| [0, 1].map(|number| account(lab, number).taken().clock());
    let [above, own] = taken(&lab);
    assert!(above < own, "more is left above: {above} {own}");
    // A commit keeps what the clock gave, a void gives it back.
    outcome(lab.store(), 0, Request::Start);
    let commit = Submission::commit(8, id(0), pico(&[1; 2]), b"42".to_vec()).unwrap();
    lab.store().execute(commit).unwrap();
    assert_eq!(taken(&lab), [above, own]);
    assert!(account(&lab, 0).spent().clock() > Variance::ZERO);
    for number in 1..reserved {
        outcome(lab.store(), number, Request::Void);
    }
    lab = lab.reopen();
    for number in [0, 1] {
        let account = account(&lab, number);
        assert_eq!(account.pending().clock(), Variance::ZERO);
        assert_eq!(account.taken().clock(), account.spent().clock());
    }
    // What only an order admits exhausts both clocks.
    let order = Request::Reserve(charge(1, pico(&[u64::MAX, 1])));
    assert_eq!(outcome(lab.store(), 90, order), Outcome::Reserved);
    assert!(matches!(
        outcome(lab.store(), 91, reserve()),
        Outcome::Denied(_)
    ));
    assert_eq!(taken(&lab), [Variance::EXHAUSTED; 2]);
    verify(lab.reopen().store());
}

/// One of a few ids and accounts, so that ids are reused all the time.
fn random_request() -> impl Strategy<Value = (u64, Request)> {
    let cost = (0_u64..14, 0_u64..14, 0_u64..2);
    let cost = cost.prop_map(|(a, b, own)| {
        let amounts = [a, b].map(|units| Amount::from_pico(units * UNIT / 4));
        Cost::new(amounts, DeltaAmount::from_atto(own))
    });
    let reserve = (0_u32..5, cost.clone());
    let answer = (0_u8..3).prop_map(|byte| Digest::of(&[&[byte]]));
    let request = prop_oneof![
        6 => reserve.prop_map(|(account, cost)| Request::Reserve(charge(account, cost))),
        4 => Just(Request::Start),
        2 => Just(Request::Void),
        4 => (cost, answer).prop_map(|(cost, answer)| Request::Commit { cost, answer }),
    ];
    (0_u64..12, request)
}

fn random_histories_equal_the_model(kind: Kind) {
    let step = (random_request(), prop::bool::weighted(0.05));
    let history = prop::collection::vec(step, 1..40);
    proptest!(config(25), |(history in history)| {
        let mut lab = begun(kind);
        let mut model = State::new();
        for (number, request) in setup() {
            model.execute(7, id(number), &request).unwrap();
        }
        for ((number, request), crash) in history {
            let expected = model.execute(7, id(number), &request);
            match ask(lab.store(), number, request) {
                Ok(receipt) => prop_assert_eq!(receipt.outcome, expected.unwrap().outcome()),
                Err(error) => prop_assert_eq!(error, StoreError::Request(expected.unwrap_err())),
            }
            if crash {
                lab = lab.reopen();
            }
        }
        verify(lab.store());
        prop_assert_eq!(lab.store().head().unwrap().size, model.size());
    });
}

macro_rules! conformance {
    ($($test:ident)*) => {
        mod sim {
            $(#[test] fn $test() { super::$test(super::Kind::Sim); })*
        }
        mod sqlite {
            $(#[test] fn $test() { super::$test(super::Kind::Sqlite); })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test(super::Kind::Postgres); })*
        }
    };
}

conformance! {
    empty
    same_id_same_outcome
    what_does_not_fit_is_denied_for_ever
    a_charge_from_reservation_to_answer
    ancestors_are_charged_and_asked
    threads_never_overspend
    clocks_are_kept
    conditional_prices_are_decided_again
    random_histories_equal_the_model
}

/// A client that retries after every fault loses nothing and is charged once.
#[test]
fn retries_after_faults_charge_once() {
    for fault in [Fault::BeforeCommit, Fault::AfterCommit] {
        let mut lab = begun(Kind::Sim);
        for number in 0..12 {
            lab.fail_next(fault);
            let error = ask(lab.store(), number, reserve(3, 1)).unwrap_err();
            assert_eq!(error.code(), "MZ1766");
            assert_eq!(code(lab.store(), number, reserve(3, 1)), "MZ1774");
            assert_eq!(lab.store().head().unwrap_err().code(), "MZ1774");
            lab = lab.reopen();
            let there = lab.store().record(id(number)).unwrap().is_some();
            assert_eq!(there, fault == Fault::AfterCommit);
            let denied = matches!(
                outcome(lab.store(), number, reserve(3, 1)),
                Outcome::Denied(_)
            );
            assert_eq!(denied, number >= 10);
        }
        assert_eq!(verify(lab.store()).log.len(), 5 + 12);
    }
}
