//! Several clients at once, through the guarded ledger.

use std::sync::Barrier;
use std::thread;

use mizan_ledger::*;

use crate::common::guarded::{GuardedLedger, log};
use crate::common::{CLOCK, delta, epsilon};

/// An account of (1, 1e-6) with a tenth of δ reserved.
fn create(ledger: &Ledger, name: &str) -> AccountNumber {
    let orders = Orders::standard();
    let own = Budget::usual_reserved_delta(delta(1e-6));
    let budget = Budget::approximate(epsilon(1.0), delta(1e-6), own, CLOCK, &orders).unwrap();
    let account = NewAccount {
        name: AccountName::new(name).unwrap(),
        parent: None,
        budget,
        orders,
    };
    match ledger.create_account(None, account).unwrap().outcome {
        Outcome::Created(number) => number,
        other => panic!("{other:?}"),
    }
}

/// Without its conditional price the second of these charges exhausts the clock.
#[test]
fn clients_at_once_leave_the_clock_that_one_after_the_other_leave() {
    let guarded = GuardedLedger::new();
    let ledger = guarded.init();
    let event = "pure(0.2)".parse().unwrap();
    let alone = create(&ledger, "alone");
    let left = |number| ledger.account(number).unwrap().account.clock_left();
    let is_denied = |done: Done| matches!(done.outcome, Outcome::Denied(_));
    let mut clients = 0;
    while !is_denied(ledger.spend(None, alone, &event).unwrap()) {
        clients += 1;
    }
    assert!(clients >= 2 && left(alone).is_some(), "{clients}");
    for round in 0..20 {
        let account = create(&ledger, &format!("round {round}"));
        let barrier = Barrier::new(clients);
        thread::scope(|scope| {
            for client in 0..clients {
                let (ledger, barrier, event) = (&ledger, &barrier, &event);
                scope.spawn(move || {
                    let charge = ledger.price(account, event).unwrap();
                    barrier.wait();
                    let done = match client {
                        0 => ledger.reserve(None, charge),
                        _ => ledger.spend(None, account, event),
                    };
                    assert!(!is_denied(done.unwrap()));
                });
            }
        });
        assert_eq!(left(account), left(alone), "round {round}");
    }
    let reserved = |entry: &Entry| matches!(entry.body, Body::Reserved { .. });
    let charges = log(&ledger).into_iter().filter(reserved).count();
    assert_eq!(charges, 21 * clients);
    ledger.verify(&Witnesses::default(), |_, _| {}).unwrap();
}

/// The tail of a plan is a part of the reserved delta, which a raise may enlarge.
#[test]
fn a_raise_of_the_reserved_delta_pays_for_tails_at_once() {
    let guarded = GuardedLedger::new();
    let ledger = guarded.init();
    let orders = Orders::standard();
    let none = DeltaAmount::ZERO;
    let budget = Budget::approximate(epsilon(1.0), delta(1e-6), none, CLOCK, &orders).unwrap();
    let account = NewAccount {
        name: AccountName::new("tails").unwrap(),
        parent: None,
        budget: budget.clone(),
        orders: orders.clone(),
    };
    let Outcome::Created(number) = ledger.create_account(None, account).unwrap().outcome else {
        panic!("not created");
    };
    let block = "200 * poisson(0.004, gaussian(1.1))".parse().unwrap();
    let tail = || {
        ledger
            .price(number, &block)
            .unwrap()
            .cost
            .price()
            .map(|price| price.tail())
    };
    assert_eq!(tail(), Some(none));
    let target = Target::Approximate {
        epsilon: epsilon(1.0),
        delta: delta(2e-6),
    };
    let own = Budget::usual_reserved_delta(delta(1e-6));
    // Another program raises it.
    let raised = budget.raised(target, own, &orders).unwrap();
    guarded.open().unwrap().raise(None, number, raised).unwrap();
    assert_eq!(tail(), Some(DeltaAmount::from_atto(own.atto() / 50)));
}
