//! A process that spends is killed at a random time: every outcome that it received is in the log,
//! once, and nothing else changed.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::check::{ClientRecord, verify};
use crate::common::lab::Directory;
use crate::common::{charge, child, epsilon, id, orders, pico};
use mizan_ledger::log::LedgerId;
use mizan_ledger::state::{LedgerView, Request};
use mizan_ledger::store::{Sqlite, Store, Submission};
use mizan_ledger::*;
use mizan_test_support::long_run;

fn execute(store: &Sqlite, number: u64, request: Request) -> Outcome {
    let receipt = store.execute(Submission::new(0, id(number), request));
    receipt.unwrap().outcome
}

/// One pico-nat.
fn reserve() -> Request {
    Request::Reserve(charge(0, pico(&[1])))
}

/// Not a test of its own: what the killed process runs, four threads that say
/// what they were told.
#[test]
fn child() {
    let Some(words) = child::words() else { return };
    let [first, path] = &words[..] else {
        panic!("{words:?}");
    };
    let first: u64 = first.parse().unwrap();
    let store = Sqlite::open(Path::new(path)).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in (first + thread..).step_by(4) {
                    let submission = Submission::new(0, id(number), reserve());
                    let receipt = store.execute(submission).unwrap();
                    assert_eq!(receipt.outcome, Outcome::Reserved);
                    child::say(&ClientRecord::new(id(number), &receipt).to_line());
                }
            });
        }
    });
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let directory = Directory::new();
    let path = directory.path().join("ledger");
    let store = Sqlite::create(&path).unwrap();
    let orders = orders(&[f64::INFINITY]);
    let ledger = LedgerId::from_bytes([1; 16]);
    execute(&store, u64::MAX, Request::Open { ledger });
    let create = Request::Create {
        name: AccountName::new("one").unwrap(),
        parent: None,
        budget: Budget::pure(epsilon(1.0), &orders).unwrap(),
        orders,
    };
    execute(&store, u64::MAX - 1, create);
    drop(store);

    let kills = if long_run() { 2000 } else { 100 };
    let mut told = Vec::new();
    for kill in 0_u64..kills {
        let words = [&(kill << 32).to_string(), path.to_str().unwrap()];
        let mut child = child::command(module_path!(), &[], &words).spawn().unwrap();
        // From before it has opened the file to many transactions later.
        thread::sleep(Duration::from_micros(kill * 7919 % 40_000));
        child.kill().unwrap();
        told.extend(child::told(&child::listen(child).0));
    }
    assert!(told.len() > 10, "{} were told anything", told.len());

    let checked = verify(&Sqlite::open(&path).unwrap());
    checked.bears_out(&told);
    let account = checked.state.account(AccountNumber::new(0)).unwrap();
    let pending = account.pending().amounts().next().unwrap().pico();
    assert_eq!(pending + 2, checked.log.len() as u64);
}
