//! A process that spends is killed at any moment: whatever it was told is there,
//! once, and nothing else changed.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test may panic"
)]

mod common;

use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use common::lab::Directory;
use common::{charge, epsilon, id, orders, pico, replay};
use mizan_ledger::store::{Ask, Sqlite, Store};
use mizan_ledger::*;

/// Set for the process that is killed: the ledger, and its first id.
const CHILD: &str = "MIZAN_TEST_KILL";

fn execute(store: &Sqlite, number: u64, request: Request) -> Outcome {
    let receipt = store.execute(Ask::new(0, id(number), request));
    receipt.unwrap().outcome
}

/// One pico-nat.
fn reserve() -> Request {
    Request::Reserve(charge(0, pico(&[1])))
}

/// Not a test of its own: what the killed process runs, four threads that say
/// what they were told, as eight bytes on stderr for each id.
#[test]
fn child() {
    let Ok(what) = std::env::var(CHILD) else {
        return;
    };
    let (first, path) = what.split_once(' ').unwrap();
    let first: u64 = first.parse().unwrap();
    let store = Sqlite::open(Path::new(path)).unwrap();
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for number in (first + thread..).step_by(4) {
                    assert_eq!(execute(store, number, reserve()), Outcome::Reserved);
                    std::io::stderr().write_all(&number.to_be_bytes()).unwrap();
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

    let kills = if std::env::var_os("PROPTEST_CASES").is_some() {
        2000
    } else {
        100
    };
    let mut told = HashSet::new();
    for kill in 0_u64..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--nocapture", "--test-threads=1"])
            .env(CHILD, format!("{} {}", kill << 32, path.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // From before it has opened the file to many transactions later.
        thread::sleep(Duration::from_micros(kill * 7919 % 40_000));
        child.kill().unwrap();
        let mut said = Vec::new();
        child.stderr.take().unwrap().read_to_end(&mut said).unwrap();
        child.wait().unwrap();
        let (numbers, _) = said.as_chunks::<8>();
        told.extend(numbers.iter().map(|bytes| u64::from_be_bytes(*bytes)));
    }
    assert!(told.len() > 10, "{} were told anything", told.len());

    let store = Sqlite::open(&path).unwrap();
    let state = replay(&store);
    for &number in &told {
        assert!(state.record(id(number)).is_some(), "{number} was lost");
        assert_eq!(
            store.record(id(number)).unwrap().as_ref(),
            state.record(id(number))
        );
    }
    let account = store.account(AccountNumber::new(0)).unwrap().unwrap();
    let pending = account.pending().amounts().next().unwrap().pico();
    assert_eq!(pending + 2, state.size());
}
